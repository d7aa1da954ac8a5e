"""Small live pictures of tabs for whoever looks at a list of them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from windowseat.view.cast import JPEG, Picture

# A frame made for viewers is large; it becomes a thumbnail less often than one made small.
LARGE_EVERY: Final = 1.4
KEPT_AT_MOST: Final = 200
LARGEST_KEPT: Final = 256 * 1024

Callback = Callable[[bytes], None]


class ThumbnailPace:
    """The watchers of one tab's thumbnail, and how often they get a frame made for viewers."""

    def __init__(self) -> None:
        self._callbacks: dict[object, Callback] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._next: Picture | None = None
        self.last: bytes | None = None

    @property
    def watched(self) -> bool:
        """Whether anybody looks."""
        return bool(self._callbacks)

    def watch(self, callback: Callback) -> Callable[[], None]:
        """Call `callback(jpeg)` with each picture; returns a function that stops it."""
        key = object()
        self._callbacks[key] = callback
        if self.last is not None:
            self._loop.call_soon(self._tell_one, key, self.last)
        return lambda: self._callbacks.pop(key, None) and None

    def offer(self, picture: Picture) -> None:
        """A new picture of the tab is there."""
        if not self._callbacks or picture.kind != JPEG:
            return
        if picture.small:
            self._send(picture)
            return
        self._next = picture
        if self._timer is None:
            self._send_next()

    def close(self) -> None:
        """Stop for good."""
        self._callbacks.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send_next(self) -> None:
        self._timer = None
        picture, self._next = self._next, None
        if picture is not None:
            self._send(picture)
            self._timer = self._loop.call_later(LARGE_EVERY, self._send_next)

    def _send(self, picture: Picture) -> None:
        self.last = picture.data
        for callback in list(self._callbacks.values()):
            callback(picture.data)

    def _tell_one(self, key: object, jpeg: bytes) -> None:
        callback = self._callbacks.get(key)
        if callback is not None:
            callback(jpeg)


class LastPictures:
    """The last thumbnail of each tab, for tabs that sleep and lists that open anew."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def keep(self, tab: str, jpeg: bytes | None) -> None:
        """Remember a tab's last picture."""
        if jpeg is None or len(jpeg) > LARGEST_KEPT:
            return
        self._kept[tab] = jpeg
        self._kept.move_to_end(tab)
        while len(self._kept) > KEPT_AT_MOST:
            self._kept.popitem(last=False)

    def get(self, tab: str) -> bytes | None:
        """A tab's last picture, if it is known."""
        return self._kept.get(tab)

    def forget(self, tab: str) -> None:
        """The tab ended."""
        self._kept.pop(tab, None)
