"""One person's live connection to one tab: what goes out to them, at their own pace.

Texts go in order through a bounded box, in which a newer cursor, pointer or title replaces an older
one of its kind; pictures go at the viewer's pace (`rules.pacing`). A line that is too slow for
either costs only itself: the box overflows and the socket closes.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from windowseat.hub.people import Person
from windowseat.rules import pacing
from windowseat.rules.pacing import Acked, Hidden, Offered, Pace, Shown
from windowseat.view import protocol
from windowseat.view.cast import Picture
from windowseat.view.messages import Hello, Message
from windowseat.view.protocol import TEXT_LIMIT, MalformedError

log = logging.getLogger(__name__)

PING_EVERY: Final = 5.0
SILENT_AT_MOST: Final = 15.0
TEXTS_AT_MOST: Final = 400
# A sharp picture that would keep the line busy for longer (seconds) is left out.
SHARP_WITHIN: Final = 2.5
CHARS_AT_MOST: Final = 4 * 1024 * 1024
TOO_BIG: Final = 1009
TRY_LATER: Final = 1013
GOING_AWAY: Final = 1001
# Kinds of which only the newest is worth sending.
NEWEST_ONLY: Final = frozenset({"cursor", "link", "tab", "people", "size", "status", "field"})


class Channel(Protocol):
    """A socket to one person's browser."""

    async def receive(self) -> str | bytes | None:
        """The next message, or None once the other side has gone."""

    async def send(self, data: str | bytes) -> None:
        """Send one message; waits while the line is full. Raises `ChannelClosedError` once it has gone."""

    async def close(self, code: int) -> None:
        """Close with a WebSocket close code; harmless when closed."""


class ChannelClosedError(Exception):
    """The other side has gone."""


@dataclass(frozen=True)
class Visit:
    """Who comes, and what only the way they came can tell.

    Attributes:
        person: who was let in.
        hello: their first message.
        credential: what lets them in again.
        launchpad: the Launchpad's address as this person sees it.
        view_url: makes an address of the view of another tab for this person, its token in the fragment.
    """

    person: Person
    hello: Hello
    credential: str
    launchpad: str
    view_url: Callable[[str], str]


