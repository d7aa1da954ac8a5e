"""A home for a keeper in a temporary folder, hubs in processes of their own, and what they leave behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import windowseat
from support.chromium import wait_until
from windowseat.chromium.find import find_chromium
from windowseat.chromium.flags import options_for_this_machine
from windowseat.chromium.keeper_client import KeeperClient, KeeperOptions, keeper_status, stop_keeper

SOURCES = str(Path(windowseat.__file__).parent.parent)
TESTS = str(Path(__file__).parent.parent)

# A hub that does what its stdin says, one JSON array of words a line, and answers one JSON line each.
LONE_HUB = """
import asyncio, json, os, sys
from pathlib import Path
from support.chromium import evaluate, open_page
from support.keeper import KeeperHome
from windowseat.chromium.connection import Connection
from windowseat.chromium.keeper_client import KeeperClient
from windowseat.errors import Refusal

async def main():
    home = KeeperHome(Path(sys.argv[1]))
    try:
        client = await KeeperClient.connect_or_start(home.socket, home.options())
    except Refusal as refusal:
        print(json.dumps({"refused": refusal.code}), flush=True)
        return
    browser = client.browser
    connection = Connection(browser.read_fd, browser.write_fd)
    connection.start()
    root = await connection.attach_root()
    client.remember_roots([root.session_id])
    told = {"pid": browser.pid, "instance": browser.instance, "keeper": client.pid,
            "former_roots": browser.former_roots, "root": root.session_id}
    print(json.dumps(told), flush=True)
    pages = {}
    while True:
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            return
        word, *rest = json.loads(line)
        answer = None
        if word == "open":
            pages[rest[0]] = await open_page(root, rest[0])
            answer = pages[rest[0]].target
        elif word == "evaluate":
            answer = await evaluate(pages[rest[0]], rest[1])
        elif word == "flood":
            await pages[rest[0]].call("Runtime.enable")
            await evaluate(pages[rest[0]], "void setInterval(() => console.log('x'.repeat(20000)), 1)")
        elif word == "half a command":
            os.write(connection.fds()[1], b'{"id":77,"method":"Browser.getVers')
        elif word == "drop the socket":
            client._drop_wire()
        print(json.dumps(answer), flush=True)

asyncio.run(main())
"""


def lives(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


class KeeperHome:
    """Where one keeper's files are; `options` starts a real Chromium on a profile in there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.profile = folder / "profile"
        self.socket = folder / "keeper.sock"
        self.lock = folder / "keeper.lock"

    def options(
        self, *, argv: Sequence[str] | None = None, headed: bool = False, display: str | None = None
    ) -> KeeperOptions:
        """Options of the Chromium that is here, or of any other program `argv`."""
        found = find_chromium(os.environ)
        launch = options_for_this_machine(self.profile, found.major, headed=headed)
        made = KeeperOptions.of(
            found, launch, os.environ, lock=self.lock, log_folder=self.folder, display=display
        )
        if argv is None:
            return made
        return KeeperOptions(
            tuple(argv), made.environ, made.profile, made.lock, made.log, made.browser_log, made.own_display
        )

    async def connect(self, **options: Any) -> KeeperClient:
        """A hub's connection from this process."""
        return await KeeperClient.connect_or_start(self.socket, self.options(**options))

    def keeper_log(self) -> str:
        """What the keeper wrote."""
        return (self.folder / "keeper.log").read_text()

    def processes(self) -> dict[int, str]:
        """All living processes with this folder in their arguments, but this one: pid and arguments."""
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                text = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if str(self.folder) in text and lives(int(entry.name)):
                    found[int(entry.name)] = text
        return found

    async def wait_nothing_left(self, *, timeout: float = 10.0) -> None:
        """Return once no process of this home lives, hubs of the test not counted."""

        def left() -> dict[int, str]:
            return {pid: text for pid, text in self.processes().items() if "LONE" not in text}

        try:
            await wait_until(lambda: not left(), timeout=timeout)
        except AssertionError:
            raise AssertionError(f"still there after {timeout:g} s: {left()}") from None


@contextlib.asynccontextmanager
async def keeper_home() -> AsyncIterator[KeeperHome]:
    """A fresh home; whatever still runs in it afterwards is ended by its pid."""
    folder = Path(tempfile.mkdtemp(prefix="windowseat-keeper-"))
    home = KeeperHome(folder)
    try:
        yield home
    finally:
        status = await keeper_status(home.socket)
        if status is not None:
            await stop_keeper(home.socket)
            with contextlib.suppress(AssertionError):
                await wait_until(lambda: "pid" not in status or not lives(status["pid"]))
        for pid in home.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


class LoneHub:
    """A hub in a process of its own, so that a test can kill it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid
        self.told: dict[str, Any] = {}

    @classmethod
    async def start(cls, home: KeeperHome) -> LoneHub:
        """Start one; `told` is what it knows of its browser, or `{"refused": code}`."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            LONE_HUB,
            str(home.folder),
            "LONE",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join((SOURCES, TESTS))},
        )
        hub = cls(process)
        hub.told = await hub._answer()
        return hub

    async def do(self, *words: str) -> Any:
        """One word to do, with its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words).encode() + b"\n")
        return await self._answer()

    async def kill(self) -> None:
        """SIGKILL, and reap."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def wait_ended(self) -> int:
        """The exit code."""
        return await asyncio.wait_for(self._process.wait(), 15)

    async def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), 30)
        assert line, "the hub's process ended"
        return json.loads(line)


@contextlib.asynccontextmanager
async def lone_hub(home: KeeperHome) -> AsyncIterator[LoneHub]:
    """A hub in a process of its own, killed afterwards."""
    hub = await LoneHub.start(home)
    try:
        yield hub
    finally:
        await hub.kill()
