"""How a person gets in: the sign-in pages of both origins, their public files and their calls.

These are the only routes (with /health) that answer somebody who is not admitted. They tell
nothing of the hub but that it is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from windowseat.web.admission import COOKIE_SECONDS, Admission, NotAdmittedError, StoreError
from windowseat.web.failures import error_response
from windowseat.web.origins import Origins
from windowseat.web.static_files import STATIC, dress, page

PROOF_HEADER: Final = "x-windowseat-secret"

# Public files by the name they have under /enter/.
_PUBLIC: Final = {
    "enter.css": STATIC / "enter" / "enter.css",
    "launchpad.js": STATIC / "enter" / "launchpad.js",
    "view.js": STATIC / "enter" / "view.js",
    "tokens.css": STATIC / "tokens.css",
    "icon.svg": STATIC / "icon.svg",
}


def launchpad_entering(admission: Admission, origins: Origins) -> list[BaseRoute]:
    """Routes of the Launchpad's origin for somebody who is not in yet."""

    async def enter_page(request: Request) -> Response:
        return page("enter/launchpad.html", request)

    async def enter(request: Request) -> Response:
        body = await read_object(request, "code")
        code = body.get("code")
        if not isinstance(code, str):
            return error_response(400, "invalid-args", "Send the code as `code`.")
        known = admission.person_of(request.cookies, request.headers.get(PROOF_HEADER))
        try:
            entered = admission.enter(code, known)
        except NotAdmittedError as refused:
            status = 429 if refused.code == "too-many-attempts" else 401
            return error_response(status, "not-allowed", refused.message)
        except StoreError:
            return error_response(503, "host-unavailable", "The hub cannot write to its disk.", True)
        person = entered.person
        shown = {"id": person.id, "name": person.name, "color": person.color}
        response = JSONResponse({"secret": entered.secret, "person": shown})
        set_cookie(response, entered.cookie_name, entered.cookie_value, secure=not origins.loopback)
        return response

    return [
        Route("/enter", enter_page, methods=["GET"]),
        Route("/api/v1/enter", enter, methods=["POST"]),
        *public_routes(),
    ]


def view_entering(admission: Admission, origins: Origins) -> list[BaseRoute]:
    """Routes of the view origin for somebody who has a token and no cookie that reaches it."""

    async def enter(request: Request) -> Response:
        body = await read_object(request, "token", "tab")
        token, tab = body.get("token"), body.get("tab")
        if not isinstance(token, str) or not isinstance(tab, str):
            return error_response(400, "invalid-args", "Send `token` and `tab`.")
        try:
            traded = admission.trade_view_token(token, tab)
            if traded is None:
                return error_response(
                    401, "not-allowed", "This address was used already or is older than a minute."
                )
            credential, person = traded
            name, value = admission.view_cookie(person)
        except StoreError:
            return error_response(503, "host-unavailable", "The hub cannot write to its disk.", True)
        response = JSONResponse({"credential": credential})
        set_cookie(response, name, value, secure=not origins.loopback)
        return response

    return [Route("/enter", enter, methods=["POST"]), *public_routes()]


def view_enter_page(request: HTTPConnection) -> Response:
    """What `/t/<id>` of the view origin shows to somebody without a cookie."""
    return page("enter/view.html", request)


def public_routes() -> list[BaseRoute]:
    """`/health` and the files that the sign-in pages are made of."""

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def public(request: Request) -> Response:
        name = request.path_params["name"]
        path = _PUBLIC.get(name)
        if path is None:
            raise HTTPException(404)
        response = Response(path.read_bytes())
        dress(response, name)
        return response

    return [Route("/health", health, methods=["GET"]), Route("/enter/{name}", public, methods=["GET"])]


def set_cookie(response: Response, name: str, value: str, *, secure: bool) -> None:
    """Give a cookie of 90 days that no script reads and no other site sends."""
    response.set_cookie(
        name, value, max_age=COOKIE_SECONDS, path="/", secure=secure, httponly=True, samesite="strict"
    )


async def read_object(request: Request, *known: str) -> Mapping[str, Any]:
    """The JSON object in the body; an empty body counts as an empty object.

    Raises:
        HTTPException: 400, it is something else, or has a field that is not among `known`.
    """
    raw = await request.body()
    try:
        found = json.loads(raw) if raw else {}
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "The body is not JSON.") from error
    if not isinstance(found, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    for name in found:
        # What is not understood is not left out in silence: the caller would think it done.
        if name not in known:
            raise HTTPException(400, f"Nothing here is named {name[:80]!r}; known: {', '.join(known)}.")
    return found
