"""A program's line to the hub: runs a cell over the hub's Unix socket, from an asyncio program (C6).

For the MCP bridge, which is a process of its own. One connection per cell; breaking it off cancels
the cell.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from windowseat.errors import CODES, BrowserError

# The hub gives a sign of life every 5 s while a cell waits or runs.
SILENCE_LIMIT: Final = 30.0
LINE_LIMIT: Final = 16 * 1024 * 1024
HEADERS_LIMIT: Final = 100


class HubAwayError(Exception):
    """No hub listens on the socket."""


async def execute(socket_path: Path, session: str, code: str, timeout_s: float) -> dict[str, Any]:
    """Run a cell in a session's kernel and return its answer (C11, `exec`).

    Raises:
        HubAwayError: no hub runs.
        BrowserError: the hub refused the call, or broke off.
    """
    try:
        async with asyncio.timeout(SILENCE_LIMIT):
            reader, writer = await asyncio.open_unix_connection(str(socket_path), limit=LINE_LIMIT)
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
        raise HubAwayError from error
    except (OSError, TimeoutError) as error:
        raise BrowserError("host-unavailable", f"Windowseat's hub cannot be reached: {error}.") from error
    try:
        writer.write(_request(session, code, timeout_s))
        async for line in _lines(reader):
            if "result" in line:
                result: dict[str, Any] = line["result"]
                return result
            if "error" in line:
                raise _told(line["error"])
    except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise _broken_off(str(error) or type(error).__name__) from error
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    raise _broken_off("it said nothing more")


def _request(session: str, code: str, timeout_s: float) -> bytes:
    body = json.dumps({"code": code, "timeout_s": timeout_s}).encode()
    head = (
        f"POST /hub/v1/sessions/{session}/execute HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Accept: application/x-ndjson\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body


async def _lines(reader: asyncio.StreamReader) -> AsyncIterator[dict[str, Any]]:
    """The JSON lines of one HTTP answer, or the one document of an error."""
    status = (await _line(reader)).split()
    if len(status) < 2 or not status[0].startswith(b"HTTP/1."):
        raise ValueError("no HTTP answer")
    headers: dict[bytes, bytes] = {}
    while (line := await _line(reader)) not in (b"\r\n", b"\n"):
        name, colon, value = line.partition(b":")
        if not colon or len(headers) > HEADERS_LIMIT:
            raise ValueError("a broken HTTP answer")
        headers[name.strip().lower()] = value.strip()
    held = b""
    async for piece in _body(reader, headers):
        held += piece
        *whole, held = held.split(b"\n")
        for each in whole:
            yield _object(each)
        if len(held) > LINE_LIMIT:
            raise ValueError("a line without an end")
    if held.strip():
        yield _object(held)


async def _body(reader: asyncio.StreamReader, headers: dict[bytes, bytes]) -> AsyncIterator[bytes]:
    if headers.get(b"transfer-encoding", b"").lower() != b"chunked":
        yield await _exactly(reader, int(headers.get(b"content-length", b"0")))
        return
    while size := int((await _line(reader)).split(b";")[0], 16):
        yield await _exactly(reader, size)
        await _line(reader)


async def _exactly(reader: asyncio.StreamReader, size: int) -> bytes:
    if not 0 <= size <= LINE_LIMIT:
        raise ValueError("a piece that is too long")
    async with asyncio.timeout(SILENCE_LIMIT):
        return await reader.readexactly(size)


async def _line(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(SILENCE_LIMIT):
        line = await reader.readline()
    if not line.endswith(b"\n"):
        raise ValueError("it ended too early")
    return line


def _object(text: bytes) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - one kind of error for a bad peer
    return found


def _told(error: dict[str, Any]) -> BrowserError:
    code = str(error.get("code"))
    return BrowserError(code if code in CODES else "execution-failed", str(error.get("message", "")))


def _broken_off(why: str) -> BrowserError:
    return BrowserError(
        "host-unavailable", f"Windowseat's hub broke off while the code ran ({why}).", outcome="unknown"
    )
