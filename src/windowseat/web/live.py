"""The Launchpad's socket: changes of the board as text, thumbnails as binary frames.

A slow page costs only itself: what it has not been sent yet is one picture of the board and at
most one thumbnail per tab, and the next message is made only when the last one has gone out.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from windowseat.hub.people import Person
from windowseat.hub.spawn import Tasks
from windowseat.web.admission import StoreError
from windowseat.web.board import Board, Picture, Watcher, changes, with_countdowns
from windowseat.web.documents import person_document
from windowseat.web.services import Services

# Close codes of our own: not admitted (sign in again), and one's own fault (do not repeat).
DENIED: Final = 4401
BAD_MESSAGE: Final = 4400
TOO_MANY: Final = 4429
TRY_AGAIN: Final = 1013

# Seconds. Each tick is answered, so that both sides notice when the other has gone without a word.
_HELLO_WITHIN: Final = 5.0
_SPACING: Final = 0.25
_TICK: Final = 10.0
_SILENCE: Final = 35.0

_PAGES_AT_MOST: Final = 64
_WATCHED_AT_MOST: Final = 60
_TEXT_AT_MOST: Final = 16 * 1024
_ID_AT_MOST: Final = 64


class Live:
    """Serves `/api/v1/live` to every open Launchpad."""

    def __init__(self, services: Services, board: Board) -> None:
        self._services = services
        self._board = board
        self._open = 0

    async def serve(self, socket: WebSocket) -> None:
        """One page's socket, until it ends. The cookie came with the handshake, the secret does not."""
        if not self._has_cookie(socket):
            await socket.close(1008)  # before it is accepted: answered as 403
            return
        await socket.accept()
        if self._open >= _PAGES_AT_MOST:
            await socket.close(TOO_MANY, "Too many open Launchpads.")
            return
        self._open += 1
        try:
            person = await self._admitted(socket)
            if person is None:
                await socket.close(DENIED, "Sign in again.")
                return
            await _Page(socket, person, self._board, self._services).run()
        except (WebSocketDisconnect, TimeoutError):
            await _close(socket, 1000)
        except _BadMessageError as error:
            await _close(socket, BAD_MESSAGE, str(error))
        except StoreError:
            await _close(socket, TRY_AGAIN, "The hub cannot read its files now.")
        finally:
            self._open -= 1

    def _has_cookie(self, socket: WebSocket) -> bool:
        try:
            return self._services.admission.cookie_holder(socket.cookies) is not None
        except StoreError:
            return False

    async def _admitted(self, socket: WebSocket) -> Person | None:
        hello = await _heard(socket, _HELLO_WITHIN)
        secret = hello.get("secret")
        if hello.get("t") != "hello" or not isinstance(secret, str):
            return None
        return self._services.admission.person_of(socket.cookies, secret)


class _BadMessageError(Exception):
    """The page sent what no page of ours sends."""


