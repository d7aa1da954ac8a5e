"""Hub and keeper as processes: who is there, and ending one in steps."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Sequence
from typing import Final

from windowseat.chromium.keeper_wire import Wire, WireClosed
from windowseat.errors import Refusal
from windowseat.hub.home import Home

# Each step: seconds to wait for the end, and the signal that follows when it has not come.
Steps = Sequence[tuple[float, signal.Signals | None]]
# The hub closes Chromium's windows, and Chromium writes its profile, before the hub ends.
ASKED: Final[Steps] = ((20.0, signal.SIGTERM), (10.0, signal.SIGKILL), (5.0, None))
STUCK: Final[Steps] = ((0.0, signal.SIGTERM), (5.0, signal.SIGKILL), (5.0, None))
# The keeper gives Chromium 5 s of its own.
KEEPER: Final[Steps] = ((0.0, signal.SIGTERM), (10.0, signal.SIGKILL), (5.0, None))

_KEEPER_ANSWERS: Final = 2.0


def keeper_of(home: Home) -> int | None:
    """The pid of the keeper that answers in this home; it lives on where a hub was killed."""
    # Asked, as the socket's credentials name the process that the keeper forked from.
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(str(home.keeper_socket))
            wire = Wire(connection)
            wire.send({"t": "status"})
            deadline = time.monotonic() + _KEEPER_ANSWERS
            while (left := deadline - time.monotonic()) > 0 and select.select([wire], [], [], left)[0]:
                for message, _fds in wire.receive():
                    if message["t"] == "status":
                        return int(message["pid"])
        except (OSError, WireClosed):
            return None
    return None


def wait_end(pid: int, steps: Steps) -> None:
    """Wait for a process's end, and insist in steps. A process that has gone already is well.

    Raises:
        Refusal: "hub-failed", it is there after all of them.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        for limit, insist in steps:
            if select.select([handle], [], [], limit)[0]:
                return
            if insist is not None:
                signal.pidfd_send_signal(handle, insist)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)
    raise Refusal("hub-failed", f"Process {pid} does not end.", f"Look at it: ps -fp {pid}")
