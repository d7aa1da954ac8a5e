"""The web room on real sockets, before a hub that is scripted by the test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from windowseat.cli.serving import listen, serve, serve_socket
from windowseat.errors import BrowserError
from windowseat.hub.clock import boot_now
from windowseat.hub.events import HubEvent, TabEnded, TabOpened, TabsChanged
from windowseat.hub.people import Person
from windowseat.hub.store import ClosedTab, StoredSession
from windowseat.hub.tab import Tab
from windowseat.web.admission import Admission, Entered
from windowseat.web.hub_api import unix_app
from windowseat.web.launchpad_app import launchpad_origin
from windowseat.web.origins import Origins
from windowseat.web.services import Services

TOKEN = "token-of-this-test"


class ScriptedHub:
    """Answers as the hub does, without a browser; remembers what it was asked."""

    def __init__(self) -> None:
        self.tabs: dict[str, Tab] = {}
        self.asked: list[tuple[str, ...]] = []
        self.ended: list[ClosedTab] = []
        self.memory_of: dict[str, int] = {}
        self._subscribers: list[Callable[[HubEvent], None]] = []

    def add(self, id: str, title: str, url: str = "https://shop.example/", **more: Any) -> Tab:
        tab = self.tabs[id] = Tab(id, f"T{id}", url, title, opened_at=float(len(self.tabs)), **more)
        self.tell(TabOpened(id, None))
        return tab

    def change(self, id: str, **values: Any) -> None:
        for name, value in values.items():
            setattr(self.tabs[id], name, value)
        self.tell(TabsChanged(frozenset({id})))

    def end(self, id: str) -> None:
        tab = self.tabs.pop(id)
        closed = ClosedTab(id, tab.url, tab.title, "", tab.session, None, 0.0, 0.0, "closed", None, None)
        self.ended.insert(0, closed)
        self.tell(TabEnded(id, "closed"))

    def tell(self, event: HubEvent) -> None:
        for subscriber in list(self._subscribers):
            subscriber(event)

    async def open(self, url: str, session: str | None = None) -> Tab:
        self.asked.append(("open", url, session or ""))
        return self.add(f"new{len(self.asked)}", "", url, session=session)

    async def close(self, id: str) -> Tab:
        self.asked.append(("close", id))
        tab = self._tab(id)
        self.change(id, closes_at=boot_now().at + 8)
        return tab

    async def restore(self, id: str) -> Tab:
        self.asked.append(("restore", id))
        for closed in self.ended:
            if closed.id == id:
                self.ended.remove(closed)
                return self.add(id, closed.title, closed.url, session=closed.session)
        self._tab(id)
        self.change(id, closes_at=None)
        return self.tabs[id]

    async def sleep(self, id: str) -> Tab:
        self.asked.append(("sleep", id))
        self._tab(id)
        self.change(id, asleep=True)
        return self.tabs[id]

    async def wake(self, id: str) -> Tab:
        self.asked.append(("wake", id))
        self._tab(id)
        self.change(id, asleep=False)
        return self.tabs[id]

    async def session_window(self, name: str) -> Tab:
        self.asked.append(("window", name))
        for tab in self.tabs.values():
            if tab.session == name:
                return tab
        return self.add(f"w{len(self.asked)}", "", "about:blank", session=name)

    def closed(self) -> Sequence[ClosedTab]:
        return self.ended

    def sessions(self) -> Sequence[StoredSession]:
        names = dict.fromkeys(tab.session for tab in self.tabs.values() if tab.session)
        return [StoredSession(name, None, 0.0) for name in names]

    async def memory(self) -> Mapping[str, int]:
        return self.memory_of

    def subscribe(self, callback: Callable[[HubEvent], None]) -> Callable[[], None]:
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def _tab(self, id: str) -> Tab:
        if id not in self.tabs:
            raise BrowserError("no-such-tab", "There is no such tab.")
        return self.tabs[id]


class ScriptedViews:
    def __init__(self) -> None:
        self.looking: dict[str, list[Person]] = {}
        self.watched: dict[str, list[Callable[[bytes], None]]] = {}

    @property
    def thumbnails(self) -> ScriptedViews:
        return self

    def viewers(self, id: str) -> list[Person]:
        return self.looking.get(id, [])

    def watch(self, id: str, callback: Callable[[bytes], None]) -> Callable[[], None]:
        callbacks = self.watched.setdefault(id, [])
        callbacks.append(callback)

        def stop() -> None:
            callbacks.remove(callback)
            if not callbacks:
                self.watched.pop(id, None)

        return stop


@dataclass
class ScriptedKernels:
    living: set[str] = field(default_factory=set)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)

    async def execute(self, session: str, code: str, timeout_s: float) -> Any:
        if code == "refused":
            raise BrowserError("not-allowed", "Code mode is off.")
        if code == "long":
            self.started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return _Executed({"ok": True, "text": f"{session}:{code}:{timeout_s:g}", "images": []})

    async def reset(self, session: str) -> None:
        self.living.discard(session)

    def alive(self, session: str) -> bool:
        return session in self.living


@dataclass
class _Executed:
    document: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return self.document


class ScriptedBroker:
    async def dispatch(
        self, session: str, op: str, args: Mapping[str, Any], timeout_s: float | None
    ) -> dict[str, Any]:
        if op != "tabs.list":
            return {
                "ok": False,
                "error": {"code": "invalid-args", "message": "no such op", "retryable": False},
            }
        return {"ok": True, "data": [session, dict(args), timeout_s]}


@dataclass
class Running:
    """The web room, served. `base` is the Launchpad's address, `socket` the hub API's."""

    services: Services
    hub: ScriptedHub
    views: ScriptedViews
    kernels: ScriptedKernels
    base: str
    port: int
    socket: Path
    downs: list[bool]
    browser: list[int]

    @property
    def host(self) -> str:
        return f"localhost:{self.port}"

    def enter(self, name: str | None = None) -> Entered:
        admission = self.services.admission
        return admission.enter(admission.new_code(name))

    def programs(self) -> httpx.AsyncClient:
        """A client of the hub's API on its Unix socket."""
        return httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=str(self.socket)), base_url="http://localhost/hub/v1"
        )

    def person(self, entered: Entered) -> httpx.AsyncClient:
        """A client that has both proofs."""
        return httpx.AsyncClient(
            base_url=self.base,
            cookies={entered.cookie_name: entered.cookie_value},
            headers={"X-Windowseat-Secret": entered.secret},
        )


