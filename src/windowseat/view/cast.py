"""The moving picture of one tab: one screencast, whoever looks.

Chromium encodes for each screencast apart, so a tab has one, started with the first demand and
stopped with the last. Frames are acknowledged here at once, which takes every viewer's line out of
the rate; they are decoded from base64 once and never encoded again: all viewers get the same bytes.
Once the page has been quiet for a moment a sharp picture (PNG) follows the last frame.

Seen with Chromium 156: a start always brings a frame; a second start is refused, so a change of
size or quality is a stop and a start; a screenshot makes the cast repeat its last frame, byte for
byte, which is dropped here. Source: `Page.startScreencast`, `Page.captureScreenshot`.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession, CdpTimeout, Params, decode_base64
from windowseat.rules.pacing import STEPS

JPEG: Final = 1
PNG: Final = 2

QUIET: Final = 0.25
QUIET_AT_MOST: Final = 2.0
# A page that moves again and again right after its sharp picture makes those a waste.
WASTED_AT_MOST: Final = 2
WASTED_WITHIN: Final = 1.0
SHARP_TIMEOUT: Final = 3.0
SHARP_KEPT: Final = 4
PNG_AT_MOST: Final = 1_500_000
FRAMES_IN_FLIGHT: Final = 3
SMALL_SIDE: Final = 480
SMALL_EVERY: Final = 0.7
SMALL_QUALITY: Final = 60
OWED_WITHIN: Final = 1.5
OWED_AT_MOST: Final = 30.0
CHECK_EVERY: Final = 0.5

Spawn = Callable[[Coroutine[Any, Any, None]], object]


class Demand(enum.IntEnum):
    """What is asked of a cast."""

    OFF = 0
    SMALL = 1
    FULL = 2


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture of a page.

    Attributes:
        kind: `JPEG` or `PNG`.
        sharp: whether it is the fine picture of a quiet page.
        small: whether it was made for a thumbnail.
        data: the encoded picture.
        width, height: the page's viewport in CSS pixels (not the picture's own size).
        at: loop time at which it came from the browser.
    """

    kind: int
    sharp: bool
    small: bool
    data: bytes
    width: int
    height: int
    at: float


