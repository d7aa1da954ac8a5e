"""Asks the hub over its Unix socket (contract C6), with nothing but a bare socket.

The standard library's HTTP client takes 20 ms to load, as long as a whole call may take; one
request and one answer need little of HTTP.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import IO, Any, Final

from windowseat.errors import CODES, REFUSALS, BrowserError, Refusal
from windowseat.hub.home import Home

# An answer is read whole; the hub's own bounds are far below this.
LONGEST_ANSWER: Final = 64 * 1024 * 1024
_LONGEST_LINE: Final = 16 * 1024 * 1024


class HubClient:
    """One home's hub. Each request is a connection of its own."""

    def __init__(self, home: Home, *, timeout: float = 30.0) -> None:
        self.home = home
        self.timeout = timeout

    def request(self, method: str, path: str, body: object = None, *, timeout: float | None = None) -> Any:
        """Send one request and return the answer's JSON.

        Args:
            method, path: as in C6, for example `GET`, `/hub/v1/tabs`.
            body: sent as JSON where it is not None.
            timeout: seconds without any sign of the hub.

        Raises:
            Refusal: "not-running" without a hub; "hub-failed" when it breaks off or keeps silent.
            BrowserError: the hub answered with an error.
        """
        *_, last = [None, *self._answers(method, path, body, "application/json", timeout)]
        return last

    def lines(
        self, method: str, path: str, body: object = None, *, timeout: float | None = None
    ) -> Iterator[Any]:
        """As `request`, but ask for a stream (NDJSON) and give each line's JSON as it comes."""
        return self._answers(method, path, body, "application/x-ndjson", timeout)

    def running(self, *, timeout: float = 10.0) -> dict[str, Any] | None:
        """The hub's status (C11), or None when no hub runs."""
        try:
            found: dict[str, Any] = self.request("GET", "/hub/v1/status", timeout=timeout)
        except Refusal as refusal:
            if refusal.code == "not-running":
                return None
            raise
        return found

    def _answers(
        self, method: str, path: str, body: object, accept: str, timeout: float | None
    ) -> Iterator[Any]:
        waiting = self.timeout if timeout is None else timeout
        with self._connect(waiting) as connection:
            try:
                connection.sendall(_head_and_body(method, path, body, accept))
                with connection.makefile("rb") as answer:
                    status, streamed, content = _read_head(answer)
                    if streamed and status < 400:
                        yield from (json.loads(line) for line in _lines_of(content) if line.strip())
                        return
                    whole = b"".join(_bounded(content))
            except TimeoutError:
                raise Refusal(
                    "hub-failed",
                    f"The hub did not answer within {waiting:g} s.",
                    f"Try again, or `windowseat down` and `windowseat up`. Its log: {self.home.log_folder}",
                ) from None
            except (OSError, ValueError) as error:
                raise Refusal(
                    "hub-failed",
                    f"The hub broke off its answer ({error}).",
                    f"`windowseat status` says whether it runs. Its log: {self.home.log_folder}",
                ) from error
        yield _document(status, whole)

    def _connect(self, timeout: float) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout)
        try:
            connection.connect(str(self.home.hub_socket))
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            # A socket file that nobody listens on is left over from a hub that was killed.
            connection.close()
            raise not_running() from None
        except OSError as error:
            connection.close()
            raise Refusal(
                "home-unusable",
                f"The hub's socket {self.home.hub_socket} cannot be reached: {error.strerror or error}.",
                "Run this as the user who started Windowseat.",
            ) from error
        return connection


def not_running() -> Refusal:
    """The refusal of every command that needs a hub when there is none."""
    return Refusal("not-running", "Windowseat is not running.", "Start it: windowseat up")


def _head_and_body(method: str, path: str, body: object, accept: str) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: {accept}\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    elif method in ("POST", "PUT"):
        head += "Content-Length: 0\r\n"
    return head.encode("ascii") + b"\r\n" + content


def _read_head(answer: IO[bytes]) -> tuple[int, bool, Iterator[bytes]]:
    """The status, whether the answer is a stream of lines, and its content in pieces."""
    first = answer.readline(1024).split()
    if len(first) < 2 or not first[0].startswith(b"HTTP/1.") or not first[1].isdigit():
        raise ValueError("no HTTP answer")
    headers: dict[bytes, bytes] = {}
    while (line := answer.readline(16384)) not in (b"\r\n", b"\n"):
        name, colon, value = line.partition(b":")
        if not colon or len(headers) > 100:
            raise ValueError("a broken HTTP answer")
        headers[name.strip().lower()] = value.strip()
    streamed = headers.get(b"content-type", b"").startswith(b"application/x-ndjson")
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        return int(first[1]), streamed, _chunks(answer)
    return int(first[1]), streamed, _counted(answer, int(headers.get(b"content-length", b"0")))


def _chunks(answer: IO[bytes]) -> Iterator[bytes]:
    while size := int(answer.readline(1024).split(b";")[0], 16):
        yield from _counted(answer, size)
        answer.readline(16)


def _counted(answer: IO[bytes], size: int) -> Iterator[bytes]:
    while size:
        piece = answer.read(min(size, 65536))
        if not piece:
            raise ValueError("it ended too early")
        size -= len(piece)
        yield piece


def _bounded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > LONGEST_ANSWER:
            raise ValueError("it is too long")
        yield piece


def _lines_of(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        if len(rest) > _LONGEST_LINE:
            raise ValueError("a line is too long")
    yield rest


def _document(status: int, content: bytes) -> Any:
    try:
        found = json.loads(content) if content.strip() else None
    except ValueError as error:
        raise _strange(status) from error
    if status < 400:
        return found
    error_of = found.get("error") if isinstance(found, dict) else None
    if not isinstance(error_of, dict):
        raise _strange(status)
    raise error_from(error_of)


def error_from(found: dict[str, Any]) -> BrowserError | Refusal:
    """The exception that an `error` object of the hub stands for."""
    code, message = str(found.get("code")), str(found.get("message") or "The hub gave no reason.")
    if code in CODES:
        return BrowserError(code, message, outcome=found.get("outcome"))
    if code in REFUSALS:
        return Refusal(code, message, str(found.get("next_step") or found.get("next") or ""))
    return Refusal("hub-failed", message, "`windowseat doctor` looks for the reason.")


def _strange(status: int) -> Refusal:
    return Refusal(
        "hub-failed",
        f"The hub gave an answer that this version does not understand (HTTP {status}).",
        "Restart it so that both are of one version: windowseat down, then windowseat up",
    )
