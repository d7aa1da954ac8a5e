"""The view's page served as the view origin serves it, with a socket that does what a test says.

It stands in for the hub's side of docs/protocols/view.md: it records every message of the page and
sends what the test wants, over a real server and a real WebSocket. Every message must be one that
the hub's own parser takes.
"""

from __future__ import annotations

import asyncio
import json
import struct
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

import windowseat.web
from windowseat.view.protocol import parse
from windowseat.web.guard import security_headers
from windowseat.web.origins import Origins

STATIC = Path(windowseat.web.__file__).parent / "static"
WAIT = 10.0

Message = dict[str, Any]


def tab(**changes: Any) -> Message:
    """A TAB of the protocol."""
    return {
        "id": "t1",
        "url": "http://localhost:5173/checkout",
        "title": "Checkout · Shop",
        "icon": "",
        "session": None,
        "loading": False,
        "can_back": False,
        "can_forward": False,
        "asleep": False,
    } | changes


def person(viewer: str, name: str, color: str, you: bool = False) -> Message:
    """A PERSON of the protocol."""
    return {"viewer": viewer, "name": name, "color": color, "you": you}


def png(width: int, height: int, rgb: tuple[int, int, int]) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + bytes(rgb) * width) * height
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


class ScriptedView:
    """What a test sees of the page's connections, and how it speaks to them.

    Attributes:
        received: every message of the page, oldest first, over all connections.
        hellos: the first message of each connection.
        uploads: name and bytes of each upload.
        deny: whether the next first messages are refused.
        welcome: changes to the `welcome` that answers.
        welcome_gate, upload_gate: first messages and uploads are answered only while it is set.
    """

    def __init__(self) -> None:
        self.received: list[Message] = []
        self.hellos: list[Message] = []
        self.uploads: list[tuple[str, bytes, str]] = []
        self.deny: Callable[[Message], bool] = lambda hello: False
        self.welcome: Message = {}
        self.accepting = True
        self.welcome_gate = asyncio.Event()
        self.welcome_gate.set()
        self.upload_gate = asyncio.Event()
        self.upload_gate.set()
        self.upload_status = 200
        self._socket: WebSocket | None = None
        self._changed = asyncio.Condition()
        self._pictures = 0

    async def serve_socket(self, socket: WebSocket) -> None:
        """One connection, from its first message to its end."""
        if not self.accepting:
            await socket.close(1013)
            return
        await socket.accept()
        hello = _read(await socket.receive_text())
        await self._note(hello, self.hellos)
        if self.deny(hello):
            await socket.send_json({"t": "denied", "reason": "spent"})
            await socket.close(4401)
            return
        await self.welcome_gate.wait()
        self._socket = socket
        you = person("v1", "Ana", "blue", you=True)
        first = {
            "t": "welcome", "credential": "kept", "viewer": "v1", "name": "Ana", "color": "blue",
            "tab": tab(), "people": [you], "size": {"w": hello["w"], "h": hello["h"]}, "launchpad": "http://localhost:7717/",
        }  # fmt: skip
        await socket.send_json(first | self.welcome)
        try:
            while True:
                await self._note(_read(await socket.receive_text()), self.received)
        except WebSocketDisconnect:
            if self._socket is socket:
                self._socket = None
            await self._note({}, [])

    async def _note(self, message: Message, where: list[Message]) -> None:
        async with self._changed:
            where.append(message)
            self._changed.notify_all()

    @property
    def connected(self) -> bool:
        """Whether the page's connection stands."""
        return self._socket is not None

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition on what was received holds.

        Raises:
            AssertionError: it did not within 10 s; with what was received last.
        """
        try:
            async with asyncio.timeout(WAIT), self._changed:
                await self._changed.wait_for(lambda: bool(condition()))
        except TimeoutError:
            raise AssertionError(f"{what}; received last: {self.received[-12:]}") from None

    async def first(self, t: str, **fields: Any) -> Message:
        """The first message of this kind with these fields, waited for."""
        found: list[Message] = []

        def look() -> bool:
            found[:] = [one for one in self.received if one["t"] == t and fields.items() <= one.items()]
            return bool(found)

        await self.until(look, f"no {t} with {fields}")
        return found[0]

    def of(self, *kinds: str) -> list[Message]:
        """All received messages of these kinds."""
        return [one for one in self.received if one["t"] in kinds]

    async def send(self, t: str, **fields: Any) -> None:
        """Send a message to the page."""
        assert self._socket is not None, "the page is not connected"
        await self._socket.send_json({"t": t, **fields})

    async def picture(self, image: bytes, width: int, height: int, *, kind: int = 2) -> int:
        """Send a picture of a page of this size; its number."""
        assert self._socket is not None, "the page is not connected"
        self._pictures += 1
        header = struct.pack("<BBHIHHI", kind, 0, 0, self._pictures, width, height, 0)
        await self._socket.send_bytes(header + image)
        return self._pictures

    async def cut(self, code: int = 1012) -> None:
        """End the page's connection."""
        assert self._socket is not None, "the page is not connected"
        await self._socket.close(code)
        self._socket = None

    async def serve_upload(self, request: Request) -> Response:
        """Take a file."""
        body = await request.body()
        await self.upload_gate.wait()
        if self.upload_status != 200:
            return Response(status_code=self.upload_status)
        headers = request.headers
        self.uploads.append((headers["x-windowseat-name"], body, headers["x-windowseat-view"]))
        return JSONResponse({"upload": f"u{len(self.uploads)}", "size": len(body)})


def _read(text: str) -> Message:
    """A message as the page wrote it; the hub's own parser must take it."""
    parse(text)
    message: Message = json.loads(text)
    return message


def _strict(app: ASGIApp) -> ASGIApp:
    """The view origin's own headers: a page that needs more than they allow fails here too."""
    wanted = [
        (name.encode(), value.encode()) for name, value in security_headers(Origins(0, 0), "view").items()
    ]

    async def dressed(scope: Any, receive: Any, send: Any) -> None:
        async def dressing(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *wanted]
            await send(message)

        await app(scope, receive, dressing)

    return dressed


@asynccontextmanager
async def scripted_view() -> AsyncIterator[tuple[ScriptedView, str]]:
    """A scripted view on a free loopback port, and the address of its tab."""
    view = ScriptedView()

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "view" / "index.html")

    app = Starlette(
        routes=[
            Route("/t/{id}", page),
            WebSocketRoute("/t/{id}/socket", view.serve_socket),
            Route("/t/{id}/upload", view.serve_upload, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
    )
    config = uvicorn.Config(
        _strict(app), port=0, log_level="warning", lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    config.load()
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.wait([serving], timeout=0.01)
        assert not serving.done(), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield view, f"http://localhost:{port}/t/t1"
    finally:
        server.should_exit = True
        await serving
