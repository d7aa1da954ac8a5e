"""Pictures of a page: the viewport, one element, or the whole length; scaled in the browser."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from windowseat.chromium.connection import CdpError
from windowseat.errors import BrowserError
from windowseat.page.page import Page
from windowseat.page.problems import translated
from windowseat.page.targets import ask, on_page, place_of

TYPES: Final = {"png": "image/png", "jpeg": "image/jpeg", "webp": "image/webp"}
QUALITY: Final = 80
NUDGE_AFTER: Final = 0.5
NUDGES: Final = 4
MAX_SIDE: Final = 16_384  # a longer picture is more than Chromium's textures hold
SIZES: Final = """function() {
  const root = document.documentElement, body = document.body;
  return { width: innerWidth, height: innerHeight, ratio: devicePixelRatio, x: scrollX, y: scrollY,
           fullWidth: Math.max(root ? root.scrollWidth : 0, innerWidth),
           fullHeight: Math.max(root ? root.scrollHeight : 0, body ? body.scrollHeight : 0, innerHeight) };
}"""


async def screenshot(
    page: Page,
    *,
    target: str | None = None,
    full_page: bool = False,
    format: str = "png",
    max_side: int | None = None,
    timeout: float = 10.0,
) -> dict[str, Any]:
    """Take a picture; works for a window in the background too.

    Args:
        target: only this element (scrolled into view).
        full_page: the whole document instead of the viewport.
        format: "png", "jpeg" or "webp".
        max_side: scale the picture down so that no side is longer, in pixels.

    Returns:
        `mime_type`, `data` (base64), `width` and `height` in pixels.

    Raises:
        BrowserError: `dialog-open`, `timeout`, `invalid-args`, and as `targets` for the target.
    """
    if format not in TYPES:
        raise BrowserError("invalid-args", f"format is one of {', '.join(TYPES)}.")
    if max_side is not None and not 1 <= max_side <= MAX_SIDE:
        raise BrowserError("invalid-args", f"max_side is between 1 and {MAX_SIDE} pixels.")
    if target is not None and full_page:
        raise BrowserError("invalid-args", "Give target or full_page, not both.")
    page.check_usable()
    end = asyncio.get_running_loop().time() + timeout
    # Without it a window that is not in front paints nothing, and the command never answers.
    await page.keep_focused()
    with translated():
        box = await _element_box(page, target, end) if target is not None else None
        sizes = await page.worlds.call(page.session, page.main_frame, SIZES, [], _left(end))
        clip = _clip(sizes, box, full_page, max_side)
        params: dict[str, Any] = {"format": format, "clip": clip, "optimizeForSpeed": format == "png"}
        if full_page or box is not None:
            params["captureBeyondViewport"] = True
        if format != "png":
            params["quality"] = QUALITY
        taken = await _capture(page, params, end)
    pixels = clip["scale"] * sizes["ratio"]
    return {
        "mime_type": TYPES[format],
        "data": taken["data"],
        "width": round(clip["width"] * pixels),
        "height": round(clip["height"] * pixels),
    }


async def _capture(page: Page, params: dict[str, Any], end: float) -> dict[str, Any]:
    """Send the command and nudge a page that paints nothing until it answers.

    A tab behind another one of its window answers every second capture only when a further one
    comes (seen in Chromium 156). The further one must be the same: captures under way at once share
    their clip.
    """
    sent = [page.session.send("Page.captureScreenshot", params)]
    for _ in range(NUDGES):
        await asyncio.wait(sent, timeout=min(NUDGE_AFTER, _left(end)), return_when=asyncio.FIRST_COMPLETED)
        if any(one.done() for one in sent) or page.dialog is not None or page.crashed:
            break
        sent.append(page.session.send("Page.captureScreenshot", params))
    answered = [one for one in sent if one.done()]
    return await page.settle((answered or sent)[0], _left(end), "the picture")


async def _element_box(page: Page, target: str, end: float) -> dict[str, float]:
    place = await place_of(page, target, _left(end))
    left = _left(end)
    options = {
        "timeout": int(max(left - 0.2, left * 0.8) * 1000),
        "hit": False,
        "enabled": False,
        "position": None,
        "scroll": True,
    }
    box: dict[str, float] = (await ask(page, place, "ready", [options], left))["box"]
    if place.frame != page.main_frame:
        try:
            x, y, _covered = await on_page(page, place.frame, box["x"], box["y"], _left(end))
        except CdpError as error:
            raise BrowserError("stale-ref", "The frame of this element went; take a new snapshot.") from error
        box = {**box, "x": x, "y": y}
    return box


def _clip(
    sizes: dict[str, float], box: dict[str, float] | None, full_page: bool, max_side: int | None
) -> dict[str, float]:
    """The rectangle to capture, in CSS pixels of the document, and its scale."""
    if box is not None:
        clip = {**box, "x": box["x"] + sizes["x"], "y": box["y"] + sizes["y"]}
    elif full_page:
        clip = {"x": 0.0, "y": 0.0, "width": sizes["fullWidth"], "height": sizes["fullHeight"]}
    else:
        clip = {"x": sizes["x"], "y": sizes["y"], "width": sizes["width"], "height": sizes["height"]}
    longest = max(clip["width"], clip["height"], 1.0) * sizes["ratio"]
    limit = min(max_side or MAX_SIDE, MAX_SIDE)
    clip["scale"] = min(1.0, limit / longest)
    return clip


def _left(end: float) -> float:
    return max(0.05, end - asyncio.get_running_loop().time())
