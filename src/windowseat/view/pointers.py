"""Where each person's pointer is, told to the others at most thirty times a second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

EVERY: Final = 1 / 30


class Pointers:
    """`tell_others(viewer, message)` sends to everybody but that viewer."""

    def __init__(self, tell_others: Callable[[str, dict[str, Any]], None]) -> None:
        self._tell_others = tell_others
        self._moved: dict[str, tuple[float, float]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def at(self, viewer: str, x: float, y: float, *, down: bool = False) -> None:
        """A viewer's pointer moved, or pressed."""
        if down:
            self._moved.pop(viewer, None)
            self._tell_others(viewer, {"t": "pointer", "viewer": viewer, "x": x, "y": y, "k": "down"})
            return
        self._moved[viewer] = (x, y)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(EVERY, self._flush)

    def left(self, viewer: str) -> None:
        """A viewer's pointer left the page, or the viewer went."""
        x, y = self._moved.pop(viewer, (0.0, 0.0))
        self._tell_others(viewer, {"t": "pointer", "viewer": viewer, "x": x, "y": y, "k": "leave"})

    def close(self) -> None:
        """Stop for good."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush(self) -> None:
        self._timer = None
        moved, self._moved = self._moved, {}
        for viewer, (x, y) in moved.items():
            self._tell_others(viewer, {"t": "pointer", "viewer": viewer, "x": x, "y": y, "k": "move"})
