"""The pipe to Chromium as calls and events: one `Connection`, many `CdpSession`s over it.

One reader feeds all sessions; nothing here waits for a page. A call has a deadline, may be
cancelled, and ends at once when its session or the pipe ends. Writes never block the loop: what
the pipe does not take is queued up to a bound, and past it the connection counts as lost.

Source: the DevTools protocol over `--remote-debugging-pipe` (NUL-ended JSON), flat sessions.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import fcntl
import logging
import os
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import orjson

from windowseat.rules.framing import FrameTooLarge, NulFramer

log = logging.getLogger(__name__)

Params = dict[str, Any]
Listener = Callable[[Params], None]

MESSAGE_LIMIT: Final = 256 * 1024 * 1024
WRITE_LIMIT: Final = 256 * 1024 * 1024
READ_SIZE: Final = 1024 * 1024
PIPE_SIZE: Final = 1024 * 1024
CALL_TIMEOUT: Final = 10.0


class CdpError(Exception):
    """Chromium answered a command with an error."""

    def __init__(self, method: str, code: int, message: str) -> None:
        super().__init__(f"{method}: {message} ({code})")
        self.method = method
        self.code = code
        self.message = message


class CdpTimeout(Exception):
    """Chromium did not answer within the call's deadline; the command may still take effect."""


class CdpGone(Exception):
    """The session or the pipe ended before the answer; the command may have taken effect."""


