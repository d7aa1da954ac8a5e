"""The Launchpad's origin: its page, its static files and its own API (contract C7).

Static files need the cookie; every call of the API needs the cookie and the secret. The hub's API
for programs (C6) is on the same port behind a gate of its own and never answers a page.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from windowseat.errors import BrowserError
from windowseat.web.admission import StoreError
from windowseat.web.board import Board
from windowseat.web.entering import launchpad_entering
from windowseat.web.failures import browser_failure, http_failure, store_failure, unforeseen
from windowseat.web.guard import Guard
from windowseat.web.hub_api import hub_app
from windowseat.web.hub_gate import LoopbackGate
from windowseat.web.launchpad_api import LaunchpadApi
from windowseat.web.live import Live
from windowseat.web.services import Services
from windowseat.web.static_files import STATIC, StaticFolder, page


def launchpad_origin(services: Services) -> ASGIApp:
    """Everything on the Launchpad's port: pages for people, `/hub/v1` for programs."""
    pages = Guard(launchpad_app(services), services.origins, "launchpad")
    programs = LoopbackGate(hub_app(services), services.token, services.browser_pid)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        is_program = scope["type"] == "http" and scope["path"].startswith("/hub/")
        await (programs if is_program else pages)(scope, receive, send)

    return app


def launchpad_app(services: Services) -> Starlette:
    """The pages and their API, without the guard in front."""
    board = Board(services)
    live = Live(services, board)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await board.aclose()

    async def home(request: Request) -> Response:
        return page("launchpad/index.html" if may_read(request) else "enter/launchpad.html", request)

    def may_read(connection: HTTPConnection) -> bool:
        return services.admission.cookie_holder(connection.cookies) is not None

    routes: list[BaseRoute] = [
        Route("/", home, methods=["GET"]),
        *launchpad_entering(services.admission, services.origins),
        Mount("/static", StaticFolder(STATIC, may_read)),
        WebSocketRoute("/api/v1/live", live.serve),
        Mount("/api/v1", routes=LaunchpadApi(services, board).routes()),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            BrowserError: browser_failure,
            HTTPException: http_failure,
            StoreError: store_failure,
            Exception: unforeseen,
        },
    )
