"""The hub's line to the browser: one pipe at a time, taken from the keeper, mapped, lost, taken again.

Everything of the hub goes through one browser-target session, so that one detach removes it. Other
rooms see `root` and `bridge`, which are None while no browser is there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from windowseat.chromium.bridge import Bridge, BridgeTab
from windowseat.chromium.connection import CdpError, CdpGone, CdpSession, CdpTimeout, Connection
from windowseat.chromium.keeper_client import Browser as BrowserProcess
from windowseat.chromium.keeper_client import KeeperClient
from windowseat.errors import BrowserError, Refusal
from windowseat.hub.targets import Targets
from windowseat.rules import ids
from windowseat.rules.ids import Described, Seen

log = logging.getLogger(__name__)

PAGES_ONLY: Final = [{"type": "page"}]
CALL_FAILURES: Final = (CdpError, CdpGone, CdpTimeout)
BRIDGE_PATIENCE: Final = 10.0


class BrowserLink:
    """Connects, maps, and connects again; `connected` is set while the browser answers.

    Attributes:
        root: the hub's browser-target session.
        bridge: the bridge extension, None where this browser refuses it.
        process: the browser's process as the keeper told it.
        failure: why no browser is there, once the keeper gave up.
    """

    def __init__(
        self,
        keeper: KeeperClient,
        targets: Targets,
        extension: Path,
        *,
        info_changed: Callable[[str, str], None],
        bridge_came: Callable[[Bridge], None],
    ) -> None:
        """`info_changed(target, url)` for each new address, `bridge_came` for each new extension."""
        self._keeper = keeper
        self._targets = targets
        self._extension = extension
        self.connected = asyncio.Event()
        self.connection: Connection | None = None
        self.root: CdpSession | None = None
        self.bridge: Bridge | None = None
        self.process: BrowserProcess | None = None
        self.failure: Refusal | None = None
        self._info_changed = info_changed
        self._bridge_came = bridge_came

    async def run(self) -> None:
        """Keep a connection until cancelled. A lost pipe is followed by the keeper's next browser."""
        process: BrowserProcess | None = self._keeper.browser
        while True:
            try:
                await self._serve(process or await self._keeper.next_browser())
            except CALL_FAILURES:
                log.exception("the browser did not answer; waiting for the next one")
            except Refusal as refusal:
                # The keeper tries on; `doctor` and those who wait hear why meanwhile.
                self.failure = refusal
                log.warning("no browser: %s", refusal.message)
            process = None

    async def wait_connected(self, timeout: float) -> CdpSession:
        """The root session, once the browser is there.

        Raises:
            BrowserError: "host-unavailable" when it does not come in time (seconds).
        """
        try:
            async with asyncio.timeout(timeout):
                await self.connected.wait()
        except TimeoutError:
            why = "it is being started again" if self.failure is None else self.failure.message
            raise BrowserError(
                "host-unavailable",
                f"The browser is not there: {why}. Try once more, or ask `windowseat doctor`.",
            ) from None
        if self.root is None:
            raise BrowserError("host-unavailable", "The browser has just ended. Try once more.")
        return self.root

    # -- one connection --------------------------------------------------------------------

    async def _serve(self, process: BrowserProcess) -> None:
        connection = Connection(process.read_fd, process.write_fd)
        connection.start()
        self.connection, self.process = connection, process
        try:
            await self._set_up(connection, process)
            await connection.wait_closed()
        finally:
            self._clear()
            connection.close()

    async def _set_up(self, connection: Connection, process: BrowserProcess) -> None:
        for former in process.former_roots:
            connection.root.send("Target.detachFromTarget", {"sessionId": former})
        root = await connection.attach_root()
        if root.session_id is not None:
            self._keeper.remember_roots([root.session_id])
        self.root = root
        self.bridge = await self._load_bridge(root)
        self._targets.browser = self
        root.on("Target.targetCreated", self._created)
        root.on("Target.targetInfoChanged", self._told)
        root.on("Target.targetDestroyed", self._destroyed)
        await root.call("Target.setDiscoverTargets", {"discover": True, "filter": PAGES_ONLY})
        infos = await page_targets(root)
        self._targets.feed(ids.Connected(process.instance, tuple(_seen(info) for info in infos)))
        for info in infos:
            self._told({"targetInfo": info})
        await self._targets.wait_mapped()
        self.failure = None
        self.connected.set()
        if self.bridge is not None:
            with contextlib.suppress(*CALL_FAILURES, BrowserError, TimeoutError):
                await self.bridge.tell_icons()

    async def _load_bridge(self, root: CdpSession) -> Bridge | None:
        try:
            async with asyncio.timeout(BRIDGE_PATIENCE):
                bridge = await Bridge.load(root, self._extension)
        except (*CALL_FAILURES, BrowserError, TimeoutError) as failure:
            log.warning("the bridge extension does not work in this browser: %s", failure)
            return None
        self._bridge_came(bridge)
        return bridge

    def _clear(self) -> None:
        self.connected.clear()
        self.root = self.bridge = self.connection = self.process = None
        self._targets.browser = None
        if self._targets.ids.connected:
            self._targets.feed(ids.Disconnected())

    def _created(self, params: dict[str, Any]) -> None:
        info = params["targetInfo"]
        if self._targets.ids.connected:  # before that, `getTargets` tells of it
            self._targets.feed(ids.TargetSeen(_seen(info)))
            self._told(params)

    def _told(self, params: dict[str, Any]) -> None:
        info = params["targetInfo"]
        self._info_changed(info["targetId"], info.get("url", ""))

    def _destroyed(self, params: dict[str, Any]) -> None:
        if self._targets.ids.connected:
            self._targets.feed(ids.TargetGone(params["targetId"]))

    # -- what effects ask ------------------------------------------------------------------

    async def describe(self, target: str) -> Described:
        """What the bridge knows of a target; empty where it knows nothing or is not there."""
        bridge = self.bridge
        if bridge is None:
            return Described()
        with contextlib.suppress(*CALL_FAILURES, BrowserError, TimeoutError):
            found = await bridge.describe(target)
            if found is not None:
                return _described(found)
        return Described()

    async def describe_all(self) -> dict[str, Described]:
        """`describe` for every target, in one question."""
        bridge = self.bridge
        if bridge is None:
            return {}
        with contextlib.suppress(*CALL_FAILURES, BrowserError, TimeoutError):
            return {target: _described(tab) for target, tab in (await bridge.tabs()).items()}
        return {}

    async def close_target(self, target: str) -> None:
        """Ask for the end of a page; that it went comes back as an event."""
        root = self.root
        if root is not None:
            with contextlib.suppress(*CALL_FAILURES):
                await root.call("Target.closeTarget", {"targetId": target})


async def page_targets(root: CdpSession, timeout: float = 10.0) -> list[dict[str, Any]]:
    """The page targets that there are, as `Target.getTargets` tells them; `root` must be discovering.

    Who waits for an answer runs after events that came right behind it. A target that ended so must
    not be told as one that is there: no event would ever take it away again.

    Raises:
        CdpError, CdpTimeout, CdpGone: as `CdpSession.call`.
    """
    gone: set[str] = set()
    stop = root.on("Target.targetDestroyed", lambda params: gone.add(params["targetId"]))
    try:
        answer = await root.call("Target.getTargets", {"filter": PAGES_ONLY}, timeout=timeout)
    finally:
        stop()
    return [info for info in answer["targetInfos"] if info["targetId"] not in gone]


def _seen(info: dict[str, Any]) -> Seen:
    return Seen(info["targetId"], info.get("url", ""), info.get("openerId"))


def _described(tab: BridgeTab) -> Described:
    return Described(tab_id=tab.tab_id, discarded=tab.discarded, replaces=tab.replaces, opener_tab=tab.opener)