class Viewer:
    """One viewer.

    Attributes:
        id: random enough within the hub's life; other viewers see it.
        size: the size this viewer would like, CSS pixels.
        visible: whether somebody looks.
    """

    _numbers = itertools.count(1)

    def __init__(self, channel: Channel, visit: Visit) -> None:
        self.id = f"v{next(self._numbers)}"
        self.person = visit.person
        self.visit = visit
        self.size = (visit.hello.w, visit.hello.h)
        self.touch = visit.hello.touch
        self.visible = visit.hello.visible
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._pace = Pace(shown=visit.hello.visible)
        self._latest: Picture | None = None
        # At most as many as may be under way: frames that come in one read are all sent then.
        self._owed: deque[tuple[int, Picture]] = deque()
        self._sent_last = (0, 0)  # number and bytes
        self._bytes_a_second = float("inf")
        self._texts: OrderedDict[tuple[str, object], str] = OrderedDict()
        self._chars = 0
        self._text_numbers = itertools.count()
        self._wake = asyncio.Event()
        self._closing: int | None = None
        self._heard_at = self._loop.time()
        self._pings = itertools.count(1)

    @property
    def answers(self) -> bool:
        """Whether a ping was answered in the last 15 s (C5 counts such a viewer)."""
        return self._loop.time() - self._heard_at <= SILENT_AT_MOST

    @property
    def pace(self) -> Pace:
        """How pictures go out to this viewer now."""
        return self._pace

    def lag(self) -> float | None:
        """Seconds from sending a picture to its acknowledgement, if any is known."""
        return pacing.lag_of(self._pace, self._loop.time())

    def as_seen_by(self, other: Viewer) -> dict[str, Any]:
        """The PERSON of the protocol."""
        return {
            "viewer": self.id,
            "name": self.person.name,
            "color": self.person.color,
            "you": self is other,
        }

    # -- what goes out -------------------------------------------------------------------------

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message soon; never waits. A box that overflows closes the socket."""
        if self._closing is not None:
            return
        kind = message["t"]
        key: tuple[str, object] = (kind, None)
        if kind == "pointer":
            key = (kind, message["viewer"] if message["k"] == "move" else next(self._text_numbers))
        elif kind not in NEWEST_ONLY:
            key = (kind, next(self._text_numbers))
        text = protocol.encode(message)
        self._chars += len(text) - len(self._texts.get(key, ""))
        self._texts[key] = text
        if len(self._texts) > TEXTS_AT_MOST or self._chars > CHARS_AT_MOST:
            self.close(TRY_LATER)
        self._wake.set()

    def error(self, code: str, message: str) -> None:
        """Say that the last message did nothing."""
        self.tell({"t": "error", "code": code, "message": message})

    def offer(self, picture: Picture) -> None:
        """A newer picture of the page is there."""
        if picture.sharp and len(picture.data) > SHARP_WITHIN * self._bytes_a_second:
            return  # what it shows is there already, less fine; the line is better kept free
        self._latest = picture
        self._step(Offered())

    def greet(self, picture: Picture) -> None:
        """The latest picture, for a viewer who has none yet."""
        if self._latest is None:
            self.offer(picture)

    def acknowledged(self, n: int) -> None:
        """The viewer has drawn picture `n`."""
        if self._owed and n >= self._owed[0][0]:
            # Who acknowledges what is still to be sent would make the hub keep ever more for them.
            raise MalformedError(f"ack: picture {n} has not been sent yet.")
        now = self._loop.time()
        sent_at = dict(self._pace.under_way).get(n)
        try:
            self._step(Acked(n))
        except ValueError as error:
            raise MalformedError(f"ack: {error}.") from None
        if sent_at is not None and n == self._sent_last[0]:
            self._bytes_a_second = self._sent_last[1] / max(now - sent_at, 0.001)

    def shown(self, visible: bool) -> None:
        """The viewer's page was shown or hidden."""
        self.visible = visible
        if not visible:
            self._step(Hidden())
        elif self._latest is not None:
            self._step(Shown())
        else:
            self._pace = replace(self._pace, shown=True)

    def ponged(self) -> None:
        """A ping was answered."""
        self._heard_at = self._loop.time()

    def close(self, code: int) -> None:
        """End this viewer's socket; what is in the box goes out first."""
        if self._closing is None:
            self._closing = code
        self._wake.set()

    def _step(self, event: pacing.Event) -> None:
        self._pace, n = pacing.step(self._pace, event, self._loop.time())
        if n is not None and self._latest is not None:
            self._owed.append((n, self._latest))
            self._wake.set()

    # -- the connection's life -----------------------------------------------------------------

    async def run(self, handle: Callable[[Message], None]) -> None:
        """Serve until either side ends. `handle(message)` gets each message; it must not block."""
        tasks = [
            asyncio.create_task(self._receive(handle), name=f"receive {self.id}"),
            asyncio.create_task(self._send(), name=f"send {self.id}"),
            asyncio.create_task(self._ping(), name=f"ping {self.id}"),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            for failure in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(failure, Exception) and not isinstance(failure, ChannelClosedError):
                    log.error("viewer %s failed", self.id, exc_info=failure)
            await self._channel.close(self._closing or GOING_AWAY)

    async def _receive(self, handle: Callable[[Message], None]) -> None:
        while (data := await self._channel.receive()) is not None:
            if len(data) > TEXT_LIMIT:
                self._closing = TOO_BIG
                return
            try:
                handle(protocol.parse(data))
            except MalformedError as wrong:
                self.error("invalid-args", str(wrong))
            # A flood in one read must not keep the others waiting.
            await asyncio.sleep(0)

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._texts:
                _key, text = self._texts.popitem(last=False)
                self._chars -= len(text)
                await self._channel.send(text)
            if self._closing is not None:
                return
            if self._owed:
                n, picture = self._owed.popleft()
                self._sent_last = (n, len(picture.data))
                sent_ms = int(self._loop.time() * 1000)
                await self._channel.send(protocol.frame(picture, n, sent_ms))
                if self._owed:
                    self._wake.set()

    async def _ping(self) -> None:
        while self.answers and self._closing is None:
            self.tell({"t": "ping", "id": next(self._pings)})
            await asyncio.sleep(PING_EVERY)
