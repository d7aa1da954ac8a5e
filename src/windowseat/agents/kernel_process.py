"""One kernel as the hub holds it: the process, its socket, and the ladder that ends a cell.

A cell that does not end by its time is interrupted (its variables stay), and killed two seconds
later (they are lost). Whatever the kernel does, only its own cell pays.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from windowseat.agents.frames import FRAME_LIMIT, HEAD, FrameTooLongError, length_of, pack, unpack
from windowseat.agents.pictures import PER_CELL
from windowseat.errors import BrowserError
from windowseat.hub.spawn import Tasks

log = logging.getLogger(__name__)

START_TIMEOUT: Final = 20.0
# Between the interrupt and the kill (contract C10).
MERCY: Final = 2.0
END_TIMEOUT: Final = 5.0
NOTES_LIMIT: Final = 12_000
TEXT_LIMIT: Final = 20_000
MESSAGE_LIMIT: Final = 2_000

# `-m` would need the package on the path of an isolated interpreter; a checkout's is not there.
PROGRAM: Final = (
    "import sys; sys.path.append(sys.argv[1]); from windowseat.agents.kernel import main; main(sys.argv[2:])"
)
PACKAGE_FOLDER: Final = str(Path(__file__).parent.parent.parent)

Carry = Callable[[str, dict[str, Any], float], Awaitable[dict[str, Any]]]


@dataclass(frozen=True)
class CellEnd:
    """How a cell ended.

    Attributes:
        done: the kernel's `done` frame, or None when the kernel ended first.
        ladder: how far it was pushed: "" (it ended by itself), "interrupted" or "killed".
        said: what a kernel that is gone had printed, and said at its end.
    """

    done: dict[str, Any] | None
    ladder: str = ""
    said: str = ""


class KernelProcess:
    """A running kernel. `start` makes one; `close` ends it whatever it does."""

    def __init__(self, process: asyncio.subprocess.Process, notes: int) -> None:
        self._process = process
        self._notes = notes
        self._tasks = Tasks()
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter
        self._carry: Carry | None = None
        self._done: asyncio.Future[dict[str, Any]] | None = None
        self._operations: set[asyncio.Task[Any]] = set()
        self._ended = asyncio.Event()
        self._ready = asyncio.Event()
        self._cell = 0
        self.last_used = time.monotonic()

    @classmethod
    async def start(cls, folder: Path) -> KernelProcess:
        """Start a kernel, with `folder` as its working directory until a session adopts it.

        Raises:
            BrowserError: `execution-failed`, it did not come up; the message holds what it said.
        """
        ours, theirs = socket.socketpair()
        # Its standard error is memory that outlives it, so that a killed cell's output is not lost.
        notes = os.memfd_create(f"kernel-{secrets.token_hex(4)}")
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-X", "utf8", "-X", "faulthandler", "-c", PROGRAM,
                PACKAGE_FOLDER, str(theirs.fileno()), str(os.getpid()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=notes,
                cwd=folder,
                env={"LANG": "C.UTF-8", "PATH": os.defpath, "HOME": str(folder)},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            ours.close()
            os.close(notes)
            raise BrowserError("execution-failed", f"No kernel could be started: {error}.") from error
        finally:
            theirs.close()
        kernel = cls(process, notes)
        ours.setblocking(False)
        kernel._reader, kernel._writer = await asyncio.open_unix_connection(sock=ours)
        kernel._tasks.spawn(kernel._read(), name=f"kernel {process.pid}")
        await kernel._wait_ready()
        return kernel

    @property
    def alive(self) -> bool:
        """Whether its process runs and its socket is open."""
        return not self._ended.is_set()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def adopt(self, workspace: Path, carry: Carry) -> None:
        """Give the kernel to a session: its folder, and who carries out its operations."""
        self._carry = carry
        self._send({"t": "adopt", "workspace": str(workspace)})

    async def run(self, code: str, timeout: float, stop: asyncio.Event) -> CellEnd:
        """Run one cell to its end, pushing it down the ladder at `timeout` or when `stop` is set.

        Times are seconds. Never raises but when cancelled.
        """
        self._cell += 1
        done = self._done = asyncio.get_running_loop().create_future()
        self._send({"t": "run", "cell": self._cell, "code": code, "timeout_s": timeout})
        stopped = asyncio.ensure_future(stop.wait())
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({done, stopped, ended}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if done.done():
                return CellEnd(done.result())
            if ended.done():
                return CellEnd(None, said=self.notes())
            self._signal(signal.SIGINT)
            await asyncio.wait({done, ended}, timeout=MERCY, return_when=asyncio.FIRST_COMPLETED)
            if done.done() and self.alive:
                return CellEnd(done.result(), "interrupted")
            said = self.notes()
            await self.close()
            return CellEnd(None, "killed", said)
        finally:
            stopped.cancel()
            ended.cancel()
            self._done = None
            self._drop_operations()
            self.last_used = time.monotonic()

    @property
    def cell(self) -> int:
        """The number of the latest cell."""
        return self._cell

    async def close(self) -> None:
        """End the process: killed, not asked, for it may be stuck; and wait until it is gone."""
        self._signal(signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_TIMEOUT):
                await self._process.wait()
        self._end()
        await self._tasks.aclose()

    def notes(self) -> str:
        """What its last cell printed first, and what the process said at its end (`faulthandler`)."""
        if self._notes < 0:
            return ""
        size = os.fstat(self._notes).st_size
        held = os.pread(self._notes, NOTES_LIMIT, max(0, size - NOTES_LIMIT))
        return held.decode("utf-8", "replace").strip()

    async def exit_words(self) -> str:
        """Say how the process ended: "it was killed by SIGSEGV"."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_TIMEOUT):
                await self._process.wait()
        code = self._process.returncode
        if code is None:
            return "it does not answer any more"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"it was ended by {signal.Signals(-code).name}"
        return f"it ended with exit code {code}"

    async def _wait_ready(self) -> None:
        ready = asyncio.ensure_future(self._ready.wait())
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({ready, ended}, timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.close()
            raise
        finally:
            ready.cancel()
            ended.cancel()
        if not self._ready.is_set():
            said = self.notes()[-500:]
            await self.close()
            raise BrowserError("execution-failed", f"A kernel did not start. {said}".strip())

    async def _read(self) -> None:
        """Take frames until the kernel is gone. A kernel that talks nonsense counts as gone."""
        try:
            while True:
                head = await self._reader.readexactly(HEAD)
                self._take(unpack(await self._reader.readexactly(length_of(head))))
        except (asyncio.IncompleteReadError, OSError):
            pass
        except (FrameTooLongError, ValueError, KeyError, TypeError) as error:
            log.warning("kernel %s broke its protocol: %s", self.pid, error)
            self._signal(signal.SIGKILL)
        finally:
            self._ended.set()

    def _take(self, frame: dict[str, Any]) -> None:
        match frame["t"]:
            case "ready":
                self._ready.set()
            case "done":
                if frame["cell"] == self._cell and self._done is not None and not self._done.done():
                    self._done.set_result(well_formed(frame))
            case "op":
                self._begin_operation(frame)
            case other:
                raise ValueError(f"unknown frame {other!r}")

    def _begin_operation(self, frame: dict[str, Any]) -> None:
        """Carry out what the cell asks for; outside of a cell nothing is carried out."""
        if self._done is None or self._done.done() or self._carry is None:
            self._reply(frame["id"], _refused("cancelled", "The cell has ended."))
            return
        if self._operations:
            # A cell waits for each reply; whoever does not, drives the socket by itself.
            self._drop_operations()
        task = self._tasks.spawn(self._operate(self._carry, frame), name=f"kernel {self.pid} {frame['op']}")
        self._operations.add(task)
        task.add_done_callback(self._operations.discard)

    async def _operate(self, carry: Carry, frame: dict[str, Any]) -> None:
        self._reply(frame["id"], await carry(frame["op"], frame["args"], float(frame["timeout_s"])))

    def _drop_operations(self) -> None:
        """Cancel what a cell left unanswered."""
        for task in list(self._operations):
            task.cancel()

    def _reply(self, asked: Any, result: dict[str, Any]) -> None:
        try:
            self._send({"t": "reply", "id": asked, "result": result})
        except (FrameTooLongError, ValueError, TypeError):
            limit = FRAME_LIMIT // (1024 * 1024)
            told = _refused(
                "execution-failed", f"The answer is more than {limit} MiB or no JSON; ask for less."
            )
            self._send({"t": "reply", "id": asked, "result": told})

    def _send(self, message: dict[str, Any]) -> None:
        # No drain: the kernel reads whenever it is not in a cell, and a reply is one it waits for.
        if self._writer.is_closing():
            return
        if self._writer.transport.get_write_buffer_size() > FRAME_LIMIT:
            log.warning("kernel %s asks and never reads; it is ended", self.pid)
            self._signal(signal.SIGKILL)
            return
        self._writer.write(pack(message))

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _end(self) -> None:
        self._ended.set()
        self._writer.close()
        if self._notes >= 0:
            os.close(self._notes)
            self._notes = -1


def well_formed(done: dict[str, Any]) -> dict[str, Any]:
    """Return a `done` frame with nothing in it that could hurt a reader: a cell's code may have forged it.

    Raises:
        ValueError, KeyError, TypeError: it is no such frame at all.
    """
    error = done.get("error")
    if error is not None:
        code, told = error["code"], str(error["message"])[:MESSAGE_LIMIT]
        outcome = "unknown" if error.get("outcome") == "unknown" else None
        error = BrowserError(code, _sendable(told), outcome=outcome).as_dict()
    return {
        "ok": done["ok"] is True and error is None,
        "text": _sendable(str(done["text"])[:TEXT_LIMIT]),
        "value": _sendable_value(done.get("value")),
        "error": error,
        "interrupted": done.get("interrupted") is True,
        "images": [str(each["data"]) for each in list(done.get("images") or [])[:PER_CELL]],
    }


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _sendable_value(value: Any) -> Any:
    """A value that every reader of JSON takes, else None."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value


def _refused(code: str, message: str) -> dict[str, Any]:
    return {"ok": False, "error": BrowserError(code, message).as_dict()}
