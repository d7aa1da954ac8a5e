"""Opening addresses and travelling in the history, and saying in words what went wrong.

A navigation has happened when its document is committed; `wait` says how much further to wait. A page that
never finishes loading is there all the same: the timeout's message says so.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from windowseat.chromium.connection import CdpError, CdpGone
from windowseat.errors import BrowserError
from windowseat.page.dialogs import dialog_error
from windowseat.page.events import DownloadBegan, PageEvent
from windowseat.page.world import DocumentGoneError, ScriptError
from windowseat.rules.address import check_agent_url

if TYPE_CHECKING:
    from windowseat.page.page import Page

WAITS: Final = ("load", "domcontentloaded", "commit", "none")
READ_LIMIT: Final = 2.0
ERROR_PAGE_LIMIT: Final = 0.5
STATUS: Final = """function() {
  const entry = performance.getEntriesByType('navigation')[0];
  return [String(location.href).slice(0, 2048), String(document.title).slice(0, 256),
          entry && entry.responseStatus || null];
}"""

# Chromium's own names (net/base/net_error_list.h) as sentences that say what to do.
NET_ERRORS: Final = {
    "ERR_NAME_NOT_RESOLVED": "no such host; check the spelling",
    "ERR_CONNECTION_REFUSED": "nothing listens at that host and port; is the server running?",
    "ERR_CONNECTION_RESET": "the server cut the connection; try again",
    "ERR_CONNECTION_CLOSED": "the server closed the connection without an answer; try again",
    "ERR_CONNECTION_TIMED_OUT": "the server did not answer in time; try again",
    "ERR_TIMED_OUT": "the server did not answer in time; try again",
    "ERR_EMPTY_RESPONSE": "the server closed the connection without an answer",
    "ERR_INTERNET_DISCONNECTED": "this machine is offline",
    "ERR_NETWORK_CHANGED": "the network changed; try again",
    "ERR_ADDRESS_UNREACHABLE": "that address cannot be reached from this machine",
    "ERR_SSL_PROTOCOL_ERROR": "the server does not speak https there; try http://",
    "ERR_CERT_AUTHORITY_INVALID": "its certificate is signed by nobody this browser trusts",
    "ERR_CERT_COMMON_NAME_INVALID": "its certificate is for another host",
    "ERR_CERT_DATE_INVALID": "its certificate has expired, or this machine's clock is wrong",
    "ERR_TOO_MANY_REDIRECTS": "it redirects in a circle; perhaps its cookies must be cleared",
    "ERR_UNSAFE_PORT": "browsers refuse that port",
    "ERR_INVALID_URL": "that is not a valid address",
    "ERR_BLOCKED_BY_CLIENT": "the browser blocked it",
    "ERR_BLOCKED_BY_RESPONSE": "the site forbids to be shown there",
    "ERR_HTTP_RESPONSE_CODE_FAILURE": "the server answered with an error and no page",
    "ERR_UNKNOWN_URL_SCHEME": "no program for that kind of address is here",
    "ERR_FILE_NOT_FOUND": "there is nothing at that address",
}


async def navigate(page: Page, url: str, wait: str = "load", timeout: float = 15.0) -> dict[str, Any]:
    """Open an address and wait for it.

    Args:
        url: http, https, about:blank or blob: only.
        wait: "load", "domcontentloaded", "commit" or "none" (do not even wait for an answer).
        timeout: seconds for all of it.

    Returns:
        `url`, `title` and `status` (of the document, None where there is none).

    Raises:
        BrowserError: `not-allowed` (scheme), `invalid-args`, `navigation-failed`, `timeout`,
            `dialog-open` (the old page asks whether to leave), `host-unavailable`.
    """
    if wait not in WAITS:
        raise BrowserError("invalid-args", f"wait must be one of {', '.join(WAITS)}.")
    url = check_agent_url(url)
    if page.dialog is not None:
        raise dialog_error(page.dialog)
    downloads: list[str] = []

    def heard(event: PageEvent) -> None:
        if isinstance(event, DownloadBegan):
            downloads.append(event.name)
            page.load.wake()

    stop_listening = page.listen(heard)
    end = asyncio.get_running_loop().time() + timeout
    try:
        sent = _send(page, "Page.navigate", {"url": url})
        if wait == "none":
            return {"url": url, "title": page.title, "status": None}
        answer = await _answered(page, sent, url, timeout)
        if answer.get("errorText") or answer.get("isDownload"):
            await _error_page(page, answer)
            if answer.get("isDownload"):  # its name comes apart from the answer
                await page.load.wait(lambda: _interrupted(page) or bool(downloads), ERROR_PAGE_LIMIT)
            raise _failure(url, str(answer.get("errorText", "")), downloads, bool(answer.get("isDownload")))
        # Without a loader id it was a move within the document, which is complete by itself.
        if answer.get("loaderId"):
            await _wait_stage(page, str(answer["loaderId"]), wait, end - asyncio.get_running_loop().time())
        return await outcome(page)
    finally:
        stop_listening()


async def travel(page: Page, steps: int, timeout: float = 15.0) -> dict[str, Any]:
    """Go `steps` entries through the history and wait for the page; returns `url` and `title`.

    Raises:
        BrowserError: `not-found` when there is no such entry, and as `navigate`.
    """
    history = await _call(page, "Page.getNavigationHistory", {}, timeout)
    index = int(history["currentIndex"]) + steps
    if not 0 <= index < len(history["entries"]):
        where = "back" if steps < 0 else "forward"
        raise BrowserError("not-found", f"There is nothing to go {where} to in this tab.")
    before = page.load.moves
    entry = {"entryId": history["entries"][index]["id"]}
    await _call(page, "Page.navigateToHistoryEntry", entry, timeout)
    await _wait_moved(page, before, timeout)
    return _place(await outcome(page))


async def reload(page: Page, hard: bool = False, timeout: float = 15.0) -> dict[str, Any]:
    """Load the page again; a crashed page comes back by it. Returns `url` and `title`.

    Raises:
        BrowserError: as `navigate`.
    """
    before = page.load.moves
    await _call(page, "Page.reload", {"ignoreCache": hard}, timeout)
    await _wait_moved(page, before, timeout)
    return _place(await outcome(page))


async def stop(page: Page) -> dict[str, Any]:
    """Stop loading; returns `url` and `title`."""
    await _call(page, "Page.stopLoading", {}, 5.0)
    return _place(await outcome(page))


async def outcome(page: Page) -> dict[str, Any]:
    """Where the page is: `url`, `title`, `status`. Falls back to what is known when it does not answer."""
    known = {"url": page.url, "title": page.title, "status": None}
    if page.dialog is not None or page.crashed:
        return known
    try:
        url, title, status = await page.worlds.call(page.session, page.main_frame, STATUS, [], READ_LIMIT)
    except (BrowserError, CdpError, CdpGone, DocumentGoneError, ScriptError):
        return known
    if url.startswith("chrome-error:"):
        return known
    page.read_soon()
    return {"url": url, "title": title, "status": status}


async def _call(page: Page, method: str, params: dict[str, Any], timeout: float) -> dict[str, Any]:
    if page.dialog is not None:
        raise dialog_error(page.dialog)
    try:
        return await page.settle(_send(page, method, params), timeout, "the browser")
    except CdpError as error:
        raise BrowserError("navigation-failed", f"The browser refused this: {error.message}") from error


def _send(page: Page, method: str, params: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
    try:
        return page.session.send(method, params)
    except CdpGone as error:
        raise BrowserError("host-unavailable", "The tab's page has ended; try again.") from error


async def _answered(
    page: Page, sent: asyncio.Future[dict[str, Any]], url: str, timeout: float
) -> dict[str, Any]:
    try:
        return await page.settle(sent, timeout, f"{_short(url)} to answer")
    except CdpError as error:
        raise BrowserError(
            "navigation-failed", f"{_short(url)} cannot be opened: {error.message}."
        ) from error


async def _error_page(page: Page, answer: dict[str, Any]) -> None:
    """The browser's error page comes a little after the answer; what is read next should be it."""
    document = answer.get("loaderId")
    if document and answer.get("errorText") != "net::ERR_ABORTED":
        await page.load.wait(lambda: _interrupted(page) or page.document == document, ERROR_PAGE_LIMIT)


