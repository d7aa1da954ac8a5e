"""What came of an action: a navigation, a new tab, a dialog, a download, another value.

A `Watch` listens from before the input is sent. Afterwards it waits for what the action has
visibly started, and for nothing else.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone
from windowseat.errors import BrowserError
from windowseat.page.dialogs import Dialog
from windowseat.page.events import ChooserOpened, DialogOpened, DownloadBegan, PageEvent, WindowOpened
from windowseat.page.page import Page
from windowseat.page.targets import Place
from windowseat.page.world import DocumentGoneError, ScriptError

DOWNLOAD_LIMIT: Final = 1.0  # seconds for a download that a link promises: nothing else announces it
ARRIVAL: Final = 5.0  # seconds to wait for a page that the action leads to
READ_LIMIT: Final = 1.0
TOLD: Final = ("value", "checked", "expanded")


class Watch:
    """Hears what a page does while the `with` block runs."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._commits = page.load.commits
        self._moves = page.load.moves
        self._requests = page.load.requests
        self._dialog: Dialog | None = None
        self._opened: list[str] = []
        self._download: str | None = None
        self._chooser = False

    def __enter__(self) -> Watch:
        self._stop = self._page.listen(self._heard)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _heard(self, event: PageEvent) -> None:
        if isinstance(event, DialogOpened):
            self._dialog = event.dialog
        elif isinstance(event, WindowOpened):
            self._opened.append(event.url)
        elif isinstance(event, DownloadBegan):
            self._download = event.name
            self._page.load.wake()
        elif isinstance(event, ChooserOpened):
            self._chooser = True

    async def changed(
        self,
        place: Place,
        sent: asyncio.Future[dict[str, Any]] | None,
        timeout: float,
        before: dict[str, Any],
        *,
        promised: bool = False,
    ) -> dict[str, Any]:
        """Wait for the input to be handled and for a navigation it began; tells what changed.

        Args:
            sent: the last command of the input, if there was any.
            before: the element's `value`, `checked` and `expanded`; what is still so is not told.
            promised: whether a download is to be expected.

        Raises:
            BrowserError: `timeout`, the page did not take the input in time.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        told: dict[str, Any] = {}
        try:
            if sent is not None:
                await self._page.settle(sent, timeout, "the page to take the input")
            told = await self._element(place, before)
        except CdpError as error:
            # The frame that had the input went because of it.
            if self._page.load.requests == self._requests and not self._page.gone:
                raise BrowserError(
                    "execution-failed", f"The browser refused the input: {error.message}", outcome="unknown"
                ) from error
        except BrowserError:
            if not self._page.gone and self._dialog is None:
                raise
        if self._page.gone:
            return {"closed": True}
        if promised:
            await self._page.load.wait(self._download_seen, max(0.05, min(DOWNLOAD_LIMIT, end - loop.time())))
        await self._arrive(max(0.05, min(ARRIVAL, end - loop.time())))
        return {**told, **self._events()}

    def _download_seen(self) -> bool:
        page = self._page
        return self._download is not None or page.gone or page.crashed or page.dialog is not None

    async def _element(self, place: Place, before: dict[str, Any]) -> dict[str, Any]:
        worlds = self._page.worlds
        try:
            if place.context is not None:
                after = await worlds.script_in(place.context, "after", [], READ_LIMIT)
            else:
                after = await worlds.script(place.session, place.frame, "after", [], READ_LIMIT)
        except (CdpError, CdpGone, DocumentGoneError, ScriptError):
            return {}
        except BrowserError as error:
            if error.code == "timeout":
                return {}
            raise
        now = {name: after.get(name) for name in TOLD}
        return {name: now[name] for name in TOLD if now[name] is not None and now[name] != before.get(name)}

    async def _arrive(self, timeout: float) -> None:
        """Where a navigation of the main frame began, wait until its document can be read."""
        page, load = self._page, self._page.load

        def settled() -> bool:
            if page.gone or page.crashed or page.dialog is not None or self._download is not None:
                return True
            if load.commits > self._commits:
                return load.has("domcontentloaded")
            moved = load.moves > self._moves
            return (load.requests == self._requests or moved) and not (load.busy and not moved)

        if load.requests > self._requests or load.commits > self._commits:
            await load.wait(settled, timeout)

    def _events(self) -> dict[str, Any]:
        page, load = self._page, self._page.load
        told: dict[str, Any] = {}
        if load.moves > self._moves:
            told["navigated"] = page.url
        elif load.requests > self._requests and self._download is None and page.loading:
            told["navigating"] = load.asked_url
        if self._opened:
            told["opened"] = self._opened[-1]
        if self._download is not None:
            told["download"] = self._download
        if self._chooser:
            told["chooser"] = page.chooser.as_dict() if page.chooser else True
        if self._dialog is not None and page.dialog is self._dialog:
            told["dialog"] = self._dialog.as_dict()
        if page.crashed:
            told["crashed"] = True
        return told
