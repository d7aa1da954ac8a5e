"""The process in which one session's code runs: `python -m windowseat.agents.kernel <fd> <parent pid>`.

It reads frames from one inherited socket (`agents.frames`), runs one cell at a time and answers.
An operation of the browser is a question to the hub over the same socket; the cell waits for its
reply. SIGINT ends the cell and keeps its variables. It ends with the hub.

Imports stay small on purpose: a kernel costs memory for every session.
"""

from __future__ import annotations

import _thread
import base64
import contextlib
import os
import resource
import select
import signal
import socket
import sys
import time
import types
from collections.abc import Iterator
from typing import Any, Final

from windowseat.agents import pictures
from windowseat.agents.cells import as_json, failure_of, forget_half_imports, run_cell, shown
from windowseat.agents.facade import Screenshot, Snapshot, make_facade
from windowseat.agents.frames import HEAD, FrameTooLongError, length_of, pack, unpack
from windowseat.agents.output import CellOutput
from windowseat.errors import BrowserError

MEMORY_LIMIT: Final = 1024 * 1024 * 1024
OPEN_FILES: Final = 256
FILE_SIZE: Final = 512 * 1024 * 1024
READ_SIZE: Final = 1024 * 1024
# An operation ends a little before its cell's time does, so that the cell can catch it.
OP_MARGIN: Final = 0.3
PR_SET_PDEATHSIG: Final = 1


class HubGoneError(Exception):
    """The hub closed the socket; the kernel ends."""


