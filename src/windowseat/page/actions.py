"""Acting in a page as a person would, and telling what changed (contract C3.2).

An action waits until its element is attached, visible, at rest, enabled and really hit, sends
trusted input without waiting in between, and answers the navigation, tab, dialog or value that
came of it. Whoever watches is told through `tell(kind, line, x, y)`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone
from windowseat.errors import BrowserError
from windowseat.page.changes import Watch
from windowseat.page.page import Page
from windowseat.page.problems import translated
from windowseat.page.screenshot import screenshot
from windowseat.page.targets import Place, ask, on_page, place_of
from windowseat.page.waiting import wait
from windowseat.page.world import DocumentGoneError

__all__ = ["Spot", "Tell", "click", "evaluate", "find_spot", "screenshot", "type_text", "wait"]

Tell = Callable[[str, str, float, float], None]

ACTION_TIMEOUT: Final = 5.0
BUTTONS: Final = {"left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}
MODIFIERS: Final = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
RETRY_PAUSE: Final = 0.05


class _CoveredError(BrowserError):
    """Something in an outer document lies over the frame; it may go away in time."""


@dataclass(frozen=True)
class Spot:
    """An element that is ready to be acted on.

    Attributes:
        place: the frame it is in.
        label: it in a few words, such as `button “Save”`.
        x, y: where to hit it, CSS pixels of the page's viewport; without `hit` the middle of its box.
        secret: whether its value must not be told.
        facts: what else the page script told (`box`, `tag`, `set`, `hasText`).
    """

    place: Place
    label: str
    x: float
    y: float
    secret: bool
    facts: dict[str, Any]


async def click(
    page: Page,
    target: str,
    *,
    button: str = "left",
    count: int = 1,
    modifiers: Sequence[str] = (),
    position: tuple[float, float] | None = None,
    timeout: float = ACTION_TIMEOUT,
    tell: Tell | None = None,
) -> dict[str, Any]:
    """Click an element.

    Args:
        button: "left", "right", "middle", "back" or "forward".
        count: 1 to 3 (a double click is 2).
        modifiers: of "Alt", "Control", "Meta", "Shift", held meanwhile.
        position: where, from the element's upper left corner in CSS pixels; else its middle.
        timeout: seconds for all of it.

    Returns:
        What changed, nothing else: `clicked` (the element in words), and where it applies
        `navigated`, `opened`, `download`, `dialog`, `value`, `checked`, `expanded`, `closed`.

    Raises:
        BrowserError: `not-found`, `invalid-args`, `stale-ref`, `timeout` (which says what it waited
            for, such as what covers the element), `dialog-open`, `execution-failed`, `cancelled`.
    """
    if button not in BUTTONS or not 1 <= count <= 3 or any(name not in MODIFIERS for name in modifiers):
        raise BrowserError(
            "invalid-args",
            f"button is one of {', '.join(BUTTONS)}; count 1 to 3; modifiers of {', '.join(MODIFIERS)}.",
        )
    end = asyncio.get_running_loop().time() + timeout
    await page.keep_focused()
    options = {"hit": True, "enabled": True, "position": _point(position)}
    spot = await find_spot(page, target, "ready", options, end)
    _tell(tell, "click", f"clicks {spot.label}", spot)
    with Watch(page) as watch:
        released = _press(page, spot.x, spot.y, button, count, _mask(modifiers))
        promised = bool(spot.facts["download"]) and button == "left"
        changed = await watch.changed(
            spot.place, released, _left(end), spot.facts["state"], promised=promised
        )
    return {"clicked": spot.label, **changed}


async def type_text(
    page: Page,
    target: str,
    text: str,
    *,
    mode: str = "replace",
    submit: bool = False,
    timeout: float = ACTION_TIMEOUT,
    tell: Tell | None = None,
) -> dict[str, Any]:
    """Type into a field, an editable element, or set a date, time, colour or range.

    Args:
        mode: "replace" what is there, or "append" to it.
        submit: press Enter afterwards.
        timeout: seconds for all of it.

    Returns:
        `typed` (the field in words), `value` afterwards (never a password's), and what else
        changed, as `click`.

    Raises:
        BrowserError: as `click`; `invalid-args` when the element takes no text.
    """
    if mode not in ("replace", "append"):
        raise BrowserError("invalid-args", "mode is replace or append.")
    end = asyncio.get_running_loop().time() + timeout
    await page.keep_focused()
    spot = await find_spot(page, target, "edit", {"mode": mode, "text": text}, end)
    _tell(tell, "note", _typing_line(text, spot), spot)
    with Watch(page) as watch:
        sent: list[asyncio.Future[dict[str, Any]]] = []
        with _connected():
            if spot.facts["set"]:
                pass  # the page script has given the field its value
            elif text:
                sent.append(page.session.send("Input.insertText", {"text": text}))
            elif mode == "replace" and spot.facts["hasText"]:
                sent += _key(page, "Backspace", 8)
            if submit:
                sent += _key(page, "Enter", 13, "\r")
        changed = await watch.changed(spot.place, sent[-1] if sent else None, _left(end), {})
    return {"typed": spot.label, **changed}


async def evaluate(page: Page, js: str, *, world: str = "page", timeout: float = ACTION_TIMEOUT) -> Any:
    """Evaluate JavaScript in the main frame, in the page's own world or in one of ours.

    Raises:
        BrowserError: `execution-failed` with its message and line; `timeout`; `dialog-open`; `invalid-args`.
    """
    if world not in ("page", "isolated"):
        raise BrowserError("invalid-args", "world is page or isolated.")
    if world == "page":
        return await page.evaluate_page(js, timeout)
    return await page.evaluate_world(js, timeout)


async def find_spot(page: Page, target: str, function: str, options: dict[str, Any], end: float) -> Spot:
    """Wait, until `end` on the loop's clock, for the target to be ready; says where it is.

    A document that goes meanwhile is no failure: the target is looked for in the next one.

    Raises:
        BrowserError: as `click`.
    """
    while True:
        page.check_usable()
        left = _left(end)
        try:
            with translated():
                return await _spot(page, target, function, options, left, end)
        except BrowserError as error:
            again = error.code == "cancelled" or isinstance(error, _CoveredError)
            if not again or _left(end) <= RETRY_PAUSE:
                raise
        await asyncio.sleep(RETRY_PAUSE)


async def _spot(
    page: Page, target: str, function: str, options: dict[str, Any], left: float, end: float
) -> Spot:
    place = await place_of(page, target, left)
    # The page script's own limit comes first: it knows what it waited for.
    inside = {**options, "timeout": int(max(left - 0.2, left * 0.8) * 1000)}
    facts = await ask(page, place, function, [inside], left)
    box = facts["box"]
    point = facts.get("point") or {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    x, y = float(point["x"]), float(point["y"])
    if place.frame != page.main_frame:
        try:
            x, y, covered = await on_page(page, place.frame, x, y, _left(end))
        except CdpError as error:
            raise DocumentGoneError(error.message) from error
        if covered is not None and options.get("hit"):
            raise _CoveredError("timeout", f"{facts['label']} is covered by {covered}.")
    return Spot(place, facts["label"], x, y, bool(facts["secret"]), facts)


def _press(
    page: Page, x: float, y: float, button: str, count: int, modifiers: int
) -> asyncio.Future[dict[str, Any]]:
    """Send a whole click at once; returns the future of its last event."""
    at = {"x": x, "y": y, "modifiers": modifiers}
    with _connected():
        last = page.session.send("Input.dispatchMouseEvent", {"type": "mouseMoved", **at})
        for number in range(1, count + 1):
            held = {**at, "button": button, "clickCount": number}
            down = {"type": "mousePressed", "buttons": BUTTONS[button], **held}
            page.session.send("Input.dispatchMouseEvent", down)
            last = page.session.send("Input.dispatchMouseEvent", {"type": "mouseReleased", **held})
    return last


def _key(page: Page, key: str, code: int, text: str = "") -> list[asyncio.Future[dict[str, Any]]]:
    base = {"key": key, "code": key, "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code}
    down: dict[str, Any] = {"type": "keyDown" if text else "rawKeyDown", **base}
    if text:
        down["text"] = text
    return [
        page.session.send("Input.dispatchKeyEvent", down),
        page.session.send("Input.dispatchKeyEvent", {"type": "keyUp", **base}),
    ]


@contextlib.contextmanager
def _connected() -> Any:
    try:
        yield
    except CdpGone as error:
        raise BrowserError(
            "host-unavailable", "The tab's page has ended; try again.", outcome="unknown"
        ) from error


def _tell(tell: Tell | None, kind: str, line: str, spot: Spot) -> None:
    if tell is not None:
        tell(kind, line, spot.x, spot.y)


def _typing_line(text: str, spot: Spot) -> str:
    if spot.secret:
        return f"types into {spot.label}"
    short = text if len(text) <= 40 else text[:40] + "…"
    return f"types “{short}” into {spot.label}"


def _mask(modifiers: Sequence[str]) -> int:
    mask = 0
    for name in modifiers:
        mask |= MODIFIERS[name]
    return mask


def _point(position: tuple[float, float] | None) -> dict[str, float] | None:
    return None if position is None else {"x": float(position[0]), "y": float(position[1])}


def _left(end: float) -> float:
    return max(0.05, end - asyncio.get_running_loop().time())
