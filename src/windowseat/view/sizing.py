"""Which size a tab's page has, and asking for another: one change at a time, the newest wish last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from windowseat.errors import BrowserError

Size = tuple[int, int]


class Sizing:
    """One tab's size, in CSS pixels.

    Args:
        size: what the page has now.
        resize: asks the hub; returns what the page got. Raises BrowserError.
        spawn: runs a coroutine as a task and keeps it.
        changed: called with each new size.
    """

    def __init__(
        self,
        size: Size,
        resize: Callable[[Size], Awaitable[Size]],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        changed: Callable[[Size], None],
    ) -> None:
        self.size = size
        self._resize = resize
        self._spawn = spawn
        self._changed = changed
        self._wanted: Size | None = None
        self._under_way = False

    def want(self, size: Size) -> None:
        """Give the page this size; nothing happens when it was asked for last."""
        if size == self._wanted:
            return
        self._wanted = size
        if not self._under_way:
            self._under_way = True
            self._spawn(self._ask())

    def renew(self, size: Size) -> None:
        """The tab has another page, which knows nothing of what was asked of the last one."""
        self._wanted = None
        self.want(size)

    def seen(self, size: Size) -> None:
        """A picture of the page has this size; one taken before a change under way says nothing."""
        if not self._under_way:
            self._has(size)

    def _has(self, size: Size) -> None:
        if size != self.size:
            self.size = size
            self._changed(size)

    async def _ask(self) -> None:
        done: Size | None = None
        try:
            while self._wanted is not None and self._wanted != done:
                done = self._wanted
                self._has(await self._resize(done))
        except BrowserError:
            self._wanted = None  # the page went or is stuck: the next wish is asked for anew
        finally:
            self._under_way = False
