"""`windowseat demo`: starts Windowseat where it does not run, then hands over to the demo."""

from __future__ import annotations

from windowseat.cli.call import Call
from windowseat.cli.options import DEFAULT_PORT, HubOptions
from windowseat.cli.say import say
from windowseat.cli.starting import start_lock
from windowseat.errors import Refusal


def demo(call: Call) -> int:
    """Run the demo in the hub of this home; a hub that it started goes on afterwards."""
    from windowseat.cli.demo import run_demo

    call.home.prepare()
    started = _started_hub(call)
    code = run_demo(call.args, call.hub)
    if started:
        say("Windowseat goes on in the background; to end it: windowseat down")
    return code


def _started_hub(call: Call) -> bool:
    """Make sure of a hub in which the scripted agent may run; whether it had to be started."""
    from windowseat.cli.detach import start_detached

    with start_lock(call.home):
        running = call.hub.running()
        if running is None:
            say("Starting the browser …")
            port = DEFAULT_PORT if call.args.port is None else call.args.port
            start_detached(call.home, HubOptions(port=port, code_mode=True))
            return True
    if not running.get("code_mode"):
        raise Refusal(
            "already-running",
            "Windowseat runs without code mode, which the demo's scripted agent needs.",
            "windowseat down, then windowseat demo (your tabs come back)",
        )
    return False
