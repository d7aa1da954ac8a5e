"""The gate in front of both web origins: Host, Origin, Sec-Fetch-Site, body size, headers.

Every page that any browser on this machine shows can send requests to the loopback, and the owned
browser shows pages of strangers. So each request must prove that it comes from the origin it goes
to before anything of it is read. Admission (cookie and secret) comes after this and elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windowseat.web.origins import Kind, Origins

BODY_AT_MOST: Final = 64 * 1024
UPLOAD_AT_MOST: Final = 4 * 1024**3

# Addresses that somebody may come to from anywhere: typed, or a link on another site. They are
# GET pages that tell nothing without admission.
_ENTRANCES: Final = {
    "launchpad": re.compile(r"/(enter)?"),
    "view": re.compile(r"/(enter|t/[^/]+)?"),
}
_UPLOAD: Final = re.compile(r"/t/[^/]+/upload")


class Guard:
    """ASGI middleware for one origin. Nothing that fails a check reaches `app`.

    Wrong Host 421, wrong or missing Origin 403, a request from another site 403, a body that is
    too large 413; a WebSocket handshake is refused with the same statuses before it is accepted.
    """

    def __init__(self, app: ASGIApp, origins: Origins, kind: Kind) -> None:
        self._app = app
        self._origins = origins
        self._kind: Kind = kind
        self._headers = security_headers(origins, kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope)
        if refused is not None:
            await refuse(scope, receive, send, *refused, headers=self._headers)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await self._serve(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and sentence when this request may not pass."""
        hosts = _all(scope, b"host")
        if len(hosts) != 1 or not self._origins.accepts_host(self._kind, hosts[0]):
            name = "localhost" if self._origins.loopback else self._origins.configured(self._kind)
            return 421, f"This address is not served here. Use {name}."
        origins = _all(scope, b"origin")
        expected = self._origins.origin_of_host(self._kind, hosts[0])
        if origins and origins != [expected]:
            return 403, "Pages of other origins may not use this address."
        if scope["type"] == "websocket" and not origins:
            return 403, "A socket must say which origin it comes from."
        if not self._site_is_right(scope):
            return 403, "Pages of other sites may not use this address."
        return None

    def _site_is_right(self, scope: Scope) -> bool:
        """Whether Sec-Fetch-Site lets it pass. Another port of localhost counts as another site."""
        sites = _all(scope, b"sec-fetch-site")
        if not sites or sites in (["same-origin"], ["none"]):
            return True
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return False
        if not _ENTRANCES[self._kind].fullmatch(scope["path"]):
            return False
        # User activation may be missing for a link opened by a script; that is harmless, framing
        # and subresources are not.
        framed = self._kind == "view" and bool(self._origins.framers)
        places = {"document", "iframe"} if framed else {"document"}
        dests = _all(scope, b"sec-fetch-dest")
        return _all(scope, b"sec-fetch-mode") == ["navigate"] and len(dests) == 1 and dests[0] in places

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = BODY_AT_MOST
        if self._kind == "view" and _UPLOAD.fullmatch(scope["path"]):
            limit = UPLOAD_AT_MOST
        body = BoundedBody(receive, limit)
        if body.announced_too_much(scope):
            await refuse(scope, receive, send, 413, "The request is too large.", headers=self._headers)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, body.receive, send_guarded)


class BodyTooLargeError(HTTPException):
    """The body went on past its limit: 413, raised where the app reads it."""

    def __init__(self) -> None:
        super().__init__(413, "The request is too large.")


class BoundedBody:
    """A `receive` that counts, for bodies whose length nobody announced."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._read = 0

    def announced_too_much(self, scope: Scope) -> bool:
        """Whether Content-Length alone says that the body is too large (or is no number)."""
        lengths = _all(scope, b"content-length")
        return any(not length.isdigit() or int(length[:19]) > self._limit for length in lengths)

    async def receive(self) -> Message:
        """The next message.

        Raises:
            BodyTooLargeError: more than the limit has come.
        """
        message = await self._receive()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            if self._read > self._limit:
                raise BodyTooLargeError
        return message


def security_headers(origins: Origins, kind: Kind) -> dict[str, str]:
    """What every answer of an origin carries unless it says otherwise itself (static files: caching)."""
    framers = origins.framers if kind == "view" else ()
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "media-src": "'self' blob:",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(framers) or "'none'",
    }
    if kind == "launchpad":
        # Its pages never make markup from text; what tries to fails instead of running.
        policy |= {"require-trusted-types-for": "'script'", "trusted-types": "'none'"}
    headers = {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
    }
    if not framers:
        # A framed page has the opener policy of its frame; only a page that stands alone has one.
        headers["cross-origin-opener-policy"] = "same-origin"
        headers["x-frame-options"] = "DENY"
    return headers


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    sentence: str,
    *,
    headers: dict[str, str] | None = None,
) -> None:
    """Answer a request or a handshake with a status and one sentence, and read nothing of it."""
    body = (sentence + "\n").encode()
    raw = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    raw += [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    prefix = "http.response"
    if scope["type"] == "websocket":
        await receive()  # the connect message, which the protocol wants read first
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        prefix = "websocket.http.response"
    await send({"type": f"{prefix}.start", "status": status, "headers": raw})
    await send({"type": f"{prefix}.body", "body": body})


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
