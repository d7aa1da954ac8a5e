"""`windowseat down`: ends the hub, also one that no longer answers, and the browser."""

from __future__ import annotations

from typing import Any

from windowseat.cli.call import Call
from windowseat.cli.processes import ASKED, KEEPER, STUCK, keeper_of, wait_end
from windowseat.cli.say import say, show, show_json
from windowseat.errors import Refusal
from windowseat.hub.lock import holder_of

# A hub that is well answers in milliseconds.
_ANSWER_LIMIT = 5.0


def down(call: Call) -> int:
    """End what runs, wait until it has ended, and say so."""
    keep = bool(call.args.keep_browser)
    try:
        status = call.hub.running(timeout=_ANSWER_LIMIT)
        if status is None:
            _end_keeper_alone(call, keep=keep)
        else:
            _ask(call, status, keep=keep)
    except Refusal as refusal:
        stuck = holder_of(call.home.hub_lock)
        if refusal.code != "hub-failed" or not stuck:
            raise
        _insist(call, stuck, keep=keep)
    if call.json:
        show_json({"ended": True, "kept_browser": keep})
    else:
        show("Windowseat is down. The browser goes on." if keep else "Windowseat is down.")
    return 0


def _ask(call: Call, status: dict[str, Any], *, keep: bool) -> None:
    call.hub.request("POST", "/hub/v1/down", {"keep_browser": keep}, timeout=_ANSWER_LIMIT)
    wait_end(int(status["hub"]["pid"]), ASKED)


def _end_keeper_alone(call: Call, *, keep: bool) -> None:
    # A hub that was killed, or ended with --keep-browser, leaves the keeper and the browser.
    keeper = keeper_of(call.home)
    if keeper is None:
        raise Refusal("not-running", "Windowseat is not running; there is nothing to end.", "")
    if keep:
        raise Refusal("not-running", "No hub runs; the browser goes on.", "windowseat up takes it over")
    wait_end(keeper, KEEPER)


def _insist(call: Call, hub: int, *, keep: bool) -> None:
    say(f"The hub (process {hub}) does not answer; ending it.")
    wait_end(hub, STUCK)
    keeper = None if keep else keeper_of(call.home)
    if keeper is not None:
        wait_end(keeper, KEEPER)
