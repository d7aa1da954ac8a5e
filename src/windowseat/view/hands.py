"""A viewer's hands: input messages become input of the page, in order, and never wait for it.

Commands go out one after the other without their answers being awaited; what is under way is
bounded (`view.flow`). Moves and the wheel give way first: few are under way, a newer move replaces
one that waits, and turns of the wheel that wait add up. Paste, copy, cut and deletion take several
steps, so what comes meanwhile waits in a short line.
"""

from __future__ import annotations

import contextlib
import functools
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from windowseat.chromium.connection import CdpGone
from windowseat.errors import BrowserError
from windowseat.page import editing
from windowseat.page.input import BITS, Mouse, PageInput, TouchPoint
from windowseat.page.keys import Key
from windowseat.page.page import Page
from windowseat.view.flow import Flow, Future
from windowseat.view.messages import (
    Copy,
    Cut,
    DeleteMessage,
    ImeCommit,
    ImeMessage,
    KeyMessage,
    MouseMessage,
    PasteMessage,
    TextMessage,
    TouchMessage,
    WheelMessage,
)

Spawn = Callable[[Coroutine[Any, Any, None]], object]

ARRIVED_WITHIN: Final = 1.0
LINE_AT_MOST: Final = 256
HELD_AT_MOST: Final = 32
OUTSIDE: Final = Mouse(-1, -1)

Input = (
    MouseMessage | WheelMessage | KeyMessage | TextMessage | ImeMessage | ImeCommit | DeleteMessage
    | TouchMessage | PasteMessage | Copy | Cut
)  # fmt: skip
INPUTS: Final = (
    MouseMessage, WheelMessage, KeyMessage, TextMessage, ImeMessage, ImeCommit, DeleteMessage,
    TouchMessage, PasteMessage, Copy, Cut,
)  # fmt: skip


