"""One start at a time: a lock with a bound, and the socket on which a started hub tells its parent.

The hub that `up --detach` starts may be a child, or systemd's: either way it connects to the
parent's socket first, and then says "ready" or why not. If it dies, the connection ends.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

from windowseat.errors import REFUSALS, Refusal
from windowseat.hub.home import Home
from windowseat.hub.lock import HeldLock, holder_of, wait_lock

# From the command to a hub that answers: Chromium's first start on a slow disk is most of it.
START_LIMIT: Final = 60.0
# How often a parent looks whether the hub that it waits for is still there.
_LOOK_EVERY: Final = 0.5
_LONGEST_NEWS: Final = 1024 * 1024


@contextmanager
def start_lock(home: Home) -> Iterator[HeldLock]:
    """Hold the right to start a hub; wait while another command starts one.

    Raises:
        Refusal: "already-running" when another start takes longer than the limit.
    """
    previous = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, START_LIMIT)
    try:
        lock = wait_lock(home.start_lock)
    except TimeoutError:
        raise Refusal(
            "already-running",
            f"Another start of Windowseat (process {holder_of(home.start_lock)}) has not come to an end.",
            "Wait for it, or end that process and try again.",
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    try:
        yield lock
    finally:
        lock.release()


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


class NewsOfStart:
    """The parent's end: waits for the hub that it started."""

    def __init__(self, home: Home) -> None:
        self.path = home.sockets / "start.sock"
        self._home = home
        with suppress(FileNotFoundError):
            self.path.unlink()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self.path.chmod(0o600)
        self._listener.listen(1)

    def close(self) -> None:
        """Take the socket away."""
        self._listener.close()
        with suppress(FileNotFoundError):
            self.path.unlink()

    def wait_ready(self, still_there: Callable[[], bool]) -> dict[str, Any]:
        """Return what the hub says when it is ready.

        Raises:
            Refusal: the hub's own, or "hub-failed" when it ended or took too long.
        """
        deadline = time.monotonic() + START_LIMIT
        connection: socket.socket | None = None
        text = b""
        try:
            while time.monotonic() < deadline:
                try:
                    if connection is None:
                        self._listener.settimeout(_LOOK_EVERY)
                        connection, _ = self._listener.accept()
                        connection.settimeout(_LOOK_EVERY)
                    piece = connection.recv(65536)
                except TimeoutError:
                    if connection is None and not still_there():
                        raise self._ended() from None
                    continue
                text += piece
                if text.endswith(b"\n"):
                    return _read_news(text)
                if not piece or len(text) > _LONGEST_NEWS:
                    raise self._ended()
        finally:
            if connection is not None:
                connection.close()
        raise Refusal(
            "hub-failed",
            f"The hub did not answer within {START_LIMIT:.0f} s of its start.",
            f"Its log says how far it came: {start_log(self._home)}",
        )

    def _ended(self) -> Refusal:
        last = _last_line(start_log(self._home))
        return Refusal(
            "hub-failed",
            "The hub ended while it started." + (f" Its last word: {last}" if last else ""),
            f"Its log says more: {start_log(self._home)}",
        )


class Announcer:
    """The started hub's end; a parent that has gone is no reason not to run."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(5.0)
        with suppress(OSError):
            self._socket.connect(path)

    def ready(self, started: dict[str, Any]) -> None:
        """The hub answers now."""
        self._tell({"ready": started})

    def refused(self, refusal: Refusal) -> None:
        """The hub cannot start."""
        self._tell({"code": refusal.code, "message": refusal.message, "next": refusal.next_step})

    def _tell(self, news: dict[str, Any]) -> None:
        with suppress(OSError):
            self._socket.sendall(json.dumps(news).encode() + b"\n")
        self._socket.close()


def start_log(home: Home) -> Path:
    """Where a detached hub's stdout and stderr go."""
    return home.log_folder / "start.log"


def open_start_log(home: Home) -> int:
    """The log of this start, emptied; a file descriptor for the hub's stdout and stderr."""
    return os.open(start_log(home), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _last_line(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def _read_news(text: bytes) -> dict[str, Any]:
    news = json.loads(text)
    if "ready" in news:
        ready: dict[str, Any] = news["ready"]
        return ready
    code = news["code"] if news.get("code") in REFUSALS else "hub-failed"
    raise Refusal(code, str(news["message"]), str(news["next"]))
