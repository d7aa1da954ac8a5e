"""The commands that list and change tabs."""

from __future__ import annotations

from typing import Any

from windowseat.cli.call import Call
from windowseat.cli.say import in_their_words, say, show, show_json, show_table
from windowseat.errors import BrowserError

Tab = dict[str, Any]


def tabs(call: Call) -> int:
    """List every tab, or one session's."""
    path = "/hub/v1/tabs"
    if call.args.session is not None:
        path += f"?session={call.session}"
    found = call.hub.request("GET", path)
    if call.json:
        show_json(found)
        return 0
    if not found["tabs"]:
        say("No tabs. Open one: windowseat open URL")
        return 0
    rows = [
        (tab["id"], tab["session"] or "", _state(tab), _short(tab["title"] or ""), tab["url"])
        for tab in found["tabs"]
    ]
    show_table(("TAB", "SESSION", "STATE", "TITLE", "ADDRESS"), rows, width=call.width)
    return 0


def open_tab(call: Call) -> int:
    """Open a tab in the command's session."""
    body = {"url": _address(call.args.url), "session": call.session}
    return _show_tab(call, call.hub.request("POST", "/hub/v1/tabs", body, timeout=60.0))


def close(call: Call) -> int:
    """Close tabs for everyone."""
    closed = []
    for tab in call.args.tabs:
        closed.append(call.hub.request("DELETE", f"/hub/v1/tabs/{_id(tab)}"))
        if not call.json:
            show(f"closed {tab}; to undo it: " + in_their_words(f"windowseat restore {tab}"))
    if call.json:
        show_json(closed[0] if len(closed) == 1 else {"tabs": closed})
    return 0


def restore(call: Call) -> int:
    """Bring a closed tab back; without an id the one that was closed last."""
    return _change(call, call.args.tab or _last_closed(call), "restore")


def sleep(call: Call) -> int:
    """Put a tab to sleep."""
    return _change(call, call.args.tab, "sleep")


def wake(call: Call) -> int:
    """Wake a tab."""
    return _change(call, call.args.tab, "wake")


def sessions(call: Call) -> int:
    """List the sessions."""
    found = call.hub.request("GET", "/hub/v1/sessions")
    if call.json:
        show_json(found)
        return 0
    if not found["sessions"]:
        say("No sessions yet. An agent's first command makes one; see: windowseat exec --help")
        return 0
    rows = [
        (one["name"], str(one["tabs"]), "working" if one["alive"] else "", _ago(one["last_used_s"]))
        for one in found["sessions"]
    ]
    show_table(("SESSION", "TABS", "AGENT", "LAST USED"), rows, width=call.width)
    return 0


def _change(call: Call, tab: str, verb: str) -> int:
    return _show_tab(call, call.hub.request("POST", f"/hub/v1/tabs/{_id(tab)}/{verb}", timeout=60.0))


def _show_tab(call: Call, tab: Tab) -> int:
    if call.json:
        show_json(tab)
    else:
        show(f"{tab['id']}  {tab['url']}" + (f"  ({state})" if (state := _state(tab)) else ""))
    return 0


def _last_closed(call: Call) -> str:
    # A tab within its Undo still stands in the list; it was closed later than any other.
    closing = [tab for tab in call.hub.request("GET", "/hub/v1/tabs")["tabs"] if tab.get("closes_at")]
    if closing:
        return str(max(closing, key=lambda tab: tab["closes_at"]["at"])["id"])
    closed = call.hub.request("GET", "/hub/v1/closed")
    entries = closed["closed"]
    if not entries:
        raise BrowserError("not-found", "No tab was closed within the last day.")
    return str(entries[0]["id"])


def _id(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def _address(text: str) -> str:
    """What a person typed, as an address; the hub decides whether it may be opened."""
    from windowseat.rules.address import address_of

    return address_of(text)


def _state(tab: Tab) -> str:
    if tab.get("closes_at"):
        return f"closing in {tab.get('closes_in_s', 0):.0f} s"
    if tab["asleep"]:
        return "asleep"
    # Whose agent it is, the tab's session says.
    return ", ".join([*tab["viewers"], *(["agent"] if tab["agents"] else [])])


def _short(title: str) -> str:
    return title if len(title) <= 40 else title[:39] + "…"


def _ago(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {word} ago"
    return "now"