class Wire:
    """The socket to the hub: whole frames out, whole frames in, and no interrupt in between.

    `shielded()` holds an interrupt back while bytes move, so that no half frame is ever left.
    """

    def __init__(self, fd: int) -> None:
        self._socket = socket.socket(fileno=fd)
        self._socket.setblocking(False)
        self._buffer = bytearray()
        self._shields = 0
        self._held_back = False
        self.running = False

    def on_interrupt(self, _signal: int, _frame: Any) -> None:
        """The SIGINT handler: ends a running cell, and nothing else."""
        if not self.running:
            return
        if self._shields:
            self._held_back = True
            return
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def shielded(self) -> Iterator[None]:
        """Hold an interrupt back until the end of the block."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
        if self._held_back and not self._shields:
            self._held_back = False
            if self.running:
                raise KeyboardInterrupt

    def begin(self) -> None:
        """A cell starts: from here an interrupt is meant for it."""
        self._held_back = False
        self.running = True

    def send(self, message: dict[str, Any]) -> None:
        """Write one frame."""
        waiting = memoryview(pack(message))
        with self.shielded():
            while waiting:
                try:
                    waiting = waiting[self._socket.send(waiting) :]
                except BlockingIOError:
                    select.select([], [self._socket], [])
                except OSError as error:
                    raise HubGoneError from error

    def receive(self) -> dict[str, Any]:
        """Return the next frame, waiting for it. An interrupt may break in, never into a frame."""
        while True:
            with self.shielded():
                frame = self._next()
            if frame is not None:
                return frame
            select.select([self._socket], [], [])

    def forget(self) -> None:
        """Drop the socket: a child process made by `fork` has no voice."""
        self._socket.close()

    def _next(self) -> dict[str, Any] | None:
        while (frame := self._parsed()) is None:
            try:
                data = self._socket.recv(READ_SIZE)
            except BlockingIOError:
                return None
            except OSError as error:
                raise HubGoneError from error
            if not data:
                raise HubGoneError
            self._buffer += data
        return frame

    def _parsed(self) -> dict[str, Any] | None:
        if len(self._buffer) < HEAD:
            return None
        end = HEAD + length_of(bytes(self._buffer[:HEAD]))
        if len(self._buffer) < end:
            return None
        frame = unpack(bytes(self._buffer[HEAD:end]))
        del self._buffer[:end]
        return frame


class Kernel:
    """One session's namespace, and the loop that serves it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._thread = _thread.get_ident()
        self._next_id = 0
        self._deadline = 0.0
        self._images: list[dict[str, str]] = []
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module  # so that classes of a cell can be found by their name
        self._namespace = module.__dict__
        browser, tab = make_facade(self.ask)
        self._namespace.update(browser=browser, tab=tab, show=self.show, BrowserError=BrowserError)

    def serve(self) -> None:
        """Answer the hub until it goes away."""
        self._wire.send({"t": "ready"})
        while True:
            frame = self._wire.receive()
            if frame["t"] == "adopt":
                os.chdir(frame["workspace"])
                sys.path.append(frame["workspace"])
                os.environ["HOME"] = frame["workspace"]
            elif frame["t"] == "run":
                self._wire.send(self._cell(frame))

    def ask(self, op: str, args: dict[str, Any]) -> Any:
        """Have the hub carry out an operation and return its data.

        Raises:
            BrowserError: whatever it answered; `unsupported` from another thread than the cell's.
        """
        if _thread.get_ident() != self._thread:
            raise BrowserError(
                "unsupported",
                "Call the browser from the cell itself, not from a thread of it: one call at a time.",
            )
        left = self._deadline - time.monotonic() - OP_MARGIN
        if left <= 0:
            raise BrowserError("timeout", f"{op} was not begun: the cell's time is used up.")
        self._next_id += 1
        asked = self._next_id
        try:
            self._wire.send({"t": "op", "id": asked, "op": op, "args": args, "timeout_s": left})
        except (TypeError, ValueError) as error:
            raise BrowserError("invalid-args", f"{op}: {error}") from None
        while True:
            frame = self._wire.receive()
            # The reply to a question that an interrupt broke off comes late and is nobody's.
            if frame["t"] == "reply" and frame["id"] == asked:
                break
        result = frame["result"]
        if result["ok"]:
            return result["data"]
        told = result["error"]
        raise BrowserError(told["code"], told["message"], outcome=told.get("outcome"))

    def show(self, picture: Any) -> None:
        """Attach a picture to the cell's answer: a screenshot, bytes, a path, or anything with `savefig`.

        Raises:
            BrowserError: `invalid-args`, it is no picture, too large, or one too many.
        """
        data = _picture_bytes(picture)
        found = pictures.describe(data)
        if found is None:
            raise BrowserError("invalid-args", "show() takes a PNG, JPEG, GIF or WebP picture.")
        mime, width, height = found
        if max(width, height) > pictures.SIDE_LIMIT or len(data) > pictures.BYTES_LIMIT:
            raise BrowserError(
                "invalid-args",
                f"The picture is {width}x{height}; its longest side may be {pictures.SIDE_LIMIT}. "
                "Make it smaller, for example with max_side.",
            )
        if len(self._images) >= pictures.PER_CELL:
            raise BrowserError("invalid-args", f"A cell shows at most {pictures.PER_CELL} pictures.")
        self._images.append({"mime": mime, "data": base64.b64encode(data).decode()})

    def _cell(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Run one cell and return its `done` frame."""
        number = frame["cell"]
        self._images = []
        self._deadline = time.monotonic() + frame["timeout_s"]
        # The hub can read descriptor 2 also when this process is killed, and so tell what was printed.
        os.ftruncate(2, 0)
        os.lseek(2, 0, os.SEEK_SET)
        output = CellOutput(number, copy_to=2)
        answer: dict[str, Any] = {"t": "done", "cell": number, "ok": True, "value": None}
        # Set anew each time: a cell may have changed it, or have closed the streams.
        signal.signal(signal.SIGINT, self._wire.on_interrupt)
        sys.stdout = sys.stderr = output
        try:
            try:
                self._wire.begin()
                value = run_cell(frame["code"], number, self._namespace)
                self._present(value, output, answer)
            finally:
                self._wire.running = False
        except HubGoneError:
            raise
        except BaseException as error:  # whatever a cell raises is its answer
            self._tell(error, output, answer)
        output.end()
        answer["text"] = output.text()
        answer["images"] = self._images
        return answer

    def _present(self, value: Any, output: CellOutput, answer: dict[str, Any]) -> None:
        """Show a cell's last value."""
        if value is None:
            return
        self._namespace["_"] = value
        if isinstance(value, Screenshot):
            self.show(value)
        output.write(shown(value) + "\n")
        if not isinstance(value, Snapshot):
            answer["value"] = as_json(value)

    def _tell(self, error: BaseException, output: CellOutput, answer: dict[str, Any]) -> None:
        """Put a failure into the answer."""
        told = failure_of(error)
        answer["ok"] = False
        answer["interrupted"] = isinstance(error, KeyboardInterrupt)
        if answer["interrupted"]:
            forget_half_imports()
        answer["error"] = {"code": told.code, "message": told.message, "retryable": told.retryable}
        if told.outcome:
            answer["error"]["outcome"] = told.outcome
        output.write(told.trace)


def _picture_bytes(picture: Any) -> bytes:
    """The bytes of whatever `show` was given."""
    if isinstance(picture, Screenshot):
        return picture.data
    if isinstance(picture, (bytes, bytearray, memoryview)):
        return bytes(picture)
    if hasattr(picture, "savefig") or hasattr(picture, "_repr_png_"):
        if not hasattr(picture, "savefig"):
            return bytes(picture._repr_png_())
        import io

        held = io.BytesIO()
        picture.savefig(held, format="png")
        return held.getvalue()
    if isinstance(picture, (str, os.PathLike)):
        with open(picture, "rb") as file:  # noqa: PTH123 - pathlib costs a kernel 10 ms
            return file.read(pictures.BYTES_LIMIT + 1)
    raise BrowserError("invalid-args", f"show() takes a picture, not {type(picture).__name__}.")


def bound_process(parent: int) -> None:
    """Give this process its limits, and let it end with the process that started it."""
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the line above
        sys.exit(0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    os.umask(0o077)
    os.nice(5)


def main(arguments: list[str]) -> None:
    """Serve on the inherited socket until the hub goes away."""
    fd, parent = int(arguments[0]), int(arguments[1])
    bound_process(parent)
    # Code that prints past sys.stdout, into the descriptor itself, must reach nobody's output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    wire = Wire(fd)
    signal.signal(signal.SIGINT, wire.on_interrupt)
    os.register_at_fork(after_in_child=wire.forget)
    sys.argv = [""]
    with contextlib.suppress(HubGoneError, FrameTooLongError):
        Kernel(wire).serve()


if __name__ == "__main__":
    main(sys.argv[1:])
