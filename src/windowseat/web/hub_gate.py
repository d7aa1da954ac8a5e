"""The gates of the hub's API (contract C6): programs of this user may pass, pages never.

Pages in any browser here can send requests to the loopback, and the owned browser shows pages of
strangers under this user's own uid. So on the loopback port the bearer token is not enough: the
connection's other end must be a process of this user, and none of the owned Chromium's.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

import anyio.to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from windowseat.web.guard import BoundedBody, refuse
from windowseat.web.machine import process_tree
from windowseat.web.origins import is_loopback_host
from windowseat.web.peers import Peer, holds_socket, peer_of

# Code to execute may be long; nothing else is.
_BODY_AT_MOST: Final = 4 * 1024 * 1024
_JUDGED_AT_MOST: Final = 256


def make_token(path: Path) -> str:
    """A new bearer token for this run of the hub, in a file that only this user reads."""
    token = secrets.token_urlsafe(32)
    path.unlink(missing_ok=True)
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with open(file, "w", encoding="ascii") as out:  # noqa: PTH123  (a descriptor, not a path)
        out.write(token)
    return token


class ProgramsOnly:
    """Refuses whatever a page could have sent. In front of the API on every way to it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403 or 413."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        named = [name for name, _ in scope["headers"]]
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if b"origin" in named or any(name.startswith(b"sec-fetch-") for name in named):
            await refuse(scope, receive, send, 403, "Pages may not use this address.")
            return
        if len(hosts) != 1 or not is_loopback_host(hosts[0]):
            await refuse(scope, receive, send, 403, "Use the name localhost.")
            return
        body = BoundedBody(receive, _BODY_AT_MOST)
        if body.announced_too_much(scope):
            await refuse(scope, receive, send, 413, "The request is too large.")
            return
        await self._app(scope, body.receive, send)


class LoopbackGate:
    """The API on the loopback port: token, this user's process, and not the owned browser's."""

    def __init__(self, app: ASGIApp, token: str, browser_pid: Callable[[], int | None]) -> None:
        self._app = ProgramsOnly(app)
        self._token = token.encode()
        self._browser_pid = browser_pid
        # Verdicts by the connection's inode, which no other connection has while it is open.
        self._judged: OrderedDict[Peer, bool] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 401 or 403."""
        if not await self._is_ours(scope):
            await refuse(scope, receive, send, 403, "This program may not use this address.")
            return
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        expected = b"Bearer " + self._token
        if len(given) != 1 or not hmac.compare_digest(given[0], expected):
            await refuse(scope, receive, send, 401, "Send the token of the hub's token file as a bearer.")
            return
        await self._app(scope, receive, send)

    async def _is_ours(self, scope: Scope) -> bool:
        client, server = scope.get("client"), scope.get("server")
        if client is None or server is None or server[1] is None:
            return False
        peer = await anyio.to_thread.run_sync(peer_of, tuple(client), (server[0], int(server[1])))
        if peer is None or peer.uid != os.getuid():
            return False
        if peer not in self._judged:
            browser = self._browser_pid()
            held = await anyio.to_thread.run_sync(_browser_holds, browser, peer.inode)
            self._judged[peer] = not held
            while len(self._judged) > _JUDGED_AT_MOST:
                self._judged.popitem(last=False)
        return self._judged[peer]


def _browser_holds(browser: int | None, inode: int) -> bool:
    return holds_socket([process.pid for process in process_tree(browser)], inode)
