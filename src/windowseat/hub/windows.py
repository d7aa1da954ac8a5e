"""Every tab has a window of its own; here is how big its page is, and that it stays alone."""

from __future__ import annotations

import logging
from typing import Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpTimeout
from windowseat.errors import BrowserError
from windowseat.hub.link import BrowserLink
from windowseat.page.page import Page

log = logging.getLogger(__name__)

NARROWEST_WINDOW: Final = 500  # a headed window is never narrower
LEAST: Final = 200
MOST: Final = 4096


class Windows:
    """Sizes of pages, remembered per target."""

    def __init__(self, link: BrowserLink, *, headed: bool) -> None:
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
        self._sizes[page.target] = (width, height)
        try:
            window = self._window_ids.get(page.target)
            if window is None:
                answer = await root.call("Browser.getWindowForTarget", {"targetId": page.target})
                window = self._window_ids[page.target] = answer["windowId"]
            root.send("Browser.setContentsSize", {"windowId": window, "width": width, "height": height})
            await self._override(page, width, height)
        except (CdpError, CdpGone, CdpTimeout) as failure:
            self.forget(page.target)
            raise BrowserError("execution-failed", f"The page could not be resized: {failure}.") from failure
        return width, height

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
