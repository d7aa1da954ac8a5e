"""Whose the other end of a loopback connection is, read from Linux's /proc."""

from __future__ import annotations

import contextlib
import ipaddress
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))

Address = tuple[str, int]


@dataclass(frozen=True)
class Peer:
    """The process end of a connection: its user, and the socket's inode. 0 when it has closed."""

    uid: int
    inode: int


def peer_of(client: Address, server: Address) -> Peer | None:
    """The row of the connection as its client sees it; None when there is none (not this machine)."""
    wanted = {(_row(client, wide), _row(server, wide)) for wide in (False, True)}
    for table in _TABLES:
        with contextlib.suppress(OSError):
            for line in table.read_text("ascii").splitlines()[1:]:
                parts = line.split()
                if (parts[1], parts[2]) in wanted:
                    return Peer(int(parts[7]), int(parts[9]))
    return None


def holds_socket(pids: Iterable[int], inode: int) -> bool:
    """Whether one of these processes has the socket open. An unreadable process counts as one that has."""
    name = f"socket:[{inode}]"
    for pid in pids:
        try:
            descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
        except FileNotFoundError:
            continue  # it has ended
        except OSError:
            return True
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()) == name:
                    return True
    return False


def _row(address: Address, wide: bool) -> str:
    """An address as the kernel prints it: 32-bit words in the machine's order, then the port."""
    ip = ipaddress.ip_address(address[0])
    packed = ip.packed
    if wide and ip.version == 4:
        packed = b"\0" * 10 + b"\xff\xff" + packed  # an IPv4 client of a socket that takes both
    order = "<" if sys.byteorder == "little" else ">"
    words = struct.unpack(f"{order}{len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{address[1]:04X}"