class Cast:
    """The screencast of one page.

    Args:
        session: the page's session; another page needs another `Cast`.
        on_picture: called with each new picture, synchronously; must not block.
        stands_still: whether a dialog is open (a screenshot would hang then).
        spawn: runs a coroutine as a task, keeps it and reports its failure.
    """

    def __init__(
        self,
        session: CdpSession,
        *,
        on_picture: Callable[[Picture], None],
        stands_still: Callable[[], bool],
        spawn: Spawn,
    ) -> None:
        self._session = session
        self._on_picture = on_picture
        self._stands_still = stands_still
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._demand = Demand.OFF
        self._level = 0
        self._stop_listening = session.on("Page.screencastFrame", self._frame)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._last_data = ""
        self._changed_at = 0.0
        self._owed_since: float | None = None
        self._patience = OWED_WITHIN
        self._quiet = QUIET
        self._sharp_at = 0.0
        self._wasted = 0
        self._sharpening = False
        self._sharp_kind = PNG
        self._sharps: OrderedDict[str, Picture] = OrderedDict()
        self.latest: Picture | None = None
        self.produced = 0

    # -- what callers say --------------------------------------------------------------------

    @property
    def demand(self) -> Demand:
        """What is asked of it now."""
        return self._demand

    def want(self, demand: Demand) -> None:
        """Start, stop or change the cast; nothing happens when it is so already."""
        if demand is self._demand:
            return
        self._demand = demand
        if demand is Demand.OFF:
            self._cancel_timers()
            self._owed_since = None
            self._command("Page.stopScreencast", {})
        else:
            self.restart()

    def set_level(self, level: int) -> None:
        """Ask for finer or coarser frames: an index into `STEPS`."""
        if level != self._level:
            self._level = level
            if self._demand is Demand.FULL:
                self.restart()

    def restart(self) -> None:
        """Begin anew, with a frame at once: after a change of size, a crash, or a frozen cast."""
        if self._demand is Demand.OFF:
            return
        self._cancel_timers()
        self._last_data = ""
        self._sharps.clear()
        self._command("Page.stopScreencast", {})
        self._command("Page.startScreencast", self._start_params())
        self._owe()

    def nudge(self) -> None:
        """The page has a reason to change (input, a navigation): no frame now would be suspicious."""
        if self._demand is Demand.FULL and self._owed_since is None:
            self._owe()

    def close(self) -> None:
        """Stop for good."""
        self.want(Demand.OFF)
        self._stop_listening()

    # -- frames --------------------------------------------------------------------------------

    def _start_params(self) -> Params:
        if self._demand is Demand.SMALL:
            return {
                "format": "jpeg",
                "quality": SMALL_QUALITY,
                "maxWidth": SMALL_SIDE,
                "maxHeight": SMALL_SIDE,
                "maxFramesInFlight": 1,
                "sendLastFrame": True,
            }
        step = STEPS[self._level]
        params: Params = {
            "format": "jpeg",
            "quality": step.quality,
            "maxFramesInFlight": FRAMES_IN_FLIGHT,
            "sendLastFrame": True,
        }
        if step.scale < 1 and self.latest is not None:
            params["maxWidth"] = max(160, round(self.latest.width * step.scale))
            params["maxHeight"] = max(160, round(self.latest.height * step.scale))
        return params

    def _frame(self, params: Params) -> None:
        ack = {"sessionId": params["sessionId"]}
        if self._demand is Demand.SMALL:
            # The pace of a thumbnail is made here: no acknowledgement, no next frame.
            self._at("ack", SMALL_EVERY, lambda: self._command("Page.screencastFrameAck", ack))
        else:
            self._command("Page.screencastFrameAck", ack)
        if self._demand is Demand.OFF:
            return
        self.produced += 1
        self._owed_since = None
        data = params["data"]
        if data == self._last_data:
            return
        self._last_data = data
        now = self._loop.time()
        self._note_change(now)
        self._deliver(self._known_sharp(data) or self._picture(params, now))
        if self._demand is Demand.FULL and not self.latest_is_sharp:
            self._await_quiet(self._quiet)

    @property
    def latest_is_sharp(self) -> bool:
        """Whether the latest picture is a sharp one already."""
        return self.latest is not None and self.latest.sharp

    def _picture(self, params: Params, now: float) -> Picture:
        metadata = params["metadata"]
        return Picture(
            kind=JPEG,
            sharp=False,
            small=self._demand is Demand.SMALL,
            data=decode_base64(params["data"]),
            width=round(metadata["deviceWidth"]),
            height=round(metadata["deviceHeight"]),
            at=now,
        )

    def _deliver(self, picture: Picture) -> None:
        self.latest = picture
        self._on_picture(picture)

    # -- the sharp picture -----------------------------------------------------------------------

    def _known_sharp(self, data: str) -> Picture | None:
        # A blinking caret shows two pictures in turn: each is made sharp once.
        if not self._sharps:
            return None  # a page in motion: do not even hash its frames
        found = self._sharps.get(data)
        if found is not None:
            self._sharps.move_to_end(data)
        return found

    def _note_change(self, now: float) -> None:
        if self._sharp_at and now - self._sharp_at < WASTED_WITHIN:
            self._waste()
        elif now - self._changed_at > QUIET_AT_MOST and not self._sharpening:
            self._quiet, self._wasted = QUIET, 0
        self._sharp_at = 0.0
        self._changed_at = now

    def _waste(self) -> None:
        self._wasted += 1
        if self._wasted > WASTED_AT_MOST:
            self._quiet = min(self._quiet * 2, QUIET_AT_MOST)

    def _await_quiet(self, after: float) -> None:
        if "quiet" not in self._timers:
            self._at("quiet", after, self._perhaps_quiet)

    def _perhaps_quiet(self) -> None:
        left = self._changed_at + self._quiet - self._loop.time()
        if left > 0.005:
            self._await_quiet(left)
        elif not self._sharpening and not self._stands_still():
            self._sharpening = True
            self._spawn(self._sharpen())

    async def _sharpen(self) -> None:
        data, before = self._last_data, self.latest
        # Where every viewer's line is slow, a PNG would keep it busy for seconds.
        kind, quality = (self._sharp_kind, 95) if self._level == 0 else (JPEG, 80)
        params: Params = {"format": "png"} if kind == PNG else {"format": "jpeg", "quality": quality}
        try:
            answer = await self._session.call("Page.captureScreenshot", params, timeout=SHARP_TIMEOUT)
        except (CdpError, CdpGone, CdpTimeout):
            return
        finally:
            self._sharpening = False
        if before is None or data != self._last_data or self._demand is not Demand.FULL:
            self._waste()  # the page has moved on: a frame newer than this picture was sent
            return
        taken = decode_base64(answer["data"])
        now = self._loop.time()
        picture = Picture(kind, True, False, taken, before.width, before.height, now)
        if kind == PNG and len(taken) > PNG_AT_MOST:
            self._sharp_kind = JPEG  # a photograph: a fine JPEG is as sharp at a tenth of the size
        if len(taken) < 2 * len(before.data):
            self._sharps[data] = picture
            while len(self._sharps) > SHARP_KEPT:
                self._sharps.popitem(last=False)
        self._sharp_at = now
        self._deliver(picture)

    # -- the watch over a frozen cast -----------------------------------------------------------

    def _owe(self) -> None:
        self._owed_since = self._loop.time()
        if "check" not in self._timers:
            self._at("check", CHECK_EVERY, self._check)

    def _check(self) -> None:
        if self._owed_since is None:
            self._patience = OWED_WITHIN
            return
        if self._loop.time() - self._owed_since > self._patience and not self._stands_still():
            # Each vain try doubles the patience: a page that is stuck must not cost more.
            self._patience = min(self._patience * 2, OWED_AT_MOST)
            self.restart()
        self._at("check", CHECK_EVERY, self._check)

    # -- small helpers --------------------------------------------------------------------------

    def _command(self, method: str, params: Params) -> None:
        with contextlib.suppress(CdpGone):
            self._session.send(method, params)

    def _at(self, name: str, delay: float, callback: Callable[[], None]) -> None:
        def ring() -> None:
            self._timers.pop(name, None)
            callback()

        known = self._timers.pop(name, None)
        if known is not None:
            known.cancel()
        self._timers[name] = self._loop.call_later(delay, ring)

    def _cancel_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