class Hands:
    """One viewer's input into one page.

    Args:
        page, raw, flow: of the tab; the latter two are shared by its viewers.
        spawn: runs a coroutine as a task and keeps it.
        tell: sends a message to this viewer.
    """

    def __init__(
        self, page: Page, raw: PageInput, flow: Flow, spawn: Spawn, tell: Callable[[dict[str, Any]], None]
    ) -> None:
        self._page = page
        self._raw = raw
        self._flow = flow
        self._spawn = spawn
        self._tell = tell
        # At most one of the two waits: the other kind sends it first.
        self._waiting_move: Mouse | None = None
        self._waiting_wheel: WheelMessage | None = None
        self._line: deque[Input] = deque()
        self._busy = False
        self._keys: dict[str, Key] = {}
        self._buttons = 0
        self._touching = False
        self._at = Mouse(0, 0)
        self._refused = False

    def handle(self, message: Input) -> None:
        """Carry out one message, or drop it: a page with a dialog takes no input.

        Raises:
            BrowserError: `timeout`, the page has not answered much earlier input.
        """
        if self._page.dialog is not None or self._page.crashed or self._page.gone:
            if isinstance(message, Copy | Cut):
                self._tell({"t": "clip", "text": "", "cut": isinstance(message, Cut)})
            return
        if self._busy:
            if len(self._line) >= LINE_AT_MOST:
                self._refuse()
                return
            if isinstance(message, MouseMessage) and message.k == "move" and self._line:
                last = self._line[-1]
                if isinstance(last, MouseMessage) and last.k == "move":
                    self._line.pop()
            self._line.append(message)
            return
        self._carry_out(message)

    def let_go(self) -> None:
        """The person went away: release what they held, so that nothing sticks in the page."""
        self._line.clear()
        self._waiting_move = self._waiting_wheel = None
        try:
            for key in self._keys.values():
                self._flow.take(self._raw.key_up(key))
            if self._raw.dragging and self._buttons & BITS[0]:
                self._flow.take(self._raw.cancel_drag())
            for button, bit in enumerate(BITS):
                if self._buttons & bit:
                    self._buttons &= ~bit
                    at = Mouse(self._at.x, self._at.y, self._buttons)
                    self._flow.take(self._raw.release(at, button))
            if self._touching:
                self._flow.take(self._raw.touch("cancel", ()))
        except CdpGone:
            pass
        self._keys.clear()
        self._touching = False

    # -- one message -----------------------------------------------------------------------

    def _carry_out(self, message: Input) -> None:
        if self._flow.full:
            self._refuse()
            return
        self._refused = False
        try:
            if isinstance(message, MouseMessage) and message.k == "move":
                self._move(Mouse(message.x, message.y, message.bs, message.m))
                return
            if isinstance(message, WheelMessage):
                self._wheel(message)
                return
            self._flush()
            step = self._slow_step(message)
            if step is None:
                self._flow.take(self._fast(message))
            else:
                self._busy = True
                self._spawn(self._slowly(step))
        except CdpGone:
            pass  # the tab's page is being replaced; its viewers hear of it

    def _fast(self, message: Input) -> list[Future]:
        match message:
            case MouseMessage():
                return self._button(message)
            case KeyMessage():
                return self._key(message)
            case TextMessage():
                return self._raw.insert_text(message.text) if message.text else []
            case ImeMessage():
                return self._raw.compose(message.text, message.start, message.end)
            case ImeCommit():
                if message.commit:
                    return self._raw.insert_text(message.commit)
                return self._raw.cancel_composition()
            case TouchMessage():
                self._touching = bool(message.p)
                points = [TouchPoint(p.id, p.x, p.y, p.rx, p.ry, p.f) for p in message.p]
                return self._raw.touch(message.k, points, message.m)
            case DeleteMessage():
                # One step back is what a key does, and pages expect the key.
                back = Key("Backspace", "Backspace")
                return [*self._raw.key_down(back), *self._raw.key_up(back)]
        raise AssertionError(message)

    def _button(self, message: MouseMessage) -> list[Future]:
        button = max(message.b, 0)
        self._at = at = Mouse(message.x, message.y, message.bs, message.m)
        if message.k == "down":
            if button == 0:
                self._raw.watch_drags()
            self._buttons |= BITS[button]
            return self._raw.press(at, button, message.c)
        self._buttons &= ~BITS[button]
        return self._raw.release(at, button, message.c)

    def _key(self, message: KeyMessage) -> list[Future]:
        key = Key(message.key, message.code, message.loc, message.m, message.text, message.rep)
        name = message.code or message.key
        if message.k == "up":
            self._keys.pop(name, None)
            return self._raw.key_up(key)
        if len(self._keys) < HELD_AT_MOST:
            self._keys[name] = Key(message.key, message.code, message.loc)
        sent = []
        if message.key == "Escape" and self._raw.dragging:
            sent += self._raw.cancel_drag()
        return sent + self._raw.key_down(key)

    def _refuse(self) -> None:
        # Said once: who types on blindly must not get a sentence for each key.
        if not self._refused:
            self._refused = True
            raise BrowserError("timeout", "The page does not take input; wait a moment or reload it.")

    # -- moves and the wheel -----------------------------------------------------------------

    def leave(self) -> None:
        """The pointer left the page: a place outside of it, unless something is held."""
        if not self._buttons and self._page.dialog is None and not self._page.gone:
            with contextlib.suppress(CdpGone):
                self._move(OUTSIDE)

    def _move(self, at: Mouse) -> None:
        if self._waiting_wheel is not None:
            self._flush()
        self._at = at
        if self._flow.moves.full:
            self._waiting_move = at
            return
        self._waiting_move = None
        self._flow.take(self._raw.move(at), of=self._flow.moves, then=self._answered)

    def _wheel(self, message: WheelMessage) -> None:
        if not message.dx and not message.dy:
            return  # it only says that this viewer acts
        waiting = self._waiting_wheel
        if waiting is not None and waiting.m == message.m:
            dx, dy = waiting.dx + message.dx, waiting.dy + message.dy
            message = WheelMessage(message.x, message.y, dx, dy, message.m)
        elif waiting is not None or self._waiting_move is not None:
            self._flush()
        if self._flow.wheels.full:
            self._waiting_wheel = message
        else:
            self._waiting_wheel = None
            self._turn(message)

    def _turn(self, message: WheelMessage) -> None:
        at = Mouse(message.x, message.y, self._buttons, message.m)
        sent = self._raw.wheel(at, message.dx, message.dy)
        self._flow.take(sent, of=self._flow.wheels, then=self._answered)

    def _answered(self) -> None:
        if self._page.gone or self._page.dialog is not None or self._busy:
            return
        with contextlib.suppress(CdpGone):
            if self._waiting_move is not None and not self._flow.moves.full:
                self._move(self._waiting_move)
            elif self._waiting_wheel is not None and not self._flow.wheels.full:
                wheel, self._waiting_wheel = self._waiting_wheel, None
                self._turn(wheel)

    def _flush(self) -> None:
        # A click must find the pointer where it was last seen, and the page where it was scrolled to.
        at, self._waiting_move = self._waiting_move, None
        wheel, self._waiting_wheel = self._waiting_wheel, None
        if at is not None:
            self._flow.take(self._raw.move(at))
        if wheel is not None:
            self._turn(wheel)

    # -- what takes several steps ------------------------------------------------------------

    def _slow_step(self, message: Input) -> Callable[[], Coroutine[Any, Any, None]] | None:
        match message:
            case PasteMessage(text):
                return functools.partial(self._paste, text)
            case Copy():
                return functools.partial(self._copy, cut=False)
            case Cut():
                return functools.partial(self._copy, cut=True)
            case DeleteMessage(before, after) if (before, after) != (1, 0):
                return functools.partial(self._erase, before, after)
        return None

    async def _slowly(self, step: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            # Keys go through the page's input queue, a reading of it does not: what was typed before
            # (Control+A, then copy) must have arrived first.
            await self._flow.wait_answered(ARRIVED_WITHIN)
            await step()
        except BrowserError as error:
            self._tell({"t": "error", "code": error.code, "message": error.message})
        except CdpGone:
            pass
        finally:
            self._busy = False
            self._go_on()

    def _go_on(self) -> None:
        while self._line and not self._busy:
            try:
                self._carry_out(self._line.popleft())
            except BrowserError as error:
                self._line.clear()
                self._tell({"t": "error", "code": error.code, "message": error.message})
        self._answered()

    async def _paste(self, text: str) -> None:
        insert = await editing.paste(self._page, text)
        if insert:
            self._flow.take(self._raw.insert_text(insert))

    async def _copy(self, *, cut: bool) -> None:
        try:
            text = await editing.copy(self._page, cut=cut)
        except BrowserError:
            # An answer is owed: the person's own browser holds its clipboard open for it.
            self._tell({"t": "clip", "text": "", "cut": cut})
            raise
        self._tell({"t": "clip", "text": text, "cut": cut})

    async def _erase(self, before: int, after: int) -> None:
        if before or after:
            await editing.erase(self._page, before, after)
