"""The routes by which a program works in a session: cells, `reset`, single operations.

`execute` answers one JSON document (C11, `exec`), or with `Accept: application/x-ndjson` a line
`{"progress":{"elapsed_s"}}` every 5 seconds and at the end a line `{"result":{...}}`. A caller that
goes away before the end cancels its cell.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from windowseat.errors import BrowserError
from windowseat.rules.names import is_session_name
from windowseat.web.entering import read_object
from windowseat.web.failures import STATUS
from windowseat.web.services import Services

_PROGRESS_EVERY: Final = 5.0
_DEFAULT_TIMEOUT: Final = 50.0
_LONGEST_TIMEOUT: Final = 600.0
_NDJSON: Final = "application/x-ndjson"


class Cells:
    """Routes of `/hub/v1/sessions/{name}`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def execute(self, request: Request) -> Response:
        """Run code in the session's kernel: `{"code","timeout_s"?}`."""
        session = _session(request)
        body = await read_object(request, "code", "timeout_s")
        code = body.get("code")
        if not isinstance(code, str):
            raise BrowserError("invalid-args", "Send the code as `code`.")
        timeout = _timeout(body) or _DEFAULT_TIMEOUT
        work = asyncio.ensure_future(self._run(session, code, timeout))
        if _NDJSON in request.headers.get("accept", ""):
            return StreamingResponse(_lines(work), media_type=_NDJSON)
        return JSONResponse(await _unless_gone(request, work))

    async def reset(self, request: Request) -> Response:
        """End the session's kernel; the next cell starts with an empty namespace."""
        session = _session(request)
        await self._services.kernels.reset(session)
        return JSONResponse({"session": session})

    async def operation(self, request: Request) -> Response:
        """Carry out one operation of C3: `{"args"?,"timeout_s"?}`; answers C3's result."""
        session = _session(request)
        body = await read_object(request, "args", "timeout_s")
        args = body.get("args", {})
        if not isinstance(args, dict):
            raise BrowserError("invalid-args", "`args` must be an object.")
        timeout = _timeout(body)
        op = request.path_params["op"]
        work = asyncio.ensure_future(self._services.broker.dispatch(session, op, args, timeout))
        result = await _unless_gone(request, work)
        status = 200 if result.get("ok") else STATUS.get(result["error"]["code"], 500)
        return JSONResponse(result, status)

    async def _run(self, session: str, code: str, timeout_s: float) -> dict[str, Any]:
        started = time.monotonic()
        try:
            executed = await self._services.kernels.execute(session, code, timeout_s)
        except BrowserError as error:
            return {
                "ok": False,
                "text": "",
                "error": error.as_dict(),
                "images": [],
                "state_lost": False,
                "duration_s": round(time.monotonic() - started, 3),
            }
        return executed.as_dict()


async def _lines(work: asyncio.Future[dict[str, Any]]) -> AsyncIterator[bytes]:
    started = time.monotonic()
    try:
        while True:
            done, _ = await asyncio.wait({work}, timeout=_PROGRESS_EVERY)
            if done:
                break
            yield _line({"progress": {"elapsed_s": round(time.monotonic() - started, 1)}})
        yield _line({"result": work.result()})
    finally:
        # Starlette ends this generator when the reader has gone.
        work.cancel()


async def _unless_gone(request: Request, work: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
    """The work's result; cancels it when whoever asked has gone away."""
    gone = asyncio.ensure_future(_gone(request))
    try:
        both: set[asyncio.Future[Any]] = {work, gone}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise BrowserError("cancelled", "Who asked for this has gone away.")
        return work.result()
    finally:
        gone.cancel()
        work.cancel()


async def _gone(request: Request) -> None:
    # The body has been read, so what comes next is the connection's end.
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _line(found: dict[str, Any]) -> bytes:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _session(request: Request) -> str:
    name = str(request.path_params["name"])
    if not is_session_name(name):
        raise BrowserError("invalid-args", "A session's name has 1 to 64 letters, digits, `-` or `_`.")
    return name


def _timeout(body: Mapping[str, Any]) -> float | None:
    """The body's `timeout_s`, None where it has none."""
    found = body.get("timeout_s")
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= _LONGEST_TIMEOUT:
        raise BrowserError(
            "invalid-args", f"`timeout_s` must be more than 0 and at most {_LONGEST_TIMEOUT:g}."
        )
    return float(found)
