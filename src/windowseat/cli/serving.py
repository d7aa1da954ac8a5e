"""Listening sockets and the servers behind them: two ports on the loopback, one Unix socket."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from windowseat.errors import Refusal

CLOSE_WITHIN: Final = 2
FREE_PORT_TRIES: Final = 20
WS_MESSAGE: Final = 1024 * 1024


@dataclass
class Listening:
    """One port, on both loopback addresses where the machine has both."""

    port: int
    sockets: list[socket.socket]

    def close(self) -> None:
        """Stop listening."""
        for each in self.sockets:
            each.close()


def listen(port: int, option: str) -> Listening:
    """Bind a loopback port; 0 takes a free one.

    `localhost` means ::1 as well as 127.0.0.1: both are taken, so that no other program can answer
    in our name on one of them.

    Raises:
        Refusal: "port-busy", naming the `option` that chooses another.
    """
    for _ in range(FREE_PORT_TRIES if port == 0 else 0):
        # A port that is free on one address may be taken on the other.
        with contextlib.suppress(Refusal):
            return _listen(0, option)
    return _listen(port, option)


def _listen(port: int, option: str) -> Listening:
    first = _bind(socket.AF_INET, "127.0.0.1", port, option)
    found = first.getsockname()[1]
    sockets = [first]
    try:
        sockets.append(_bind(socket.AF_INET6, "::1", found, option))
    except OSError:
        pass  # a machine without IPv6
    except Refusal:
        first.close()
        raise
    return Listening(found, sockets)


def _bind(family: socket.AddressFamily, host: str, port: int, option: str) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except OSError as failure:
        made.close()
        if failure.errno in (errno.EADDRINUSE, errno.EACCES) and port == 0:
            raise Refusal(
                "port-busy",
                f"No port of {host} is free.",
                "End a program that listens there, or widen net.ipv4.ip_local_port_range.",
            ) from None
        if failure.errno in (errno.EADDRINUSE, errno.EACCES):
            raise Refusal(
                "port-busy",
                f"Port {port} of {host} is taken by another program or not allowed.",
                f"Choose another with {option} PORT ({option} 0 takes a free one).",
            ) from None
        raise
    return made


class Served:
    """A server that runs until `aclose`."""

    def __init__(self, server: _Server, task: asyncio.Task[None], path: Path | None = None) -> None:
        self._server = server
        self._task = task
        self._path = path

    async def aclose(self) -> None:
        """Stop taking requests; what runs gets `CLOSE_WITHIN` seconds. A Unix socket is taken away."""
        self._server.stop()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._path is not None:
            self._path.unlink(missing_ok=True)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End soon."""
        self.should_exit = True
        self._stopping.set()

    async def main_loop(self) -> None:
        """Wait for `stop`. The library's own loop looks ten times a second, for dates that are not sent."""
        await self.on_tick(0)
        await self._stopping.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the hub's own: three servers must not fight over them."""
        yield


async def serve(app: ASGIApp, sockets: list[socket.socket]) -> Served:
    """Serve on sockets that listen already; returns once it answers."""
    return await _serve(_config(app), sockets)


async def serve_socket(app: ASGIApp, path: Path) -> Served:
    """Serve on a Unix socket that only this user can open. A stale one in its place is replaced."""
    path.unlink(missing_ok=True)
    # uvicorn keeps the mode of the socket that it finds there.
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as first:
        first.bind(str(path))
        path.chmod(0o600)
    return await _serve(_config(app, uds=str(path)), None, path)


def _config(app: ASGIApp, uds: str | None = None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        uds=uds,
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=WS_MESSAGE,
        ws_ping_interval=None,  # the view and the Launchpad ask in their own protocols
        ws_per_message_deflate=False,  # pictures are compressed already
        log_config=None,
        log_level="warning",
        access_log=False,  # addresses may carry what nobody should find in a log
        server_header=False,
        date_header=False,
        lifespan="auto",
        timeout_graceful_shutdown=CLOSE_WITHIN,
        timeout_keep_alive=30,
    )


async def _serve(
    config: uvicorn.Config, sockets: list[socket.socket] | None, path: Path | None = None
) -> Served:
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=sockets), name="server")
    while not server.started:
        if task.done():
            await task
            raise Refusal("hub-failed", "A server of the hub did not start.", "See the hub's log.")
        await asyncio.sleep(0.005)
    return Served(server, task, path)
