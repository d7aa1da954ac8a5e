"""How a browser process is started with DevTools on its fds 3 and 4.

Standard library only and without asyncio, because the keeper imports it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Spawned(NamedTuple):
    """A started browser: its pid (leader of its own session and group), and our ends of its pipe."""

    pid: int
    read_fd: int
    write_fd: int


def spawn_on_pipe(argv: Sequence[str], environ: Mapping[str, str], *, output: int) -> Spawned:
    """Start `argv` in a session of its own, its output and errors going to the fd `output`.

    The two returned fds are the only other ends of its pipe: when every copy of them is closed,
    Chromium reads the end of its pipe and ends itself.

    Raises:
        OSError: the program cannot be started.
    """
    theirs_read, our_write = os.pipe()
    our_read, theirs_write = os.pipe()
    ours = [our_read, our_write]
    theirs = [theirs_read, theirs_write]
    try:
        # Above 10, so that putting one onto 3 cannot overwrite the other before it is put onto 4.
        theirs += [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (theirs_read, theirs_write)]
        pid = os.posix_spawn(
            argv[0],
            list(argv),
            environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, output, 1),
                (os.POSIX_SPAWN_DUP2, output, 2),
                (os.POSIX_SPAWN_DUP2, theirs[2], 3),
                (os.POSIX_SPAWN_DUP2, theirs[3], 4),
            ],
            setsid=True,
        )
    except BaseException:
        for fd in ours:
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)
    return Spawned(pid, our_read, our_write)
