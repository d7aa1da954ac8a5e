"""The closed error codes, and the two exceptions that carry them.

`BrowserError` is what an operation answers (contract C3): whoever called decides by `code` and
`retryable` whether to try again, to ask a person or to give up. `Refusal` is what a program that
was started says before it ends: one sentence and one next step. This module imports nothing of
the project.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

# C3: every code an operation may answer, and whether trying again can help.
CODES: Final[Mapping[str, bool]] = {
    "host-unavailable": True,
    "timeout": True,
    "stale-ref": True,
    "person-in-control": True,
    "dialog-open": True,
    "navigation-failed": True,
    "cancelled": True,
    "invalid-args": False,
    "no-such-tab": False,
    "not-found": False,
    "not-allowed": False,
    "unsupported": False,
    "execution-failed": False,
}

# What may keep a program from starting or a command from reaching the hub, and its exit code.
REFUSALS: Final[Mapping[str, int]] = {
    "bad-usage": 2,
    "not-running": 3,
    "already-running": 4,
    "no-chromium": 5,
    "profile-in-use": 6,
    "port-busy": 7,
    "home-unusable": 8,
    "disk-full": 9,
    "store-damaged": 10,
    "browser-failed": 11,
    "keeper-failed": 12,
    "hub-failed": 13,
    "not-possible-here": 14,
}


class BrowserError(Exception):
    """An operation that did not do what it was asked to.

    Attributes:
        code: one of `CODES`.
        message: a sentence that says what happened and what to do.
        retryable: whether the same call may work later.
        outcome: "unknown" when the operation may have changed something before it was lost.
    """

    def __init__(self, code: str, message: str, *, outcome: str | None = None) -> None:
        if code not in CODES:
            raise ValueError(f"{code!r} is not a code of contract C3")
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = CODES[code]
        self.outcome = outcome

    def as_dict(self) -> dict[str, Any]:
        """The `error` object of C3: code, message, retryable, and outcome where it is known."""
        found: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "retryable": self.retryable,
        }
        if self.outcome is not None:
            found["outcome"] = self.outcome
        return found


class Refusal(Exception):
    """A program cannot start or go on, for a reason that a person can mend.

    Attributes:
        code: one of `REFUSALS`.
        message: one sentence, what is wrong.
        next_step: one sentence or command, what to do about it.
        exit_code: the process's exit code, never 0.
    """

    def __init__(self, code: str, message: str, next_step: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.next_step = next_step
        self.exit_code = REFUSALS[code]