@contextlib.asynccontextmanager
async def running_web(folder: Path) -> AsyncIterator[Running]:
    """Serve the Launchpad's origin on a free loopback port and the API on a Unix socket."""
    listening = listen(0, "--port")
    hub, views, kernels = ScriptedHub(), ScriptedViews(), ScriptedKernels()
    admission = Admission(folder / "admissions.db", "home-of-test", login="ana")
    downs: list[bool] = []
    browser: list[int] = []

    async def doctor() -> Sequence[Mapping[str, Any]]:
        return [{"name": "browser", "state": "ok", "message": "answers", "next": ""}]

    services = Services(
        hub=hub,
        views=views,
        admission=admission,
        origins=Origins(listening.port, listening.port + 1),
        kernels=kernels,
        broker=ScriptedBroker(),
        status=lambda: {"running": True, "uptime_s": 1.0},
        doctor=doctor,
        down=downs.append,
        browser_pid=lambda: browser[0] if browser else None,
        token=TOKEN,
        machine="devbox",
    )
    pages = await serve(launchpad_origin(services), listening.sockets)
    path = folder / "hub.sock"
    programs = await serve_socket(unix_app(services), path)
    try:
        base = f"http://localhost:{listening.port}"
        yield Running(services, hub, views, kernels, base, listening.port, path, downs, browser)
    finally:
        await programs.aclose()
        await pages.aclose()
        listening.close()
        admission.close()
