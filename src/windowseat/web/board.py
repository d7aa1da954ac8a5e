"""What the Launchpad shows, kept for all its pages together and told to each as changes.

The board works only while a page is open. It makes each tab's document once per change, not once
per page, at most four times a second; each page then gets what differs from what it has. Memory
is read only while one of the pages is visible.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from windowseat.errors import BrowserError
from windowseat.hub.events import Activity, HubEvent
from windowseat.hub.people import Person
from windowseat.hub.spawn import Tasks
from windowseat.hub.tab import Tab
from windowseat.web.documents import (
    agents_of,
    closed_documents,
    closes_in,
    person_document,
    session_documents,
)
from windowseat.web.machine import machine_memory
from windowseat.web.services import Services

log = logging.getLogger(__name__)

# Seconds.
_SPACING: Final = 0.25
# Who looks at a tab is asked for, not told, so it is looked at this often.
_LOOK_AGAIN: Final = 1.0
_MEMORY_EVERY: Final = 5.0
_ACTIVITY_SHOWN: Final = 8.0

_CLOSED_SHOWN: Final = 12
_LINE: Final = 160
_ICON: Final = 32 * 1024


@dataclass(eq=False)
class Watcher:
    """One open page. `changed` is called when the board has something new."""

    person: Person
    changed: Callable[[], None]
    visible: bool = True


@dataclass
class Picture:
    """Everything the Launchpad shows at one moment. Documents in it are never changed in place."""

    tabs: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)


def changes(before: Picture | None, now: Picture) -> dict[str, Any] | None:
    """The message that takes a page from one picture to the next; None when nothing differs.

    A page without a picture gets everything, as `{"t":"state"}`.
    """
    if before is None:
        return {"t": "state", "tabs": list(now.tabs.values()), "gone": [], **now.parts}
    message: dict[str, Any] = {}
    tabs = [tab for id, tab in now.tabs.items() if before.tabs.get(id) != tab]
    gone = [id for id in before.tabs if id not in now.tabs]
    if tabs or gone:
        message = {"tabs": tabs, "gone": gone}
    message |= {name: part for name, part in now.parts.items() if before.parts.get(name) != part}
    return {"t": "change", **message} if message else None


class Board:
    """The one per hub."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tasks = Tasks()
        self._running: list[asyncio.Task[Any]] = []
        self._watchers: list[Watcher] = []
        self._stop_hearing: Callable[[], None] | None = None
        self._dirty = asyncio.Event()
        self._lines: dict[str, tuple[str, float]] = {}
        self._tab_memory: dict[str, int] = {}
        self._machine: dict[str, Any] | None = None
        self._visible = asyncio.Event()
        self.picture = Picture()

    def join(self, watcher: Watcher) -> Callable[[], None]:
        """Add a page; the board is fresh when this returns. Answers `leave`."""
        self._watchers.append(watcher)
        if len(self._watchers) == 1:
            self._stop_hearing = self._services.hub.subscribe(self._heard)
            self._running = [
                self._tasks.spawn(self._keep_fresh(), name="launchpad board"),
                self._tasks.spawn(self._keep_memory(), name="launchpad memory"),
            ]
        self.note_visibility()
        self._refresh()

        def leave() -> None:
            if watcher not in self._watchers:
                return
            self._watchers.remove(watcher)
            self.note_visibility()
            self._dirty.set()
            if not self._watchers:
                self._rest()

        return leave

    def note_visibility(self) -> None:
        """A page was shown or hidden."""
        if any(watcher.visible for watcher in self._watchers):
            self._visible.set()
        else:
            self._visible.clear()

    async def aclose(self) -> None:
        """End with the hub."""
        self._rest()
        await self._tasks.aclose()

    def _rest(self) -> None:
        if self._stop_hearing is not None:
            self._stop_hearing()
            self._stop_hearing = None
        for task in self._running:
            task.cancel()
        self._running.clear()
        self._lines.clear()

    def _heard(self, event: HubEvent) -> None:
        if isinstance(event, Activity):
            self._lines[event.tab] = (event.line[:_LINE], time.monotonic() + _ACTIVITY_SHOWN)
        self._dirty.set()

    async def _keep_fresh(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._dirty.wait(), _LOOK_AGAIN)
            self._dirty.clear()
            try:
                self._refresh()
            except sqlite3.Error as error:
                # A full disk costs the pages their news, not their connection.
                log.warning("the Launchpad's board could not be read: %s", error)
            await asyncio.sleep(_SPACING)

    async def _keep_memory(self) -> None:
        while True:
            await self._visible.wait()
            with contextlib.suppress(BrowserError, TimeoutError):
                self._tab_memory = dict(await asyncio.wait_for(self._services.hub.memory(), 10))
            pid = self._services.browser_pid()
            self._machine = (await asyncio.to_thread(machine_memory, pid)).as_dict()
            self._dirty.set()
            await asyncio.sleep(_MEMORY_EVERY)

    def _refresh(self) -> None:
        """Make the next picture; tell the pages when it differs."""
        picture = self.look()
        if changes(self.picture, picture) is None:
            return
        self.picture = picture
        for watcher in list(self._watchers):
            watcher.changed()

    def look(self) -> Picture:
        """Everything as it is now. May raise `sqlite3.Error`."""
        services, now = self._services, time.monotonic()
        self._lines = {id: line for id, line in self._lines.items() if line[1] > now}
        tabs: dict[str, dict[str, Any]] = {}
        looking: dict[str, list[str]] = {}
        here = {watcher.person.id: watcher.person for watcher in self._watchers}
        for id, tab in services.hub.tabs.items():
            viewers = services.views.viewers(id)
            for person in viewers:
                here.setdefault(person.id, person)
                looking.setdefault(person.id, []).append(id)
            tabs[id] = self._tab(tab, viewers=[person_document(one) for one in viewers])
        sessions = [
            {name: one[name] for name in ("name", "tabs", "alive")}
            for one in session_documents(services, time.time())
            if one["tabs"] or one["alive"]
        ]
        # A socket keeps the person it was opened by; since then they may have another name.
        known = {one.person.id: one.person for one in services.admission.list()}
        people = [
            {**person_document(known.get(id, one)), "tabs": looking.get(id, [])} for id, one in here.items()
        ]
        parts = {
            "sessions": sorted(sessions, key=lambda one: one["name"]),
            "people": people,
            "closed": closed_documents(services.hub.closed(), _CLOSED_SHOWN),
            "memory": self._machine,
        }
        return Picture(tabs, parts)

    def _tab(self, tab: Tab, *, viewers: list[dict[str, Any]]) -> dict[str, Any]:
        line = self._lines.get(tab.id)
        # The page's content policy shows no foreign pictures: asking for one would tell the site.
        icon = tab.icon if tab.icon.startswith("data:image/") and len(tab.icon) <= _ICON else ""
        return {
            "id": tab.id,
            "url": tab.url,
            "title": tab.title,
            "icon": icon,
            "session": tab.session,
            "opener": tab.opener,
            "agents": agents_of(self._services, tab),
            "viewers": viewers,
            "asleep": tab.asleep,
            "loading": tab.loading,
            "crashed": tab.crashed,
            "audible": tab.audible,
            "line": line[0] if line is not None else None,
            "closes_at": tab.closes_at,
            "opened_at": tab.opened_at,
            "memory": None if tab.asleep else _coarse(self._tab_memory.get(tab.id)),
        }


def _coarse(memory: int | None) -> int | None:
    """Bytes to the nearest megabyte, so that a tab does not count as changed all the time."""
    return None if memory is None else max(1, round(memory / 1_000_000)) * 1_000_000


def with_countdowns(message: dict[str, Any], services: Services) -> dict[str, Any]:
    """The message as it is sent now: a closing tab carries how long its Undo still lasts."""
    tabs = services.hub.tabs
    if "tabs" in message:
        message["tabs"] = [
            {**tab, "closes_in_s": closes_in(tabs[tab["id"]])}
            if tab["closes_at"] is not None and tab["id"] in tabs
            else tab
            for tab in message["tabs"]
        ]
    message["now"] = time.time()
    return message
