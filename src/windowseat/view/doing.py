"""What a viewer asks for beyond input: going somewhere, answering a page, waking, bringing back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from windowseat.errors import BrowserError
from windowseat.page.page import Page
from windowseat.rules.address import address_of
from windowseat.view.messages import ChooserAnswer, DialogAnswer, Message, Nav, Restore, Wake

if TYPE_CHECKING:
    from windowseat.view.tab_view import TabView

NAVIGATION_TIMEOUT: Final = 30.0


async def do(view: TabView, message: Message) -> None:
    """Carry out one message.

    Raises:
        BrowserError: it could not be done; the sentence is for the viewer.
    """
    match message:
        case Nav(k, text):
            await _navigate(_page(view), k, text)
        case DialogAnswer(id, accept, text):
            await _page(view).answer_dialog(accept, text, dialog=id)
        case ChooserAnswer(id, uploads, cancel):
            paths = [] if cancel else view.uploads.paths(view.tab_id, uploads)
            if not paths and not cancel:
                raise BrowserError("invalid-args", "Choose at least one file, or cancel.")
            await _page(view).answer_chooser(paths, chooser=id)
        case Wake():
            view.wake()
        case Restore():
            await view.hub.restore(view.tab_id)
            view.page_replaced()
            if view.page is None:
                view.wake()


async def _navigate(page: Page, kind: str, text: str) -> None:
    match kind:
        case "go":
            await page.navigate(address_of(text), wait="commit", timeout=NAVIGATION_TIMEOUT)
        case "back":
            await page.back(timeout=NAVIGATION_TIMEOUT)
        case "forward":
            await page.forward(timeout=NAVIGATION_TIMEOUT)
        case "stop":
            await page.stop()
        case _:
            await page.reload(hard=kind == "hard-reload", timeout=NAVIGATION_TIMEOUT)


def _page(view: TabView) -> Page:
    page = view.page
    if page is None:
        raise BrowserError("host-unavailable", "The tab's page is not there yet; try again in a moment.")
    return page
