"""One Chromium of the keeper: started or adopted, watched through its pidfd, ended and buried.

Standard library only and without asyncio, because the keeper imports it.
"""

# pathlib would be a tenth of the keeper's memory.
# ruff: noqa: PTH105, PTH116, PTH123

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import time
from collections.abc import Sequence
from typing import NamedTuple

from windowseat.chromium import display, profile
from windowseat.chromium.spawn import spawn_on_pipe
from windowseat.errors import Refusal

LOG_LIMIT = 4 * 1024 * 1024
QUICK_END = 10.0
GIVE_UP_AFTER = 3
LONGEST_PAUSE = 30.0
STEADY_AFTER = 60.0
REASON_LINES = 4
REASON_LIMIT = 600

# What Chromium prints on every machine without a desktop, and what never is the reason.
_NOISE = ("dbus", "DevTools listening", "vaInitialize", "libva", "Fontconfig", "SwiftShader", "gcm")


class LaunchPlan(NamedTuple):
    """What one start of Chromium needs.

    Attributes:
        argv: the program and all its arguments.
        environ: its environment; DISPLAY is replaced when the display is its own.
        profile: the profile folder.
        own_display: size of the Xvfb to start for it, or None.
        authority: where that Xvfb's cookie is written.
        log: where its output is appended.
    """

    argv: Sequence[str]
    environ: dict[str, str]
    profile: str
    own_display: tuple[int, int] | None
    authority: str
    log: str


class KeptBrowser:
    """A running Chromium and the keeper's ends of its pipe.

    `pidfd` becomes readable when it ends; then `bury` must be called, once.
    """

    def __init__(
        self, pid: int, instance: str, read_fd: int, write_fd: int, *, roots: list[str], own_child: bool
    ) -> None:
        self.pid = pid
        self.instance = instance
        self.read_fd = read_fd
        self.write_fd = write_fd
        self.roots = roots
        self.pidfd = os.pidfd_open(pid)
        self.started_at = time.monotonic()
        self.xvfb: int | None = None
        self._own_child = own_child

    @classmethod
    def start(cls, plan: LaunchPlan) -> KeptBrowser:
        """Start a Chromium on the plan's profile.

        Raises:
            Refusal: "profile-in-use", "home-unusable" or "browser-failed".
        """
        profile.make_free(plan.profile)
        output = open_log(plan.log)
        xvfb: display.OwnDisplay | None = None
        try:
            environ = plan.environ
            if plan.own_display is not None:
                xvfb = display.start_own_display(plan.own_display, plan.authority, output=output)
                environ = {**environ, "DISPLAY": xvfb.name, "XAUTHORITY": xvfb.authority}
            spawned = spawn_on_pipe(plan.argv, environ, output=output)
        except OSError as failure:
            if xvfb is not None:
                display.end_own_display(xvfb.pid)
            raise Refusal(
                "browser-failed",
                f"Chromium does not start: {plan.argv[0]}: {failure.strerror}.",
                "Correct WINDOWSEAT_CHROMIUM, or install one: apt-get install chromium",
            ) from failure
        finally:
            os.close(output)
        browser = cls(
            spawned.pid, secrets.token_hex(8), spawned.read_fd, spawned.write_fd, roots=[], own_child=True
        )
        browser.xvfb = None if xvfb is None else xvfb.pid
        return browser

    @classmethod
    def adopt(cls, pid: int, instance: str, roots: list[str], fds: Sequence[int]) -> KeptBrowser:
        """Take over a running Chromium from a hub whose keeper was lost.

        Raises:
            OSError: there is no such process.
        """
        read_fd, write_fd = fds
        return cls(pid, instance, read_fd, write_fd, roots=roots, own_child=False)

    @property
    def uptime(self) -> float:
        """Seconds since it was started or adopted."""
        return time.monotonic() - self.started_at

    def hung_up(self) -> bool:
        """Whether Chromium has closed its end of the pipe, so that nobody can reach it any more."""
        watch = select.poll()
        watch.register(self.read_fd, 0)
        return any(event & (select.POLLHUP | select.POLLERR) for _, event in watch.poll(0))

    def drain(self) -> bool:
        """Read and discard what has come; False at the pipe's end."""
        try:
            return bool(os.read(self.read_fd, 1024 * 1024))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def terminate(self) -> None:
        """Ask it to end: it saves its profile and exits."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGTERM)

    def kill(self) -> None:
        """Kill it and all processes of its group at once."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def bury(self) -> str:
        """Reap it after its end, with its group, its display and its fds; returns how it ended."""
        how = "ended"
        # Before it is reaped: until then its group's number cannot be anybody else's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._own_child:
            with contextlib.suppress(ChildProcessError):
                code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"
        if self.xvfb is not None:
            display.end_own_display(self.xvfb)
        for fd in (self.pidfd, self.read_fd, self.write_fd):
            with contextlib.suppress(OSError):
                os.close(fd)
        return how


class Backoff:
    """How long to wait before the next start. Pure: uptimes come as arguments, in seconds."""

    def __init__(self) -> None:
        self._ends = 0
        self._quick = 0

    def ended(self, uptime: float) -> float:
        """Note an end after `uptime`; returns the pause before the next start: 1, 2, 4 ... 30."""
        self._quick = self._quick + 1 if uptime < QUICK_END else 0
        self._ends = 1 if uptime >= STEADY_AFTER else self._ends + 1
        return float(min(LONGEST_PAUSE, 2 ** (self._ends - 1)))

    @property
    def hopeless(self) -> bool:
        """Whether it ended at once, again and again: a person must be told, not only a log."""
        return self._quick > 0 and self._quick % GIVE_UP_AFTER == 0


def open_log(path: str) -> int:
    """The log's fd for appending; a log over `LOG_LIMIT` moves aside first."""
    with contextlib.suppress(OSError):
        if os.stat(path).st_size > LOG_LIMIT:
            os.replace(path, path + ".1")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def bound_log(path: str) -> None:
    """Keep the log of a running Chromium under `LOG_LIMIT`: its fd stays, so the file is emptied."""
    with contextlib.suppress(OSError):
        if os.stat(path).st_size > LOG_LIMIT:
            os.truncate(path, 0)


def reason_from(log: str, since: int) -> str:
    """The last telling lines that Chromium printed after byte `since` of its log, in one line."""
    try:
        with open(log, "rb") as file:
            file.seek(0, os.SEEK_END)
            end = file.tell()
            file.seek(max(min(since, end), end - 16384))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not any(noise in line for noise in _NOISE)]
    return " / ".join(telling[-REASON_LINES:])[-REASON_LIMIT:]
