"""The hub: which tabs there are, and the one door through which everything is done to them.

It is the only owner of `Target.*`. Other rooms ask it by tab id and hear of changes by events;
who may do what is their business.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from windowseat.chromium.bridge import Bridge, BridgeEvent, TabUpdated
from windowseat.chromium.connection import CdpError, CdpGone, CdpTimeout
from windowseat.chromium.keeper_client import KeeperClient
from windowseat.errors import BrowserError
from windowseat.hub.clock import boot_now
from windowseat.hub.events import Activity, HubEvent, PageReplaced, TabEnded, TabOpened, TabsChanged
from windowseat.hub.faces import Faces, cut
from windowseat.hub.home import Home
from windowseat.hub.link import BrowserLink
from windowseat.hub.moves import Moves
from windowseat.hub.pages import Pages
from windowseat.hub.sessions import Sessions
from windowseat.hub.spawn import Tasks
from windowseat.hub.store import ClosedTab, Store, StoredSession, Visit
from windowseat.hub.tab import Tab
from windowseat.hub.tab_list import TabList
from windowseat.hub.targets import Targets
from windowseat.hub.windows import Windows
from windowseat.page import events as page_events
from windowseat.page.page import Page
from windowseat.rules.ids import Entry

log = logging.getLogger(__name__)

CHECKPOINT_EVERY: Final = 60.0
LISTED_WITHIN: Final = 5.0
FAILURES: Final = (CdpError, CdpGone, CdpTimeout, BrowserError, TimeoutError)


class Hub:
    """Tabs under stable ids, over crashes of everything.

    Attributes:
        tabs: the tabs that have not ended, by id, the oldest first; changed in place.
    """

    def __init__(
        self,
        home: Home,
        keeper: KeeperClient,
        *,
        extension: Path,
        headed: bool = False,
        size: tuple[int, int] = (1280, 800),
    ) -> None:
        """Read the store; nothing is asked of the browser before `start`.

        Raises:
            Refusal: the store cannot be used.
        """
        self.tabs: dict[str, Tab] = {}
        self.started_at = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._subscribers: list[Callable[[HubEvent], None]] = []
        self._tasks = Tasks()
        self._store = Store(home.store)
        self._size = size
        self._load_tabs()
        self._targets = Targets(self._store, self, self._tasks)
        self._link = BrowserLink(
            keeper,
            self._targets,
            extension,
            info_changed=self._info_changed,
            bridge_came=self._bridge_came,
        )
        self._pages = Pages(self._link, self._tasks, came=self._page_came, heard=self._page_event)
        self._windows = Windows(self._link, headed=headed)
        self._faces = Faces(self._store, self.tabs, self._face_changed)
        self._moves = Moves(
            self._store, self._targets, self._link, self._pages, self._tasks, size=size,
            flush_face=self._faces.flush,
        )  # fmt: skip
        self._sessions = Sessions(self._store, self.tabs, self._open_for_session)
        self._list = TabList(home.tab_list, home.id, self._targets, self._link, self._rows)
        self._attached: dict[str, str] = {}  # id -> target whose page was bound to it

    # -- life of the hub -------------------------------------------------------------------

    async def start(self, timeout: float = 30.0) -> None:
        """Connect to the browser and map its targets.

        Raises:
            BrowserError: "host-unavailable" when the browser does not answer within `timeout` seconds.
        """
        self._tasks.spawn(self._link.run(), name="browser link")
        self._tasks.spawn(self._list.run(), name="tab list")
        self._tasks.spawn(self._checkpoints(), name="store checkpoints")
        await self._link.wait_connected(timeout)
        self._moves.want_spare()

    async def aclose(self) -> None:
        """Stop all work and close the store; the browser and its tabs stay."""
        self._targets.close()
        self._moves.close_timers()
        await self._tasks.aclose()
        self._faces.close()
        self._store.close()

    async def quit_browser(self) -> None:
        """Ask the browser to end well (`Browser.close`), so that profile and sign-ins are written."""
        root = self._link.root
        if root is not None:
            with contextlib.suppress(*FAILURES):
                await root.call("Browser.close", timeout=5.0)

    async def _checkpoints(self) -> None:
        while True:
            await asyncio.sleep(CHECKPOINT_EVERY)
            await asyncio.to_thread(self._store.checkpoint)

    # -- operations ------------------------------------------------------------------------

    async def open(self, url: str, session: str | None = None, *, opener: str | None = None) -> Tab:
        """Open a tab in a window of its own; answers once its page is on its way to `url`.

        Args:
            url: an address that the caller has checked (`rules.address`).
            session: the session that gets it, or None for a person's own.
            opener: id of the tab from which it was opened.

        Raises:
            BrowserError: "invalid-args" for a bad session name, "host-unavailable", "execution-failed".
        """
        if session is not None:
            self._sessions.check(session)
        id = await self._moves.open(url, session, opener)
        if session is not None:
            self._sessions.used(session)
        return self._tab(id)

    async def close(self, id: str) -> Tab:
        """Close a tab for everyone; `restore` within its Undo, or for a day after, brings it back.

        Raises:
            BrowserError: "no-such-tab".
        """
        await self._moves.close(id)
        return self._tab(id)

    async def restore(self, id: str) -> Tab:
        """Bring a closed tab back under its id; answers once a tab list has it.

        Raises:
            BrowserError: "no-such-tab", "host-unavailable", "timeout".
        """
        await self._moves.restore(id)
        if not await self._list.wait_next(LISTED_WITHIN):
            log.warning("tab %s is back, but no list has been written within %s s", id, LISTED_WITHIN)
        return self._tab(id)

    async def sleep(self, id: str) -> Tab:
        """Put a tab's page away until it is used. Raises BrowserError as `Moves.sleep`."""
        await self._moves.sleep(id)
        return self._tab(id)

    async def wake(self, id: str) -> Tab:
        """Bring a sleeping tab's page back. Raises BrowserError as `Moves.wake`."""
        await self._moves.wake(id)
        return self._tab(id)

    async def session_window(self, name: str) -> Tab:
        """The session's current tab, made if it has none and woken (C5, "A session's window").

        Raises:
            BrowserError: "invalid-args" for a bad name, "host-unavailable", "timeout".
        """
        tab = self._tab(await self._sessions.window(name))
        return await self.wake(tab.id) if tab.asleep else tab

    def select(self, session: str, id: str) -> Tab:
        """Make a tab of the session its current one. Raises BrowserError "no-such-tab"."""
        self._sessions.select(session, id)
        return self._tab(id)

    def session_tabs(self, name: str) -> list[Tab]:
        """The open tabs of a session, the oldest first."""
        return self._sessions.tabs_of(name)

    async def page(self, id: str) -> Page:
        """The page of a tab, woken and attached.

        Raises:
            BrowserError: "no-such-tab", "host-unavailable", "timeout".
        """
        tab = self._tab(id)
        if tab.closes_at is not None:
            raise BrowserError(
                "no-such-tab", f"Tab {id} was closed. `windowseat restore {id}` brings it back."
            )
        if tab.asleep:
            await self._moves.wake(id)
        await self._link.wait_connected(10.0)
        entry = self._targets.ids.entries.get(id)
        if entry is None or entry.target is None:
            raise BrowserError("no-such-tab", f"The page of tab {id} has ended.")
        self._store.save_use(id)
        return await self._pages.wait(entry.target)

    def live_page(self, id: str) -> Page | None:
        """The page of a tab if it is awake and attached now; never wakes it."""
        entry = self._targets.ids.entries.get(id)
        if entry is None or entry.asleep or entry.closing:
            return None
        return self._pages.get(entry.target)

    async def set_size(self, id: str, width: int, height: int) -> tuple[int, int]:
        """Give a tab's page this viewport in CSS pixels; returns what it was cut to.

        Raises:
            BrowserError: "no-such-tab", "host-unavailable", "execution-failed".
        """
        page = await self.page(id)
        return await self._windows.resize(page, width, height)

    def page_size(self, id: str) -> tuple[int, int]:
        """The viewport that the tab's page has or will have, CSS pixels."""
        entry = self._targets.ids.entries.get(id)
        known = None if entry is None or entry.target is None else self._windows.size(entry.target)
        return known or self._size

    # -- questions -------------------------------------------------------------------------

    @property
    def connected(self) -> bool:
        """Whether the browser is there."""
        return self._link.connected.is_set()

    @property
    def link(self) -> BrowserLink:
        """The line to the browser, for `status` and `doctor`."""
        return self._link

    @property
    def list_failure(self) -> str | None:
        """Why the last tab list could not be written, for `doctor`."""
        return self._list.failure

    def sessions(self) -> list[StoredSession]:
        """Every session that was used, also those without tabs."""
        return self._sessions.known()

    def closed(self) -> list[ClosedTab]:
        """Ended tabs that can be reopened, the latest first."""
        return [tab for tab in self._store.closed() if tab.id not in self.tabs]

    def visits(self, limit: int = 200) -> list[Visit]:
        """Addresses visited, the latest first."""
        return self._store.visits(limit)

    async def memory(self) -> dict[str, int]:
        """Private memory per tab id in bytes, of those awake; empty where the browser cannot tell."""
        bridge = self._link.bridge
        if bridge is None:
            return {}
        with contextlib.suppress(*FAILURES):
            found = await bridge.memory()
            entries = self._targets.ids.entries.values()
            return {
                e.id: found[e.tab_id]
                for e in entries
                if e.tab_id is not None and not e.asleep and e.tab_id in found
            }
        return {}

    # -- events ----------------------------------------------------------------------------

    def subscribe(self, callback: Callable[[HubEvent], None]) -> Callable[[], None]:
        """Call `callback(event)` for every event, synchronously; returns a function that stops it."""
        self._subscribers.append(callback)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._subscribers.remove(callback)

        return stop

    def report(self, activity: Activity) -> None:
        """An agent does something in a tab: tell those who watch."""
        self._tell(activity)

    def _tell(self, event: HubEvent) -> None:
        for callback in list(self._subscribers):
            try:
                callback(event)
            except Exception:
                log.exception("a subscriber failed on %r", event)

    # -- what ids tell (hub.targets.Listener) ----------------------------------------------

    def saved(self, entry: Entry) -> None:
        """An entry is new or changed."""
        tab = self.tabs.get(entry.id)
        if tab is None:
            tab = self.tabs[entry.id] = Tab(entry.id, opened_at=time.time())
            tab.url = cut(entry.url, 2048)
            new = True
        else:
            new = False
        tab.session, tab.opener, tab.asleep = entry.session, entry.opener, entry.asleep
        tab.closes_at = self._boot_time(entry.closing_until)
        if new:
            self._tell(TabOpened(entry.id, entry.opener))
        self._refresh_targets()
        self._tell(TabsChanged(frozenset({entry.id})))

    def adopted(self, entry: Entry) -> None:
        """A page opened a tab: it moves to a window of its own."""
        self._bind(entry)
        self._tasks.spawn(self._own_window(entry), name=f"own window for {entry.id}")

    def rebound(self, entry: Entry) -> None:
        """An id has another target."""
        self._bind(entry)

    def unbound(self, id: str) -> None:
        """The target of an id went."""
        target = self._attached.pop(id, None)
        if target is not None:
            self._pages.drop(target)
            self._windows.forget(target)
        self._moves.unbound(id)
        self._refresh_targets()
        self._tell(PageReplaced(id))

    def dropped(self, entry: Entry, reason: str) -> None:
        """An id ended."""
        self.tabs.pop(entry.id, None)
        self._attached.pop(entry.id, None)
        self._tell(TabEnded(entry.id, reason))
        self._tell(TabsChanged(frozenset({entry.id})))

    def list_changed(self) -> None:
        """A list taken now would differ."""
        self._refresh_targets()
        self._list.changed()
        if self._targets.ids.mapped and self._targets.ids.spare is None:
            self._moves.want_spare()

    def _bind(self, entry: Entry) -> None:
        former = self._attached.get(entry.id)
        if former is not None and former != entry.target:
            self._pages.drop(former)
            self._windows.forget(former)
        if entry.target is not None:
            self._attached[entry.id] = entry.target
            if not entry.asleep:
                self._pages.attach(entry.target)
        self._tell(PageReplaced(entry.id))

    async def _own_window(self, entry: Entry) -> None:
        bridge = self._link.bridge
        if bridge is None or entry.target is None:
            return
        with contextlib.suppress(*FAILURES):
            tabs = await bridge.tabs()
            mine = tabs.get(entry.target)
            if mine is None:
                return
            shared = [t for t in tabs.values() if t.window_id == mine.window_id and t is not mine]
            if shared:
                await bridge.move_to_window(mine.tab_id)
                self._windows.forget(entry.target)

    # -- what the browser tells ------------------------------------------------------------

    def _bridge_came(self, bridge: Bridge) -> None:
        bridge.listen(self._bridge_event)

    def _bridge_event(self, event: BridgeEvent) -> None:
        if not isinstance(event, TabUpdated):
            return
        entry = next((e for e in self._targets.ids.entries.values() if e.tab_id == event.tab_id), None)
        if entry is None:
            return
        self._faces.show(entry.id, title=event.title, icon=event.icon)
        tab = self.tabs.get(entry.id)
        if tab is not None and event.audible is not None and event.audible != tab.audible:
            tab.audible = event.audible
            self._tell(TabsChanged(frozenset({entry.id})))

    def _info_changed(self, target: str, url: str) -> None:
        entry = self._targets.ids.of_target(target)
        if entry is not None and not entry.asleep:
            self._faces.show(entry.id, url=url)

    def _page_came(self, target: str) -> None:
        entry = self._targets.ids.of_target(target)
        if entry is not None:
            self._show_page(entry.id)
            self._tell(PageReplaced(entry.id))

    def _page_event(self, target: str, event: page_events.PageEvent) -> None:
        entry = self._targets.ids.of_target(target)
        if entry is None:
            return
        if isinstance(event, page_events.Gone):
            self._pages.drop(target)
            self._tell(PageReplaced(entry.id))
        elif isinstance(event, page_events.Changed | page_events.Crashed):
            self._show_page(entry.id)

    def _show_page(self, id: str) -> None:
        page, tab = self.live_page(id), self.tabs.get(id)
        if page is None or tab is None:
            return
        if (tab.loading, tab.crashed) != (page.loading, page.crashed):
            tab.loading, tab.crashed = page.loading, page.crashed
            self._tell(TabsChanged(frozenset({id})))
        if not page.url.startswith("about:blank"):
            self._faces.show(id, title=page.title or None, icon=page.icon or None)

    # -- helpers ---------------------------------------------------------------------------

    async def _open_for_session(self, session: str) -> str:
        return await self._moves.open("about:blank", session, None)

    def _load_tabs(self) -> None:
        for row in self._store.tabs():
            entry = row.entry
            self.tabs[entry.id] = Tab(
                entry.id,
                url=entry.url,
                title=row.title,
                icon=row.icon,
                opener=entry.opener,
                session=entry.session,
                asleep=entry.asleep,
                opened_at=row.opened_at,
            )

    def _tab(self, id: str) -> Tab:
        tab = self.tabs.get(id)
        if tab is None:
            raise BrowserError("no-such-tab", f"There is no tab {id[:40]}. `windowseat tabs` lists them.")
        return tab

    def _boot_time(self, until: float | None) -> float | None:
        return None if until is None else boot_now().at + until - self._loop.time()

    def _face_changed(self, id: str) -> None:
        self._list.changed(faces_only=True)
        self._tell(TabsChanged(frozenset({id})))

    def _refresh_targets(self) -> None:
        for id, tab in self.tabs.items():
            tab.target = self._targets.ids.shown_target(id) if id in self._targets.ids.entries else None

    def _rows(self) -> list[dict[str, Any]]:
        """The tabs of a list as C4 has them."""
        self._refresh_targets()
        boot = boot_now().boot
        rows: list[dict[str, Any]] = []
        for tab in self.tabs.values():
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
