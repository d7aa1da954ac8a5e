"""The hub as a process: the one place where all rooms are put together, served, and taken apart.

Its end is one of three. Asked by `down`, Ctrl+C or SIGTERM it ends browser and keeper too; asked to
keep the browser, or killed, it leaves both running, and the next hub goes on with the same tabs.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import logging
import os
import platform
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import uvloop

import windowseat
from windowseat.agents.broker import Broker
from windowseat.agents.kernels import Kernels
from windowseat.chromium.find import Found, find_chromium
from windowseat.chromium.keeper_client import KeeperClient
from windowseat.cli.browser_start import keeper_options, say_warnings
from windowseat.cli.health import hub_checks
from windowseat.cli.options import HubOptions
from windowseat.cli.serving import Served, listen, serve, serve_socket
from windowseat.errors import BrowserError, Refusal
from windowseat.hub.home import Home
from windowseat.hub.hub import Hub
from windowseat.hub.lock import HeldLock, holder_of, try_lock
from windowseat.hub.spawn import Tasks
from windowseat.hub.store import Store
from windowseat.view.service import ViewService
from windowseat.web.admission import CODE_SECONDS, Admission
from windowseat.web.guard import Guard
from windowseat.web.hub_api import unix_app
from windowseat.web.hub_gate import make_token
from windowseat.web.launchpad_app import launchpad_origin
from windowseat.web.origins import Origins
from windowseat.web.services import Services
from windowseat.web.view_app import view_app

log = logging.getLogger(__name__)

EXTENSION: Final = Path(windowseat.__file__).parent / "extension"
BROWSER_WITHIN: Final = 30.0
LOG_BYTES: Final = 2 * 1024 * 1024


def run_hub(home: Home, options: HubOptions, on_ready: Callable[[dict[str, Any]], None]) -> int:
    """Run a hub until it is told to end; `on_ready` gets the status document with a first link.

    Raises:
        Refusal: it cannot start: another runs, no Chromium, a busy port, an unusable home.
    """
    # Whatever a room makes in the home is this user's alone, also where it names no mode.
    os.umask(0o077)
    lock = _take_lock(home)
    try:
        _log_to_file(home)
        return uvloop.run(HubProcess(home, options, on_ready).run())
    finally:
        lock.release()


class HubProcess:
    """One run of the hub."""

    def __init__(self, home: Home, options: HubOptions, on_ready: Callable[[dict[str, Any]], None]) -> None:
        self._home = home
        self._options = options
        self._on_ready = on_ready
        self._tasks = Tasks()
        self._ended = asyncio.Event()
        self._keep_browser = False
        self._started = time.monotonic()
        self._keeper: KeeperClient
        self._hub: Hub
        self._views: ViewService
        self._origins: Origins
        self._found: Found

    async def run(self) -> int:
        """Start everything, serve until told to end, stop everything."""
        options, home = self._options, self._home
        async with contextlib.AsyncExitStack() as stack:
            launchpad = listen(options.port, "--port")
            view = listen(options.wanted_view_port, "--view-port")
            stack.callback(launchpad.close)
            stack.callback(view.close)
            self._origins = Origins(launchpad.port, view.port)
            environ = dict(os.environ)
            if options.chromium:
                environ["WINDOWSEAT_CHROMIUM"] = options.chromium
            self._found = find_chromium(environ)
            store = Store(home.store)
            stack.callback(store.close)
            admission = Admission(home.admissions, home.id, login=_login())
            stack.callback(admission.close)
            self._keeper = await KeeperClient.connect_or_start(
                home.keeper_socket, keeper_options(home, options, self._found)
            )
            stack.push_async_callback(self._leave_keeper)
            say_warnings(home, options, self._found)
            await self._start_hub(store, stack)
            services = await self._services(admission, stack)
            apps = [
                await serve(launchpad_origin(services), launchpad.sockets),
                await serve(Guard(view_app(services, self._views), self._origins, "view"), view.sockets),
                await serve_socket(unix_app(services), home.hub_socket),
            ]
            stack.push_async_callback(_stop_serving, apps)
            self._watch_signals()
            self._tasks.spawn(self._watch_keeper(), name="watch the keeper")
            stack.push_async_callback(self._tasks.aclose)
            self._on_ready(self._first_link(admission))
            await self._ended.wait()
        return 0

    # -- parts -----------------------------------------------------------------------------

    async def _start_hub(self, store: Store, stack: contextlib.AsyncExitStack) -> None:
        options = self._options
        self._hub = Hub(
            self._home,
            store,
            self._keeper,
            extension=EXTENSION,
            headed=options.headed,
            size=(options.window_width, options.window_height),
        )
        stack.push_async_callback(self._stop_hub)
        try:
            await self._hub.start(BROWSER_WITHIN)
        except BrowserError:
            raise Refusal(
                "browser-failed",
                f"Chromium ({self._found.path}) was started but did not answer.",
                f"Its log says why: {self._home.log_folder / 'chromium.log'}",
            ) from None

    async def _services(self, admission: Admission, stack: contextlib.AsyncExitStack) -> Services:
        hub = self._hub
        broker = Broker(hub)
        kernels = Kernels(broker, self._home.workspaces, self._options.code_mode)
        stack.push_async_callback(kernels.aclose)
        await kernels.start()

        self._views = ViewService(hub, self._home.state / "uploads")
        stack.push_async_callback(self._views.aclose)
        return Services(
            hub=hub,
            views=self._views,
            admission=admission,
            origins=self._origins,
            kernels=kernels,
            broker=broker,
            status=self.status,
            doctor=self._doctor,
            down=self.end,
            browser_pid=self._browser_pid,
            token=make_token(self._home.token_file),
            machine=platform.node() or "this machine",
        )

    def status(self) -> dict[str, Any]:
        """The document of `windowseat status` (contract C11)."""
        process = self._hub.link.process
        return {
            "running": True,
            "hub": {"pid": os.getpid()},
            "keeper": {"pid": self._keeper.pid},
            "browser": {
                "pid": None if process is None else process.pid,
                "version": self._found.version,
                "headless": not self._options.headed,
            },
            "launchpad": self._origins.launchpad_base(),
            "view": self._origins.view_base(),
            "runtime_dir": str(self._home.runtime),
            "socket": str(self._home.hub_socket),
            "uptime_s": round(time.monotonic() - self._started, 1),
            "code_mode": self._options.code_mode,
        }

    async def _doctor(self) -> Sequence[dict[str, Any]]:
        return await hub_checks(self._hub, self._options)

    def _browser_pid(self) -> int | None:
        process = self._hub.link.process
        return None if process is None else process.pid

    def _first_link(self, admission: Admission) -> dict[str, Any]:
        code = admission.new_code()
        url = f"{self._origins.launchpad_base()}/enter#{code}"
        return {**self.status(), "url": url, "expires_s": CODE_SECONDS}

    # -- the end ---------------------------------------------------------------------------

    def end(self, keep_browser: bool) -> None:
        """End soon; `keep_browser` leaves Chromium and its tabs for the next hub."""
        self._keep_browser = keep_browser
        asyncio.get_running_loop().call_later(0.1, self._ended.set)

    def _watch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.end, False)
        # A terminal that closes must not take everybody's tabs with it.
        loop.add_signal_handler(signal.SIGHUP, log.info, "the terminal has gone; the hub goes on")

    async def _watch_keeper(self) -> None:
        while True:
            await self._keeper.wait_lost()
            log.warning("the keeper has gone; another is started and given the browser back")
            try:
                await self._keeper.adopt_again()
            except (Refusal, OSError) as failure:
                log.error("no keeper: %s", failure)  # noqa: TRY400 (a sentence, not a fault of ours)
                self.end(False)
                return

    async def _stop_hub(self) -> None:
        if not self._keep_browser:
            await self._hub.quit_browser()
        await self._hub.aclose()

    async def _leave_keeper(self) -> None:
        if self._keep_browser:
            self._keeper.close()
        else:
            await self._keeper.stop()


async def _stop_serving(apps: list[Served]) -> None:
    await asyncio.gather(*(app.aclose() for app in apps))


def _take_lock(home: Home) -> HeldLock:
    try:
        lock = try_lock(home.hub_lock)
    except OSError as failure:
        raise Refusal(
            "home-unusable",
            f"The lock {home.hub_lock} cannot be written: {failure.strerror}.",
            "Free some space or make the folder writable, or set WINDOWSEAT_HOME to another folder.",
        ) from failure
    if lock is None:
        raise Refusal(
            "already-running",
            f"A hub already runs for this home (process {holder_of(home.hub_lock)}).",
            "`windowseat status` says where it is; `windowseat down` ends it.",
        )
    return lock


def _log_to_file(home: Home) -> None:
    from logging.handlers import RotatingFileHandler

    path = home.log_folder / "hub.log"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    handler = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=2)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "You"
