"""A real hub with a real keeper and a real Chromium, in a home of the test's own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import windowseat
from windowseat.chromium.find import find_chromium
from windowseat.chromium.flags import options_for_this_machine
from windowseat.chromium.keeper_client import KeeperClient, KeeperOptions
from windowseat.hub.events import HubEvent
from windowseat.hub.home import Home, find_home
from windowseat.hub.hub import Hub
from windowseat.hub.store import Store

EXTENSION = Path(windowseat.__file__).parent / "extension"


class RunningHub:
    """One hub after another on one home; `home` and the browser stay while hubs come and go."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.events: list[HubEvent] = []
        self.hub: Hub
        self.keeper: KeeperClient
        self._store: Store
        self._watch: asyncio.Task[None]

    async def start(self) -> Hub:
        """Start a hub on what a former one left."""
        found = find_chromium(os.environ)
        options = KeeperOptions.of(
            found,
            options_for_this_machine(self.home.profile, found.major),
            os.environ,
            lock=self.home.keeper_lock,
            log_folder=self.home.log_folder,
        )
        self.keeper = await KeeperClient.connect_or_start(self.home.keeper_socket, options)
        self._store = Store(self.home.store)
        self.hub = Hub(self.home, self._store, self.keeper, extension=EXTENSION)
        self.hub.subscribe(self.events.append)
        self._watch = asyncio.create_task(self._watch_keeper())
        await self.hub.start()
        return self.hub

    async def leave(self) -> None:
        """End the hub and keep the browser."""
        self._watch.cancel()
        await self.hub.aclose()
        self._store.close()
        self.keeper.close()

    async def stop(self) -> None:
        """End hub, keeper and browser."""
        self._watch.cancel()
        await self.hub.aclose()
        self._store.close()
        await self.keeper.stop()

    def kill_browser(self) -> None:
        """SIGKILL to Chromium's whole group."""
        os.killpg(self.keeper.browser.pid, signal.SIGKILL)

    def listed(self) -> dict[str, dict[str, Any]]:
        """The tab list as apps read it, by id; empty before the first."""
        try:
            found = json.loads(self.home.tab_list.read_text())
        except FileNotFoundError:
            return {}
        return {row["id"]: row for row in found["tabs"]}

    async def _watch_keeper(self) -> None:
        while True:
            await self.keeper.wait_lost()
            await self.keeper.adopt_again()


@contextlib.asynccontextmanager
async def running_hub() -> AsyncIterator[RunningHub]:
    """A hub in a temporary home; everything ends with the test."""
    with tempfile.TemporaryDirectory(prefix="windowseat-hub-", ignore_cleanup_errors=True) as folder:
        running = RunningHub(find_home({**os.environ, "WINDOWSEAT_HOME": folder}).prepare())
        try:
            await running.start()
            yield running
        finally:
            await running.stop()


async def wait_until(condition: Callable[[], Any], what: str, timeout: float = 15.0) -> Any:
    """Return the first true value of `condition()`; fail with `what` after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {timeout} s: {what}"
        await asyncio.sleep(0.02)
