"""`/api/v1`: what the Launchpad's own pages may ask (contract C7). Cookie and secret at each call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from windowseat.errors import BrowserError
from windowseat.hub.people import Person
from windowseat.rules.address import TYPED_LIMIT, address_of
from windowseat.web.board import Board, changes, with_countdowns
from windowseat.web.documents import closed_documents, person_document
from windowseat.web.entering import PROOF_HEADER, read_object
from windowseat.web.failures import error_response
from windowseat.web.services import Services

Handler = Callable[[Request, Person], Awaitable[Response]]

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class LaunchpadApi:
    """Changes answer with the tab's id only: what a tab looks like comes through the socket."""

    def __init__(self, services: Services, board: Board) -> None:
        self._services = services
        self._hub = services.hub
        self._board = board

    def routes(self) -> list[BaseRoute]:
        """The routes. An unknown one answers 401 as the others do, so that nobody can probe for them."""
        return [
            self._route("/state", {"GET": self._state}),
            self._route("/tabs", {"POST": self._open}),
            self._route("/tabs/{id}", {"DELETE": self._close}),
            self._route("/tabs/{id}/restore", {"POST": self._restore}),
            self._route("/tabs/{id}/sleep", {"POST": self._sleep}),
            self._route("/tabs/{id}/wake", {"POST": self._wake}),
            self._route("/tabs/{id}/view", {"POST": self._view}),
            self._route("/closed", {"GET": self._closed}),
            self._route("/me", {"GET": self._me, "POST": self._rename}),
            self._route("/{path:path}", {}),
        ]

    def _route(self, path: str, handlers: dict[str, Handler]) -> Route:
        async def admitted(request: Request) -> Response:
            secret = request.headers.get(PROOF_HEADER)
            person = self._services.admission.person_of(request.cookies, secret)
            if person is None:
                return error_response(401, "not-allowed", "Sign in: `windowseat url` prints a link.")
            handler = handlers.get(request.method)
            if handler is None:
                return error_response(404, "not-found", "There is no such call.")
            return await handler(request, person)

        return Route(path, admitted, methods=list(_METHODS))

    async def _state(self, _: Request, person: Person) -> Response:
        message = with_countdowns(changes(None, self._board.look()) or {}, self._services)
        del message["t"], message["gone"]
        return JSONResponse({**message, "you": person_document(person), "machine": self._services.machine})

    async def _open(self, request: Request, _: Person) -> Response:
        text = (await read_object(request, "text")).get("text")
        if not isinstance(text, str) or not text.strip() or len(text) > TYPED_LIMIT:
            return error_response(400, "invalid-args", "Type an address or some words.")
        tab = await self._hub.open(address_of(text))
        return JSONResponse({"id": tab.id}, 201)

    async def _close(self, request: Request, _: Person) -> Response:
        await self._hub.close(request.path_params["id"])
        return JSONResponse({"id": request.path_params["id"]})

    async def _restore(self, request: Request, _: Person) -> Response:
        return JSONResponse({"id": (await self._hub.restore(request.path_params["id"])).id})

    async def _sleep(self, request: Request, _: Person) -> Response:
        return JSONResponse({"id": (await self._hub.sleep(request.path_params["id"])).id})

    async def _wake(self, request: Request, _: Person) -> Response:
        return JSONResponse({"id": (await self._hub.wake(request.path_params["id"])).id})

    async def _view(self, request: Request, person: Person) -> Response:
        """An address of the view origin; its token stands in the fragment only, for a minute, once."""
        id = request.path_params["id"]
        if id not in self._hub.tabs:
            raise BrowserError("no-such-tab", "This tab has ended. Reopen it from “Recently closed”.")
        base = self._services.origins.other_base("view", request.headers["host"])
        token = self._services.admission.view_token(id, person)
        return JSONResponse({"view": f"{base}/t/{id}#{token}"})

    async def _closed(self, _: Request, __: Person) -> Response:
        return JSONResponse({"closed": closed_documents(self._hub.closed())})

    async def _me(self, _: Request, person: Person) -> Response:
        return JSONResponse({**person_document(person), "machine": self._services.machine})

    async def _rename(self, request: Request, person: Person) -> Response:
        name = (await read_object(request, "name")).get("name")
        try:
            renamed = self._services.admission.rename(person.id, name) if isinstance(name, str) else None
        except ValueError:
            renamed = None
        if renamed is None:
            return error_response(400, "invalid-args", "Give a name of at least one letter.")
        return JSONResponse(person_document(renamed))
