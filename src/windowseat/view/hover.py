"""What lies under one viewer's pointer, read at most ten times a second and never in a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from windowseat.errors import BrowserError
from windowseat.page import pointing
from windowseat.page.page import Page
from windowseat.page.pointing import Pointed

EVERY: Final = 0.1
Spawn = Callable[[Coroutine[Any, Any, None]], object]


class Hover:
    """The cursor's shape and the link for one viewer.

    Args:
        spawn: runs a coroutine as a task and keeps it.
        tell: called with a message when shape or link differ from what was told last.
    """

    def __init__(self, spawn: Spawn, tell: Callable[[dict[str, Any]], None]) -> None:
        self._spawn = spawn
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._page: Page | None = None
        self._place: tuple[float, float] | None = None
        self._told = Pointed()
        self._reading = False
        self._timer: asyncio.TimerHandle | None = None
        self._read_at = -EVERY

    def at(self, page: Page, x: float, y: float) -> None:
        """The pointer is here now."""
        self._page, self._place = page, (x, y)
        self._plan()

    def again(self) -> None:
        """The page may have changed under a pointer that rests."""
        if self._place is not None:
            self._plan()

    def left(self) -> None:
        """The pointer is not over the page any more."""
        self._place = None
        self._show(Pointed(self._told.cursor, ""))

    def close(self) -> None:
        """Stop for good."""
        self._place = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _plan(self) -> None:
        if self._reading or self._timer is not None:
            return
        wait = max(0.0, self._read_at + EVERY - self._loop.time())
        self._timer = self._loop.call_later(wait, self._begin)

    def _begin(self) -> None:
        self._timer = None
        page, place = self._page, self._place
        if place is None or page is None or page.gone or page.crashed or page.dialog is not None:
            return
        self._reading = True
        self._read_at = self._loop.time()
        self._spawn(self._read(page, place))

    async def _read(self, page: Page, place: tuple[float, float]) -> None:
        try:
            found = await pointing.look(page, *place)
        except (BrowserError, KeyError, TypeError):
            return  # between two documents, or a busy page: the shape stays as it was
        finally:
            self._reading = False
            if self._place is not None and self._place != place:
                self._plan()
        if self._place is not None:
            self._show(found)

    def _show(self, found: Pointed) -> None:
        if found.cursor != self._told.cursor:
            self._tell({"t": "cursor", "cursor": found.cursor})
        if found.link != self._told.link:
            self._tell({"t": "link", "url": found.link})
        self._told = found
