"""Which kernel runs a session's code, and what comes back? (contract C10)

One kernel per session, one cell at a time in it. A spare stands ready, so that a session's first
cell is fast. A kernel that was not used for an hour ends, and so does the one longest unused when
there are too many.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol
from weakref import WeakValueDictionary

from windowseat.agents import pictures
from windowseat.agents.kernel_process import MERCY, CellEnd, KernelProcess
from windowseat.errors import BrowserError
from windowseat.hub.spawn import Tasks
from windowseat.rules.names import is_session_name

IDLE_LIMIT: Final = 3600.0
LOOK_EVERY: Final = 60.0
KERNELS_LIMIT: Final = 32
REASONS_KEPT: Final = 1000
QUEUE_LIMIT: Final = 8
CODE_LIMIT: Final = 1_000_000
DEFAULT_TIMEOUT: Final = 50.0
TIMEOUT_LIMIT: Final = 600.0
PICTURES_KEPT: Final = 40
# No session's name has a dot, so no workspace can be this folder.
PICTURE_FOLDER: Final = ".pictures"
SPARE_FOLDER: Final = ".spare"


class Dispatcher(Protocol):
    """The part of the broker that kernels need."""

    async def dispatch(
        self, session: str, op: str, args: dict[str, Any], timeout_s: float | None
    ) -> dict[str, Any]:
        """Carry out one operation and return the `result` of C3; never raises."""


@dataclass(frozen=True)
class Executed:
    """What a cell answered (C11, `exec`).

    Attributes:
        text: what it printed and its last value, at most about 10,000 characters.
        value: its last value where that is JSON, else None.
        error: the `error` object of C3, or None.
        images: files of the pictures it showed, at most 4.
        state_lost: whether the variables are gone.
        duration_s: seconds from its start to its end; waiting for its turn is not counted.
    """

    ok: bool
    text: str = ""
    value: Any = None
    error: dict[str, Any] | None = None
    images: list[Path] = field(default_factory=list)
    state_lost: bool = False
    duration_s: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of C11: `value` and `error` only where there is one."""
        found: dict[str, Any] = {"ok": self.ok, "text": self.text}
        if self.value is not None:
            found["value"] = self.value
        if self.error is not None:
            found["error"] = self.error
        found["images"] = [str(path) for path in self.images]
        found["state_lost"] = self.state_lost
        found["duration_s"] = round(self.duration_s, 4)
        return found


