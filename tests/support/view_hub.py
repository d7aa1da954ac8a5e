"""A hub of a few real pages for tests of the view, and a channel that stands for a person's browser."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.chromium import open_page, wait_until
from windowseat.chromium.connection import CdpSession, Connection
from windowseat.errors import BrowserError
from windowseat.hub.events import HubEvent, PageReplaced, TabEnded, TabOpened, TabsChanged
from windowseat.hub.people import Person
from windowseat.hub.tab import Tab
from windowseat.page.page import Page
from windowseat.view.messages import Hello
from windowseat.view.service import ViewService
from windowseat.view.viewer import ChannelClosedError, Visit

ANA = Person("p1", "Ana", "blue")
BEN = Person("p2", "Ben", "green")
HEADER = struct.Struct("<BBHIHHI")


class PagesHub:
    """The part of the hub that a view uses, over real pages of a real Chromium."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.connected = True
        self.tabs: dict[str, Tab] = {}
        self.ended: list[Any] = []
        self._pages: dict[str, Page] = {}
        self._sizes: dict[str, tuple[int, int]] = {}
        self._subscribers: list[Callable[[HubEvent], None]] = []

    async def add(self, id: str, url: str, *, opener: str | None = None) -> Page:
        self.tabs[id] = Tab(id, url=url, opener=opener)
        page = await self._attach(id, url)
        self.tell(TabOpened(id, opener))
        return page

    async def _attach(self, id: str, url: str) -> Page:
        session = await open_page(self.connection, url)
        page = Page(session, session.target)
        await page.start()
        self._pages[id] = page
        self.tabs[id].title = page.title
        return page

    def live_page(self, id: str) -> Page | None:
        page = self._pages.get(id)
        return None if page is None or page.gone else page

    async def page(self, id: str) -> Page:
        tab = self.tabs[id]
        if tab.asleep:
            tab.asleep = False
            await self._attach(id, tab.url)
            self.tell(PageReplaced(id))
        page = self.live_page(id)
        if page is None:
            raise BrowserError("no-such-tab", "The page has ended.")
        return page

    async def sleep(self, id: str) -> None:
        page = self._pages.pop(id)
        self.tabs[id].asleep = True
        self.connection.root.send("Target.closeTarget", {"targetId": page.target})
        self.tell(PageReplaced(id))
        self.tell(TabsChanged(frozenset({id})))

    async def set_size(self, id: str, width: int, height: int) -> tuple[int, int]:
        page = await self.page(id)
        window = await self.connection.root.call("Browser.getWindowForTarget", {"targetId": page.target})
        await self.connection.root.call(
            "Browser.setContentsSize", {"windowId": window["windowId"], "width": width, "height": height}
        )
        self._sizes[id] = (width, height)
        return width, height

    def page_size(self, id: str) -> tuple[int, int]:
        return self._sizes.get(id, (1280, 800))

    def closed(self) -> list[Any]:
        return self.ended

    def end(self, id: str, reason: str, *, restorable: bool) -> None:
        tab = self.tabs.pop(id)
        self._pages.pop(id, None)
        if restorable:
            self.ended.append(tab)
        self.tell(PageReplaced(id))
        self.tell(TabEnded(id, reason))

    async def restore(self, id: str) -> Tab:
        tab = next(tab for tab in self.ended if tab.id == id)
        self.ended.remove(tab)
        self.tabs[id] = tab
        await self._attach(id, tab.url)
        self.tell(PageReplaced(id))
        return tab

    def subscribe(self, callback: Callable[[HubEvent], None]) -> Callable[[], None]:
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def tell(self, event: HubEvent) -> None:
        for callback in list(self._subscribers):
            callback(event)


@dataclass
class Frame:
    kind: int
    sharp: bool
    n: int
    width: int
    height: int
    data: bytes
    at: float


class PersonsBrowser:
    """A `Channel` that records what comes, acknowledges pictures if told to, and answers pings."""

    def __init__(self, *, acks: bool = True, pongs: bool = True) -> None:
        self.acks = acks
        self.pongs = pongs
        self.texts: list[dict[str, Any]] = []
        self.frames: list[Frame] = []
        self.closed: int | None = None
        self._inbox: asyncio.Queue[str | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def receive(self) -> str | bytes | None:
        return await self._inbox.get()

    async def send(self, data: str | bytes) -> None:
        if self.closed is not None:
            raise ChannelClosedError
        if isinstance(data, bytes):
            kind, flags, _zero, n, width, height, _at = HEADER.unpack(data[:16])
            now = asyncio.get_running_loop().time()
            self.frames.append(Frame(kind, bool(flags & 1), n, width, height, data[16:], now))
            if self.acks:
                self.say(t="ack", n=n)
            return
        message = json.loads(data)
        if message["t"] == "ping" and self.pongs:
            self.say(t="pong", id=message["id"])
        else:
            self.texts.append(message)

    async def close(self, code: int) -> None:
        self.closed = code

    def say(self, **message: Any) -> None:
        """Send a message to the hub."""
        self._inbox.put_nowait(json.dumps(message))

    def say_raw(self, text: str) -> None:
        self._inbox.put_nowait(text)

    def leave(self) -> None:
        """Go away."""
        self._inbox.put_nowait(None)

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.texts if message["t"] == kind]

    async def hear(self, t: str, /, *, timeout: float = 10.0, **fields: Any) -> dict[str, Any]:
        """Wait for a message of this kind with these fields; returns the latest of them."""

        def found() -> list[dict[str, Any]]:
            return [m for m in self.all(t) if all(m.get(name) == value for name, value in fields.items())]

        return (await wait_until(found, timeout=timeout, what=f"{t} {fields} among {self.texts[-8:]}"))[-1]

    async def see(self, count: int = 1, *, timeout: float = 10.0) -> Frame:
        """Wait until so many pictures have come; returns the latest."""
        await wait_until(lambda: len(self.frames) >= count, timeout=timeout, what=f"{count} pictures")
        return self.frames[-1]


class Looking:
    """People looking at tabs through a real `ViewService`."""

    def __init__(self, hub: PagesHub, folder: Path) -> None:
        self.hub = hub
        self.service = ViewService(hub, folder / "uploads")
        self._tasks: list[asyncio.Task[None]] = []

    async def come(
        self,
        tab: str,
        person: Person = ANA,
        *,
        size: tuple[int, int] = (1000, 700),
        browser: PersonsBrowser | None = None,
        touch: bool = False,
        visible: bool = True,
    ) -> PersonsBrowser:
        """A person opens the view of a tab; returns once they are welcome."""
        browser = browser or PersonsBrowser()
        hello = Hello(w=size[0], h=size[1], touch=touch, visible=visible)
        visit = Visit(person, hello, "credential", "http://localhost:1", lambda other: f"view of {other}")
        self._tasks.append(asyncio.create_task(self.service.serve(tab, browser, visit)))
        await browser.hear("welcome")
        return browser

    async def aclose(self) -> None:
        await self.service.aclose()
        await asyncio.wait_for(asyncio.gather(*self._tasks, return_exceptions=True), 10)


async def value(page: Page, js: str) -> Any:
    """A JavaScript value of the page's own world."""
    return await page.evaluate_page(js)


def session_of(page: Page) -> CdpSession:
    return page.session
