"""What the bridge extension gives the hub: the map of tabs, sleep, reopening, memory, news of tabs.

The extension is loaded over the pipe and spoken to by evaluating in its service worker, so nothing
but the owner of the pipe reaches it. A worker that was stopped comes back under the same session;
one that does not answer is loaded again. The facts this rests on are in docs/decisions/0002.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson

from windowseat.chromium.bridge_tabs import (
    BridgeEvent,
    BridgeTab,
    ClosedEntry,
    TabReplaced,
    TabUpdated,
    tab_from,
)
from windowseat.chromium.connection import CdpError, CdpGone, CdpSession, CdpTimeout
from windowseat.errors import BrowserError

__all__ = ["Bridge", "BridgeEvent", "BridgeTab", "ClosedEntry", "TabReplaced", "TabUpdated"]

log = logging.getLogger(__name__)

LOAD_TIMEOUT: Final = 8.0
ATTACH_TIMEOUT: Final = 1.0
READY_TIMEOUT: Final = 3.0
READ_TIMEOUT: Final = 8.0
# After this a call without an answer is doubted, and the worker is asked whether it lives.
PATIENCE: Final = 1.0
CHANGE_TIMEOUT: Final = 10.0
POLL_EVERY: Final = 0.02
# How long a new worker is waited for before one that was there already is taken.
NEW_WORKER_WITHIN: Final = 1.5

OFFERS: Final = ("memory", "sleep", "reopening", "map", "events")
WORKERS_ONLY: Final = [{"type": "service_worker"}]


class Bridge:
    """The loaded extension. Made by `Bridge.load`; ends with the root session it was loaded through.

    Every call raises `BrowserError`: "unsupported" where this browser lacks the function,
    "not-found" where the tab or entry is gone, "host-unavailable" when the browser or the extension
    ended, "timeout", and "execution-failed" with Chromium's own words.

    Attributes:
        offers: for each of "memory", "sleep", "reopening", "map" and "events", whether it works here.
    """

    def __init__(self, root: CdpSession, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._address = f"chrome-extension://{extension_id(folder)}/"
        self._digest = _digest(folder)
        self._worker: CdpSession | None = None
        self._loading = asyncio.Lock()
        self._loads = 0
        self._listeners: list[Callable[[BridgeEvent], None]] = []
        self._greeted = asyncio.Event()
        self._refresh: asyncio.Task[None] | None = None
        self.offers: dict[str, bool] = dict.fromkeys(OFFERS, False)

    @classmethod
    async def load(cls, root: CdpSession, folder: Path) -> Bridge:
        """Load the extension, or take the worker that a former hub left, and wait until it answers.

        Args:
            root: the hub's browser-target session; everything is attached through it.
            folder: the extension's folder.

        Raises:
            BrowserError: "unsupported" when this browser refuses it, "timeout" when it does not start.
            CdpGone: the browser ended.
        """
        bridge = cls(root, folder)
        try:
            async with asyncio.timeout(LOAD_TIMEOUT):
                await bridge._load()
                bridge.offers |= await bridge._ask("offers", timeout=READ_TIMEOUT)
                bridge.offers["events"] = await bridge._hears()
        except TimeoutError:
            raise BrowserError(
                "timeout", f"The bridge extension did not start within {LOAD_TIMEOUT:g} s."
            ) from None
        return bridge

    def listen(self, callback: Callable[[BridgeEvent], None]) -> Callable[[], None]:
        """Call `callback(event)` for what happens to tabs; returns a function that stops it.

        After the extension's worker was away, a `TabUpdated` with everything comes for each tab.
        """
        self._listeners.append(callback)

        def stop() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return stop

    async def tabs(self) -> dict[str, BridgeTab]:
        """All tabs by DevTools target id."""
        found = await self._read("tabs", needs="map")
        return {target: tab_from(shown) for target, shown in found.items()}

    async def describe(self, target: str) -> BridgeTab | None:
        """The tab of a DevTools target, or None if there is none."""
        found = await self._read("describe", target, needs="map")
        return None if found is None else tab_from(found)

    async def tell_icons(self) -> None:
        """Have every tab's icon told as news: for a hub that was not there when they came."""
        await self._read("tellIcons", needs="events")

    async def discard(self, tab_id: int) -> int:
        """Put a tab to sleep; returns its new tab id. Its target changes too, its window stays."""
        return int(await self._change("discard", tab_id, needs="sleep"))

    async def reload(self, tab_id: int) -> None:
        """Load a tab again; this wakes a sleeping one under the same target and tab id."""
        await self._change("reload", tab_id, needs="map")

    async def move_to_window(self, tab_id: int) -> None:
        """Give a tab a window of its own; target, tab id, attached sessions and the page stay."""
        await self._change("moveToWindow", tab_id, needs="map")

    async def recently_closed(self) -> list[ClosedEntry]:
        """What can be reopened, the newest first, at most 25."""
        found = await self._read("recentlyClosed", needs="reopening")
        return [ClosedEntry(e["session"], e["url"], e["title"], float(e["at"])) for e in found]

    async def restore(self, session_id: str) -> int:
        """Reopen a closed tab with its history, in a window of its own; returns its tab id.

        A window must be open, else "execution-failed".
        """
        return int(await self._change("restore", session_id, needs="reopening"))

    async def memory(self) -> dict[int, int]:
        """Private bytes by tab id, of tabs that have a process."""
        found = await self._read("memory", needs="memory")
        return {int(tab): int(size) for tab, size in found.items()}

    # -- calls -----------------------------------------------------------------------------

    async def _read(self, name: str, *args: Any, needs: str) -> Any:
        """A call without effect: asked once more, of a freshly loaded worker, if it has ended."""
        self._need(needs)
        before = self._loads
        asked = asyncio.ensure_future(self._ask(name, *args, timeout=READ_TIMEOUT))
        try:
            await asyncio.wait({asked}, timeout=PATIENCE)
            if asked.done() or await self._responds():
                return await asked
        except CdpTimeout as failure:
            raise BrowserError("timeout", f"The browser is busy: {failure}.") from failure
        except (CdpGone, CdpError) as failure:
            log.info("the bridge ended while it was asked for %s: %s", name, failure)
        finally:
            asked.cancel()
        await self._load_again(before)
        return await self._final(name, *args)

    async def _responds(self) -> bool:
        """Whether the worker is there, slow as it may be."""
        try:
            return self._worker is not None and await _is_ready(self._worker)
        except (CdpTimeout, CdpGone, CdpError):
            return False

    async def _change(self, name: str, *args: Any, needs: str) -> Any:
        """A call with an effect, which must not happen twice; a worker that is away is loaded first."""
        self._need(needs)
        before = self._loads
        if not await self._responds():
            await self._load_again(before)
        return await self._final(name, *args)

    async def _final(self, name: str, *args: Any) -> Any:
        try:
            return await self._ask(name, *args, timeout=CHANGE_TIMEOUT)
        except CdpTimeout as failure:
            raise BrowserError("timeout", f"The bridge: {failure}.", outcome="unknown") from failure
        except (CdpGone, CdpError) as failure:
            raise BrowserError(
                "host-unavailable", f"The bridge extension ended: {failure}.", outcome="unknown"
            ) from failure

    def _need(self, offer: str) -> None:
        if not self.offers[offer]:
            raise BrowserError("unsupported", f"This browser's bridge extension has no {offer}.")

    async def _ask(self, name: str, *args: Any, timeout: float) -> Any:
        """Evaluate one call in the worker; raises the connection's errors as they are."""
        worker = self._worker
        if worker is None:
            raise CdpGone("the bridge extension is not loaded")
        words = ", ".join(json.dumps(value) for value in (name, *args))
        answer = await worker.call(
            "Runtime.evaluate",
            {"expression": f"bridge({words})", "awaitPromise": True, "returnByValue": True},
            timeout=timeout,
        )
        found = answer.get("result", {}).get("value")
        if not isinstance(found, dict):
            # The worker is there but its script is not: it is starting.
            raise CdpGone("the bridge extension is not ready")
        if "error" in found:
            raise _failure(str(found["error"]))
        return found["value"]

    # -- loading ---------------------------------------------------------------------------

    async def _load_again(self, before: int) -> None:
        async with self._loading:
            if self._loads != before:
                return  # another call has done it meanwhile
            try:
                async with asyncio.timeout(LOAD_TIMEOUT):
                    await self._load()
            except (TimeoutError, CdpError, CdpTimeout, CdpGone) as failure:
                raise BrowserError(
                    "host-unavailable", f"The bridge extension does not come back: {failure}."
                ) from failure
        self._schedule_refresh()

    async def _load(self) -> None:
        before = set(await self._workers())
        if not self._loads and await self._take_over(before):
            return
        try:
            await self._root.call("Extensions.loadUnpacked", {"path": str(self._folder)})
        except CdpError as refused:
            raise BrowserError(
                "unsupported", f"This browser does not load the bridge extension: {refused.message}."
            ) from refused
        worker = await self._attach(before)
        await worker.call("Runtime.evaluate", {"expression": f"loadedFrom = {self._digest!r}"})
        self._worker = worker
        self._loads += 1

    async def _take_over(self, workers: set[str]) -> bool:
        """Use a worker that a former hub left running, if it was loaded from these very files."""
        for target in workers:
            worker = await self._try_worker(target, loaded_from=self._digest)
            if worker is not None:
                self._worker = worker
                self._loads += 1
                return True
        return False

    async def _attach(self, before: set[str]) -> CdpSession:
        """Attach to the new worker. The former one may still be listed for a moment."""
        loop = asyncio.get_running_loop()
        patience = loop.time() + NEW_WORKER_WITHIN
        while True:
            workers = await self._workers()
            new = [target for target in workers if target not in before]
            for target in new or (workers if loop.time() > patience else []):
                worker = await self._try_worker(target)
                if worker is not None:
                    return worker
            await asyncio.sleep(POLL_EVERY)

    async def _workers(self) -> list[str]:
        answer = await self._root.call("Target.getTargets", {"filter": WORKERS_ONLY})
        infos = answer["targetInfos"]
        return [info["targetId"] for info in infos if info["url"].startswith(self._address)]

    async def _try_worker(self, target: str, *, loaded_from: str | None = None) -> CdpSession | None:
        try:
            worker = await self._root.attach(target, timeout=ATTACH_TIMEOUT)
        except (CdpError, CdpTimeout):
            return None
        try:
            # A promise that a half-made worker rejects is never answered: so ask plainly first.
            await _wait_ready(worker)
            if loaded_from is not None and not await _holds(worker, f"loadedFrom === {loaded_from!r}"):
                self._root.detach(worker)
                return None
            worker.on("Runtime.bindingCalled", self._called)
            worker.on("Runtime.executionContextCreated", lambda _: self._context_came(worker))
            # No page can notice this one: it is the extension's own worker.
            await worker.call("Runtime.enable", timeout=ATTACH_TIMEOUT)
            await worker.call("Runtime.addBinding", {"name": "toHub"}, timeout=ATTACH_TIMEOUT)
        except (CdpError, CdpTimeout, CdpGone) as failure:
            log.info("a worker of the bridge went while it was asked: %s", failure)
            self._root.detach(worker)
            return None
        return worker

    async def _hears(self) -> bool:
        self._greeted.clear()
        try:
            async with asyncio.timeout(ATTACH_TIMEOUT):
                await self._ask("ping", timeout=READ_TIMEOUT)
                await self._greeted.wait()
        except TimeoutError:
            return False
        return True

    # -- news ------------------------------------------------------------------------------

    def _called(self, params: dict[str, Any]) -> None:
        if params.get("name") != "toHub":
            return
        self._greeted.set()
        for news in orjson.loads(params["payload"]):
            if "replaces" in news:
                self._tell(TabReplaced(news["tab"], news["replaces"]))
            else:
                self._tell(TabUpdated(news.pop("tab"), **news))

    def _tell(self, event: BridgeEvent) -> None:
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener of the bridge failed")

    def _context_came(self, worker: CdpSession) -> None:
        # The first context comes with `Runtime.enable`, before the worker is taken; any later one
        # says that it was stopped and started, and what happened in between is not known.
        if worker is self._worker:
            self._schedule_refresh()

    def _schedule_refresh(self) -> None:
        if self._refresh is None or self._refresh.done():
            self._refresh = asyncio.create_task(self._tell_everything(), name="bridge: all tabs anew")

    async def _tell_everything(self) -> None:
        try:
            if self._worker is not None:
                await _wait_ready(self._worker)
            found = await self._read("tabs", needs="map")
            await self.tell_icons()
        except (BrowserError, CdpTimeout, CdpGone, CdpError) as failure:
            log.info("the bridge came back but does not answer: %s", failure)
            return
        for shown in found.values():
            tab = tab_from(shown)
            # A new worker does not know icons yet; each comes as news of its own.
            icon = tab.icon or None
            self._tell(
                TabUpdated(tab.tab_id, tab.title, icon, tab.url, shown["status"], tab.audible, tab.discarded)
            )


