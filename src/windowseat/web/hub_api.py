"""`/hub/v1`: the hub for programs (contract C6, JSON of C11). The command line speaks it.

On the hub's own Unix socket it has the role admin; the socket's mode keeps others out. The same
routes stand on the loopback port behind `hub_gate.LoopbackGate`. Pages never reach it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from windowseat.errors import BrowserError
from windowseat.rules.address import address_of, check_agent_url
from windowseat.rules.names import is_session_name
from windowseat.web.admission import CODE_SECONDS, StoreError, clean_name
from windowseat.web.documents import closed_documents, session_documents, tab_document
from windowseat.web.entering import read_object
from windowseat.web.failures import browser_failure, http_failure, store_failure, unforeseen
from windowseat.web.hub_cells import Cells
from windowseat.web.hub_events import EventFeed
from windowseat.web.hub_gate import ProgramsOnly
from windowseat.web.machine import machine_memory
from windowseat.web.services import Services

_MEMORY_WITHIN: Final = 2.0


def unix_app(services: Services) -> ASGIApp:
    """The API for the hub's main Unix socket."""
    return ProgramsOnly(hub_app(services))


def hub_app(services: Services) -> Starlette:
    """The routes, without a gate in front."""
    feed = EventFeed(services.hub)
    api, cells = _HubApi(services), Cells(services)
    routes: list[BaseRoute] = [
        Route("/status", api.status, methods=["GET"]),
        Route("/admissions", api.admissions, methods=["GET"]),
        Route("/admissions", api.admit, methods=["POST"]),
        Route("/admissions/{id}", api.revoke, methods=["DELETE"]),
        Route("/tabs", api.tabs, methods=["GET"]),
        Route("/tabs", api.open, methods=["POST"]),
        Route("/tabs/{id}", api.close, methods=["DELETE"]),
        Route("/tabs/{id}/restore", api.change(services.hub.restore), methods=["POST"]),
        Route("/tabs/{id}/sleep", api.change(services.hub.sleep), methods=["POST"]),
        Route("/tabs/{id}/wake", api.change(services.hub.wake), methods=["POST"]),
        Route("/closed", api.closed, methods=["GET"]),
        Route("/sessions", api.sessions, methods=["GET"]),
        Route("/sessions/{name}/window", api.window, methods=["POST"]),
        Route("/sessions/{name}/execute", cells.execute, methods=["POST"]),
        Route("/sessions/{name}/reset", cells.reset, methods=["POST"]),
        Route("/sessions/{name}/operations/{op}", cells.operation, methods=["POST"]),
        Route("/overview", api.overview, methods=["GET"]),
        Route("/doctor", api.doctor, methods=["GET"]),
        Route("/events", feed.serve, methods=["GET"]),
        Route("/down", api.down, methods=["POST"]),
    ]
    return Starlette(
        routes=[Mount("/hub/v1", routes=routes)],
        exception_handlers={
            BrowserError: browser_failure,
            HTTPException: http_failure,
            StoreError: store_failure,
            Exception: unforeseen,
        },
    )


