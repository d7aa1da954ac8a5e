"""`windowseat status` and `windowseat url`."""

from __future__ import annotations

from typing import Any

from windowseat.cli.call import Call
from windowseat.cli.client import not_running
from windowseat.cli.processes import keeper_of
from windowseat.cli.say import in_their_words, say, say_refusal, show, show_json


def status(call: Call) -> int:
    """Say what runs and where; exit code 3 when nothing does."""
    found = call.hub.running()
    if found is None:
        refusal = not_running()
        if call.json:
            show_json({"running": False})
            return refusal.exit_code
        say_refusal(refusal)
        if (keeper := keeper_of(call.home)) is not None:
            say(f"  Its browser goes on (keeper {keeper}).")
            say("  `windowseat up` takes it over, `windowseat down` ends it.")
        return refusal.exit_code
    if call.json:
        show_json(found)
        return 0
    link = in_their_words("(`windowseat url` prints a link that lets you in)")
    show(f"Launchpad  {found['launchpad']}   {link}")
    show(f"View       {found['view']}")
    show(f"Hub        process {found['hub']['pid']}, up {_duration(found.get('uptime_s') or 0)}")
    show(f"Keeper     process {_pid(found.get('keeper'))}")
    show(f"Browser    {_browser(found.get('browser'))}")
    show(f"Files      {found['runtime_dir']}")
    return 0


def url(call: Call) -> int:
    """Print a link that lets one browser in."""
    body = {"name": call.args.name} if call.args.name else {}
    found = call.hub.request("POST", "/hub/v1/admissions", body)
    if call.json:
        show_json(found)
    else:
        show(found["url"])
    return 0


def _pid(found: dict[str, Any] | None) -> str:
    return str(found["pid"]) if found and found.get("pid") else "none"


def _browser(found: dict[str, Any] | None) -> str:
    if not found or not found.get("pid"):
        return "none; it is being started"
    shown = "without windows" if found.get("headless") else "with windows"
    return f"process {found['pid']}, Chromium {found.get('version')}, {shown}"


def _duration(seconds: float) -> str:
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if hours >= 48:
        return f"{hours // 24} days"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"
