"""Which JavaScript dialog stands open in a page, and who may still answer it.

A page has at most one. It stays until it is answered once; who comes second is told so. `Page` feeds
this the browser's events.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from windowseat.chromium.connection import CdpError, CdpGone
from windowseat.errors import BrowserError

if TYPE_CHECKING:
    from windowseat.page.page import Page

MESSAGE_LIMIT: Final = 10_000
_numbers = itertools.count(1)  # ids stay unique over all pages, so that an answer cannot stray


@dataclass(frozen=True)
class Dialog:
    """A dialog that waits for an answer.

    Attributes:
        id: ours, never used again.
        kind: "alert", "confirm", "prompt" or "beforeunload".
        message: what it says, cut to 10,000 characters.
        default: what a prompt suggests.
        origin: address of the document that asked, cut to 2,048 characters.
    """

    id: str
    kind: str
    message: str
    default: str
    origin: str

    def as_dict(self) -> dict[str, Any]:
        """The dialog as operations answer it: `id`, `kind`, `message`, `default`, `origin`."""
        return {
            "id": self.id,
            "kind": self.kind,
            "message": self.message,
            "default": self.default,
            "origin": self.origin,
        }


class Dialogs:
    """The open dialog of one page, if there is one."""

    def __init__(self) -> None:
        self.open: Dialog | None = None
        self._answered = False

    def opened(self, params: dict[str, Any]) -> Dialog:
        """Take `Page.javascriptDialogOpening`; returns the dialog that now waits."""
        self._answered = False
        self.open = Dialog(
            id=f"d{next(_numbers)}",
            kind=str(params.get("type", "alert")),
            message=str(params.get("message", ""))[:MESSAGE_LIMIT],
            default=str(params.get("defaultPrompt") or "")[:MESSAGE_LIMIT],
            origin=str(params.get("url", ""))[:2048],
        )
        return self.open

    def closed(self) -> Dialog | None:
        """Take `Page.javascriptDialogClosed` or the page's end; returns the dialog that went."""
        gone, self.open = self.open, None
        return gone

    def claim(self, dialog_id: str | None) -> Dialog:
        """Reserve the answer for one caller.

        Args:
            dialog_id: the dialog meant, or None for the one that is open.

        Raises:
            BrowserError: `not-found` when none is open, another one is, or it has its answer.
        """
        found = self.open
        if found is None or self._answered:
            raise BrowserError("not-found", "No dialog waits for an answer in this tab.")
        if dialog_id is not None and dialog_id != found.id:
            raise BrowserError("not-found", "That dialog has been answered; another one is open now.")
        self._answered = True
        return found

    def release(self, dialog: Dialog) -> None:
        """Give the answer back: it could not be sent."""
        if self.open is dialog:
            self._answered = False


def dialog_error(dialog: Dialog, *, outcome: str | None = None) -> BrowserError:
    """The `dialog-open` error that names the dialog and says how to go on."""
    says = dialog.message if len(dialog.message) <= 200 else dialog.message[:200] + "…"
    return BrowserError(
        "dialog-open",
        f"A {dialog.kind} dialog is open and the page stands still: {says!r}. A person answers it in the "
        "tab's view; tab.close ends the tab.",
        outcome=outcome,
    )


async def answer_dialog(
    page: Page, accept: bool, text: str | None, dialog_id: str | None, timeout: float
) -> None:
    """Answer the page's open dialog once; see `Page.answer_dialog`.

    Raises:
        BrowserError: `not-found`, `timeout`, `host-unavailable`.
    """
    found = page.dialogs.claim(dialog_id)
    params: dict[str, Any] = {"accept": accept}
    if found.kind == "prompt" and accept:
        params["promptText"] = found.default if text is None else text
    try:
        sent = page.session.send("Page.handleJavaScriptDialog", params)
        await page.settle(sent, timeout, "the dialog to close", despite_dialog=True)
    except CdpGone as error:
        raise BrowserError("host-unavailable", "The tab's page has ended.") from error
    except CdpError as error:
        raise BrowserError("not-found", "No dialog waits for an answer in this tab.") from error
    except BaseException:
        page.dialogs.release(found)
        raise
