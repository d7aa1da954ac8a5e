"""Raw input into one page: pointer, keys, input methods, touch, and drags between elements.

Nothing here waits for the page: each method puts its commands on the wire and returns their
futures, so that the order of calls is the order of events however busy the page is. Waiting for
each answer before sending the next made clicks land seconds late. Whoever calls bounds what is under
way. Source: the DevTools `Input` domain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from windowseat.chromium.connection import CdpSession, Params
from windowseat.page.keys import Key, down_params, up_params

Future = asyncio.Future[Params]

BUTTONS: Final = ("left", "middle", "right", "back", "forward")
# The DOM's `buttons` bit of each of `BUTTONS`.
BITS: Final = (1, 4, 2, 8, 16)


# A drag may be told after its button came up again, but not later than this (seconds).
DRAG_TOLD_WITHIN: Final = 1.0


@dataclass(frozen=True)
class Mouse:
    """Where the pointer is, and with what held.

    Attributes:
        x, y: CSS pixels of the viewport.
        buttons: the DOM's `buttons` mask, as it is after the event.
        modifiers: DevTools mask.
    """

    x: float
    y: float
    buttons: int = 0
    modifiers: int = 0


@dataclass(frozen=True)
class TouchPoint:
    """One finger: `id` is stable while it is down; radii in CSS pixels, force 0 to 1."""

    id: int
    x: float
    y: float
    radius_x: float = 1.0
    radius_y: float = 1.0
    force: float = 1.0


class PageInput:
    """Raw input through one session of a page."""

    def __init__(self, session: CdpSession) -> None:
        self._session = session
        self._drag: Params | None = None
        self._drag_at = Mouse(0, 0)
        self._may_drag_until = 0.0
        self._stop: Callable[[], None] | None = None

    def send(self, method: str, params: Params) -> Future:
        """One raw command."""
        return self._session.send(method, params)

    # -- pointer ---------------------------------------------------------------------------

    def watch_drags(self) -> None:
        """Let drags of elements, links and files be led by this input.

        Otherwise Chromium hands a begun drag to the window system, where no input reaches it.
        """
        if self._stop is None:
            self._stop = self._session.on("Input.dragIntercepted", self._drag_began)
            self._session.send("Input.setInterceptDrags", {"enabled": True})

    def forget_drags(self) -> None:
        """Hand drags back to the window system, as before `watch_drags`."""
        if self._stop is not None:
            self._stop()
            self._stop = None
            self._drag = None
            if not self._session.closed:
                self._session.send("Input.setInterceptDrags", {"enabled": False})

    def move(self, at: Mouse) -> list[Future]:
        """The pointer moved, or dragged if buttons are down."""
        if self._drag is not None:
            self._drag_at = at
            return [self._dispatch_drag("dragOver", at)]
        button = next((name for name, bit in zip(BUTTONS, BITS, strict=True) if at.buttons & bit), "none")
        return [self._mouse("mouseMoved", at, button, 0)]

    def press(self, at: Mouse, button: int = 0, clicks: int = 1) -> list[Future]:
        """A button went down; `button` indexes `BUTTONS`, `clicks` is 2 for a double click's second."""
        if button == 0:
            self._may_drag_until = float("inf")
        return [self._mouse("mousePressed", at, BUTTONS[button], clicks)]

    def release(self, at: Mouse, button: int = 0, clicks: int = 1) -> list[Future]:
        """A button came up; ends a drag with a drop."""
        sent = []
        if button == 0:
            self._may_drag_until = asyncio.get_running_loop().time() + DRAG_TOLD_WITHIN
        if self._drag is not None and button == 0:
            sent.append(self._dispatch_drag("drop", at))
            self._drag = None
        sent.append(self._mouse("mouseReleased", at, BUTTONS[button], clicks))
        return sent

    def cancel_drag(self) -> list[Future]:
        """Give a drag up (Escape, or the person went away)."""
        if self._drag is None:
            return []
        sent = self._dispatch_drag("dragCancel", self._drag_at)
        self._drag = None
        return [sent]

    def wheel(self, at: Mouse, delta_x: float, delta_y: float) -> list[Future]:
        """The wheel turned, by CSS pixels (down and right are positive)."""
        params = self._mouse_params("mouseWheel", at, "none", 0)
        params.update(deltaX=delta_x, deltaY=delta_y)
        return [self._session.send("Input.dispatchMouseEvent", params)]

    @property
    def dragging(self) -> bool:
        """Whether an element or link is being dragged."""
        return self._drag is not None

    def _drag_began(self, params: Params) -> None:
        if asyncio.get_running_loop().time() > self._may_drag_until:
            return  # somebody else's, through another input of the same page
        self._drag = params["data"]
        self._dispatch_drag("dragEnter", self._drag_at)
        if not self._drag_at.buttons & BITS[0]:
            # The button came up before the browser told of the drag: its drop is still owed.
            self._dispatch_drag("dragOver", self._drag_at)
            self._dispatch_drag("drop", self._drag_at)
            self._drag = None

    def _dispatch_drag(self, kind: str, at: Mouse) -> Future:
        assert self._drag is not None
        return self._session.send(
            "Input.dispatchDragEvent",
            {"type": kind, "x": at.x, "y": at.y, "data": self._drag, "modifiers": at.modifiers},
        )

    def _mouse(self, kind: str, at: Mouse, button: str, clicks: int) -> Future:
        self._drag_at = at
        return self._session.send("Input.dispatchMouseEvent", self._mouse_params(kind, at, button, clicks))

    @staticmethod
    def _mouse_params(kind: str, at: Mouse, button: str, clicks: int) -> Params:
        return {
            "type": kind,
            "x": at.x,
            "y": at.y,
            "button": button,
            "buttons": at.buttons,
            "clickCount": clicks,
            "modifiers": at.modifiers,
            "pointerType": "mouse",
        }

    # -- keys and text ---------------------------------------------------------------------

    def key_down(self, key: Key) -> list[Future]:
        """A key went down (or repeats)."""
        return [self._session.send("Input.dispatchKeyEvent", down_params(key))]

    def key_up(self, key: Key) -> list[Future]:
        """A key came up."""
        return [self._session.send("Input.dispatchKeyEvent", up_params(key))]

    def insert_text(self, text: str) -> list[Future]:
        """Text without a key; where a composition is open, it ends with this text."""
        return [self._session.send("Input.insertText", {"text": text})]

    def compose(self, text: str, start: int, end: int) -> list[Future]:
        """The text of an open composition now, with the selection in it in UTF-16 units."""
        return [
            self._session.send(
                "Input.imeSetComposition", {"text": text, "selectionStart": start, "selectionEnd": end}
            )
        ]

    def cancel_composition(self) -> list[Future]:
        """End a composition without its text."""
        return self.compose("", 0, 0)

    # -- touch -----------------------------------------------------------------------------

    def touch(self, kind: str, points: Sequence[TouchPoint], modifiers: int = 0) -> list[Future]:
        """Fingers changed.

        Args:
            kind: "start", "move", "end" or "cancel".
            points: all fingers that are down after the event.
            modifiers: DevTools mask.
        """
        names = {"start": "touchStart", "move": "touchMove", "end": "touchEnd", "cancel": "touchCancel"}
        name = names[kind]
        if kind in ("end", "cancel") and points:
            # DevTools allows no points with an end; one finger less is told by the others' move.
            name = "touchMove"
        listed: list[dict[str, Any]] = [
            {"id": p.id, "x": p.x, "y": p.y, "radiusX": p.radius_x, "radiusY": p.radius_y, "force": p.force}
            for p in points
        ]
        return [
            self._session.send(
                "Input.dispatchTouchEvent",
                {"type": name, "touchPoints": listed if points else [], "modifiers": modifiers},
            )
        ]
