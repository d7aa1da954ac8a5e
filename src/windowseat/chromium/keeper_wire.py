"""How a hub and the keeper talk: JSON lines over a Unix socket, some with the pipe's two fds.

Standard library only and without asyncio, because the keeper imports it. From a hub come `hello`,
`roots`, `next`, `adopt`, `bye`, `stop` and `status`; from the keeper `welcome`, `refused`, `browser`,
`lost`, `failed`, `adopted`, `stopped` and `status`. docs/decisions/0001 tells the story.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

MESSAGE_LIMIT = 1024 * 1024
FDS_LIMIT = 8


class WireClosed(Exception):
    """The other end is gone, or it does not keep to the format."""


class Wire:
    """One end of the socket, non-blocking. Whoever owns it watches `fileno()` for reading."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._data = b""
        self._fds: list[int] = []

    def fileno(self) -> int:
        """The socket's fd."""
        return self._sock.fileno()

    def peer(self) -> tuple[int, int]:
        """Process id and user id of the other end (SO_PEERCRED), as they were when it connected."""
        found = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _ = struct.unpack("3i", found)
        return pid, uid

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        """Send one message; with fds, the receiver gets copies of them.

        Raises:
            WireClosed: the other end is gone, or has stopped reading.
        """
        data = json.dumps({**message, "fds": len(fds)} if fds else message).encode() + b"\n"
        try:
            sent = socket.send_fds(self._sock, [data], list(fds)) if fds else self._sock.send(data)
        except OSError as failure:
            raise WireClosed(str(failure)) from failure
        if sent < len(data):
            # Messages are small and few: a full buffer means that nobody reads.
            raise WireClosed("the other end stopped reading")

    def receive(self) -> list[tuple[Message, list[int]]]:
        """What has come, each message with its fds, which are the caller's now; [] when nothing has.

        Raises:
            WireClosed: the end of the socket, or something that is no message.
        """
        try:
            data, fds, _, _ = socket.recv_fds(self._sock, 65536, FDS_LIMIT)
        except BlockingIOError:
            return []
        except OSError as failure:
            raise WireClosed(str(failure)) from failure
        self._fds += fds
        if not data:
            raise WireClosed("the other end closed the socket")
        *lines, self._data = (self._data + data).split(b"\n")
        if len(self._data) > MESSAGE_LIMIT or len(self._fds) > FDS_LIMIT:
            raise WireClosed("too much in one message")
        return [self._message(line) for line in lines]

    def close(self) -> None:
        """Close the socket, and fds that came with no message."""
        for fd in self._fds:
            with contextlib.suppress(OSError):
                os.close(fd)
        self._fds.clear()
        self._sock.close()

    def _message(self, line: bytes) -> tuple[Message, list[int]]:
        try:
            message = json.loads(line)
        except ValueError as failure:
            raise WireClosed("that was no message") from failure
        if not isinstance(message, dict) or not isinstance(message.get("t"), str):
            raise WireClosed("that was no message")
        count = message.get("fds", 0)
        if not isinstance(count, int) or not 0 <= count <= len(self._fds):
            raise WireClosed("the fds are missing")
        fds, self._fds = self._fds[:count], self._fds[count:]
        return message, fds