class _HubApi:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._hub = services.hub

    async def status(self, _: Request) -> Response:
        return JSONResponse({"running": True, **self._services.status()})

    # -- admissions ------------------------------------------------------------------------

    async def admit(self, request: Request) -> Response:
        name = (await read_object(request, "name")).get("name")
        if name is not None and (not isinstance(name, str) or not clean_name(name)):
            raise BrowserError("invalid-args", "`name` must be a name of at least one letter.")
        code = self._services.admission.new_code(name)
        base = self._services.origins.launchpad_base()
        return JSONResponse({"url": f"{base}/enter#{code}", "expires_s": CODE_SECONDS}, 201)

    async def admissions(self, _: Request) -> Response:
        found = [
            {"id": one.person.id, "name": one.person.name, "since": one.since, "until": one.until}
            for one in self._services.admission.list()
        ]
        return JSONResponse({"admissions": found})

    async def revoke(self, request: Request) -> Response:
        if not self._services.admission.revoke(request.path_params["id"]):
            raise BrowserError("not-found", "Nobody with this id is admitted.")
        return JSONResponse({"id": request.path_params["id"]})

    # -- tabs ------------------------------------------------------------------------------

    async def tabs(self, request: Request) -> Response:
        session = request.query_params.get("session")
        if session is not None:
            _check_session(session)
        memory = await self._memory()
        found = [
            tab_document(self._services, tab, memory.get(tab.id))
            for tab in self._hub.tabs.values()
            if session is None or tab.session == session
        ]
        return JSONResponse({"tabs": found})

    async def open(self, request: Request) -> Response:
        body = await read_object(request, "url", "session")
        url, session = body.get("url"), body.get("session")
        if not isinstance(url, str) or not url.strip():
            raise BrowserError("invalid-args", "`url` must be an address.")
        if session is not None:
            _check_session(session)
        # A person may type as in an address bar; what belongs to a session is a program's.
        wanted = address_of(url) if session is None else check_agent_url(url)
        tab = await self._hub.open(wanted, session)
        return JSONResponse(tab_document(self._services, tab), 201)

    async def close(self, request: Request) -> Response:
        return JSONResponse(tab_document(self._services, await self._hub.close(request.path_params["id"])))

    def change(self, carry_out: Callable[[str], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
        """A route that does one thing to one tab and answers the tab."""

        async def changed(request: Request) -> Response:
            tab = await carry_out(request.path_params["id"])
            return JSONResponse(tab_document(self._services, tab))

        return changed

    async def closed(self, _: Request) -> Response:
        return JSONResponse({"closed": closed_documents(self._hub.closed())})

    # -- sessions --------------------------------------------------------------------------

    async def sessions(self, _: Request) -> Response:
        return JSONResponse({"sessions": session_documents(self._services, time.time())})

    async def window(self, request: Request) -> Response:
        name = request.path_params["name"]
        _check_session(name)
        has_one = any(tab.session == name and tab.closes_at is None for tab in self._hub.tabs.values())
        if not has_one and not self._services.windows.take():
            raise BrowserError("host-unavailable", "Too many new windows in a minute; wait a little.")
        tab = await self._hub.session_window(name)
        return JSONResponse(tab_document(self._services, tab))

    # -- the hub ---------------------------------------------------------------------------

    async def overview(self, _: Request) -> Response:
        pid = self._services.browser_pid()
        machine = (await asyncio.to_thread(machine_memory, pid)).as_dict()
        tabs = list(self._hub.tabs.values())
        return JSONResponse(
            {
                "memory": machine,
                "tabs": len(tabs),
                "asleep": sum(tab.asleep for tab in tabs),
                "closing": sum(tab.closes_at is not None for tab in tabs),
                "sessions": session_documents(self._services, time.time()),
                "closed": closed_documents(self._hub.closed(), 12),
            }
        )

    async def doctor(self, _: Request) -> Response:
        return JSONResponse({"checks": list(await self._services.doctor())})

    async def down(self, request: Request) -> Response:
        keep = (await read_object(request, "keep_browser")).get("keep_browser", False)
        if not isinstance(keep, bool):
            raise BrowserError("invalid-args", "`keep_browser` must be true or false.")
        # After the answer has gone out, so that whoever asked hears that it was heard.
        return JSONResponse({"stopping": True}, background=BackgroundTask(self._end, keep))

    async def _end(self, keep_browser: bool) -> None:
        self._services.down(keep_browser)

    async def _memory(self) -> dict[str, int]:
        """Memory by tab; empty when the browser does not tell in time, for a list must not wait."""
        with contextlib.suppress(BrowserError, TimeoutError):
            return dict(await asyncio.wait_for(self._hub.memory(), _MEMORY_WITHIN))
        return {}


def _check_session(name: Any) -> None:
    if not isinstance(name, str) or not is_session_name(name):
        raise BrowserError("invalid-args", "A session's name has 1 to 64 letters, digits, `-` or `_`.")
