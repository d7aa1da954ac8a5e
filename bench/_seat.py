"""A real hub for a measurement, as a person reaches it: started, entered, tabs opened, viewed."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import http.server
import json
import os
import struct
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import websockets

ROOT = Path(__file__).resolve().parent.parent
HEADER = struct.Struct("<BBHIHHI")


@dataclass
class Seat:
    """A running hub. `client` is admitted to its Launchpad; `log` is where frames read from the pipe go."""

    launchpad: str
    client: httpx.AsyncClient
    log: Path

    async def open(self, url: str) -> str:
        """Open a tab; returns its id."""
        answer = await self.client.post("/api/v1/tabs", json={"text": url})
        answer.raise_for_status()
        found = answer.json()
        return str(found.get("id") or found["tab"]["id"])

    async def view(self, tab: str) -> str:
        """An address of the tab's view, with its token."""
        answer = await self.client.post(f"/api/v1/tabs/{tab}/view")
        answer.raise_for_status()
        found = answer.json()
        return str(found.get("view") or found["url"])

    def read_frames(self) -> list[tuple[float, str, int]]:
        """Steady-clock seconds, checksum and base64 length of each frame read from the pipe until now."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [(float(at), check, int(size)) for at, check, size in (one for one in lines if len(one) == 3)]


@contextlib.asynccontextmanager
async def seat() -> AsyncIterator[Seat]:
    """Start a hub in a home of its own, with a watch on its pipe, and go in as a person would."""
    with tempfile.TemporaryDirectory(prefix="windowseat-bench-", ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "frames"
        environ = {**os.environ, "WINDOWSEAT_HOME": f"{folder}/home", "PYTHONPATH": str(ROOT / "src")}
        hub = await asyncio.create_subprocess_exec(
            sys.executable, str(ROOT / "bench" / "_watched_hub.py"), str(log), "up", "--port", "0", "--json",
            env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            assert hub.stdout is not None
            status = json.loads(await asyncio.wait_for(hub.stdout.readline(), 90))
            base, _, code = status["url"].partition("/enter#")
            async with httpx.AsyncClient(base_url=base, headers={"Origin": base}, timeout=30) as client:
                entered = await client.post("/api/v1/enter", json={"code": code})
                entered.raise_for_status()
                client.headers["X-Windowseat-Secret"] = entered.json()["secret"]
                yield Seat(base, client, log)
        finally:
            if hub.returncode is None:
                hub.terminate()
            await asyncio.wait_for(hub.wait(), 30)


@dataclass
class Came:
    """One picture: steady-clock seconds, its number, and what names it in the hub's log."""

    at: float
    n: int
    data: bytes

    @functools.cached_property
    def name(self) -> tuple[str, int]:
        """What `_watched_hub` wrote of this picture."""
        text = base64.b64encode(self.data)
        return str(zlib.crc32(text)), len(text)


@dataclass
class Client:
    """A viewer's socket that acknowledges and keeps what came."""

    socket: Any
    keep: bool = True
    pictures: list[Came] = field(default_factory=list)
    count: int = 0
    task: asyncio.Task[None] | None = None

    async def say(self, **message: Any) -> None:
        """Send a message."""
        await self.socket.send(json.dumps(message))

    async def _listen(self) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            async for data in self.socket:
                if isinstance(data, str):
                    message = json.loads(data)
                    if message["t"] == "ping":
                        await self.say(t="pong", id=message["id"])
                    continue
                now = time.monotonic()
                _kind, flags, _zero, n, _w, _h, _ms = HEADER.unpack(data[:16])
                await self.say(t="ack", n=n)
                if not flags & 1:
                    self.count += 1
                    self.pictures.append(Came(now, n, data[16:] if self.keep else b""))


@contextlib.asynccontextmanager
async def viewer(
    address: str, *, port: int | None = None, size: tuple[int, int] = (1280, 800)
) -> AsyncIterator[Client]:
    """Be a viewer at a view's address; `port`: reach it there instead (through a proxy)."""
    parts = urlsplit(address)
    uri = f"ws://{parts.hostname}:{port or parts.port}{parts.path}/socket"
    async with websockets.connect(
        uri,
        origin=websockets.Origin(f"http://{parts.hostname}:{port or parts.port}"),
        compression=None,
        max_size=None,
        proxy=None,
    ) as socket:
        client = Client(socket)
        await client.say(
            t="hello", token=parts.fragment, w=size[0], h=size[1], dpr=1, touch=False, visible=True
        )
        client.task = asyncio.create_task(client._listen())
        try:
            yield client
        finally:
            client.task.cancel()


@contextlib.contextmanager
def pages(found: Mapping[str, str], posted: Callable[[str, bytes], None]) -> Iterator[str]:
    """Serve pages on loopback; what they POST goes to `posted(path, body)`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = found.get(self.path.partition("?")[0], "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            posted(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.asynccontextmanager
async def slow_line(port: int, bits_per_second: float) -> AsyncIterator[int]:
    """A TCP proxy to a loopback port that passes so much on to the client; yields its own port."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("localhost", port, limit=8192)

        async def up() -> None:
            while data := await reader.read(65536):
                far_writer.write(data)
                await far_writer.drain()
            far_writer.close()

        async def down() -> None:
            free_at = time.monotonic()
            while data := await far_reader.read(4096):
                free_at = max(free_at, time.monotonic()) + len(data) * 8 / bits_per_second
                await asyncio.sleep(max(0.0, free_at - time.monotonic()))
                writer.write(data)
                await writer.drain()
            writer.close()

        for work in (up(), down()):
            task = asyncio.create_task(work)
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(serve, "localhost", 0, limit=8192)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
