"""How far the main frame's present document has come, and waiting for it to come further.

Fed with the browser's lifecycle events by `Page`. The stages in their order: commit,
domcontentloaded, load, networkidle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

STAGES: Final = ("commit", "domcontentloaded", "load", "networkidle")
_NAMES: Final = {"commit": "commit", "DOMContentLoaded": "domcontentloaded", "load": "load"}
_IDLE: Final = "networkIdle"


class Loading:
    """The stages that the present document has reached.

    Attributes:
        document: loader id of the present document.
        moves: counts navigations within documents and commits, so that a caller can see one happen.
        requests: counts navigations of the main frame that were asked for.
    """

    def __init__(self) -> None:
        self.document = ""
        self.moves = 0
        self.commits = 0
        self.requests = 0
        self.asked_url = ""
        self._reached: set[str] = set()
        self._busy = False
        self._changed: set[asyncio.Future[None]] = set()

    def asked(self, url: str) -> None:
        """The main frame is about to navigate."""
        self.requests += 1
        self.asked_url = url
        self._wake()

    def committed(self, document: str, *, whole: bool) -> None:
        """Another document is there; `whole` when it came complete out of the cache."""
        if document != self.document or whole:
            self._reached = set()
        self.document = document
        self.moves += 1
        self.commits += 1
        self._reached.add("commit")
        if whole:
            self._reached.update(STAGES)
        self._wake()

    def moved_within(self) -> None:
        """The address changed without another document."""
        self.moves += 1
        self._wake()

    def is_loading(self, busy: bool) -> None:
        """The frame began or ceased to load. Ceasing ends waits for "load": it may never fire then."""
        self._busy = busy
        self._wake()

    def reached(self, document: str, name: str) -> None:
        """A lifecycle event came."""
        if name == "init":
            return
        if document != self.document:
            # The browser replays the past when events are enabled, and commits may come late.
            self.document = document
            self._reached = {"commit"}
        stage = _NAMES.get(name) or ("networkidle" if name == _IDLE else None)
        if stage is not None:
            self._reached.add(stage)
            self._wake()

    def has(self, stage: str) -> bool:
        """Whether the present document has reached this stage."""
        return stage in self._reached

    @property
    def busy(self) -> bool:
        """Whether the frame is loading."""
        return self._busy

    async def wait(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait until the condition holds, looked at after each change; False when time runs out."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while not condition():
            left = end - loop.time()
            if left <= 0:
                return False
            change: asyncio.Future[None] = loop.create_future()
            self._changed.add(change)
            try:
                await asyncio.wait({change}, timeout=left)
            finally:
                self._changed.discard(change)
        return True

    def wake(self) -> None:
        """Let waits look at their conditions again."""
        self._wake()

    def _wake(self) -> None:
        for change in self._changed:
            if not change.done():
                change.set_result(None)
