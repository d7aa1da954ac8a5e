"""Follows what ids, the browser, the bridge and pages tell, and keeps `tabs` as people see them.

The listener of `hub.targets`: by the time anything here is called, the store has it.
"""

from __future__ import annotations

import contextlib
import time
from asyncio import get_running_loop
from collections.abc import Callable
from typing import Any

from windowseat.chromium.bridge import Bridge, BridgeEvent, TabUpdated
from windowseat.hub.arrivals import FAILURES, Arrivals
from windowseat.hub.clock import boot_now
from windowseat.hub.events import HubEvent, PageReplaced, TabEnded, TabOpened, TabsChanged
from windowseat.hub.faces import Faces, cut
from windowseat.hub.link import BrowserLink
from windowseat.hub.moves import Moves
from windowseat.hub.pages import Pages
from windowseat.hub.spawn import Tasks
from windowseat.hub.store import Store
from windowseat.hub.tab import Tab
from windowseat.hub.tab_list import TabList
from windowseat.hub.targets import Targets
from windowseat.hub.windows import Windows
from windowseat.page import events as page_events
from windowseat.page.page import Page
from windowseat.rules.ids import Entry


class Following:
    """Keeps `tabs` current. `wire` gives it the parts that in turn need it as their listener."""

    targets: Targets
    link: BrowserLink
    pages: Pages
    windows: Windows
    moves: Moves
    arrivals: Arrivals
    tab_list: TabList
    faces: Faces

    def __init__(
        self, store: Store, tabs: dict[str, Tab], tasks: Tasks, tell: Callable[[HubEvent], None]
    ) -> None:
        self._tabs = tabs
        self._tasks = tasks
        self._tell = tell
        self._bound: dict[str, str] = {}  # id -> the target whose page it has
        for row in store.tabs():
            entry = row.entry
            tabs[entry.id] = Tab(
                entry.id,
                url=entry.url,
                title=row.title,
                icon=row.icon,
                opener=entry.opener,
                session=entry.session,
                asleep=entry.asleep,
                opened_at=row.opened_at,
            )

    def live_page(self, id: str) -> Page | None:
        """The page of a tab if it is awake and attached now."""
        entry = self.targets.ids.entries.get(id)
        if entry is None or entry.asleep or entry.closing:
            return None
        return self.pages.get(entry.target)

    def rows(self) -> list[dict[str, Any]]:
        """The tabs of a list as C4 has them."""
        self._refresh_targets()
        boot = boot_now().boot
        rows: list[dict[str, Any]] = []
        for tab in self._tabs.values():
            row: dict[str, Any] = {
                "id": tab.id,
                "target": tab.target,
                "url": tab.url,
                "title": tab.title,
                "opener": tab.opener,
                "session": tab.session,
                "held_by": [],
                "asleep": tab.asleep,
            }
            if tab.closes_at is not None:
                row["closes_at"] = {"boot": boot, "at": tab.closes_at}
            rows.append(row)
        return rows

    # -- what ids tell (hub.targets.Listener) ----------------------------------------------

    def saved(self, entry: Entry) -> None:
        """An entry is new or changed."""
        tab = self._tabs.get(entry.id)
        is_new = tab is None
        if tab is None:
            tab = self._tabs[entry.id] = Tab(entry.id, url=cut(entry.url, 2048), opened_at=time.time())
        tab.session, tab.opener, tab.asleep = entry.session, entry.opener, entry.asleep
        if entry.closing_until is None:
            tab.closes_at = None
        else:
            tab.closes_at = boot_now().at + entry.closing_until - get_running_loop().time()
        if entry.asleep:
            tab.loading = tab.crashed = tab.audible = False
        self._refresh_targets()
        if is_new:
            self._tell(TabOpened(entry.id, entry.opener))
        self._changed(entry.id)

    def adopted(self, entry: Entry) -> None:
        """A page opened a tab: it moves to a window of its own."""
        self._bind(entry)
        self._tasks.spawn(self._own_window(entry), name=f"own window for {entry.id}")
        if entry.tab_id is None and entry.target is not None:
            self._tasks.spawn(self.arrivals.number(entry.id, entry.target), name=f"number {entry.id}")

    def rebound(self, entry: Entry) -> None:
        """An id has this target now."""
        self._bind(entry)

    def unbound(self, id: str) -> None:
        """The target of an id went."""
        target = self._bound.pop(id, None)
        if target is not None:
            self.pages.drop(target)
            self.windows.forget(target)
        self.moves.unbound(id)
        self._refresh_targets()
        self._tell(PageReplaced(id))

    def dropped(self, entry: Entry, reason: str) -> None:
        """An id ended."""
        self._tabs.pop(entry.id, None)
        self._bound.pop(entry.id, None)
        self._tell(TabEnded(entry.id, reason))
        self._changed(entry.id)

    def list_changed(self) -> None:
        """A list taken now would differ."""
        self._refresh_targets()
        self.tab_list.changed()
        if self.targets.ids.mapped and self.targets.ids.spare is None:
            self.arrivals.want_spare()

    def _bind(self, entry: Entry) -> None:
        former = self._bound.get(entry.id)
        if former is not None and former != entry.target:
            self.pages.drop(former)
            self.windows.forget(former)
        if entry.target is not None:
            self._bound[entry.id] = entry.target
            if not entry.asleep:
                self.pages.attach(entry.target)
        self._tell(PageReplaced(entry.id))

    async def _own_window(self, entry: Entry) -> None:
        bridge = self.link.bridge
        if bridge is None or entry.target is None:
            return
        with contextlib.suppress(*FAILURES):
            tabs = await bridge.tabs()
            mine = tabs.get(entry.target)
            if mine is None:
                return
            if any(other.window_id == mine.window_id for other in tabs.values() if other is not mine):
                await bridge.move_to_window(mine.tab_id)
                self.windows.forget(entry.target)
                await self.windows.fit_new(entry.target)

    # -- what the browser tells ------------------------------------------------------------

    def bridge_came(self, bridge: Bridge) -> None:
        """The extension of a new connection answers."""
        bridge.listen(self._bridge_event)

    def info_changed(self, target: str, url: str) -> None:
        """A target's address, as the browser tells it."""
        entry = self.targets.ids.of_target(target)
        if entry is not None and not entry.asleep:
            self.faces.show(entry.id, url=url)

    def _bridge_event(self, event: BridgeEvent) -> None:
        if not isinstance(event, TabUpdated):
            return
        entry = self.targets.ids.of_tab(event.tab_id)
        tab = None if entry is None else self._tabs.get(entry.id)
        if tab is None:
            return
        self.faces.show(tab.id, title=event.title or None, icon=event.icon)
        if event.audible is not None and event.audible != tab.audible:
            tab.audible = event.audible
            self._changed(tab.id)

    def page_came(self, target: str) -> None:
        """A page is attached."""
        entry = self.targets.ids.of_target(target)
        if entry is not None:
            self._show(entry.id)
            self._tell(PageReplaced(entry.id))

    def page_event(self, target: str, event: page_events.PageEvent) -> None:
        """Something happened in an attached page."""
        entry = self.targets.ids.of_target(target)
        if entry is None:
            return
        if isinstance(event, page_events.Gone):
            self.pages.drop(target)
            self._tell(PageReplaced(entry.id))
        elif isinstance(event, page_events.Changed | page_events.Crashed):
            self._show(entry.id)

    def face_changed(self, id: str) -> None:
        """A tab's address, title or icon differs."""
        self.tab_list.changed(faces_only=True)
        self._changed(id)

    def _show(self, id: str) -> None:
        page, tab = self.live_page(id), self._tabs.get(id)
        if page is None or tab is None:
            return
        if (tab.loading, tab.crashed) != (page.loading, page.crashed):
            tab.loading, tab.crashed = page.loading, page.crashed
            self._changed(id)
        if not page.url.startswith("about:blank"):
            self.faces.show(id, title=page.title or None, icon=self._own_icon(page, tab))

    def _own_icon(self, page: Page, tab: Tab) -> str | None:
        """The icon that a page carries in itself, until the bridge tells which one the browser shows."""
        own = page.icon if page.icon.startswith("data:image/") else ""
        if self.link.bridge is None:
            return own
        return own if own and not tab.icon else None

    def _changed(self, id: str) -> None:
        self._tell(TabsChanged(frozenset({id})))

    def _refresh_targets(self) -> None:
        known = self.targets.ids.entries
        for id, tab in self._tabs.items():
            tab.target = self.targets.ids.shown_target(id) if id in known else None