class _Page:
    """One open Launchpad: what it has, and what it is still to get."""

    def __init__(self, socket: WebSocket, person: Person, board: Board, services: Services) -> None:
        self._socket = socket
        self._board = board
        self._services = services
        self._watcher = Watcher(person, self._wake)
        self._news = asyncio.Event()
        self._has: Picture | None = None
        self._thumbnails: dict[str, bytes] = {}
        self._watched: dict[str, Callable[[], None]] = {}
        self._end: tuple[int, str] = (1000, "")

    async def run(self) -> None:
        """Read and write until either ends."""
        tasks = Tasks()
        leave = self._board.join(self._watcher)
        stop = self._services.admission.listen(self._revoked)
        self._news.set()
        reading = tasks.spawn(self._until_gone(self._read()), name="launchpad reads")
        self._writing = tasks.spawn(self._until_gone(self._write()), name="launchpad writes")
        try:
            await asyncio.wait({reading, self._writing}, return_when=asyncio.FIRST_COMPLETED)
            if self._writing.cancelled():
                self._end = (DENIED, "Sign in again.")
        finally:
            stop()
            leave()
            self._watch([])
            await tasks.aclose()
        await _close(self._socket, *self._end)

    async def _until_gone(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (WebSocketDisconnect, TimeoutError):
            pass
        except _BadMessageError as error:
            self._end = (BAD_MESSAGE, str(error))

    def _wake(self) -> None:
        self._news.set()

    def _revoked(self, person_id: str) -> None:
        if person_id == self._watcher.person.id:
            self._writing.cancel()

    async def _read(self) -> None:
        while True:
            message = await _heard(self._socket, _SILENCE)
            match message.get("t"):
                case "watch":
                    self._watch(_ids(message.get("tabs")))
                case "visible":
                    self._watcher.visible = message.get("on") is True
                    self._board.note_visibility()
                case "tock":
                    pass
                case _:
                    raise _BadMessageError("Unknown message.")

    def _watch(self, ids: list[str]) -> None:
        """Take pictures of these tabs, those on the page's screen, and of no others."""
        for id in [id for id in self._watched if id not in ids]:
            self._watched.pop(id)()
            self._thumbnails.pop(id, None)
        for id in ids:
            if id not in self._watched and id in self._services.hub.tabs:
                self._watched[id] = self._services.views.thumbnails.watch(id, self._receiver(id))

    def _receiver(self, id: str) -> Callable[[bytes], None]:
        def received(jpeg: bytes) -> None:
            self._thumbnails[id] = jpeg
            self._news.set()

        return received

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        tick_at = loop.time() + _TICK
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), max(0.01, tick_at - loop.time()))
            if loop.time() >= tick_at:
                tick_at = loop.time() + _TICK
                await self._socket.send_text('{"t":"tick"}')
            if not self._news.is_set():
                continue
            self._news.clear()
            now = self._board.picture
            message = changes(self._has, now)
            if message is not None:
                if self._has is None:
                    message |= {
                        "you": person_document(self._watcher.person),
                        "machine": self._services.machine,
                    }
                self._has = now
                message = with_countdowns(message, self._services)
                await self._socket.send_text(_json(message))
            thumbnails, self._thumbnails = self._thumbnails, {}
            for id, jpeg in thumbnails.items():
                if id in self._watched:
                    name = id.encode()
                    await self._socket.send_bytes(bytes([len(name)]) + name + jpeg)
            await asyncio.sleep(_SPACING)


def _json(message: dict[str, Any]) -> str:
    # A page can give its title a lone surrogate, which no text frame may carry.
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def _ids(found: Any) -> list[str]:
    if not isinstance(found, list) or len(found) > _WATCHED_AT_MOST:
        raise _BadMessageError(f"`tabs` must be a list of at most {_WATCHED_AT_MOST} ids.")
    if not all(isinstance(id, str) and 0 < len(id) <= _ID_AT_MOST and id.isascii() for id in found):
        raise _BadMessageError("A tab's id is a short string.")
    return list(dict.fromkeys(found))


async def _heard(socket: WebSocket, within: float) -> dict[str, Any]:
    """The page's next message, within so many seconds.

    Raises:
        WebSocketDisconnect, TimeoutError: there is none; _BadMessageError: no page of ours sends it.
    """
    try:
        message = await asyncio.wait_for(socket.receive(), within)
    except RuntimeError as gone:  # a write has found out first that the page went
        raise WebSocketDisconnect(1006) from gone
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    text = message.get("text")
    if not isinstance(text, str):
        raise _BadMessageError("A message is text.")
    return _parse(text)


def _parse(text: str) -> dict[str, Any]:
    if len(text) > _TEXT_AT_MOST:
        raise _BadMessageError("The message is too long.")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _BadMessageError("The message is not JSON.") from error
    if not isinstance(found, dict):
        raise _BadMessageError("The message is not an object.")
    return found


async def _close(socket: WebSocket, code: int, reason: str = "") -> None:
    if socket.application_state is WebSocketState.CONNECTED:
        # The other side may have gone in the meantime, which is as good.
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await socket.close(code, reason)
