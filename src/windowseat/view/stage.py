"""What the viewers of a tab share of its page: the cast, the input line, and each one's hands.

A stage belongs to one `Page`. When the tab gets another (it slept, crashed hard, was restored), it
gets another stage; the viewers stay.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Any, Final

from windowseat.chromium.connection import CdpGone
from windowseat.errors import BrowserError
from windowseat.hub.spawn import Tasks
from windowseat.page import editing
from windowseat.page.events import PageEvent
from windowseat.page.input import PageInput
from windowseat.page.page import Page
from windowseat.rules import pacing
from windowseat.view.cast import Cast, Demand, Picture
from windowseat.view.flow import Flow
from windowseat.view.hands import Hands, Input
from windowseat.view.messages import KeyMessage, MouseMessage, TouchMessage
from windowseat.view.viewer import Viewer

# An input that a page leaves unanswered for so long (seconds) makes it count as unresponsive.
STUCK_AFTER: Final = 4.0
FINENESS_EVERY: Final = 2.0
TAP_SETTLES: Final = 0.4


class Stage:
    """One page with its viewers' input and its cast.

    Args:
        on_picture: called with each new picture.
        on_event: called with each event of the page.
    """

    def __init__(
        self,
        page: Page,
        tasks: Tasks,
        *,
        on_picture: Callable[[Picture], None],
        on_event: Callable[[PageEvent], None],
    ) -> None:
        self.page = page
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._raw = PageInput(page.session)
        self._flow = Flow()
        self._hands: dict[str, Hands] = {}
        self._stop_listening = page.listen(on_event)
        self._touch = False
        self._reading_field = False
        self._field: dict[str, Any] = {"on": False}
        self._level = 0
        self._level_at = 0.0
        self.cast = Cast(
            page.session,
            on_picture=on_picture,
            stands_still=lambda: page.dialog is not None or page.crashed,
            spawn=lambda work: tasks.spawn(work, name="a view's cast"),
        )

    def input(self, viewer: Viewer, message: Input) -> None:
        """Carry out a viewer's input. Raises `BrowserError` as `Hands.handle`."""
        hands = self._hands.get(viewer.id)
        if hands is None:
            hands = self._hands[viewer.id] = Hands(
                self.page,
                self._raw,
                self._flow,
                lambda work: self._tasks.spawn(work, name="input of a viewer"),
                viewer.tell,
            )
            self._tasks.spawn(self.page.keep_focused(), name="keep a viewed page focused")
        self._follow_touch(viewer, message)
        hands.handle(message)
        self.cast.nudge()
        if _may_move_focus(message):
            self._read_field(viewer)
        if isinstance(message, TouchMessage) and message.k == "end":
            # Chromium makes a tap a click only once it is sure that no second tap follows.
            self._loop.call_later(TAP_SETTLES, self._read_field, viewer)

    def left(self, viewer: Viewer) -> None:
        """The viewer went: nothing they held stays pressed."""
        hands = self._hands.pop(viewer.id, None)
        if hands is not None:
            hands.let_go()

    def pointer_left(self, viewer: Viewer) -> None:
        """A viewer's pointer left the page: nothing stays hovered."""
        hands = self._hands.get(viewer.id)
        if hands is not None:
            hands.leave()

    def document_left(self, *, was_crashed: bool) -> None:
        """The page shows another document, or none: input to the last one is not answered any more."""
        self._flow.forget()
        if was_crashed:
            self.cast.restart()
        else:
            self.cast.nudge()

    def stuck(self) -> bool:
        """Whether the page leaves input unanswered, without a dialog that would explain it."""
        if self.page.dialog is not None:
            return False
        if self.page.unresponsive:
            self.page.read_soon()  # nothing else would find out that it answers again
            return True
        return self._flow.oldest() > STUCK_AFTER

    def demand(self, viewers: Iterable[Viewer], *, thumbnails: bool) -> None:
        """Ask the cast for what these viewers need."""
        if any(viewer.visible for viewer in viewers):
            self.cast.want(Demand.FULL)
        else:
            self.cast.want(Demand.SMALL if thumbnails else Demand.OFF)

    def adapt(self, viewers: Iterable[Viewer]) -> None:
        """Make the pictures coarser when every viewer is slow, finer when one is quick."""
        now = self._loop.time()
        if now - self._level_at < FINENESS_EVERY:
            return
        level = pacing.fineness(self._level, [viewer.lag() for viewer in viewers if viewer.visible])
        if level != self._level:
            self._level, self._level_at = level, now
            self.cast.set_level(level)

    def close(self) -> None:
        """Let the page be."""
        self._stop_listening()
        for hands in self._hands.values():
            hands.let_go()
        self._hands.clear()
        self._raw.forget_drags()
        if self._touch:
            self._set_touch(False)
        self.cast.close()

    # -- touch, and the field that has the focus -------------------------------------------------

    def _follow_touch(self, viewer: Viewer, message: Input) -> None:
        # Pages ask whether there is a touch screen; the answer is that of whoever acts.
        if isinstance(message, TouchMessage) and message.k == "start" and not self._touch:
            self._set_touch(True)
        elif self._touch and isinstance(message, MouseMessage) and message.k == "down" and not viewer.touch:
            self._set_touch(False)

    def _set_touch(self, on: bool) -> None:
        self._touch = on
        params: dict[str, Any] = {"enabled": on}
        if on:
            params["maxTouchPoints"] = 5
        with contextlib.suppress(CdpGone):
            self.page.session.send("Emulation.setTouchEmulationEnabled", params)

    def _read_field(self, viewer: Viewer) -> None:
        if not self._reading_field and not self.page.gone:
            self._reading_field = True
            self._tasks.spawn(self._tell_field(viewer), name="which field has the focus")

    async def _tell_field(self, viewer: Viewer) -> None:
        try:
            found = await editing.field(self.page)
        except BrowserError:
            return
        finally:
            self._reading_field = False
        if found != self._field:
            self._field = found
            viewer.tell({"t": "field", **found})


def _may_move_focus(message: Input) -> bool:
    match message:
        case MouseMessage(k="up") | TouchMessage(k="end") | KeyMessage(k="up", key="Tab" | "Enter"):
            return True
    return False
