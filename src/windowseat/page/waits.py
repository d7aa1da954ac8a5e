"""The bounded wait for one answer of a page, which a dialog, a crash or the page's end cuts short."""

from __future__ import annotations

import asyncio
from typing import Any

from windowseat.chromium.connection import CdpGone
from windowseat.errors import BrowserError
from windowseat.page.dialogs import Dialog, dialog_error
from windowseat.page.problems import page_gone
from windowseat.page.world import DocumentGoneError


class Waits:
    """All waits for one page that are under way."""

    def __init__(self) -> None:
        # What ends each wait early, with the frame whose document it needs.
        self._stops: dict[asyncio.Future[Exception], str | None] = {}

    async def settle(
        self,
        future: asyncio.Future[dict[str, Any]],
        timeout: float,
        what: str,
        *,
        dialog: Dialog | None = None,
        stoppable: bool = True,
        frame: str | None = None,
    ) -> dict[str, Any]:
        """Wait for a command's answer, at most `timeout` seconds and never on a page that stands still.

        Args:
            future: from `CdpSession.send`.
            what: what is waited for, for the message.
            dialog: the dialog that is open already.
            stoppable: False for the few commands that the browser answers while a dialog is open.
            frame: the frame whose present document must answer; when it goes, so does the answer.

        Raises:
            BrowserError: `timeout`; `dialog-open`, one is open or opened meanwhile;
                `execution-failed`, the page crashed; `host-unavailable`, the tab went.
            DocumentGoneError: the document of `frame` went.
            CdpError: the browser refused the command.
        """
        if dialog is not None and not future.done():
            future.cancel()
            raise dialog_error(dialog)
        stop: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._stops[stop] = frame
        try:
            ends: set[asyncio.Future[Any]] = {future, stop} if stoppable else {future}
            await asyncio.wait(ends, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if future.done() and not future.cancelled():
                return future.result()
            if stop.done():
                raise stop.result()
            message = f"Waited {timeout:.3g} s for {what} in vain; the page may be busy."
            raise BrowserError("timeout", message, outcome="unknown")
        except CdpGone as error:
            raise page_gone() from error
        finally:
            del self._stops[stop]
            future.cancel()

    def interrupt(self, error: BrowserError) -> None:
        """End every stoppable wait with this error."""
        for stop in self._stops:
            if not stop.done():
                stop.set_result(error)

    def document_left(self, frame: str | None = None) -> None:
        """End the waits for this frame's document (or every frame's): Chromium may never answer them."""
        for stop, needs in self._stops.items():
            if not stop.done() and needs is not None and frame in (None, needs):
                stop.set_result(DocumentGoneError("the document went"))