class Connection:
    """Both ends of Chromium's pipe, multiplexed into sessions.

    `root` speaks to the browser without a session; `attach_root()` gives browser-target sessions
    of their own, and detaching one removes all that was attached through it.
    """

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._loop = asyncio.get_running_loop()
        self._framer = NulFramer(limit=MESSAGE_LIMIT)
        self._next_id = 1
        self._pending: dict[int, tuple[asyncio.Future[Params], str, CdpSession]] = {}
        self._sessions: dict[str, CdpSession] = {}
        self._queue: deque[memoryview] = deque()
        self._queued = 0
        self._closed = asyncio.Event()
        self.root = CdpSession(self, None)

    def start(self) -> None:
        """Begin to read. Sends one NUL first: it ends a command that a former hub left half-written."""
        for fd in (self._read_fd, self._write_fd):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):  # a socket pair, or a limit for users
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        self._loop.add_reader(self._read_fd, self._readable)
        self._write(b"\0")

    @property
    def closed(self) -> bool:
        """Whether the pipe has ended."""
        return self._closed.is_set()

    async def wait_closed(self) -> None:
        """Return once the pipe has ended, by either side."""
        await self._closed.wait()

    def close(self) -> None:
        """Stop reading and close both fds; every pending call ends with `CdpGone`."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._loop.remove_reader(self._read_fd)
        self._loop.remove_writer(self._write_fd)
        for fd in {self._read_fd, self._write_fd}:
            with contextlib.suppress(OSError):
                os.close(fd)
        self._queue.clear()
        for session in [self.root, *self._sessions.values()]:
            session._end()
        self._sessions.clear()

    def release(self) -> tuple[int, int]:
        """Stop using the pipe without closing it, as `close` does otherwise; returns both fds."""
        fds = os.dup(self._read_fd), os.dup(self._write_fd)
        self.close()
        return fds

    def fds(self) -> tuple[int, int]:
        """The fd to read from and the fd to write to, for handing to a new keeper."""
        return self._read_fd, self._write_fd

    async def attach_root(self) -> CdpSession:
        """Return a browser-target session of its own (`Target.attachToBrowserTarget`)."""
        answer = await self.root.call("Target.attachToBrowserTarget")
        return self.session(answer["sessionId"])

    def session(self, session_id: str) -> CdpSession:
        """The session of that id, made on first use (events may come before an attach's answer)."""
        found = self._sessions.get(session_id)
        if found is None:
            found = self._sessions[session_id] = CdpSession(self, session_id)
            if self.closed:
                found._end()
        return found

    # -- writing ---------------------------------------------------------------------------

    def _submit(self, session: CdpSession, method: str, params: Params | None) -> int:
        number = self._next_id
        self._next_id += 1
        message: Params = {"id": number, "method": method}
        if params:
            message["params"] = params
        if session.session_id is not None:
            message["sessionId"] = session.session_id
        self._write(_encode(message) + b"\0")
        return number

    def _write(self, data: bytes) -> None:
        if self._closed.is_set():
            raise CdpGone("the browser's pipe has ended")
        view = memoryview(data)
        if not self._queue:
            view = view[self._write_now(view) :]
            if not view:
                return
            if self._closed.is_set():
                raise CdpGone("the browser's pipe has ended")
            self._loop.add_writer(self._write_fd, self._writable)
        self._queue.append(view)
        self._queued += len(view)
        if self._queued > WRITE_LIMIT:
            log.error("the browser stopped reading: %d bytes are queued for it", self._queued)
            self.close()

    def _write_now(self, view: memoryview) -> int:
        try:
            return os.write(self._write_fd, view)
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            return 0

    def _writable(self) -> None:
        while self._queue:
            head = self._queue[0]
            sent = self._write_now(head)
            if self._closed.is_set():
                return
            self._queued -= sent
            if sent < len(head):
                self._queue[0] = head[sent:]
                return
            self._queue.popleft()
        self._loop.remove_writer(self._write_fd)

    # -- reading ---------------------------------------------------------------------------

    def _readable(self) -> None:
        try:
            data = os.read(self._read_fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        try:
            messages = self._framer.receive_data(data)
        except FrameTooLarge:
            log.exception("the browser's pipe cannot be followed any more")
            self.close()
            return
        for message in messages:
            self._receive(message)

    def _receive(self, raw: bytes) -> None:
        try:
            message = orjson.loads(raw)
        except orjson.JSONDecodeError:
            # The tail of a message that a drained pipe was cut in, or a lone surrogate, which
            # orjson refuses and pages can put into titles.
            message = _decode_leniently(raw)
        if not isinstance(message, dict):
            return
        number = message.get("id")
        if number is not None:
            self._answer(number, message)
        elif "method" in message:
            session = self._session_of(message)
            if session is not None:
                session._emit(message["method"], message.get("params") or {})
            self._follow(message)

    def _session_of(self, message: Params) -> CdpSession | None:
        session_id = message.get("sessionId")
        if session_id is None:
            return self.root
        # An event of a session nobody asked for here belongs to a root of a former hub.
        return self._sessions.get(session_id)

    def _answer(self, number: int, message: Params) -> None:
        pending = self._pending.pop(number, None)
        if pending is None:
            return
        future, method, _session = pending
        if future.done():
            return
        error = message.get("error")
        if error is not None:
            future.set_exception(CdpError(method, int(error.get("code", 0)), str(error.get("message", ""))))
        else:
            future.set_result(message.get("result") or {})

    def _follow(self, message: Params) -> None:
        # Sessions begin and end by events of their parent; a dead one must end its calls.
        method = message["method"]
        if method == "Target.attachedToTarget":
            if self._session_of(message) is not None:
                self.session(message["params"]["sessionId"])
        elif method == "Target.detachedFromTarget":
            gone = self._sessions.pop(message["params"]["sessionId"], None)
            if gone is not None:
                gone._end()


class CdpSession:
    """One DevTools session: commands with deadlines, and events to listeners.

    Listeners are called synchronously, in the order the events came; they must not block.
    """

    def __init__(self, connection: Connection, session_id: str | None) -> None:
        self.connection = connection
        self.session_id = session_id
        self.closed = False
        self._calls: set[int] = set()
        self._listeners: dict[str, list[Listener]] = {}
        self._on_end: list[Callable[[], None]] = []

    async def call(
        self, method: str, params: Params | None = None, *, timeout: float = CALL_TIMEOUT
    ) -> Params:
        """Send a command and return its result.

        Args:
            method: for example `Page.navigate`.
            params: the command's parameters, JSON values.
            timeout: seconds until `CdpTimeout`.

        Raises:
            CdpError: Chromium refused it.
            CdpTimeout: no answer in time; it may still take effect.
            CdpGone: the session or the pipe ended; it may have taken effect.
        """
        future = self.send(method, params)
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            raise CdpTimeout(f"{method} was not answered within {timeout:g} s") from None

    def send(self, method: str, params: Params | None = None) -> asyncio.Future[Params]:
        """Send a command now and return its future, for callers that keep several under way.

        The command is on the wire when this returns, so the order of calls is the order of
        commands. A failure nobody awaits is dropped silently.

        Raises:
            CdpGone: the session or the pipe has ended.
        """
        if self.closed:
            raise CdpGone(f"{method}: this page's connection has ended")
        connection = self.connection
        number = connection._submit(self, method, params)
        future: asyncio.Future[Params] = connection._loop.create_future()
        connection._pending[number] = (future, method, self)
        self._calls.add(number)
        future.add_done_callback(_retrieve)
        future.add_done_callback(lambda _: self._forget(number))
        return future

    def on(self, method: str, listener: Listener) -> Callable[[], None]:
        """Call `listener(params)` for each event `method`; returns a function that stops it."""
        self._listeners.setdefault(method, []).append(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners[method].remove(listener)

        return stop

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call `callback()` once when the session ends; at once if it has ended."""
        if self.closed:
            callback()
        else:
            self._on_end.append(callback)

    async def attach(self, target: str, *, timeout: float = CALL_TIMEOUT) -> CdpSession:
        """Attach flat to a target through this session (`Target.attachToTarget`)."""
        answer = await self.call(
            "Target.attachToTarget", {"targetId": target, "flatten": True}, timeout=timeout
        )
        return self.connection.session(answer["sessionId"])

    def detach(self, session: CdpSession) -> None:
        """Detach a session that was attached through this one, without waiting."""
        if not self.closed and not session.closed:
            self.send("Target.detachFromTarget", {"sessionId": session.session_id})

    def _forget(self, number: int) -> None:
        self.connection._pending.pop(number, None)
        self._calls.discard(number)

    def _emit(self, method: str, params: Params) -> None:
        for listener in list(self._listeners.get(method, ())):
            try:
                listener(params)
            except Exception:
                log.exception("a listener of %s failed", method)

    def _end(self) -> None:
        if self.closed:
            return
        self.closed = True
        for number in list(self._calls):
            pending = self.connection._pending.pop(number, None)
            if pending is not None and not pending[0].done():
                pending[0].set_exception(CdpGone(f"{pending[1]}: the page or the browser ended"))
        self._calls.clear()
        callbacks, self._on_end = self._on_end, []
        for callback in callbacks:
            try:
                callback()
            except Exception:
                log.exception("a callback at a session's end failed")


def decode_base64(text: str) -> bytes:
    """The bytes of a base64 field of an event or result."""
    return base64.b64decode(text)


def _retrieve(future: asyncio.Future[Params]) -> None:
    if not future.cancelled():
        future.exception()


def _encode(message: Params) -> bytes:
    try:
        return orjson.dumps(message)
    except TypeError:
        # A lone surrogate: orjson refuses it, the protocol carries it escaped.
        import json

        return json.dumps(message).encode()


def _decode_leniently(raw: bytes) -> Any:
    import json

    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except ValueError:
        return None
