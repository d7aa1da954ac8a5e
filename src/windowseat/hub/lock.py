"""Locks between processes: a file that one process holds, with its pid in it.

The kernel lets go of the lock when its holder ends, however it ends; the file stays and means
nothing by itself. These are open-file-description locks (fcntl(2)): unlike flock(2)'s they can be
asked about without being taken, so that asking never makes a start fail.
"""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path
from typing import Final

# `struct flock` of 64-bit Linux: type, whence, start, length, pid; length 0 is the whole file.
_FLOCK: Final = struct.Struct("hhqqi4x")
_WHOLE_FILE: Final = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


class HeldLock:
    """A lock that this process holds until `release` or its own end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def descriptor(self) -> int:
        """The open file; a child that inherits it holds the lock too."""
        return self._descriptor

    def release(self) -> None:
        """Let go. A second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def try_lock(path: Path) -> HeldLock | None:
    """Take the lock at once and write this process's pid into the file; None if another holds it.

    Raises:
        OSError: the file cannot be made or written.
    """
    return _take(path, fcntl.F_OFD_SETLK)


def wait_lock(path: Path) -> HeldLock:
    """Take the lock as `try_lock`, waiting for it. The caller bounds the wait by a signal that raises.

    Raises:
        OSError: the file cannot be made or written.
    """
    lock = _take(path, fcntl.F_OFD_SETLKW)
    if lock is None:
        raise OSError(f"the kernel would not wait for the lock {path}")
    return lock


def _take(path: Path, command: int) -> HeldLock | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.fcntl(descriptor, command, _WHOLE_FILE)
    except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: held
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError:
        os.close(descriptor)
        raise
    return HeldLock(descriptor)


def holder_of(path: Path) -> int | None:
    """The pid of the process that holds the lock; None if nobody does.

    A lock that is held but whose pid is not written yet gives 0.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _WHOLE_FILE)
        if _FLOCK.unpack(answer)[0] == fcntl.F_UNLCK:
            return None
        text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else 0
    finally:
        os.close(descriptor)
