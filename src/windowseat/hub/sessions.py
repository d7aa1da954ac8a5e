"""Sessions: names under which agents have tabs of their own, and which tab is a session's current one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final
from weakref import WeakValueDictionary

from windowseat.errors import BrowserError
from windowseat.hub.store import Store, StoredSession
from windowseat.hub.tab import Tab
from windowseat.rules.names import is_session_name

WITHIN: Final = 20.0


class Sessions:
    """Names, current tabs and locks. `open_tab(session)` makes a tab and returns its id."""

    def __init__(self, store: Store, tabs: dict[str, Tab], open_tab: Callable[[str], Awaitable[str]]) -> None:
        self._store = store
        self._tabs = tabs
        self._open_tab = open_tab
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def check(self, name: str) -> str:
        """The name itself.

        Raises:
            BrowserError: "invalid-args" for one outside C1's grammar.
        """
        if not is_session_name(name):
            raise BrowserError(
                "invalid-args",
                f"{name[:80]!r} is not a session name: use 1 to 64 of A-Z, a-z, 0-9, _ and -.",
            )
        return name

    def known(self) -> list[StoredSession]:
        """Every session that has ever been used, by name."""
        return self._store.sessions()

    def tabs_of(self, name: str) -> list[Tab]:
        """Its open tabs, the oldest first."""
        return [tab for tab in self._tabs.values() if tab.session == name and tab.closes_at is None]

    def select(self, name: str, id: str) -> None:
        """Make a tab of the session its current one.

        Raises:
            BrowserError: "no-such-tab" when it is not one of the session's.
        """
        if id not in [tab.id for tab in self.tabs_of(name)]:
            raise BrowserError("no-such-tab", f"Session {name} has no tab {id}. `tabs.list` lists its own.")
        self._store.save_session(name, id)

    def used(self, name: str) -> None:
        """The session did something."""
        row = self._store.session(name)
        self._store.save_session(name, None if row is None else row.current)

    async def window(self, name: str) -> str:
        """The id of the session's current tab, made if it has none: two askers get the same (C5).

        Raises:
            BrowserError: "invalid-args", "host-unavailable", "timeout".
        """
        self.check(name)
        lock = self._locks.setdefault(name, asyncio.Lock())
        try:
            async with asyncio.timeout(WITHIN), lock:
                return self.current(name) or await self._make(name)
        except TimeoutError:
            raise BrowserError("timeout", "The browser did not open a tab in time. Try again.") from None

    def current(self, name: str) -> str | None:
        """The id of its current tab, if it has one."""
        tabs = {tab.id: tab for tab in self.tabs_of(name)}
        row = self._store.session(name)
        if row is not None and row.current in tabs:
            return row.current
        # The one opened last is where the session went on.
        return next(reversed(tabs), None)

    async def _make(self, name: str) -> str:
        id = await self._open_tab(name)
        self._store.save_session(name, id)
        return id