def extension_id(folder: Path) -> str:
    """The id that Chromium gives the extension: the hash of its manifest's `key`, in letters a to p."""
    key = base64.b64decode(json.loads((folder / "manifest.json").read_text())["key"])
    return "".join(chr(ord("a") + int(digit, 16)) for digit in hashlib.sha256(key).hexdigest()[:32])


def _digest(folder: Path) -> str:
    """What the extension's files are: equal for two hubs that run the same version."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


async def _wait_ready(worker: CdpSession) -> None:
    """Return once the worker's script has run; `CdpTimeout` after `READY_TIMEOUT`."""
    deadline = asyncio.get_running_loop().time() + READY_TIMEOUT
    while asyncio.get_running_loop().time() < deadline:
        if await _is_ready(worker):
            return
        await asyncio.sleep(POLL_EVERY)
    raise CdpTimeout(f"the bridge's script did not start within {READY_TIMEOUT:g} s")


async def _is_ready(worker: CdpSession) -> bool:
    return await _holds(worker, "typeof bridge === 'function'")


async def _holds(worker: CdpSession, condition: str) -> bool:
    answer = await worker.call("Runtime.evaluate", {"expression": condition}, timeout=ATTACH_TIMEOUT)
    return answer.get("result", {}).get("value") is True


def _failure(words: str) -> BrowserError:
    # Chromium says "No tab with id: 7." and "Invalid session id: \"7\".".
    if words.startswith(("No tab with id", "Invalid session id")):
        return BrowserError("not-found", f"The browser has it no more: {words}")
    return BrowserError("execution-failed", f"The browser refused: {words}")
