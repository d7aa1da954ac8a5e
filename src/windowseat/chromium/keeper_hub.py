"""A hub as the keeper sees it: a socket and a process."""

from __future__ import annotations

import contextlib
import os
import select
import signal

from windowseat.chromium.keeper_wire import Wire


class Hub:
    """A connected hub process: its wire, pid and pidfd."""

    def __init__(self, wire: Wire, pid: int) -> None:
        self.wire = wire
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)

    def has_ended(self) -> bool:
        """Whether the process has ended (a zombie has)."""
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def kill(self) -> None:
        """SIGKILL, without the risk of hitting a later process of the same number."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
