"""The hub's side of the keeper: follow its browser, over the ends of Chromium and of the keeper.

`KeeperClient` gives the browser's pipe to the hub, waits for the next browser after a crash, and,
when the keeper itself is lost, starts another and gives the running browser back to it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from windowseat.chromium.keeper_options import Browser, KeeperOptions
from windowseat.chromium.keeper_start import (
    STOP_WITHIN,
    check_path,
    keeper_failed,
    keeper_status,
    start_keeper,
    stop_keeper,
    try_connect,
)
from windowseat.chromium.keeper_wire import Message, Wire, WireClosed
from windowseat.errors import Refusal

__all__ = ["Browser", "KeeperClient", "KeeperOptions", "keeper_status", "stop_keeper"]

log = logging.getLogger(__name__)

WELCOME_WITHIN: Final = 15.0
BROWSER_WITHIN: Final = 60.0
ADOPT_WITHIN: Final = 10.0
CONNECT_AGAIN_FOR: Final = 5.0
ADOPT_TRIES: Final = 3


class KeeperClient:
    """One hub's connection to its keeper.

    Attributes:
        pid: the keeper's process id.
        browser: the browser handed over last; it may have ended since.
    """

    def __init__(self, socket_path: Path, options: KeeperOptions) -> None:
        self._socket_path = socket_path
        self._options = options
        self._wire: Wire | None = None
        self._changed = asyncio.Event()
        self._lost = asyncio.Event()
        self._welcomed = False
        self._stopped = False
        self._adopted = False
        self._refused_by: int | None = None
        self._offered: Browser | None = None
        self._failure: Refusal | None = None
        self._roots: list[str] = []
        # Copies of the pipe for a new keeper, as the hub's own are closed by its connection.
        self._spare_fds: tuple[int, int] | None = None
        self.pid = 0
        self.browser: Browser

    @classmethod
    async def connect_or_start(cls, socket_path: Path, options: KeeperOptions) -> KeeperClient:
        """Connect to the home's keeper, starting it if there is none, and wait for its browser.

        A keeper that runs keeps its own options. After a hub that was killed this waits until its
        process has ended.

        Raises:
            Refusal: "already-running" when a live hub is connected; "profile-in-use",
                "browser-failed", "keeper-failed" or "home-unusable".
        """
        client = cls(socket_path, options)
        try:
            await client._connect(adopts=False)
            client.browser = await client._take_browser(BROWSER_WITHIN)
        except BaseException:
            client.close()
            raise
        return client

    async def next_browser(self) -> Browser:
        """Wait for the browser after the one that was lost; it becomes `browser`.

        Waits as long as it takes. While the keeper is lost this waits for `adopt_again`.

        Raises:
            Refusal: "browser-failed" or another reason, each time the keeper reports that it does not
                come up; the keeper tries on, so this may be called again.
        """
        with contextlib.suppress(WireClosed):
            self._send({"t": "next", "instance": self.browser.instance})
        self.browser = await self._take_browser(None)
        return self.browser

    def remember_roots(self, ids: Sequence[str]) -> None:
        """Leave the ids of this hub's root sessions with the keeper, for the next hub to detach."""
        self._roots = list(ids)
        with contextlib.suppress(WireClosed):  # a new keeper gets them with the browser
            self._send({"t": "roots", "ids": self._roots})

    async def wait_lost(self) -> None:
        """Return once the keeper's process is gone. Then `adopt_again` must be called."""
        await self._lost.wait()

    async def adopt_again(self) -> None:
        """Start another keeper and give it the running browser, or let it start one.

        Raises:
            Refusal: three tries failed, and the browser still runs as long as this hub does; or the
                keeper ended because `stop` was called.
        """
        if self._stopped:
            raise keeper_failed("was stopped", self._options.log)
        for attempt in range(1, ADOPT_TRIES + 1):
            try:
                await self._adopt_once()
            except (Refusal, OSError) as failure:
                self._drop_wire()
                log.warning("attempt %d to start a keeper failed: %s", attempt, failure)
                if attempt == ADOPT_TRIES:
                    raise
                await asyncio.sleep(attempt)
            else:
                return

    async def stop(self) -> None:
        """End Chromium and the keeper; returns when both have ended.

        Raises:
            Refusal: "keeper-failed" when it has not ended within 20 s.
        """
        self._stopped = True
        with contextlib.suppress(WireClosed):
            self._send({"t": "stop"})
        try:
            async with asyncio.timeout(STOP_WITHIN):
                await self._lost.wait()
        except TimeoutError:
            raise Refusal(
                "keeper-failed",
                f"The keeper (process {self.pid}) did not end within {STOP_WITHIN:g} s.",
                f"kill {self.pid}",
            ) from None
        finally:
            self.close()

    def close(self) -> None:
        """Leave the keeper and its browser running, for the next hub.

        The pipe must not be used any more after this: the keeper hands it on at once.
        """
        with contextlib.suppress(WireClosed):
            self._send({"t": "bye"})
        self._drop_wire()
        self._drop_spare_fds()
        if self._offered is not None:
            os.close(self._offered.read_fd)
            os.close(self._offered.write_fd)
            self._offered = None

    # -- connecting ------------------------------------------------------------------------

    async def _connect(self, *, adopts: bool) -> None:
        check_path(self._socket_path)
        sock = None if adopts else try_connect(self._socket_path)
        if sock is None:
            sock = await self._connect_started(
                await start_keeper(self._options, self._socket_path, adopts=adopts)
            )
        self._welcomed = self._adopted = False
        self._refused_by = None
        self._lost.clear()
        self._wire = Wire(sock)
        asyncio.get_running_loop().add_reader(self._wire.fileno(), self._readable)
        try:
            self._send({"t": "hello"})
        except WireClosed:
            self._lost.set()
        await self._wait(lambda: self._welcomed or self._refused_by is not None, WELCOME_WITHIN)
        if self._refused_by is not None:
            raise Refusal(
                "already-running",
                f"A hub already runs for this home (process {self._refused_by}).",
                "`windowseat status` says where it is; `windowseat down` ends it.",
            )
        if not self._welcomed:
            raise keeper_failed("did not answer", self._options.log)

    async def _connect_started(self, refusal: Refusal | None) -> socket.socket:
        """Connect to the keeper just started, or to the one that was quicker and holds the lock."""
        deadline = asyncio.get_running_loop().time() + CONNECT_AGAIN_FOR
        while True:
            sock = try_connect(self._socket_path)
            if sock is not None:
                return sock
            if asyncio.get_running_loop().time() > deadline:
                raise refusal or keeper_failed("ended at once", self._options.log)
            await asyncio.sleep(0.05)

    async def _take_browser(self, timeout: float | None) -> Browser:
        await self._wait(lambda: self._offered is not None or self._failure is not None, timeout)
        browser, self._offered = self._offered, None
        if browser is not None:
            return browser
        failure, self._failure = self._failure, None
        raise failure or keeper_failed("gave no browser", self._options.log)

    async def _wait(self, condition: Callable[[], bool], timeout: float | None) -> None:
        """Return when `condition()` holds, at the timeout, or when a keeper that is waited for is lost."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not condition() and not (timeout is not None and self._lost.is_set()):
                    self._changed.clear()
                    await self._changed.wait()

    # -- a lost keeper ---------------------------------------------------------------------

    async def _adopt_once(self) -> None:
        fds = self._spare_fds
        alive = fds is not None and not _has_hung_up(fds[0])
        await self._connect(adopts=alive)
        if not alive or fds is None:
            return  # the browser went with its keeper; the new one starts another
        browser = self.browser
        self._send(
            {
                "t": "adopt",
                "pid": browser.pid,
                "instance": browser.instance,
                "roots": self._roots,
                "hub": os.getpid(),
            },
            fds,
        )
        await self._wait(lambda: self._adopted or self._offered is not None, ADOPT_WITHIN)
        if not self._adopted and self._offered is None:
            raise keeper_failed("did not take the browser", self._options.log)

    # -- messages --------------------------------------------------------------------------

    def _send(self, message: Message, fds: Sequence[int] = ()) -> None:
        if self._wire is None:
            raise WireClosed("there is no keeper")
        self._wire.send(message, fds)

    def _readable(self) -> None:
        try:
            for message, fds in self._wire.receive() if self._wire is not None else ():
                self._receive(message, fds)
        except WireClosed:
            self._drop_wire()
            self._lost.set()
        self._changed.set()

    def _receive(self, message: Message, fds: list[int]) -> None:
        kind = message["t"]
        if kind == "browser" and len(fds) == 2:
            self._offer(message, fds)
            return
        for fd in fds:
            os.close(fd)
        if kind == "welcome":
            self._welcomed = True
            self.pid = int(message["pid"])
        elif kind == "refused":
            self._refused_by = int(message["pid"])
        elif kind == "failed":
            self._failure = Refusal(message["code"], message["message"], message["next_step"])
        elif kind == "adopted":
            self._adopted = True
        elif kind == "lost":
            log.warning(
                "Chromium %s; the keeper starts it again in %g s", message["how"], message["again_in_s"]
            )

    def _offer(self, message: Message, fds: list[int]) -> None:
        if self._offered is not None:  # lost before anybody took it
            os.close(self._offered.read_fd)
            os.close(self._offered.write_fd)
        self._drop_spare_fds()
        self._spare_fds = os.dup(fds[0]), os.dup(fds[1])
        self._failure = None
        self._roots = list(message["roots"])
        self._offered = Browser(message["pid"], message["instance"], fds[0], fds[1], tuple(message["roots"]))

    def _drop_wire(self) -> None:
        if self._wire is not None:
            asyncio.get_running_loop().remove_reader(self._wire.fileno())
            self._wire.close()
            self._wire = None

    def _drop_spare_fds(self) -> None:
        if self._spare_fds is not None:
            for fd in self._spare_fds:
                os.close(fd)
            self._spare_fds = None


def _has_hung_up(fd: int) -> bool:
    watch = select.poll()
    watch.register(fd, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in watch.poll(0))
