"""Waiting for something to be true of a page, however often it navigates meanwhile."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession
from windowseat.errors import BrowserError
from windowseat.page.loading import STAGES
from windowseat.page.page import Page
from windowseat.page.targets import checked
from windowseat.page.world import DocumentGoneError, ScriptError

CONDITIONS: Final = ("text", "gone", "selector", "url", "load", "js")
SLICE: Final = 1.0  # seconds the page script waits by itself before it is asked again
FRAMES_SLICE: Final = 0.25  # where several frames wait, so that none is asked long in vain
POLL: Final = 0.1


async def wait(page: Page, *, timeout: float = 15.0, **condition: str | None) -> dict[str, Any]:
    """Wait until one condition holds.

    Args:
        timeout: seconds.
        condition: exactly one of `text` (visible somewhere), `gone` (a text or target that is not
            visible any more), `selector` (a target that is visible), `url` (the address contains
            this; `*` stands for anything; `/…/` is a regular expression), `load` ("domcontentloaded",
            "load", "networkidle"), `js` (an expression of the page that becomes truthy).

    Returns:
        `met` (the condition's name), `url`, and the truthy `value` for `js`.

    Raises:
        BrowserError: `timeout` says what was waited for; `invalid-args`, `dialog-open`,
            `execution-failed`, `host-unavailable`.
    """
    given = {name: value for name, value in condition.items() if value is not None}
    if len(given) != 1 or next(iter(given)) not in CONDITIONS:
        raise BrowserError("invalid-args", f"Give exactly one of {', '.join(CONDITIONS)}.")
    name, wanted = next(iter(given.items()))
    page.check_usable()
    end = asyncio.get_running_loop().time() + timeout
    answer: dict[str, Any] = {"met": name}
    if name == "url":
        await _url(page, wanted, timeout)
    elif name == "load":
        await _load(page, wanted, timeout)
    elif name == "js":
        answer["value"] = await _js(page, wanted, end)
    else:
        if name == "selector":
            wanted = checked(wanted)
        await _in_page(page, name, wanted, end)
    return {**answer, "url": page.url}


def _late(what: str) -> BrowserError:
    return BrowserError("timeout", f"Waited in vain for {what}.")


async def _url(page: Page, wanted: str, timeout: float) -> None:
    matches = url_matcher(wanted)
    stop = page.listen(lambda _: page.load.wake())
    try:
        if not await page.load.wait(
            lambda: matches(page.url) or page.gone or page.dialog is not None, timeout
        ):
            raise _late(f"an address like {wanted!r}; it is {page.url[:200]!r}")
    finally:
        stop()
    if not matches(page.url):
        page.check_usable()


def url_matcher(wanted: str) -> Any:
    """A function that tells whether an address is meant by `wanted` (see `wait`).

    Raises:
        BrowserError: `invalid-args` for a broken regular expression.
    """
    if len(wanted) > 2 and wanted.startswith("/") and wanted.endswith("/"):
        try:
            pattern = re.compile(wanted[1:-1])
        except re.error as error:
            raise BrowserError("invalid-args", f"{wanted} is not a regular expression: {error}.") from error
        return lambda url: pattern.search(url) is not None
    if "*" in wanted:
        pattern = re.compile(".*".join(re.escape(part) for part in re.split(r"\*+", wanted)), re.DOTALL)
        anchored = "://" in wanted
        return lambda url: (pattern.fullmatch(url) if anchored else pattern.search(url)) is not None
    return lambda url: wanted in url


async def _load(page: Page, stage: str, timeout: float) -> None:
    if stage not in STAGES:
        raise BrowserError("invalid-args", f"load is one of {', '.join(STAGES)}.")
    if not await page.load.wait(
        lambda: page.load.has(stage) or page.gone or page.crashed or page.dialog is not None, timeout
    ):
        raise _late(f"the page to reach “{stage}”")
    if not page.load.has(stage):
        page.check_usable()


async def _js(page: Page, js: str, end: float) -> Any:
    while True:
        left = end - asyncio.get_running_loop().time()
        try:
            value = await page.evaluate_page(js, max(left, 0.05))
        except BrowserError as error:
            if error.code != "cancelled":
                raise
            value = None
        if value:
            return value
        if end - asyncio.get_running_loop().time() <= POLL:
            raise _late(f"{js[:200]} to become true")
        await asyncio.sleep(POLL)


async def _in_page(page: Page, name: str, wanted: str, end: float) -> None:
    while True:
        page.check_usable()
        frames = {page.main_frame: page.session, **page.frames.all()}
        left = end - asyncio.get_running_loop().time()
        slice_ = max(0.0, min(SLICE if len(frames) == 1 else FRAMES_SLICE, left - 0.05))
        answers = await asyncio.gather(
            *(_ask(page, session, frame, {name: wanted}, slice_, left) for frame, session in frames.items())
        )
        # Something is gone when no frame has it, and there when one has.
        known = [answer for answer in answers if answer is not None]
        if known and (all(known) if name == "gone" else any(known)):
            return
        if end - asyncio.get_running_loop().time() <= 0.06:
            raise _late({"text": f"the text {wanted!r}", "gone": f"{wanted!r} to go"}.get(name, wanted))
        if not known:
            await asyncio.sleep(POLL)


async def _ask(
    page: Page, session: CdpSession, frame: str, condition: dict[str, str], slice_: float, left: float
) -> bool | None:
    """Whether the condition came true in one frame; None when that frame cannot say."""
    try:
        limit = max(0.05, min(left, slice_ + 2.0))
        answer = await page.worlds.script(session, frame, "wait", [condition, int(slice_ * 1000)], limit)
    except (CdpError, CdpGone, DocumentGoneError, ScriptError):
        return None
    except BrowserError as error:
        if error.code == "timeout":
            return None
        raise
    if "problem" in answer:
        raise BrowserError(answer["problem"], answer["message"])
    return bool(answer["met"])
