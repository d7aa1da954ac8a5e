"""Starting a keeper, reaching it, and asking it from outside: its state, or its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import windowseat
from windowseat.chromium.keeper_options import KeeperOptions
from windowseat.chromium.keeper_wire import Message, Wire, WireClosed
from windowseat.errors import Refusal

READY_WITHIN: Final = 15.0
STOP_WITHIN: Final = 20.0
SOCKET_PATH_LIMIT: Final = 107
# Where this very package lies, so that the keeper's code is the hub's.
_PACKAGES: Final = str(Path(windowseat.__file__).parent.parent)


async def keeper_status(socket_path: Path, *, timeout: float = 5.0) -> Message | None:
    """What a keeper says of itself: `pid`, `hub`, `browser` (pids), `instance`; None if none runs."""
    return await _ask(socket_path, "status", timeout)


async def stop_keeper(socket_path: Path, *, timeout: float = STOP_WITHIN) -> bool:
    """End a keeper and its Chromium without being its hub; False if none runs."""
    return await _ask(socket_path, "stop", timeout) is not None


async def _ask(socket_path: Path, kind: str, timeout: float) -> Message | None:
    sock = try_connect(socket_path)
    if sock is None:
        return None
    wire = Wire(sock)
    loop = asyncio.get_running_loop()
    came: asyncio.Future[Message] = loop.create_future()

    def readable() -> None:
        try:
            for message, _ in wire.receive():
                if not came.done():
                    came.set_result(message)
        except WireClosed:
            loop.remove_reader(wire.fileno())
            if not came.done():
                came.set_result({"t": "stopped"})

    try:
        loop.add_reader(wire.fileno(), readable)
        wire.send({"t": kind})
        async with asyncio.timeout(timeout):
            return await came
    except (WireClosed, TimeoutError):
        return None
    finally:
        loop.remove_reader(wire.fileno())
        wire.close()


async def start_keeper(options: KeeperOptions, socket_path: Path, *, adopts: bool) -> Refusal | None:
    """Start a keeper in a session of its own; None when it serves, a refusal when another runs.

    Raises:
        Refusal: it cannot run at all.
    """
    environ = dict(os.environ)
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_PACKAGES, environ.get("PYTHONPATH"))))
    process = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-m", "windowseat.chromium.keeper"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
        cwd="/",
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(READY_WITHIN):
            line = await asyncio.to_thread(_exchange, process, options.as_json(socket_path, adopts=adopts))
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        raise keeper_failed(f"did not start within {READY_WITHIN:g} s", options.log) from None
    try:
        answer = json.loads(line)
    except ValueError:
        raise keeper_failed("ended at once", options.log) from None
    refused = answer.get("refused")
    if refused is None:
        return None
    refusal = Refusal(refused["code"], refused["message"], refused["next_step"])
    if refusal.code == "already-running":
        return refusal
    raise refusal


def _exchange(process: subprocess.Popen[bytes], options: bytes) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as to_keeper:
        to_keeper.write(options)
    with process.stdout as from_keeper:
        line = from_keeper.readline()
    process.wait()  # it goes on in a process of its own, or has refused
    return line


def try_connect(path: Path) -> socket.socket | None:
    """A connection to the keeper's socket, or None when nobody listens there."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.connect(str(path))
    except OSError:
        sock.close()
        return None
    return sock


def check_path(path: Path) -> None:
    """Refuse ("home-unusable") a socket path that the system cannot take."""
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise Refusal(
            "home-unusable",
            f"The keeper's socket path is longer than {SOCKET_PATH_LIMIT} bytes: {path}",
            "Set WINDOWSEAT_HOME to a folder with a shorter name.",
        )


def keeper_failed(what: str, log_path: Path) -> Refusal:
    """The refusal for a keeper that does not do its part."""
    return Refusal("keeper-failed", f"The keeper {what}.", f"Its log may say why: {log_path}")
