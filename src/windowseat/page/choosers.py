"""Which file chooser a page waits for, and the answer to it.

Chromium hands choosers over (`Page.setInterceptFileChooserDialog`) instead of opening a window that
nobody would see. Unlike a dialog an open chooser does not stop the page: a newer one replaces it.
"""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession
from windowseat.errors import BrowserError
from windowseat.page import events
from windowseat.page.world import WORLD_NAME, ScriptError, value_of

if TYPE_CHECKING:
    from windowseat.page.page import Page

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Chooser:
    """A page's wish for files.

    Attributes:
        id: ours, never used again.
        multiple: whether several files may be given.
        accept: the input's `accept` attribute, "" when it has none.
        session: the DevTools session of the frame that asked.
        frame: that frame's id.
        node: the input's backend node id there; None when the page used a picker without an input.
    """

    id: str
    multiple: bool
    accept: str
    session: CdpSession
    frame: str
    node: int | None

    def as_dict(self) -> dict[str, Any]:
        """The chooser as operations answer it: `id`, `multiple`, `accept`."""
        return {"id": self.id, "multiple": self.multiple, "accept": self.accept}


class Choosers:
    """The open chooser of one page, if there is one."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.open: Chooser | None = None

    def asked(self, session: CdpSession, params: dict[str, Any]) -> None:
        """Take `Page.fileChooserOpened` of a session of this page."""
        self._page.spawn(self._show(session, params), "open a file chooser")

    async def _show(self, session: CdpSession, params: dict[str, Any]) -> None:
        document = self._page.document
        chooser = await chooser_of(self._page, session, params)
        if self._page.document == document and not self._page.gone:
            self.close()
            self.open = chooser
            self._page.emit(events.ChooserOpened(chooser))

    def close(self) -> None:
        """It was answered, another one takes its place, or the page went."""
        gone, self.open = self.open, None
        if gone is not None:
            self._page.emit(events.ChooserClosed(gone.id))

    async def answer(self, paths: list[str], chooser_id: str | None, timeout: float) -> None:
        """Answer the open chooser; see `Page.answer_chooser`."""
        found = self.open
        if found is None or (chooser_id is not None and chooser_id != found.id):
            raise BrowserError("not-found", "The page does not ask for files (any more).")
        if len(paths) > 1 and not found.multiple:
            raise BrowserError("invalid-args", "This page asks for one file only.")
        # Taken away first, so that a second answer finds none.
        self.close()
        await answer(self._page, found, paths, timeout)


# These run with the input as `this`, in our own world, so the page's prototypes do not matter.
READ_ACCEPT = "function(){ return String(this.accept || '') }"
TELL_CANCELLED = "function(){ this.dispatchEvent(new Event('cancel', { bubbles: true })) }"


async def on_input(page: Page, session: CdpSession, frame: str, node: int, function: str) -> Any:
    """Call a function with the input of a chooser as `this`, in our world; returns its JSON result.

    Raises:
        CdpError, BrowserError, ScriptError: see `Page.settle` and `world.value_of`.
    """
    world = await page.settle(
        session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD_NAME}), 3.0, "the page"
    )
    place = {"backendNodeId": node, "executionContextId": world["executionContextId"]}
    found = await page.settle(session.send("DOM.resolveNode", place), 3.0, "the file input")
    handle = found["object"]["objectId"]
    call = {"objectId": handle, "functionDeclaration": function, "returnByValue": True}
    try:
        return value_of(
            await page.settle(session.send("Runtime.callFunctionOn", call), 3.0, "the file input")
        )
    finally:
        if not session.closed:
            session.send("Runtime.releaseObject", {"objectId": handle})


async def chooser_of(page: Page, session: CdpSession, params: dict[str, Any]) -> Chooser:
    """The chooser that `Page.fileChooserOpened` speaks of."""
    frame, node = str(params.get("frameId", "")), params.get("backendNodeId")
    accept = ""
    if node is not None:
        with contextlib.suppress(BrowserError, CdpError, CdpGone, ScriptError):
            accept = str(await on_input(page, session, frame, node, READ_ACCEPT))
    return Chooser(
        id=f"f{next(_numbers)}",
        multiple=params.get("mode") == "selectMultiple",
        accept=accept[:1000],
        session=session,
        frame=frame,
        node=node,
    )


async def answer(page: Page, chooser: Chooser, paths: list[str], timeout: float) -> None:
    """Give the input its files, or tell the page that the person gave none.

    Raises:
        BrowserError: `unsupported` without an input, `not-found` when the input is gone.
    """
    if chooser.node is None:
        if not paths:
            return
        raise BrowserError(
            "unsupported", "This page uses a file picker that cannot be answered from outside."
        )
    try:
        if not paths:
            await on_input(page, chooser.session, chooser.frame, chooser.node, TELL_CANCELLED)
            return
        params = {"files": paths, "backendNodeId": chooser.node}
        await page.settle(chooser.session.send("DOM.setFileInputFiles", params), timeout, "the files")
    except (CdpError, CdpGone) as error:
        raise BrowserError("not-found", "The page's file input is gone.") from error
