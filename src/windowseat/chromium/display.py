"""On which display does a headed browser show its windows?

The one that is there, else an Xvfb of its own, closed to other users of the machine by a cookie.
Xvfb ends by itself when its last client, the browser, has ended (`-terminate`), so nothing stays
behind whoever is killed. Standard library only: the keeper imports it.
"""

# pathlib would be a tenth of the keeper's memory.
# ruff: noqa: PTH108

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import shutil
import signal
import socket
import struct
import time
from collections.abc import Mapping
from typing import NamedTuple

from windowseat.errors import Refusal

OWN = "own"
START_TIMEOUT = 10.0
# -terminate ends it with its last client (and -noreset would undo that).
_XVFB_WAYS = ("-nolisten", "tcp", "-terminate")
_FAMILY_WILD = 0xFFFF
_COOKIE = b"MIT-MAGIC-COOKIE-1"


class OwnDisplay(NamedTuple):
    """A running Xvfb: its pid, its name such as ":99", and the cookie file its clients need."""

    pid: int
    name: str
    authority: str


def choose_display(environ: Mapping[str, str]) -> str:
    """The DISPLAY of the environment if something answers there, else `OWN`.

    Raises:
        Refusal: "not-possible-here" when neither a display nor Xvfb is there.
    """
    display = environ.get("DISPLAY", "")
    if display and _answers(display):
        return display
    if shutil.which("Xvfb", path=environ.get("PATH")) is not None:
        return OWN
    raise Refusal(
        "not-possible-here",
        "There is no display for --headed, and no Xvfb to make one.",
        "Install one: apt-get install xvfb. Or leave --headed out: pages see the same browser.",
    )


def start_own_display(screen: tuple[int, int], authority: str, *, output: int) -> OwnDisplay:
    """Start Xvfb on a free number with a fresh cookie; `output` is the fd of its log.

    Raises:
        Refusal: "browser-failed" when it does not start.
    """
    program = shutil.which("Xvfb")
    if program is None:
        raise Refusal("browser-failed", "Xvfb is not installed any more.", "apt-get install xvfb")
    _write_cookie(authority)
    read_end, write_end = os.pipe()
    try:
        size = "{}x{}x24".format(*screen)
        pid = os.posix_spawn(
            program,
            [program, "-displayfd", "3", "-screen", "0", size, "-auth", authority, *_XVFB_WAYS],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, output, 1),
                (os.POSIX_SPAWN_DUP2, output, 2),
                (os.POSIX_SPAWN_DUP2, write_end, 3),
            ],
            setsid=True,
        )
    except OSError as failure:
        os.close(read_end)
        raise Refusal(
            "browser-failed", f"Xvfb does not start: {failure.strerror}.", "Xvfb -help"
        ) from failure
    finally:
        os.close(write_end)
    number = _read_number(read_end)
    if number is None:
        end_own_display(pid)
        raise Refusal(
            "browser-failed",
            f"Xvfb did not start within {START_TIMEOUT:g} s.",
            "Run `Xvfb :99` to see why, or leave --headed out.",
        )
    return OwnDisplay(pid, f":{number}", authority)


def end_own_display(pid: int) -> None:
    """End and reap an Xvfb that this process started; does nothing if it has ended."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _answers(display: str) -> bool:
    match = re.fullmatch(r"(?:unix)?:(\d+)(?:\.\d+)?", display)
    if match is None:
        return True  # on another machine: Chromium tries it and says what is wrong
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2)
        probe.connect(f"/tmp/.X11-unix/X{match.group(1)}")
        return True
    return False


def _write_cookie(path: str) -> None:
    # One entry for any display: family, then address, number, name and data, each with its length.
    fields = (b"", b"", _COOKIE, secrets.token_bytes(16))
    entry = struct.pack(">H", _FAMILY_WILD) + b"".join(struct.pack(">H", len(f)) + f for f in fields)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, entry)
    finally:
        os.close(fd)


def _read_number(fd: int) -> str | None:
    deadline = time.monotonic() + START_TIMEOUT
    text = b""
    try:
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(fd, 64) if ready else b""
            if not data:
                return None
            text += data
    finally:
        os.close(fd)
    return text.decode().strip()
