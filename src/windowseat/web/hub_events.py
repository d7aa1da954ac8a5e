"""`GET /hub/v1/events`: what happens in the hub, as server-sent events that can be resumed.

An event's id is `<run of the hub>-<number>`. Who comes back with `Last-Event-ID` gets what was
missed, as far as the last 512 events tell; else an event `reset` first, which means: read the
lists anew. The same stands for a reader that was too slow.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from windowseat.errors import BrowserError
from windowseat.hub.events import Activity, HubEvent, PageReplaced, TabEnded, TabOpened, TabsChanged
from windowseat.web.services import HubDoor

_KEPT: Final = 512
_READERS_AT_MOST: Final = 64
_HEARTBEAT: Final = 15.0


class EventFeed:
    """One per hub. It hears the hub from the first reader on."""

    def __init__(self, hub: HubDoor) -> None:
        self._hub = hub
        self._run = secrets.token_hex(4)
        self._number = 0
        self._events: deque[tuple[int, str, dict[str, Any]]] = deque(maxlen=_KEPT)
        self._readers: set[asyncio.Event] = set()
        self._hears = False

    async def serve(self, request: Request) -> Response:
        """The stream, until the reader goes."""
        if len(self._readers) >= _READERS_AT_MOST:
            raise BrowserError("host-unavailable", "Too many programs read the events.")
        if not self._hears:
            self._hub.subscribe(self._heard)
            self._hears = True
        position = self._position(request.headers.get("last-event-id"))
        return StreamingResponse(self._stream(position), media_type="text/event-stream")

    def _heard(self, event: HubEvent) -> None:
        described = _describe(event)
        if described is None:
            return
        self._number += 1
        self._events.append((self._number, *described))
        for news in self._readers:
            news.set()

    def _position(self, last: str | None) -> int | None:
        """The number after which to go on; None when what came between is not known any more."""
        if last is None:
            return self._number
        run, _, number = last.partition("-")
        if run != self._run or not number.isascii() or not number.isdigit() or len(number) > 18:
            return None
        return int(number) if int(number) <= self._number else None

    async def _stream(self, position: int | None) -> AsyncIterator[str]:
        news = asyncio.Event()
        self._readers.add(news)
        try:
            yield f": windowseat\nid: {self._run}-{self._number if position is None else position}\n\n"
            while True:
                oldest = self._events[0][0] if self._events else self._number + 1
                if position is None or position + 1 < oldest:
                    position = self._number
                    yield _frame(f"{self._run}-{position}", "reset", {})
                for number, name, data in list(self._events):
                    if number > position:
                        position = number
                        yield _frame(f"{self._run}-{number}", name, data)
                if position < self._number:
                    continue
                news.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), _HEARTBEAT)
                if not news.is_set():
                    yield ": still here\n\n"
        finally:
            self._readers.discard(news)


def _describe(event: HubEvent) -> tuple[str, dict[str, Any]] | None:
    match event:
        case TabsChanged(ids):
            return "tabs-changed", {"ids": sorted(ids)}
        case TabOpened(tab, opener):
            return "tab-opened", {"id": tab, "opener": opener}
        case TabEnded(tab, reason):
            return "tab-ended", {"id": tab, "reason": reason}
        case Activity(tab, session, line):
            return "activity", {"id": tab, "session": session, "line": line}
        case PageReplaced():
            return None


def _frame(id: str, name: str, data: dict[str, Any]) -> str:
    return f"id: {id}\nevent: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
