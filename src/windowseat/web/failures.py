"""Failures as answers, translated in one place: `{"error":{"code","message","retryable"}}`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from windowseat.errors import BrowserError

# HTTP statuses of the closed codes (contract C3).
STATUS: Final = {
    "host-unavailable": 503,
    "timeout": 504,
    "stale-ref": 409,
    "person-in-control": 409,
    "dialog-open": 409,
    "navigation-failed": 502,
    "cancelled": 409,
    "invalid-args": 400,
    "no-such-tab": 404,
    "not-found": 404,
    "not-allowed": 403,
    "unsupported": 501,
    "execution-failed": 422,
}

# Where Starlette has only the status's own phrase.
_SENTENCES: Final = {404: "There is nothing at this address.", 405: "This address does not take this method."}
_CODES: Final = {404: "not-found", 405: "unsupported", 401: "not-allowed", 403: "not-allowed"}


def error_response(status: int, code: str, message: str, retryable: bool = False) -> Response:
    """The shape of every failure."""
    return JSONResponse({"error": {"code": code, "message": message, "retryable": retryable}}, status)


async def browser_failure(_: Request, error: Exception) -> Response:
    """A `BrowserError` as it is, with the status of its code."""
    assert isinstance(error, BrowserError)
    found: dict[str, Any] = error.as_dict()
    return JSONResponse({"error": found}, STATUS[error.code])


async def http_failure(_: Request, error: Exception) -> Response:
    """Starlette's own refusals: no such path, method not allowed, a bad body."""
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "invalid-args")
    said = str(error.detail)
    if said == HTTPStatus(error.status_code).phrase:
        said = _SENTENCES.get(error.status_code, said)
    response = error_response(error.status_code, code, said)
    response.headers.update(error.headers or {})
    return response


async def store_failure(_: Request, __: Exception) -> Response:
    """The disk failed; the hub stays up."""
    message = "The hub cannot use its files now: is the disk full? Free some space and try again."
    return error_response(503, "host-unavailable", message, True)


async def unforeseen(_: Request, __: Exception) -> Response:
    """A bug of ours. Starlette logs it; who asked gets a sentence and no traceback."""
    return error_response(500, "execution-failed", "The hub failed at this; its log says why.")
