"""Every tab has a window of its own; here is how big its page is, and that it stays alone."""

from __future__ import annotations

import contextlib
import logging
from typing import Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession, CdpTimeout
from windowseat.errors import BrowserError
from windowseat.hub.link import BrowserLink
from windowseat.page.page import Page

log = logging.getLogger(__name__)

NARROWEST_WINDOW: Final = 500  # a headed window is never narrower
LEAST: Final = 200
MOST: Final = 4096


class Windows:
    """Sizes of pages, remembered per target. `new_size` is a new page's viewport in CSS pixels."""

    def __init__(self, link: BrowserLink, *, headed: bool, new_size: tuple[int, int]) -> None:
        self.new_size = new_size
        self._link = link
        self._headed = headed
        self._window_ids: dict[str, int] = {}
        self._overridden: set[str] = set()
        self._sizes: dict[str, tuple[int, int]] = {}

    def size(self, target: str) -> tuple[int, int] | None:
        """What was last asked for, CSS pixels."""
        return self._sizes.get(target)

    def forget(self, target: str) -> None:
        """The target went."""
        self._window_ids.pop(target, None)
        self._sizes.pop(target, None)
        self._overridden.discard(target)

    async def resize(self, page: Page, width: int, height: int) -> tuple[int, int]:
        """Give the page this viewport (`Browser.setContentsSize`); returns what it was cut to.

        Raises:
            BrowserError: "host-unavailable" or "execution-failed" when the browser refuses.
        """
        width = max(LEAST, min(MOST, width))
        height = max(LEAST, min(MOST, height))
        if self._sizes.get(page.target) == (width, height):
            return width, height
        root = await self._link.wait_connected(5.0)
        try:
            await self._give(root, page.target, width, height)
            await self._override(page, width, height)
        except (CdpError, CdpGone, CdpTimeout) as failure:
            self.forget(page.target)
            raise BrowserError("execution-failed", f"The page could not be resized: {failure}.") from failure
        return width, height

    async def fit_new(self, target: str) -> None:
        """Give a new window's page the size of new pages, unless somebody has given it another.

        A window of that size would not do: its toolbar, which nobody sees, takes a part of it.
        """
        root = self._link.root
        if root is not None and target not in self._sizes:
            with contextlib.suppress(CdpError, CdpGone, CdpTimeout):
                await self._give(root, target, *self.new_size)

    async def _give(self, root: CdpSession, target: str, width: int, height: int) -> None:
        self._sizes[target] = (width, height)
        window = self._window_ids.get(target)
        if window is None:
            answer = await root.call("Browser.getWindowForTarget", {"targetId": target})
            window = self._window_ids[target] = answer["windowId"]
        wanted = self._sizes.get(target, (width, height))  # somebody may have asked for another meanwhile
        root.send("Browser.setContentsSize", {"windowId": window, "width": wanted[0], "height": wanted[1]})

    async def _override(self, page: Page, width: int, height: int) -> None:
        if self._headed and width < NARROWEST_WINDOW:
            self._overridden.add(page.target)
            await page.session.call(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 0, "mobile": False},
            )
        elif page.target in self._overridden:
            self._overridden.discard(page.target)
            await page.session.call("Emulation.clearDeviceMetricsOverride")
