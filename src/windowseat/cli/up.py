"""`windowseat up`: the hub here, or in the background."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from windowseat.cli.call import Call
from windowseat.cli.options import DEFAULT_PORT, HubOptions
from windowseat.cli.say import in_their_words, on_terminal, say, say_refusal, show, show_json
from windowseat.cli.starting import Announcer, start_lock
from windowseat.errors import Refusal


def up(call: Call) -> int:
    """Start a hub; the exit code is the hub's."""
    options = _options(call)
    if call.args.announce:
        return _announced(call, options)
    call.home.prepare()
    if call.args.detach:
        return _detached(call, options)
    return _here(call, options)


def _here(call: Call, options: HubOptions) -> int:
    from windowseat.cli.hub_process import run_hub

    with start_lock(call.home) as lock:
        if running := call.hub.running():
            raise already_running(running)

        def ready(started: dict[str, Any]) -> None:
            # From here on the hub's own lock keeps a second one away.
            lock.release()
            show_started(call, started)

        return run_hub(call.home, options, ready)


def _detached(call: Call, options: HubOptions) -> int:
    from windowseat.cli.detach import start_detached

    with start_lock(call.home):
        if running := call.hub.running():
            _tell_of_running(call, options, running)
            return 0
        if on_terminal() and not call.json:
            say("Starting the browser …")
        started = start_detached(call.home, options)
    show_started(call, started)
    _say_warnings(call, options, started)
    _tell_of_logout(call)
    return 0


def _tell_of_running(call: Call, options: HubOptions, running: dict[str, Any]) -> None:
    if options.code_mode and not running.get("code_mode"):
        raise Refusal(
            "already-running",
            f"Windowseat already runs (process {running['hub']['pid']}), without code mode.",
            "windowseat down, then windowseat up --code-mode",
        )
    if call.json:
        show_json(running)
        return
    found = already_running(running)
    say(found.message)
    say(f"  {found.next_step}")


def _say_warnings(call: Call, options: HubOptions, started: dict[str, Any]) -> None:
    # The hub in the background has said them to its log only.
    from windowseat.chromium.flags import options_for_this_machine, warnings_for

    major = int(str(started["browser"]["version"]).partition(".")[0])
    for warning in warnings_for(options_for_this_machine(call.home.profile, major, headed=options.headed)):
        say(warning)


def _announced(call: Call, options: HubOptions) -> int:
    """The hub that `up --detach` started: its parent holds the start lock and prints for it."""
    from windowseat.cli.hub_process import run_hub

    announcer = Announcer(call.args.announce)
    try:
        call.home.prepare()
        return run_hub(call.home, options, announcer.ready)
    except Refusal as refusal:
        announcer.refused(refusal)
        say_refusal(refusal)
        return refusal.exit_code


def _options(call: Call) -> HubOptions:
    args = call.args
    if args.port and args.port == args.view_port:
        raise Refusal(
            "bad-usage",
            f"--port and --view-port are both {args.port}.",
            "Leave --view-port out, or give it a port of its own.",
        )
    return HubOptions(
        port=DEFAULT_PORT if args.port is None else args.port,
        view_port=args.view_port,
        headed=args.headed,
        code_mode=args.code_mode,
        chromium=str(Path(args.chromium).absolute()) if args.chromium else None,
    )


def already_running(status: dict[str, Any]) -> Refusal:
    """What a second `up` says."""
    return Refusal(
        "already-running",
        f"Windowseat already runs (process {status['hub']['pid']}); its Launchpad is {status['launchpad']}",
        "`windowseat url` prints a link that lets you in.",
    )


def show_started(call: Call, started: dict[str, Any]) -> None:
    """Print that it is up, and the way in.

    Args:
        call: the command that started it.
        started: the status document (C11) with `url` and `expires_s` of a first link.
    """
    if call.json:
        show_json(started)
        return
    show("Windowseat is up.")
    show(f"Launchpad  {started['url']}")
    show(in_their_words("           (works once, for 5 minutes; `windowseat url` prints another)"))
    if hint := forward_hint(started, os.environ.get("SSH_CONNECTION")):
        show(hint)


def forward_hint(started: dict[str, Any], ssh_connection: str | None) -> str | None:
    """How to reach both ports from the other end of an SSH connection, if there is one."""
    if not ssh_connection:
        return None
    ports = [_port_of(started["launchpad"]), _port_of(started["view"])]
    if None in ports:
        return None
    forwards = " ".join(f"-L {port}:localhost:{port}" for port in ports)
    host = ssh_connection.split()[2] if len(ssh_connection.split()) == 4 else "HOST"
    return f"From your own machine first:  ssh {forwards} {host}"


def _port_of(url: str) -> int | None:
    from urllib.parse import urlsplit

    found = urlsplit(url)
    # A public address needs no forward.
    return found.port if found.hostname in ("localhost", "127.0.0.1", "::1") else None


def _tell_of_logout(call: Call) -> None:
    from windowseat.cli.detach import user_systemd_there

    if call.json or not user_systemd_there():
        return
    name = os.environ.get("USER") or os.environ.get("LOGNAME") or ""
    if name and not Path("/var/lib/systemd/linger", name).exists():
        say("It ends when you log out everywhere; to let it go on: loginctl enable-linger")
