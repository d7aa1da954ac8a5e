"""What is under way to one page, from all its viewers: counted, bounded, never awaited."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from windowseat.chromium.connection import Params

Future = asyncio.Future[Params]

UNDER_WAY_AT_MOST: Final = 256
MOVES_AT_MOST: Final = 2
WHEELS_AT_MOST: Final = 4


class Share:
    """How many of one kind are under way."""

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether another of the kind should wait."""
        return self.count >= self._at_most


class Flow:
    """The input commands that a page has not answered yet."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._sent: deque[tuple[Future, float]] = deque()
        self.moves = Share(MOVES_AT_MOST)
        self.wheels = Share(WHEELS_AT_MOST)

    def take(
        self, futures: Sequence[Future], *, of: Share | None = None, then: Callable[[], None] | None = None
    ) -> None:
        """Count these until they are answered; `then()` is called once for each that is."""
        now = self._loop.time()
        self._drop_answered()
        for future in futures:
            self._sent.append((future, now))
            if of is not None:
                of.count += 1
                future.add_done_callback(lambda _, of=of: self._answered(of, then))  # type: ignore[misc]

    @property
    def full(self) -> bool:
        """Whether the page has answered too little for more to make sense."""
        self._drop_answered()
        return len(self._sent) >= UNDER_WAY_AT_MOST

    def oldest(self) -> float:
        """For how many seconds the oldest unanswered input has been under way."""
        self._drop_answered()
        return self._loop.time() - self._sent[0][1] if self._sent else 0.0

    async def wait_answered(self, timeout: float) -> None:
        """Return once all that is under way now has been answered, or after `timeout` seconds."""
        self._drop_answered()
        sent = [future for future, _ in self._sent]
        if sent:
            await asyncio.wait(sent, timeout=timeout)

    def forget(self) -> None:
        """The document that these went to is gone; its answers may never come."""
        self._sent.clear()
        self.moves = Share(MOVES_AT_MOST)
        self.wheels = Share(WHEELS_AT_MOST)

    def _answered(self, of: Share, then: Callable[[], None] | None) -> None:
        of.count -= 1
        if then is not None and (of is self.moves or of is self.wheels):
            then()

    def _drop_answered(self) -> None:
        while self._sent and self._sent[0][0].done():
            self._sent.popleft()
