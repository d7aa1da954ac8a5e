from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from windowseat.cli.client import HubClient
from windowseat.errors import BrowserError, Refusal

OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@contextmanager
def hub_that(home, answer: Callable[[socket.socket], None]) -> Iterator[list[bytes]]:
    """A listener on the hub's socket that reads one request whole, then does what `answer` does."""
    heard: list[bytes] = []
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(home.hub_socket))
    listener.listen(1)
    listener.settimeout(10)

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(10)
            text = b""
            while b"\r\n\r\n" not in text:
                text += connection.recv(65536)
            head, _, body = text.partition(b"\r\n\r\n")
            counted = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            wanted = int(counted[1]) if counted else 0
            while len(body) < wanted:
                body += connection.recv(65536)
            heard.append(head + b"\r\n\r\n" + body)
            answer(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield heard
    finally:
        thread.join(timeout=20)
        listener.close()
        home.hub_socket.unlink()


def sends(*pieces: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return answer


def test_a_request_goes_out_whole_and_its_answer_comes_back(home):
    with hub_that(home, sends(OK + b"content-length: 12\r\n\r\n", b'{"t', b'abs": []}')) as heard:
        assert HubClient(home).request("POST", "/hub/v1/tabs", {"url": "háček"}) == {"tabs": []}
    head, _, body = heard[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hub/v1/tabs HTTP/1.1\r\nHost: localhost\r\n")
    assert body == b'{"url": "h\\u00e1\\u010dek"}'


def test_a_chunked_answer_is_put_together(home):
    pieces = [
        OK + b'transfer-encoding: chunked\r\n\r\n5\r\n{"a":',
        b"\r\n4;x=y\r\n[1,2\r\n2\r\n]}\r\n0\r\n\r\n",
    ]
    with hub_that(home, sends(*pieces)):
        assert HubClient(home).request("GET", "/") == {"a": [1, 2]}


def test_lines_come_one_by_one_as_they_are_sent(home):
    first_was_read = threading.Event()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n"

    def answer(connection: socket.socket) -> None:
        connection.sendall(head + b'4\r\n{"a"\r\n4\r\n:1}\n\r\n')
        # Only a reader that gives each line at once gets the second.
        assert first_was_read.wait(10)
        connection.sendall(b'9\r\n\n{"b":2}\n\r\n0\r\n\r\n')

    with hub_that(home, answer) as heard:
        lines = HubClient(home).lines("POST", "/x", {})
        assert next(lines) == {"a": 1}
        first_was_read.set()
        assert list(lines) == [{"b": 2}]
    assert b"Accept: application/x-ndjson" in heard[0]


def test_an_empty_answer_is_none(home):
    with hub_that(home, sends(b"HTTP/1.1 204 No Content\r\n\r\n")):
        assert HubClient(home).request("DELETE", "/x") is None


def test_an_error_of_the_hub_keeps_its_code(home):
    body = b'{"error":{"code":"timeout","message":"Too slow.","retryable":true,"outcome":"unknown"}}'
    answer = b"HTTP/1.1 504 X\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    with hub_that(home, sends(answer)), pytest.raises(BrowserError) as raised:
        HubClient(home).request("GET", "/x")
    error = raised.value
    assert (error.code, error.message, error.retryable, error.outcome) == (
        "timeout",
        "Too slow.",
        True,
        "unknown",
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "broke off"),
        (b"SSH-2.0-OpenSSH\r\n", "broke off"),
        (OK + b"content-length: 100\r\n\r\n{}", "broke off"),
        (OK + b"content-length: x\r\n\r\n{}", "broke off"),
        (OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n", "broke off"),
        (OK + b"content-length: 3\r\n\r\n{}}", "does not understand"),
        (b"HTTP/1.1 500 X\r\ncontent-length: 4\r\n\r\noops", "does not understand"),
        (b"HTTP/1.1 404 X\r\ncontent-length: 2\r\n\r\n{}", "does not understand"),
    ],
)
def test_a_broken_answer_is_one_sentence(home, answer, said):
    with hub_that(home, sends(answer)), pytest.raises(Refusal) as refused:
        HubClient(home).request("GET", "/x")
    assert refused.value.code == "hub-failed"
    assert said in refused.value.message
    assert refused.value.next_step


def test_a_silent_hub_is_given_up_in_time(home):
    released = threading.Event()
    with hub_that(home, lambda _: released.wait(20) and None):
        started = time.monotonic()
        with pytest.raises(Refusal) as refused:
            HubClient(home).request("GET", "/x", timeout=0.3)
        assert time.monotonic() - started < 5
        released.set()
    assert refused.value.code == "hub-failed"


def test_no_hub_and_a_hub_that_was_killed_are_not_running(home):
    client = HubClient(home)
    assert client.running() is None
    left_over = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left_over.bind(str(home.hub_socket))
    left_over.close()
    assert home.hub_socket.exists()
    assert client.running() is None
    with pytest.raises(Refusal) as refused:
        client.request("GET", "/hub/v1/tabs")
    assert refused.value.code == "not-running"
