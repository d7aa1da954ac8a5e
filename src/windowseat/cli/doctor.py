"""`windowseat doctor`: what is missing or wrong on this machine, and what to do about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from windowseat.cli.call import Call
from windowseat.cli.checks import CHECKS, Check
from windowseat.cli.say import in_their_words, show, show_json
from windowseat.errors import Refusal

_MARKS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


def doctor(call: Call) -> int:
    """Run every check, and the hub's own where it runs; 0 unless one failed."""
    found: list[dict[str, Any]] = []
    for check in _checks(call):
        found.append(check)
        if not call.json:
            _show(check)
    if call.json:
        show_json({"checks": found})
    return 1 if any(check["state"] == "fail" for check in found) else 0


def _checks(call: Call) -> Iterator[dict[str, Any]]:
    for check in CHECKS:
        yield from (each.as_dict() for each in _guarded(check, call))
    yield from _of_the_hub(call)


def _guarded(check: Callable[[Call], Sequence[Check]], call: Call) -> Sequence[Check]:
    # One check that meets what nobody foresaw must not hide the others.
    try:
        return check(call)
    except Refusal as refusal:
        return [Check(check.__name__, "fail", refusal.message, refusal.next_step)]
    except OSError as error:
        return [Check(check.__name__, "fail", f"This check broke off: {error}.", "")]


def _of_the_hub(call: Call) -> Iterator[dict[str, Any]]:
    try:
        yield from call.hub.request("GET", "/hub/v1/doctor", timeout=30.0)["checks"]
    except Refusal as refusal:
        if refusal.code != "not-running":
            yield Check("hub", "fail", refusal.message, refusal.next_step).as_dict()
        else:
            message = "It does not run, so the browser itself was not looked at."
            yield Check("hub", "ok", message, "Start it for more: windowseat up").as_dict()


def _show(check: dict[str, Any]) -> None:
    mark = _MARKS.get(check["state"], check["state"])
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        mark = {"ok": "\033[32m", "warn": "\033[33m"}.get(check["state"], "\033[31m") + mark + "\033[0m"
    show(f"{mark}  {check['name']}: {check['message']}")
    if check.get("next"):
        show(f"      {in_their_words(check['next'])}")
