"""The keeper's loop: fds that are watched for reading, alarms with names, and SIGTERM.

Standard library only and without asyncio, which would triple the keeper's memory.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable

Action = Callable[[], None]

IDLE_TURN = 60.0


class KeeperLoop:
    """Calls actions one at a time; an action may watch, unwatch, ring and cancel as it likes."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._watched: dict[int, Action] = {}
        self._alarms: dict[str, tuple[float, Action]] = {}

    def watch(self, fd: int, action: Action) -> None:
        """Call `action()` whenever `fd` can be read or has ended, in place of an earlier action."""
        self._watched[fd] = action
        self._poll.register(fd, select.POLLIN)

    def unwatch(self, fd: int) -> None:
        """Stop watching; must come before the fd is closed."""
        if self._watched.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def ring(self, name: str, seconds: float, action: Action) -> None:
        """Call `action()` once in `seconds`, in place of an earlier alarm of that name."""
        self._alarms[name] = (time.monotonic() + seconds, action)

    def cancel(self, name: str) -> None:
        """Forget an alarm; does nothing when there is none."""
        self._alarms.pop(name, None)

    def on_terminate(self, action: Action) -> None:
        """Call `action()` at SIGTERM, between other actions."""
        # A handler alone would not wake the poll: Python resumes it.
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, lambda *_: None)

        def signalled() -> None:
            if signal.SIGTERM in os.read(read_end, 64):
                action()

        self.watch(read_end, signalled)

    def turn(self) -> None:
        """Wait for what comes next, at most a minute, and call the actions that are due."""
        now = time.monotonic()
        due = min((at for at, _ in self._alarms.values()), default=now + IDLE_TURN)
        for fd, _ in self._poll.poll(max(0.0, (due - now) * 1000 + 1)):
            action = self._watched.get(fd)
            if action is not None:  # an earlier action of this turn may have ended it
                action()
        now = time.monotonic()
        for name, alarm in list(self._alarms.items()):
            if alarm[0] <= now and self._alarms.get(name) == alarm:
                del self._alarms[name]
                alarm[1]()
