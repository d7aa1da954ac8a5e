"""A real Chromium on a pipe for a test, pages in it, and a small server of pages on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.server
import os
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from windowseat.chromium.connection import CdpError, CdpSession, Connection
from windowseat.chromium.find import find_chromium
from windowseat.chromium.flags import launch_environment, launch_flags, options_for_this_machine
from windowseat.chromium.spawn import spawn_on_pipe

END_TIMEOUT = 10.0


class RunningConnection(Connection):
    """A started connection to a Chromium of the test's own.

    Attributes:
        pid: the browser process, leader of its own group.
        profile: its temporary profile folder.
        stderr_path: everything it has printed.
    """

    pid: int
    profile: Path
    stderr_path: Path

    def stderr(self) -> str:
        """What the browser has printed until now."""
        return self.stderr_path.read_text(errors="replace")


@contextlib.asynccontextmanager
async def running_chromium(
    *, headed: bool = False, extra: Sequence[str] = (), profile: Path | None = None
) -> AsyncIterator[RunningConnection]:
    """Start a real Chromium with Windowseat's own flags; end it by its process group afterwards.

    Args:
        headed: on the DISPLAY of the environment.
        extra: further flags.
        profile: a folder to keep; otherwise a temporary one.
    """
    found = find_chromium(os.environ)
    with tempfile.TemporaryDirectory(prefix="windowseat-test-", ignore_cleanup_errors=True) as folder:
        where = profile or Path(folder) / "profile"
        options = options_for_this_machine(where, found.major, headed=headed, extra=tuple(extra))
        display = os.environ.get("DISPLAY") if headed else None
        log = Path(folder) / "stderr.txt"
        with log.open("wb") as output:
            spawned = spawn_on_pipe(
                [found.path, *(flag.text for flag in launch_flags(options))],
                launch_environment(os.environ, display=display),
                output=output.fileno(),
            )
        connection = RunningConnection(spawned.read_fd, spawned.write_fd)
        connection.pid, connection.profile, connection.stderr_path = spawned.pid, where, log
        try:
            connection.start()
            await connection.root.call("Browser.getVersion", timeout=30)
            yield connection
        finally:
            connection.close()
            await end_process(spawned.pid)


async def end_process(pid: int, *, group: bool = True) -> None:
    """Kill a child of this process (and its group) and reap it."""
    with contextlib.suppress(ProcessLookupError):
        if group:
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        await asyncio.wait_for(asyncio.to_thread(os.waitpid, pid, 0), END_TIMEOUT)


async def open_page(
    where: Connection | CdpSession, url: str = "about:blank", *, wait: bool = True
) -> CdpSession:
    """Open `url` in a window of its own and attach to it, flat; the page has loaded if `wait`.

    The target's id is `session.target`.
    """
    root = where.root if isinstance(where, Connection) else where
    made = await root.call("Target.createTarget", {"url": url, "newWindow": True})
    session = await root.attach(made["targetId"])
    session.target = made["targetId"]  # type: ignore[attr-defined]
    if wait:
        await wait_until(lambda: _loaded(session, url), what=f"{url} to load")
    return session


async def evaluate(session: CdpSession, expression: str) -> Any:
    """The JSON value of a JavaScript expression in the page, promises awaited."""
    answer = await session.call(
        "Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True}
    )
    if "exceptionDetails" in answer:
        raise AssertionError(answer["exceptionDetails"])
    return answer["result"].get("value")


async def wait_until(
    condition: Callable[[], Any | Awaitable[Any]], *, timeout: float = 10.0, what: str = "a condition"
) -> Any:
    """Ask `condition` (plain or async) again and again until it holds; returns what it returned.

    Raises:
        AssertionError: it did not hold within `timeout` seconds.
    """
    deadline = asyncio.get_running_loop().time() + timeout
    while True:
        found = condition()
        if isinstance(found, Awaitable):
            found = await found
        if found:
            return found
        if asyncio.get_running_loop().time() >= deadline:
            raise AssertionError(f"waited {timeout:g} s in vain for {what}")
        await asyncio.sleep(0.01)


async def _loaded(session: CdpSession, url: str) -> bool:
    try:
        state = await evaluate(session, "[location.href, document.readyState]")
    except (CdpError, AssertionError):  # between two documents
        return False
    here, ready = state
    return ready == "complete" and (here != "about:blank" or url.startswith("about:"))


@contextlib.contextmanager
def serve_pages(pages: Mapping[str, str | bytes]) -> Iterator[str]:
    """Serve `{"/path": html}` on loopback; yields the base address, "http://127.0.0.1:PORT".

    Headers of the last request to each path are in `seen_headers[path]`.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            found = pages.get(path)
            body = found.encode() if isinstance(found, str) else found or b"not here"
            seen_headers[path] = dict(self.headers)
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Type", _kind(path))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with _serving(Handler) as base:
        yield base


@contextlib.contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve the files of a folder on loopback; yields the base address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    with _serving(functools.partial(Handler, directory=str(folder))) as base:
        yield base


# Headers of the last request to each path that `serve_pages` answered.
seen_headers: dict[str, dict[str, str]] = {}


_KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


def _kind(path: str) -> str:
    return _KINDS.get(os.path.splitext(path)[1], "text/html; charset=utf-8")


@contextlib.contextmanager
def _serving(handler: Callable[..., http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
