"""What keeps work on a page from being done, as the errors that operations answer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from windowseat.chromium.connection import CdpError, CdpGone
from windowseat.errors import BrowserError
from windowseat.page.world import DocumentGoneError, ScriptError, document_went


def page_gone() -> BrowserError:
    """The tab's target ended, by itself or with the browser."""
    return BrowserError("host-unavailable", "The tab's page has ended; try again.", outcome="unknown")


def page_crashed() -> BrowserError:
    """The page's process ended."""
    return BrowserError("execution-failed", "The page crashed. Reload it (tab.reload) to go on.")


def page_moved() -> BrowserError:
    """The document went before what was asked of it was done."""
    message = "The page moved to another document while this ran; look at it and try again."
    return BrowserError("cancelled", message, outcome="unknown")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn what the browser and scripts raise into `BrowserError`s, in one place."""
    try:
        yield
    except ScriptError as error:
        where = f" (line {error.line})" if error.line is not None else ""
        raise BrowserError("execution-failed", f"{error.message}{where}") from error
    except DocumentGoneError as error:
        raise page_moved() from error
    except CdpGone as error:
        raise page_gone() from error
    except CdpError as error:
        if document_went(error):
            raise page_moved() from error
        raise BrowserError("execution-failed", f"The browser refused this: {error.message}") from error
