"""Reading what people see of a tab: address, title, icon, and whether it can go back or forward.

The browser tells of navigations, but not of a title or an icon that a script sets, so the page is
asked, in our own world and soon after anything that may have changed them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from windowseat.chromium.connection import CdpError, CdpGone
from windowseat.errors import BrowserError
from windowseat.page.world import DocumentGoneError, ScriptError

if TYPE_CHECKING:
    from windowseat.page.page import Page

READ_LIMIT: Final = 3.0
READ_DELAY: Final = 0.02  # seconds; a load brings several events at once, one reading serves them
URL_LIMIT: Final = 2048
TITLE_LIMIT: Final = 256
ICON_LIMIT: Final = 8192

# A page can make its title 3 MB and its address 1.5 MB, so both are cut before they travel.
READ_STATE: Final = f"""function() {{
  const link = document.querySelector('link[rel~="icon" i][href]')
    || document.querySelector('link[rel="apple-touch-icon" i][href]');
  const icon = link ? String(link.href) : '';
  return [
    String(location.href).slice(0, {URL_LIMIT}),
    String(document.title).slice(0, {TITLE_LIMIT}),
    icon.length <= {ICON_LIMIT} && /^(https?|data):/i.test(icon) ? icon : '',
  ];
}}"""


class Reader:
    """Reads one page's state, one reading at a time."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._due: asyncio.TimerHandle | None = None
        self._again = False
        self._running = False

    def soon(self) -> None:
        """Read in a moment, or once more after the reading that runs."""
        page = self._page
        if page.gone or page.crashed or page.dialog is not None:
            return
        if self._running:
            self._again = True
        elif self._due is None:
            self._due = asyncio.get_running_loop().call_later(READ_DELAY, self._start)

    def found(self, answered: asyncio.Future[dict[str, Any]]) -> None:
        """Take the frame tree of a document that was there before us, whenever it is answered."""
        if answered.cancelled() or answered.exception() is not None:
            return
        page, tree = self._page, answered.result()["frameTree"]
        page.frames.learn(page.session, tree)
        if not page.document:
            main = tree["frame"]
            page.main_frame, page.document = main["id"], str(main.get("loaderId", ""))
            url = str(main.get("unreachableUrl") or main.get("url", ""))[:URL_LIMIT]
            # Its stages were told again when their events were enabled, so they are known by now.
            page.set_state(url=url, loading=not page.load.has("load"))
            page.load.is_loading(page.loading)
        self.soon()

    def cancel(self) -> None:
        """The page is gone."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _start(self) -> None:
        self._due = None
        self._page.spawn(self.read(), "read a page's state")

    async def read(self) -> None:
        """Read now; what cannot be read stays as it was."""
        self._running = True
        try:
            await self._read()
        except BrowserError as error:
            self._page.set_state(unresponsive=error.code == "timeout")
        except (CdpError, CdpGone, DocumentGoneError, ScriptError):
            pass  # the document went: the next one's events bring another reading
        finally:
            self._running = False
            if self._again:
                self._again = False
                self.soon()

    async def _read(self) -> None:
        page = self._page
        document = page.document
        history = page.session.send("Page.getNavigationHistory")
        url, title, icon = await page.worlds.call(page.session, page.main_frame, READ_STATE, [], READ_LIMIT)
        entries = await page.settle(history, READ_LIMIT, "the history")
        if page.document != document:
            self._again = True  # what was read is of the document before
            return
        index = int(entries["currentIndex"])
        page.set_state(
            # The address that failed is what people should see, not that of the error page.
            url=page.url if url.startswith("chrome-error:") else url,
            title=title,
            icon=icon,
            unresponsive=False,
            can_back=index > 0,
            can_forward=index + 1 < len(entries["entries"]),
        )