async def _wait_stage(page: Page, document: str, stage: str, timeout: float) -> None:
    load = page.load

    def reached() -> bool:
        return _interrupted(page) or (load.document == document and load.has(stage)) or superseded()

    def superseded() -> bool:
        # The page went on by itself (a script redirect): what counts is where it ends up.
        return load.document != document and load.commits > commits_before and load.has(stage)

    commits_before = load.commits
    if await load.wait(reached, max(timeout, 0.0)):
        _raise_interruption(page)
        return
    raise _unfinished(page, stage)


async def _wait_moved(page: Page, before: int, timeout: float) -> None:
    load = page.load

    def done() -> bool:
        arrived = load.moves > before and (load.has("load") or not load.busy)
        return _interrupted(page, crash=load.moves > before) or arrived

    if await load.wait(done, timeout):
        _raise_interruption(page, crash=load.moves > before)
        return
    raise _unfinished(page, "load")


def _interrupted(page: Page, *, crash: bool = True) -> bool:
    return page.gone or page.dialog is not None or (crash and page.crashed)


def _raise_interruption(page: Page, *, crash: bool = True) -> None:
    if page.gone or page.dialog is not None or (crash and page.crashed):
        page.check_usable()


def _unfinished(page: Page, stage: str) -> BrowserError:
    if page.load.has("commit") and page.url:
        return BrowserError(
            "timeout",
            f"{_short(page.url)} is open but did not reach “{stage}” in time. Work with what is there "
            "(tab.snapshot), or open it with wait=commit.",
            outcome="unknown",
        )
    return BrowserError("timeout", f"The page did not reach “{stage}” in time.", outcome="unknown")


def _failure(url: str, text: str, downloads: list[str], is_download: bool) -> BrowserError:
    name = text.removeprefix("net::")
    if is_download or (downloads and name == "ERR_ABORTED"):
        file = f" ({downloads[-1]})" if downloads else ""
        message = f"{_short(url)} is a download{file}, not a page; the tab stays where it was."
        return BrowserError("navigation-failed", message)
    if name == "ERR_ABORTED":
        message = f"{_short(url)} was not opened: the server sent no page, or another navigation came first."
        return BrowserError("navigation-failed", message)
    reason = NET_ERRORS.get(name)
    if reason is None:
        return BrowserError("navigation-failed", f"{_short(url)} cannot be opened ({text}).")
    return BrowserError("navigation-failed", f"{_short(url)} cannot be opened: {reason} ({text}).")


def _place(found: dict[str, Any]) -> dict[str, Any]:
    return {"url": found["url"], "title": found["title"]}


def _short(url: str) -> str:
    return url if len(url) <= 120 else url[:120] + "…"
