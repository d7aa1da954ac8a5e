"""A double of the broker for tests of kernels, and small helpers of the agents' tests."""

from __future__ import annotations

import asyncio
import struct
import zlib
from typing import Any

from windowseat.errors import BrowserError


class Recording:
    """A broker that notes what it was asked, and answers from a table; `hold` keeps an answer back."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, Any], float | None]] = []
        self.answers: dict[str, Any] = {}
        self.held: asyncio.Event | None = None
        self.cancelled = 0

    async def dispatch(self, session, op, args, timeout_s):
        self.asked.append((session, op, args, timeout_s))
        if self.held is not None:
            try:
                async with asyncio.timeout(timeout_s):
                    await self.held.wait()
            except TimeoutError:
                return {"ok": False, "error": BrowserError("timeout", f"{op} took too long").as_dict()}
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        answer = self.answers.get(op, {"seen": args})
        if isinstance(answer, BrowserError):
            return {"ok": False, "error": answer.as_dict()}
        return {"ok": True, "data": answer}


async def until(condition, seconds=10.0):
    """Wait until `condition()` is true."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (height * (width + 1)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
