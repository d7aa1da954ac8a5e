"""Everything that changes a tab's target: open, close, restore, sleep, wake.

Each is begun in `rules.ids`, and so in the store, before the browser is asked (contract C4).
Operations on one tab run one at a time; different tabs do not wait for each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final
from weakref import WeakValueDictionary

from windowseat.chromium.bridge import Bridge
from windowseat.chromium.connection import CdpGone, CdpSession
from windowseat.errors import BrowserError
from windowseat.hub.arrivals import FAILURES, Arrivals
from windowseat.hub.link import BrowserLink
from windowseat.hub.pages import Pages
from windowseat.hub.spawn import Tasks
from windowseat.hub.store import ClosedTab, Store
from windowseat.hub.targets import Targets, new_id
from windowseat.rules import ids
from windowseat.rules.ids import BLANK, Entry, Kind, Operation, placeholder_url

log = logging.getLogger(__name__)

BROWSER_WITHIN: Final = 10.0
GONE_WITHIN: Final = 5.0
COMMIT_WITHIN: Final = 2.0


class Moves:
    """The operations. `gone` must be told of each target that went (`Unbound`)."""

    def __init__(
        self,
        store: Store,
        targets: Targets,
        link: BrowserLink,
        pages: Pages,
        arrivals: Arrivals,
        tasks: Tasks,
        *,
        flush_face: Callable[[str], None],
    ) -> None:
        self._store = store
        self._targets = targets
        self._link = link
        self._pages = pages
        self._tasks = tasks
        self._arrivals = arrivals
        self._flush_face = flush_face
        # Weak: a lock lives as long as somebody holds or awaits it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._unbound: dict[str, asyncio.Event] = {}

    @contextlib.asynccontextmanager
    async def lock(self, id: str) -> AsyncIterator[None]:
        """The tab's own lock: its operations run one at a time."""
        async with self._locks.setdefault(id, asyncio.Lock()):
            yield

    def unbound(self, id: str) -> None:
        """The target of an id went."""
        event = self._unbound.pop(id, None)
        if event is not None:
            event.set()

    # -- open ------------------------------------------------------------------------------

    async def open(self, url: str, session: str | None, opener: str | None) -> str:
        """Make a tab at `url` (checked by the caller) in a window of its own; returns its id.

        Raises:
            BrowserError: "host-unavailable" or "execution-failed"; no tab came of it.
        """
        root = await self._ready()
        entry = Entry(new_id(), url=url, session=session, opener=opener)
        spare = self._targets.ids.spare
        if spare is not None:
            self._targets.ask(ids.SpareTaken(entry))
            self._arrivals.want_spare()
            self._tasks.spawn(self._arrivals.number(entry.id, spare), name="number the spare's tab")
            await self._go_or_end(entry.id, spare, url)
            return entry.id
        async with self.lock(entry.id):
            self._targets.ask(ids.Begun(Operation(entry.id, Kind.CREATE), entry))
            async with self._settling(entry.id, end=True):
                target = await self._arrivals.create(root, placeholder_url(entry.id))
                self._targets.ask(ids.Done(entry.id, target))
                self._tasks.spawn(self._arrivals.number(entry.id, target), name="number a new tab")
        self._arrivals.want_spare()
        await self._go_or_end(entry.id, target, url)
        return entry.id

    async def _go_or_end(self, id: str, target: str, url: str) -> None:
        """Send a new tab on its way; one that cannot be reached does not stay behind, blank."""
        try:
            await self._arrivals.go(target, url)
        except BrowserError:
            with contextlib.suppress(BrowserError):
                self._targets.ask(ids.ClosedForEveryone(id))
            raise
        except CdpGone as failure:
            raise BrowserError("host-unavailable", "The browser ended. Try once more.") from failure

    # -- close and restore -----------------------------------------------------------------

    async def close(self, id: str) -> None:
        """Close for everyone: the page ends at once, the id after its Undo.

        Raises:
            BrowserError: "no-such-tab".
        """
        async with self.lock(id):
            if self._entry(id).closing:
                return
            await self._ready()
            entry = self._entry(id)
            await self._arrivals.ensure_spare()  # the browser ends with its last window
            self._flush_face(id)
            gone = self._unbound.setdefault(id, asyncio.Event())
            self._targets.ask(ids.ClosedForEveryone(id))
            if entry.target is not None:
                await self._wait_gone(gone)
                await self._remember_window(id)

    async def _wait_gone(self, gone: asyncio.Event) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GONE_WITHIN):
                await gone.wait()

    async def _remember_window(self, id: str) -> None:
        """Keep the browser's own id of the window just closed: it reopens it with its history."""
        row = self._store.tab(id)
        if row is None:
            return
        session_id = None
        bridge = self._link.bridge
        if bridge is not None:
            with contextlib.suppress(*FAILURES):
                for closed in (await bridge.recently_closed())[:5]:
                    if closed.url == row.entry.url:
                        session_id = closed.session_id
                        break
        self._store.save_closed(
            ClosedTab(
                id=id,
                url=row.entry.url,
                title=row.title,
                icon=row.icon,
                session=row.entry.session,
                opener=row.entry.opener,
                opened_at=row.opened_at,
                closed_at=time.time(),
                reason="closed",
                instance=self._targets.ids.instance,
                chrome_session=session_id,
            )
        )

    async def restore(self, id: str) -> None:
        """Bring a closed tab back under its id: within its Undo, or for a day after.

        Raises:
            BrowserError: "no-such-tab", "host-unavailable".
        """
        async with self.lock(id):
            entry, closed = self._closed_entry(id)
            if entry is None:
                return  # open already
            root = await self._ready()
            if entry.target is not None:
                await self._wait_gone(self._unbound.setdefault(id, asyncio.Event()))
                if self._targets.ids.entries[id].target is not None:
                    raise BrowserError("timeout", "The page is still closing. Try again in a moment.")
            self._targets.ask(ids.Reopened(replace(entry, asleep=False)))
            async with self._settling(id):
                await self._bring_back(root, id, entry.url, closed)
                await self._wait_committed(id, entry.url)
            if closed is not None:
                self._restore_face(id, closed)

    def _closed_entry(self, id: str) -> tuple[Entry | None, ClosedTab | None]:
        closed = self._store.closed_tab(id)
        entry = self._targets.ids.entries.get(id)
        if entry is not None:
            if not entry.closing:
                return None, None
            row = self._store.tab(id)
            return (entry if row is None else replace(entry, url=row.entry.url)), closed
        if closed is None:
            raise BrowserError(
                "no-such-tab", f"There is no tab {id} to reopen. `windowseat tabs` lists them."
            )
        opener = closed.opener if closed.opener in self._targets.ids.entries else None
        return Entry(id, url=closed.url, session=closed.session, opener=opener), closed

    def _restore_face(self, id: str, closed: ClosedTab) -> None:
        self._store.save_face(id, closed.url, closed.title, closed.icon)
        self._store.drop_closed(id)

    async def _bring_back(self, root: CdpSession, id: str, url: str, closed: ClosedTab | None) -> None:
        bridge = self._link.bridge
        if (
            bridge is not None
            and closed is not None
            and closed.chrome_session is not None
            and closed.instance == self._targets.ids.instance
        ):
            try:
                tab_id = await bridge.restore(closed.chrome_session)
                target = await self._target_of(bridge, tab_id)
            except FAILURES as failure:
                log.info("tab %s is reopened at its address, without history: %s", id, failure)
            else:
                self._targets.ask(ids.Done(id, target, tab_id))
                return
        await self._fresh(root, id, url)

    async def _fresh(self, root: CdpSession, id: str, url: str) -> None:
        """Give an id a new page at its address: the spare if there is one."""
        target = self._targets.ids.spare
        if target is None:
            target = await self._arrivals.create(root, placeholder_url(id))
        self._targets.ask(ids.Done(id, target))
        self._arrivals.want_spare()
        self._tasks.spawn(self._arrivals.number(id, target), name="number a reopened tab")
        await self._arrivals.go(target, url)

    # -- sleep and wake --------------------------------------------------------------------

    async def sleep(self, id: str) -> None:
        """Put a tab's page away; it keeps its id, its history and what was typed where the browser can.

        Raises:
            BrowserError: "no-such-tab", "host-unavailable", "execution-failed".
        """
        async with self.lock(id):
            entry = self._entry(id)
            if entry.asleep:
                return
            root = await self._ready()
            entry = self._entry(id)
            if entry.closing or entry.target is None:
                raise BrowserError("no-such-tab", f"Tab {id} is closed; restore it first.")
            self._flush_face(id)
            await self._arrivals.ensure_spare()
            self._targets.ask(ids.Begun(Operation(id, Kind.SLEEP)))
            async with self._settling(id):
                await self._put_away(root, id, entry.target)

    async def _put_away(self, root: CdpSession, id: str, target: str) -> None:
        bridge = self._link.bridge
        tab = None if bridge is None else await bridge.describe(target)
        if bridge is not None and tab is not None:
            self._pages.drop(target)
            tab_id = await bridge.discard(tab.tab_id)
            found = await self._target_of(bridge, tab_id)
            self._targets.ask(ids.Done(id, found, tab_id, asleep=True))
            return
        # Without the bridge: the page is closed and comes back at its address.
        gone = self._unbound.setdefault(id, asyncio.Event())
        await root.call("Target.closeTarget", {"targetId": target})
        await self._wait_gone(gone)
        self._targets.ask(ids.Done(id, None, asleep=True))

    async def wake(self, id: str) -> None:
        """Bring a sleeping tab's page back.

        Raises:
            BrowserError: "no-such-tab", "host-unavailable", "execution-failed".
        """
        async with self.lock(id):
            if not self._entry(id).asleep:
                return
            root = await self._ready()
            entry = self._entry(id)
            url = self._url(id, entry)
            self._targets.ask(ids.Begun(Operation(id, Kind.WAKE)))
            async with self._settling(id):
                bridge = self._link.bridge
                if entry.target is None or entry.tab_id is None or bridge is None:
                    await self._fresh(root, id, url)
                    await self._wait_committed(id, url)
                    return
                # Target and tab id stay; a page that is gone from the browser comes back fresh.
                try:
                    await bridge.reload(entry.tab_id)
                except FAILURES as failure:
                    log.info("tab %s is woken at its address, without history: %s", id, failure)
                    await self._fresh(root, id, url)
                else:
                    self._targets.ask(ids.Done(id, entry.target, entry.tab_id))
                await self._wait_committed(id, url)

    def _url(self, id: str, entry: Entry) -> str:
        row = self._store.tab(id)
        return entry.url if row is None else row.entry.url

    async def _wait_committed(self, id: str, url: str) -> None:
        """Give a page that was brought back a moment to show its document, so that what is done to
        it next is not cut off by the change. A slow site is not waited for.
        """
        entry = self._targets.ids.entries.get(id)
        if url.startswith(BLANK) or entry is None or entry.target is None:
            return
        with contextlib.suppress(*FAILURES):
            page = await self._pages.wait(entry.target)
            changed = asyncio.Event()
            stop = page.listen(lambda _: changed.set())
            try:
                async with asyncio.timeout(COMMIT_WITHIN):
                    while page.url.startswith(BLANK) or not page.url:
                        changed.clear()
                        await changed.wait()
            finally:
                stop()

    # -- helpers ---------------------------------------------------------------------------

    async def _ready(self) -> CdpSession:
        """The browser's root session, once the browser is there and the store takes what will be done.

        Raises:
            BrowserError: "host-unavailable"; "execution-failed" when the store cannot be written.
        """
        root = await self._link.wait_connected(BROWSER_WITHIN)
        try:
            self._store.check_writable()
        except sqlite3.Error as failure:
            raise BrowserError(
                "execution-failed",
                f"The hub's store cannot be written ({failure}); nothing was changed. Free some disk space.",
            ) from failure
        return root

    def _entry(self, id: str) -> Entry:
        entry = self._targets.ids.entries.get(id)
        if entry is None:
            raise BrowserError("no-such-tab", f"There is no tab {id}. `windowseat tabs` lists them.")
        return entry

    async def _target_of(self, bridge: Bridge, tab_id: int) -> str:
        for target, tab in (await bridge.tabs()).items():
            if tab.tab_id == tab_id:
                return target
        raise BrowserError("execution-failed", "The browser lost the tab while it moved. Try again.")

    @contextlib.asynccontextmanager
    async def _settling(self, id: str, *, end: bool = False) -> AsyncIterator[None]:
        """Whatever happens inside, no operation of `id` stays open; failures become closed codes."""
        try:
            yield
        except FAILURES as failure:
            self._fail(id, end=end)
            if isinstance(failure, BrowserError):
                raise
            if isinstance(failure, CdpGone):
                raise BrowserError(
                    "host-unavailable", "The browser ended; it is being started again. Try once more."
                ) from failure
            raise BrowserError("execution-failed", f"The browser could not do it: {failure}.") from failure
        finally:
            self._fail(id, end=end)

    def _fail(self, id: str, *, end: bool = False) -> None:
        if id in self._targets.ids.operations:
            self._targets.ask(ids.Failed(id, end=end))
