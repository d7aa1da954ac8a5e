"""Paste, copy, cut and deletion in whatever field of a page has the focus.

The browser's clipboard is one for all tabs (and, headed, the desktop's), so it is never used: a
paste is a `paste` event of our own and then, if the page did not take it, an insertion; a copy is a
real `copy` event whose text is taken from it. A cross-site frame is asked in its own process.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession
from windowseat.errors import BrowserError
from windowseat.page.page import Page, translated
from windowseat.page.world import is_dead_context, value_of

SCRIPT_PATH: Final = Path(__file__).parent / "editing.js"
ELSEWHERE: Final = {"elsewhere": True}
TIMEOUT: Final = 2.0


async def paste(page: Page, text: str, *, timeout: float = TIMEOUT) -> str | None:
    """Let the page see a paste of `text`; returns what is still to be inserted, None for nothing.

    Raises:
        BrowserError: as `Page.evaluate_isolated`.
    """
    found = await _in_focused_frame(page, "paste", text, timeout=timeout)
    insert = found.get("insert", text)
    return None if insert is None else str(insert)


async def copy(page: Page, *, cut: bool = False, timeout: float = TIMEOUT) -> str:
    """The selected text, as the page wants it copied; `cut` also deletes it. "" for no selection.

    Raises:
        BrowserError: as `Page.evaluate_isolated`.
    """
    found = await _in_focused_frame(page, "take", "cut" if cut else "copy", timeout=timeout)
    return str(found.get("text", ""))


async def erase(page: Page, before: int, after: int, *, timeout: float = TIMEOUT) -> bool:
    """Delete so many UTF-16 units around the caret; whether there was a field to delete in.

    Raises:
        BrowserError: as `Page.evaluate_isolated`.
    """
    found = await _in_focused_frame(page, "erase", before, after, timeout=timeout)
    return bool(found.get("done"))


async def field(page: Page, *, timeout: float = TIMEOUT) -> dict[str, Any]:
    """`{"on", "x", "y", "w", "h"}` of the focused text field, CSS pixels; places only where known.

    Raises:
        BrowserError: as `Page.evaluate_isolated`.
    """
    found = await _in_focused_frame(page, "field", timeout=timeout)
    if found.get("elsewhere"):
        return {"on": True}  # some frame has the focus; better a keyboard too many than none
    return dict(found)


async def _in_focused_frame(page: Page, name: str, *args: Any, timeout: float) -> dict[str, Any]:
    page.check_usable()
    with translated():
        found = await _call(page, page.session, page.main_frame, name, args, timeout)
        if not found.get("elsewhere"):
            return found
        for frame, session in list(page.frames.apart.items()):
            try:
                focused = await page.worlds.call(session, frame, "() => document.hasFocus()", [], timeout)
                found = await _call(page, session, frame, name, args, timeout) if focused else ELSEWHERE
            except (CdpError, CdpGone, BrowserError):
                continue
            if not found.get("elsewhere"):
                return found
    return dict(ELSEWHERE)


async def _call(
    page: Page, session: CdpSession, frame: str, name: str, args: tuple[Any, ...], timeout: float
) -> dict[str, Any]:
    for attempt in (1, 2):
        context = await page.worlds.context(session, frame, timeout)
        params = {
            "functionDeclaration": _script(),
            "executionContextId": context.id,
            "arguments": [{"value": value} for value in (name, *args)],
            "returnByValue": True,
            # Copying needs the person's gesture; theirs came to us, not to the page.
            "userGesture": True,
        }
        try:
            answer = await page.settle(session.send("Runtime.callFunctionOn", params), timeout, "the page")
        except CdpError as error:
            if attempt == 2 or not is_dead_context(error):
                raise
            page.worlds.forget(frame)
            continue
        found = value_of(answer)
        return found if isinstance(found, dict) else {}
    raise AssertionError("unreachable")


@functools.cache
def _script() -> str:
    return SCRIPT_PATH.read_text(encoding="utf-8")
