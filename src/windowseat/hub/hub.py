"""The hub: which tabs there are, and the one door through which everything is done to them.

It is the only owner of `Target.*`. Other rooms ask it by tab id and hear of changes by events;
who may do what is their business.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from windowseat.chromium.keeper_client import KeeperClient
from windowseat.errors import BrowserError
from windowseat.hub.arrivals import FAILURES, Arrivals
from windowseat.hub.events import Activity, HubEvent
from windowseat.hub.faces import Faces
from windowseat.hub.following import Following
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
from windowseat.page.page import Page

log = logging.getLogger(__name__)

CHECKPOINT_EVERY: Final = 60.0
LISTED_WITHIN: Final = 5.0


class Hub:
    """Tabs under stable ids, over crashes of everything.

    Attributes:
        tabs: the tabs that have not ended, by id, the oldest first; changed in place.
    """

    def __init__(
        self,
        home: Home,
        store: Store,
        keeper: KeeperClient,
        *,
        extension: Path,
        headed: bool = False,
        size: tuple[int, int] = (1280, 800),
    ) -> None:
        """Read the store, which is the hub's from here on; the browser is asked from `start` on."""
        self.tabs: dict[str, Tab] = {}
        self._subscribers: list[Callable[[HubEvent], None]] = []
        self._tasks = Tasks()
        self._store = store
        self._size = size
        following = Following(store, self.tabs, self._tasks, self._tell)
        self._targets = Targets(store, following, self._tasks)
        self._link = BrowserLink(
            keeper,
            self._targets,
            extension,
            info_changed=following.info_changed,
            bridge_came=following.bridge_came,
        )
        self._pages = Pages(self._link, self._tasks, came=following.page_came, heard=following.page_event)
        self._windows = Windows(self._link, headed=headed, new_size=size)
        self._faces = Faces(store, self.tabs, following.face_changed)
        self._arrivals = Arrivals(self._targets, self._link, self._pages, self._windows, self._tasks)
        self._moves = Moves(
            store,
            self._targets,
            self._link,
            self._pages,
            self._arrivals,
            self._tasks,
            flush_face=self._faces.flush,
        )
        self._sessions = Sessions(store, self.tabs, self._open_for_session)
        self._list = TabList(home.tab_list, home.id, self._targets, self._link, following.rows)
        following.targets, following.link, following.pages = self._targets, self._link, self._pages
        following.windows, following.moves, following.faces = self._windows, self._moves, self._faces
        following.arrivals = self._arrivals
        following.tab_list = self._list
        self._following = following

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
        self._arrivals.want_spare()

    async def aclose(self) -> None:
        """Stop all work; the browser and its tabs stay, and the store is the caller's to close."""
        self._targets.close()
        self._arrivals.close()
        await self._tasks.aclose()
        self._faces.close()

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
        tab = self._tab(id)
        await self._moves.close(id)
        return tab

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

    def current_tab(self, session: str) -> Tab | None:
        """The session's current tab as it is, or None; opens and wakes nothing."""
        id = self._sessions.current(session)
        return None if id is None else self.tabs.get(id)

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
        if entry is None:
            raise BrowserError("no-such-tab", f"Tab {id} has ended.")
        if entry.target is None:
            # It went without an order: it may still come back, or end within seconds.
            raise BrowserError(
                "host-unavailable", f"The page of tab {id} is not there. Try again in a moment."
            )
        self._store.save_use(id)
        return await self._pages.wait(entry.target)

    def live_page(self, id: str) -> Page | None:
        """The page of a tab if it is awake and attached now; never wakes it."""
        return self._following.live_page(id)

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
                if e.tab_id is not None and not e.asleep and found.get(e.tab_id, 0) > 0  # -1: not known yet
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

    # -- helpers ---------------------------------------------------------------------------

    async def _open_for_session(self, session: str) -> str:
        return await self._moves.open("about:blank", session, None)

    def _tab(self, id: str) -> Tab:
        tab = self.tabs.get(id)
        if tab is None:
            raise BrowserError("no-such-tab", f"There is no tab {id[:40]}. `windowseat tabs` lists them.")
        return tab
