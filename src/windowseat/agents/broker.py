"""How does one command of one session reach one tab, and what comes back? (contract C3)

`Broker.dispatch` is the only way in for agents' operations. It checks the arguments, finds the tab
(a session reaches its own tabs only, and any other id gives the answer of an id that never was),
keeps the deadline, and turns every failure into a closed code. What each operation does is in
`agents.carry`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from windowseat.agents.carry import CARRIERS, Command
from windowseat.chromium.connection import CdpError, CdpGone, CdpTimeout
from windowseat.errors import BrowserError
from windowseat.rules.names import is_session_name
from windowseat.rules.operations import Operation
from windowseat.rules.wire import check_args, operation_named

if TYPE_CHECKING:
    from windowseat.hub.hub import Hub
    from windowseat.hub.tab import Tab

log = logging.getLogger(__name__)

# What a page's own waiting leaves to the caller, so that its sentence comes before a bare deadline.
MARGIN: Final = 0.2
TIMEOUT_LIMIT: Final = 600.0
MAY_BE_LOST: Final = frozenset({"timeout", "host-unavailable", "cancelled"})

Result = dict[str, Any]


class Broker:
    """Carries out operations for sessions, in the tabs of the hub it was given."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def dispatch(
        self, session: str, op: str, args: Mapping[str, Any], timeout_s: float | None = None
    ) -> Result:
        """Carry out one operation and return the `result` of C3; never raises but when cancelled.

        Args:
            session: whose command it is.
            op: name of the operation.
            args: its arguments, unchecked.
            timeout_s: the caller's own deadline in seconds; None takes the operation's.
        """
        try:
            data = await self._carry_out(session, op, args, timeout_s)
        except BrowserError as error:
            return {"ok": False, "error": error.as_dict()}
        except asyncio.CancelledError:
            raise
        except Exception:  # a bug of ours must cost only this command
            log.exception("operation %s of session %s", op, session)
            told = BrowserError(
                "execution-failed", f"{op} failed inside Windowseat; its log has the details."
            )
            return {"ok": False, "error": told.as_dict()}
        return {"ok": True, "data": data}

    def owns(self, session: str, tab: Tab) -> bool:
        """Whether a tab is the session's. Tabs that its pages open get its session from the hub."""
        return tab.session == session

    def tabs_of(self, session: str) -> list[Tab]:
        """The session's tabs that have not been closed, oldest first."""
        return self._hub.session_tabs(session)

    def own_tab(self, session: str, tab_id: str, *, closing: bool = False) -> Tab:
        """Return one of the session's tabs; `closing` also takes one that waits for its Undo to end.

        Raises:
            BrowserError: `no-such-tab`, also when it is somebody else's.
        """
        tab = self._hub.tabs.get(tab_id)
        if tab is None or not self.owns(session, tab) or (tab.closes_at is not None and not closing):
            raise no_such_tab(tab_id)
        return tab

    def current(self, session: str) -> str | None:
        """Id of the session's current tab, or None while it has none; wakes and opens nothing."""
        tab = self._hub.current_tab(session)
        return None if tab is None else tab.id

    def select(self, session: str, tab_id: str) -> None:
        """Make a tab the session's current one."""
        self._hub.select(session, tab_id)

    async def current_tab(self, session: str) -> Tab:
        """Return the session's current tab; its window, made if it has none (C5)."""
        return await self._hub.session_window(session)

    async def _carry_out(
        self, session: str, op: str, args: Mapping[str, Any], timeout_s: float | None
    ) -> Any:
        if not is_session_name(session):
            raise BrowserError("invalid-args", f"{session[:80]!r} is no session name.")
        operation = operation_named(op)
        checked = check_args(op, args)
        allowed = _allowed(operation, checked, timeout_s)
        deadline = time.monotonic() + allowed
        command = Command(self._hub, self, session, operation, checked, deadline - min(MARGIN, allowed / 4))
        try:
            async with asyncio.timeout(allowed):
                return await CARRIERS[op](command)
        except TimeoutError:
            raise _lost(
                operation,
                "timeout",
                f"{op} was not done within {allowed:g} s.",
            ) from None
        except CdpTimeout:
            raise _lost(operation, "timeout", f"{op}: the browser did not answer in time.") from None
        except CdpGone:
            raise _lost(operation, "host-unavailable", f"{op}: the page or the browser went away.") from None
        except CdpError as error:
            raise BrowserError("execution-failed", f"{op}: the browser says: {error.message}") from None


def no_such_tab(tab_id: str) -> BrowserError:
    """The one answer for an id that ended, never was, or is somebody else's."""
    return BrowserError(
        "no-such-tab",
        f"There is no tab {tab_id[:64]!r} in this session; tabs.list names those that there are.",
    )


def _allowed(operation: Operation, args: Mapping[str, Any], timeout_s: float | None) -> float:
    """Seconds that the command may take: the operation's own, never more than the caller's."""
    own = operation.timeout
    if "timeout_ms" in args:
        own = args["timeout_ms"] / 1000 + MARGIN
    if timeout_s is None:
        return own
    return max(0.0, min(own, timeout_s, TIMEOUT_LIMIT))


def _lost(operation: Operation, code: str, message: str) -> BrowserError:
    """The error of a command that may have changed something before it was lost."""
    if operation.changes:
        return BrowserError(
            code, f"{message} It may have taken effect: look before you repeat it.", outcome="unknown"
        )
    return BrowserError(code, message)
