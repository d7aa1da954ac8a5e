"""Files of the pages, for those who may read them: right types, ETag, asked again each time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

STATIC: Final = Path(__file__).parent / "static"

# Written out, because the system's own table may be missing or wrong, and `nosniff` would then
# keep the browser from running a script.
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


class StaticFolder(StaticFiles):
    """An ASGI app that serves a folder, to be mounted.

    Args:
        folder: whose files are served; links that lead out of it are not followed.
        may_read: whether this request may read files here; who may not gets 401 for every path,
            so that nobody learns which files there are.
    """

    def __init__(self, folder: Path, may_read: Callable[[HTTPConnection], bool]) -> None:
        super().__init__(directory=folder)
        self._may_read = may_read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one file, or 401."""
        if scope["type"] == "http" and not self._may_read(HTTPConnection(scope)):
            response = PlainTextResponse("Sign in first: `windowseat url` prints a link.\n", 401)
            await response(scope, receive, send)
            return
        await super().__call__(scope, receive, send)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file's answer, with our type and caching: kept, but asked for each time (ETag)."""
        response = await super().get_response(path, scope)
        dress(response, path)
        return response


def page(name: str, request: HTTPConnection | None = None, status: int = 200) -> Response:
    """An HTML page of ours, by its path under `static`; answers 304 where the reader has it."""
    path = STATIC / name
    # The pages are a few kilobytes that the system has in its cache.
    response: Response = Response(path.read_bytes(), status, media_type="text/html")
    response.headers["etag"] = f'"{path.stat().st_mtime_ns:x}"'
    # The same address shows another page to somebody who is not signed in.
    response.headers["cache-control"] = "private, no-cache"
    response.headers["vary"] = "Cookie"
    if request is not None and Headers(scope=request.scope).get("if-none-match") == response.headers["etag"]:
        return Response(status_code=304, headers={"etag": response.headers["etag"], "vary": "Cookie"})
    return response


def dress(response: Response, path: str) -> None:
    """Give a file's answer its type and its caching."""
    kind = _TYPES.get(Path(path).suffix)
    if response.status_code == 200 and kind is not None:
        response.headers["content-type"] = kind
    if response.status_code in (200, 304):
        response.headers["cache-control"] = "private, no-cache"
