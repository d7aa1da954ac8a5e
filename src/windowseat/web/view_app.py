"""The view's origin: one page per tab, its socket, and uploads to it (contract C7).

Static files need a cookie. The socket trusts only its first message: a token from the fragment, or
the credential that a token was traded for. `Guard` stands in front and checks Host and Origin.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from windowseat.errors import BrowserError
from windowseat.hub.people import Person
from windowseat.view import protocol
from windowseat.view.messages import Hello
from windowseat.view.protocol import MalformedError
from windowseat.view.service import ViewService
from windowseat.view.uploads import Incoming
from windowseat.view.viewer import ChannelClosedError, Visit
from windowseat.web.admission import StoreError
from windowseat.web.entering import view_enter_page, view_entering
from windowseat.web.failures import browser_failure, error_response, http_failure, store_failure, unforeseen
from windowseat.web.services import Services
from windowseat.web.static_files import STATIC, StaticFolder, page

HELLO_WITHIN: Final = 5.0
DENIED: Final = 4401
WRITE_AT_ONCE: Final = 1024 * 1024
CREDENTIAL_HEADER: Final = "x-windowseat-view"
NAME_HEADER: Final = "x-windowseat-name"


def view_app(services: Services, views: ViewService) -> Starlette:
    """Everything on the view's port, without the guard in front."""
    origin = ViewOrigin(services, views)
    routes: list[BaseRoute] = [
        Route("/", origin.home, methods=["GET"]),
        *view_entering(services.admission, services.origins),
        Route("/t/{tab}", origin.tab, methods=["GET"]),
        Route("/t/{tab}/upload", origin.upload, methods=["POST"]),
        WebSocketRoute("/t/{tab}/socket", origin.socket),
        Mount("/static", StaticFolder(STATIC, origin.may_read)),
    ]
    # A revoked person's sockets end at once; the app lives as long as the admissions do.
    services.admission.listen(views.disconnect)
    return Starlette(
        routes=routes,
        exception_handlers={
            BrowserError: browser_failure,
            HTTPException: http_failure,
            StoreError: store_failure,
            Exception: unforeseen,
        },
    )


class SocketChannel:
    """A Starlette WebSocket as the view's `Channel`."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> str | bytes | None:
        """The next message, None once the browser has gone."""
        message = await self._socket.receive()
        if message["type"] != "websocket.receive":
            return None
        data: str | bytes = message["text"] if message.get("text") is not None else message["bytes"]
        return data

    async def send(self, data: str | bytes) -> None:
        """Send one message; waits while the line is full. Raises `ChannelClosedError`."""
        try:
            if isinstance(data, str):
                await self._socket.send_text(data)
            else:
                await self._socket.send_bytes(data)
        except (WebSocketDisconnect, RuntimeError) as gone:
            # Starlette's RuntimeError: the socket was closed by the other side meanwhile.
            raise ChannelClosedError from gone

    async def close(self, code: int) -> None:
        """Close, if it is open still."""
        if self._socket.client_state is WebSocketState.DISCONNECTED:
            return
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it closed in the same moment
            await self._socket.close(code)


class ViewOrigin:
    """The routes."""

    def __init__(self, services: Services, views: ViewService) -> None:
        self._services = services
        self._admission = services.admission
        self._views = views

    def may_read(self, connection: HTTPConnection) -> bool:
        """Whether static files may be read: the cookie is enough."""
        return self._admission.cookie_holder(connection.cookies) is not None

    async def home(self, request: Request) -> Response:
        """There is no page here; people want the Launchpad."""
        return RedirectResponse(self._launchpad(request) + "/", 303)

    async def tab(self, request: Request) -> Response:
        """A tab's page. It tells no fact: everything comes over the socket."""
        if not self.may_read(request):
            return view_enter_page(request)
        return page("view/index.html", request)

    # -- the socket ------------------------------------------------------------------------

    async def socket(self, socket: WebSocket) -> None:
        """A viewer's socket, from its first message on."""
        tab = socket.path_params["tab"]
        await socket.accept()
        channel = SocketChannel(socket)
        try:
            hello = await self._hello(channel)
            admitted = self._admit(hello, tab)
            if admitted is None:
                reason = "This address was used already or is older than a minute."
                await self._deny(socket, channel, reason)
                return
            credential, person = admitted
            visit = Visit(
                person=person,
                hello=hello,
                credential=credential,
                launchpad=self._launchpad(socket),
                view_url=lambda other: self._view_url(socket, other, person),
            )
            await self._views.serve(tab, channel, visit)
        except (MalformedError, TimeoutError):
            await self._deny(socket, channel, "The first message must say who comes.")
        except BrowserError as error:
            await self._deny(socket, channel, error.message)
        except StoreError:
            await channel.close(1013)
        except ChannelClosedError:
            pass  # they left before they were served

    async def _hello(self, channel: SocketChannel) -> Hello:
        async with asyncio.timeout(HELLO_WITHIN):
            data = await channel.receive()
        if data is None:
            raise ChannelClosedError
        message = protocol.parse(data)
        if not isinstance(message, Hello):
            raise MalformedError("hello must come first")
        return message

    def _admit(self, hello: Hello, tab: str) -> tuple[str, Person] | None:
        if hello.token is not None:
            traded = self._admission.trade_view_token(hello.token, tab)
            if traded is not None:
                return traded
        if hello.credential is not None:
            person = self._admission.view_person(hello.credential, tab)
            if person is not None:
                return hello.credential, person
        return None

    async def _deny(self, socket: WebSocket, channel: SocketChannel, reason: str) -> None:
        message = {"t": "denied", "reason": reason, "launchpad": self._launchpad(socket)}
        try:
            await channel.send(protocol.encode(message))
        except ChannelClosedError:
            return
        await channel.close(DENIED)

    def _launchpad(self, connection: HTTPConnection) -> str:
        return self._services.origins.other_base("launchpad", connection.headers["host"])

    def _view_url(self, connection: HTTPConnection, tab: str, person: Person) -> str:
        base = self._services.origins.origin_of_host("view", connection.headers["host"])
        return f"{base}/t/{tab}#{self._admission.view_token(tab, person)}"

    # -- uploads ---------------------------------------------------------------------------

    async def upload(self, request: Request) -> Response:
        """A file for a chooser: the body is streamed to disk."""
        tab = request.path_params["tab"]
        credential = request.headers.get(CREDENTIAL_HEADER, "")
        if self._admission.view_person(credential, tab) is None:
            return error_response(401, "not-allowed", "Open this tab from the Launchpad again.")
        name = unquote(request.headers.get(NAME_HEADER, ""))[:1000]
        try:
            incoming = self._views.uploads.begin(tab, name)
            try:
                await _take(request, incoming)
                kept = await asyncio.to_thread(incoming.finish)
            except BaseException:
                incoming.drop()
                raise
        except OSError as failure:
            message = f"The file could not be kept: {failure.strerror}. Free some space and try again."
            return error_response(507, "execution-failed", message)
        except ClientDisconnect:
            return error_response(400, "cancelled", "The upload was cut off; try again.", True)
        return JSONResponse({"upload": kept.id, "size": kept.size})


async def _take(request: Request, incoming: Incoming) -> None:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        parts.append(part)
        size += len(part)
        if size >= WRITE_AT_ONCE:
            await asyncio.to_thread(incoming.write, b"".join(parts))
            parts, size = [], 0
    if parts:
        await asyncio.to_thread(incoming.write, b"".join(parts))
