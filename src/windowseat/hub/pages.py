"""The attached `Page` of every awake target, the spare's too, so that the next open is quick.

Attaching never waits for a page's scripts; a renderer that does not answer costs only its own tab.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpTimeout
from windowseat.errors import BrowserError
from windowseat.hub.link import BrowserLink
from windowseat.hub.spawn import Tasks
from windowseat.page.events import PageEvent
from windowseat.page.page import Page

log = logging.getLogger(__name__)

# A machine on which a hundred windows open at once takes its time.
ATTACH_WITHIN: Final = 15.0


class Pages:
    """Pages by target. `came(target)` is called when one is there, `heard(target, event)` for its events."""

    def __init__(
        self,
        link: BrowserLink,
        tasks: Tasks,
        *,
        came: Callable[[str], None],
        heard: Callable[[str, PageEvent], None],
    ) -> None:
        self._link = link
        self._tasks = tasks
        self._came = came
        self._heard = heard
        self._pages: dict[str, Page] = {}
        self._attaching: dict[str, asyncio.Task[Page | None]] = {}

    def get(self, target: str | None) -> Page | None:
        """The page of a target if it is attached now."""
        if target is None:
            return None
        page = self._pages.get(target)
        return None if page is None or page.gone else page

    def attach(self, target: str) -> None:
        """Begin to attach; nothing where it is attached or under way."""
        if self.get(target) is None and target not in self._attaching:
            task = self._tasks.spawn(self._attach(target), name=f"attach {target}")
            self._attaching[target] = task
            task.add_done_callback(lambda _: self._attaching.pop(target, None))

    def drop(self, target: str) -> None:
        """Its target went, or is put to sleep."""
        self._pages.pop(target, None)
        attaching = self._attaching.pop(target, None)
        if attaching is not None:
            attaching.cancel()

    async def wait(self, target: str) -> Page:
        """The page, attached now if it was not.

        Raises:
            BrowserError: "no-such-tab" when it went meanwhile, "timeout" when the browser does not
                attach within `ATTACH_WITHIN`.
        """
        page = self.get(target)
        if page is not None:
            return page
        self.attach(target)
        try:
            page = await asyncio.shield(self._attaching[target])
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is None or current.cancelling():
                raise
            page = None  # dropped while it was attached
        if page is None:
            raise BrowserError(
                "timeout", "The page could not be reached in time. Try again, or reload the tab."
            )
        return page

    async def _attach(self, target: str) -> Page | None:
        try:
            async with asyncio.timeout(ATTACH_WITHIN):
                root = await self._link.wait_connected(ATTACH_WITHIN)
                session = await root.attach(target)
                page = Page(session, target)
                page.listen(lambda event: self._heard(target, event))
                await page.start()
        except (CdpError, CdpGone, CdpTimeout, BrowserError, TimeoutError) as failure:
            log.warning("page %s was not attached: %s", target, failure)
            return None
        self._pages[target] = page
        self._came(target)
        return page
