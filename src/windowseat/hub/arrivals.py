"""How a page comes to be: in a new window, or in the spare one that stands ready, and on its way.

The hub keeps one spare blank window that no list shows: opening a tab takes it, and another is made
a moment later. Its page is attached already, so a tab is on its way within a millisecond.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession, CdpTimeout
from windowseat.errors import BrowserError
from windowseat.hub.link import BrowserLink
from windowseat.hub.pages import Pages
from windowseat.hub.spawn import Tasks
from windowseat.hub.targets import Targets
from windowseat.hub.windows import Windows
from windowseat.rules import ids
from windowseat.rules.ids import BLANK, SPARE_OPERATION, SPARE_URL, Kind, Operation

log = logging.getLogger(__name__)

COMMIT_WITHIN: Final = 10.0
# A blank page needs no site's answer; longer than this only where the browser is very busy.
BLANK_WITHIN: Final = 2.0
SPARE_AFTER: Final = 0.3
# Seconds between questions for a tab's number: a busy browser's bridge may miss some.
NUMBER_PAUSES: Final = (1.0, 5.0, 30.0)
# What may come of asking the browser.
FAILURES: Final = (CdpError, CdpGone, CdpTimeout, BrowserError, TimeoutError)


class Arrivals:
    """Makes pages and the spare window. `size` is a new window's in CSS pixels, its toolbar with it."""

    def __init__(
        self, targets: Targets, link: BrowserLink, pages: Pages, windows: Windows, tasks: Tasks
    ) -> None:
        self._targets = targets
        self._link = link
        self._pages = pages
        self._tasks = tasks
        self._windows = windows
        self._loop = asyncio.get_running_loop()
        self._spare_timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Nothing more is to be started."""
        if self._spare_timer is not None:
            self._spare_timer.cancel()

    async def create(self, root: CdpSession, url: str) -> str:
        """A new window with one page at `url`, a blank one of ours; returns its target.

        Raises:
            CdpError, CdpGone, CdpTimeout: as `Target.createTarget` does.
        """
        width, height = self._windows.new_size
        answer = await root.call(
            "Target.createTarget",
            {"url": url, "newWindow": True, "background": True, "width": width, "height": height},
        )
        target = str(answer["targetId"])
        self._tasks.spawn(self._windows.fit_new(target), name="size of a new page")
        return target

    async def number(self, id: str, target: str) -> None:
        """Learn the browser's own number of a tab, by which the bridge speaks of it."""
        for pause in (*NUMBER_PAUSES, None):
            tab_id = (await self._link.describe(target)).tab_id
            if tab_id is not None:
                self._targets.ask(ids.Numbered(id, target, tab_id))
            if tab_id is not None or pause is None or self._link.bridge is None:
                return
            await asyncio.sleep(pause)
            entry = self._targets.ids.entries.get(id)
            if entry is None or entry.target != target or entry.tab_id is not None:
                return

    async def go(self, target: str, url: str) -> None:
        """Send a blank page of ours on its way, and leave no blank entry to go back to.

        Raises:
            BrowserError: the page cannot be reached; CdpGone: it went.
        """
        session = (await self._pages.wait(target)).session
        arrived = asyncio.Event()

        def committed(params: dict[str, Any]) -> None:
            frame = params["frame"]
            if "parentId" in frame:
                return
            if not frame["url"].startswith(BLANK):
                stop()
            if "urlFragment" not in frame:  # a placeholder's address has one
                arrived.set()
            self._tasks.spawn(_forget_blank(session), name="forget the blank page")

        stop = session.on("Page.frameNavigated", committed)
        # Also to a blank page: its address is still that of the window it was made in.
        session.send("Page.navigate", {"url": url, "transitionType": "typed"})
        if url == "about:blank":
            # Who asked will use it at once, and must not be met by the change of documents.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BLANK_WITHIN):
                    await arrived.wait()

    # -- the spare window ------------------------------------------------------------------

    def want_spare(self) -> None:
        """See to a spare window soon; not at once, so that the tab just opened goes first."""
        if self._spare_timer is None:
            self._spare_timer = self._loop.call_later(SPARE_AFTER, self._spare_due)

    def _spare_due(self) -> None:
        self._spare_timer = None
        self._tasks.spawn(self.ensure_spare(), name="spare window")

    async def ensure_spare(self) -> None:
        """Make the one blank window that no list shows, unless it is there or on its way."""
        root = self._link.root
        state = self._targets.ids
        if state.spare is not None:
            self._pages.attach(state.spare)
            return
        if root is None or not state.mapped or SPARE_OPERATION in state.operations:
            return
        self._targets.ask(ids.Begun(Operation(SPARE_OPERATION, Kind.SPARE)))
        try:
            target = await self.create(root, SPARE_URL)
        except FAILURES as failure:
            log.warning("no spare window: %s", failure)
            if SPARE_OPERATION in self._targets.ids.operations:
                self._targets.ask(ids.Failed(SPARE_OPERATION))
            return
        if SPARE_OPERATION not in self._targets.ids.operations:
            return  # the browser was lost meanwhile
        self._targets.ask(ids.Done(SPARE_OPERATION, target))
        if self._targets.ids.spare == target:
            self._pages.attach(target)


async def _forget_blank(session: CdpSession) -> None:
    """Cut a page's history down to the page that has just committed.

    The browser refuses that in the moment in which a new process takes over the page: then once
    more when its content is there.
    """
    loaded = asyncio.Event()
    stop = session.on("Page.domContentEventFired", lambda _: loaded.set())
    try:
        await session.call("Page.resetNavigationHistory")
    except CdpError:
        with contextlib.suppress(*FAILURES):
            async with asyncio.timeout(COMMIT_WITHIN):
                await loaded.wait()
            await session.call("Page.resetNavigationHistory")
    except (CdpGone, CdpTimeout):
        pass
    finally:
        stop()