class Kernels:
    """All kernels of a hub. `start()` readies the spare; `aclose()` ends every one.

    Args:
        broker: carries out the operations of cells.
        folder: holds the sessions' workspaces, one folder each (0700).
        allowed: whether a person allowed code mode.
    """

    def __init__(self, broker: Dispatcher, folder: Path, allowed: bool) -> None:
        self._broker = broker
        self._folder = folder
        self._allowed = allowed
        self._kernels: dict[str, KernelProcess] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting: dict[str, int] = {}
        self._stops: dict[str, asyncio.Event] = {}
        self._ended_idle: dict[str, str] = {}  # session -> why its kernel is gone, told with its next cell
        self._spare: asyncio.Task[KernelProcess] | None = None
        self._tasks = Tasks()
        self._closed = False

    async def start(self) -> None:
        """Ready the spare, and begin to end kernels that nobody uses. Nothing where code mode is off."""
        if self._allowed:
            self._ready_spare()
            self._tasks.spawn(self._end_idle(), name="end idle kernels")

    def alive(self, session: str) -> bool:
        """Whether the session's agent counts as alive through its kernel (contract C5)."""
        if session in self._stops:
            return True
        kernel = self._kernels.get(session)
        return kernel is not None and kernel.alive and time.monotonic() - kernel.last_used < IDLE_LIMIT

    async def execute(self, session: str, code: str, timeout_s: float = DEFAULT_TIMEOUT) -> Executed:
        """Run a cell in the session's kernel. Cancelling this interrupts the cell.

        Raises:
            BrowserError: `not-allowed` where code mode is off, `invalid-args`; a cell's own failure
                is its answer and raises nothing.
        """
        self._check(session, code, timeout_s)
        if self._waiting.get(session, 0) >= QUEUE_LIMIT:
            raise BrowserError(
                "timeout", f"{QUEUE_LIMIT} cells of this session wait already; try again later."
            )
        stop = asyncio.Event()
        work = self._tasks.spawn(
            self._in_turn(session, code, float(timeout_s), stop), name=f"cell of {session}"
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()  # the cell goes down the ladder by itself, and keeps its turn until it has ended
            caller = asyncio.current_task()
            if work.cancelled() and not (caller and caller.cancelling()):
                raise BrowserError("host-unavailable", "Windowseat ended while the code ran.") from None
            raise

    async def reset(self, session: str) -> None:
        """End the session's kernel with all its variables; a running cell is stopped first."""
        running = self._stops.get(session)
        if running is not None:
            running.set()
        async with self._turn(session):
            self._ended_idle.pop(session, None)
            kernel = self._kernels.pop(session, None)
            if kernel is not None:
                await kernel.close()

    async def aclose(self) -> None:
        """End every kernel."""
        self._closed = True
        await self._tasks.aclose()
        kernels = [*self._kernels.values()]
        if self._spare is not None:
            with contextlib.suppress(BrowserError, asyncio.CancelledError):
                kernels.append(await self._spare)
        self._kernels.clear()
        await asyncio.gather(*(kernel.close() for kernel in kernels))

    def _check(self, session: str, code: str, timeout_s: float) -> None:
        if not self._allowed:
            raise BrowserError(
                "not-allowed",
                "Code mode is off. A person can allow it: windowseat down, then windowseat up --code-mode.",
            )
        if self._closed:
            raise BrowserError("host-unavailable", "Windowseat is about to end.")
        if not is_session_name(session):
            raise BrowserError("invalid-args", f"{session[:80]!r} is no session name.")
        if len(code) > CODE_LIMIT:
            raise BrowserError("invalid-args", f"A cell may have {CODE_LIMIT:,} characters.")
        if not 0.1 <= timeout_s <= TIMEOUT_LIMIT:
            raise BrowserError("invalid-args", f"timeout_s must be from 0.1 to {TIMEOUT_LIMIT:g} seconds.")

    def _turn(self, session: str) -> asyncio.Lock:
        return self._turns.setdefault(session, asyncio.Lock())

    async def _in_turn(self, session: str, code: str, timeout: float, stop: asyncio.Event) -> Executed:
        """Wait for the session's turn, then run the cell; a wait as long as the cell's time is too long."""
        turn = self._turn(session)
        self._waiting[session] = self._waiting.get(session, 0) + 1
        try:
            async with asyncio.timeout(timeout + MERCY):
                await turn.acquire()
        except TimeoutError:
            return _failed("timeout", "An earlier cell of this session still runs; this one was not begun.")
        finally:
            self._waiting[session] -= 1
            if not self._waiting[session]:
                del self._waiting[session]
        try:
            if stop.is_set():
                return _failed("cancelled", "The cell was cancelled before it began.")
            self._stops[session] = stop
            return await self._run(session, code, timeout, stop)
        finally:
            self._stops.pop(session, None)
            turn.release()

    async def _run(self, session: str, code: str, timeout: float, stop: asyncio.Event) -> Executed:
        try:
            kernel, note = await self._kernel_of(session)
        except BrowserError as error:
            return _failed(error.code, error.message)
        began = time.monotonic()
        end = await kernel.run(code, timeout, stop)
        took = time.monotonic() - began
        if end.done is not None:
            return self._answer(session, end, note, timeout, took, stop.is_set())
        self._kernels.pop(session, None)
        reason = "" if end.ladder else await kernel.exit_words()
        await kernel.close()
        return _kernel_lost(end, reason, note, timeout, took, stop.is_set())

    async def _kernel_of(self, session: str) -> tuple[KernelProcess, str]:
        """Return the session's kernel, and what must be said when it is a new one for an old session."""
        kernel = self._kernels.get(session)
        if kernel is not None and kernel.alive:
            return kernel, ""
        reason = self._ended_idle.pop(session, "")
        if kernel is not None:
            del self._kernels[session]
            reason = await kernel.exit_words()
            await kernel.close()
        note = f"[The kernel ended since the last cell ({reason}); variables are lost.]\n" if reason else ""
        workspace = self._folder / session
        workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        kernel = await self._take_spare()

        async def carry(op: str, args: dict[str, Any], timeout_s: float) -> dict[str, Any]:
            return await self._broker.dispatch(session, op, args, timeout_s)

        kernel.adopt(workspace, carry)
        await self._make_room()
        self._kernels[session] = kernel
        return kernel, note

    async def _take_spare(self) -> KernelProcess:
        """Return a kernel that nobody has, the spare one if it stands ready, and begin the next."""
        spare, self._spare = self._spare, None
        kernel = None
        if spare is not None:
            with contextlib.suppress(BrowserError):
                kernel = await asyncio.shield(spare)
        if kernel is not None and not kernel.alive:
            await kernel.close()
            kernel = None
        if kernel is None:
            kernel = await self._new_kernel()
        self._ready_spare()
        return kernel

    def _ready_spare(self) -> None:
        if not self._closed and self._spare is None:
            # A failure waits here until the spare is wanted; whoever wants it starts another and tells.
            self._spare = asyncio.ensure_future(self._new_kernel())

    async def _new_kernel(self) -> KernelProcess:
        folder = self._folder / SPARE_FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return await KernelProcess.start(folder)

    async def _make_room(self) -> None:
        """End the kernel longest unused while there are too many; one that runs a cell is never ended."""
        while len(self._kernels) >= KERNELS_LIMIT:
            idle = [name for name in self._kernels if name not in self._stops]
            if not idle:
                return
            oldest = min(idle, key=lambda name: self._kernels[name].last_used)
            await self._end_kernel(oldest, "it made room for another session's")

    async def _end_idle(self) -> None:
        """End kernels that were not used for an hour."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for session, kernel in list(self._kernels.items()):
                if session not in self._stops and time.monotonic() - kernel.last_used > IDLE_LIMIT:
                    await self._end_kernel(session, "it was not used for an hour")

    async def _end_kernel(self, session: str, reason: str) -> None:
        """End a kernel that its session may still count on."""
        self._ended_idle[session] = reason
        while len(self._ended_idle) > REASONS_KEPT:
            del self._ended_idle[next(iter(self._ended_idle))]
        await self._kernels.pop(session).close()

    def _answer(
        self, session: str, end: CellEnd, note: str, timeout: float, took: float, cancelled: bool
    ) -> Executed:
        """Make an answer of the kernel's own."""
        done = end.done or {}
        error = done["error"]
        if end.ladder and done["interrupted"]:
            error = _stopped(timeout, cancelled, "variables are kept").as_dict()
        return Executed(
            ok=done["ok"],
            text=note + done["text"],
            value=done["value"],
            error=error,
            images=self._keep_pictures(session, done["images"]),
            state_lost=bool(note),
            duration_s=took,
        )

    def _keep_pictures(self, session: str, shown: list[str]) -> list[Path]:
        """Write a cell's pictures where its code cannot exchange them, and forget old ones."""
        if not shown:
            return []
        folder = self._folder / PICTURE_FOLDER / session
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found: list[Path] = []
        for number, picture in enumerate(shown, 1):
            try:
                data = base64.b64decode(picture, validate=True)
            except (binascii.Error, ValueError):
                continue
            kind = pictures.describe(data)
            if kind is None or len(data) > pictures.BYTES_LIMIT:
                continue
            path = folder / f"{time.time_ns()}-{number}.{kind[0].removeprefix('image/')}"
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            found.append(path)
        for old in sorted(folder.iterdir())[:-PICTURES_KEPT]:
            old.unlink(missing_ok=True)
        return found


def _failed(code: str, message: str) -> Executed:
    return Executed(ok=False, error=BrowserError(code, message).as_dict())


def _stopped(timeout: float, cancelled: bool, state: str) -> BrowserError:
    if cancelled:
        return BrowserError("cancelled", f"The cell was cancelled; {state}.")
    return BrowserError("timeout", f"The cell was stopped after {timeout:g} s; {state}.")


def _kernel_lost(
    end: CellEnd, reason: str, note: str, timeout: float, took: float, cancelled: bool
) -> Executed:
    """The answer of a cell whose kernel did not outlive it."""
    if end.ladder:
        error = _stopped(
            timeout,
            cancelled,
            f"it did not end within {MERCY:g} s more, so its kernel was killed and variables are lost",
        )
    else:
        error = BrowserError(
            "execution-failed", f"The kernel ended during the cell ({reason}); variables are lost."
        )
    return Executed(ok=False, text=note + end.said, error=error.as_dict(), state_lost=True, duration_s=took)
