"""Messages and fds over the keeper's socket."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from windowseat.chromium.keeper_wire import MESSAGE_LIMIT, Wire, WireClosed


@pytest.fixture
def ends() -> Iterator[tuple[Wire, Wire, socket.socket]]:
    left, right = socket.socketpair()
    raw = left.dup()
    wires = Wire(left), Wire(right)
    yield *wires, raw
    raw.close()
    for wire in wires:
        wire.close()


def test_messages_and_fds_arrive_in_order(ends: tuple[Wire, Wire, socket.socket]) -> None:
    here, there, _ = ends
    assert there.receive() == []
    read_end, write_end = os.pipe()
    here.send({"t": "one"})
    here.send({"t": "two"}, [read_end, write_end])
    here.send({"t": "three", "text": "čaj\n"})
    got = [*there.receive(), *there.receive(), *there.receive()]
    assert [message["t"] for message, _ in got] == ["one", "two", "three"]
    fds = got[1][1]
    assert len(fds) == 2 and got[0][1] == got[2][1] == [] and got[2][0]["text"] == "čaj\n"
    os.write(fds[1], b"through")
    assert os.read(read_end, 10) == b"through"
    for fd in (*fds, read_end, write_end):
        os.close(fd)


def test_a_message_in_pieces_is_put_together(ends: tuple[Wire, Wire, socket.socket]) -> None:
    _, there, raw = ends
    raw.sendall(b'{"t":"sl')
    assert there.receive() == []
    raw.sendall(b'ow"}\n{"t":')
    assert there.receive() == [({"t": "slow"}, [])]


@pytest.mark.parametrize(
    "nonsense",
    [b"\n", b"nonsense\n", b"[]\n", b'{"t":3}\n', b'{"t":"a","fds":1}\n', b'{"t":"a","fds":"x"}\n'],
)
def test_nonsense_ends_the_wire(ends: tuple[Wire, Wire, socket.socket], nonsense: bytes) -> None:
    _, there, raw = ends
    raw.sendall(nonsense)
    with pytest.raises(WireClosed):
        there.receive()


def test_an_endless_message_ends_the_wire(ends: tuple[Wire, Wire, socket.socket]) -> None:
    _, there, raw = ends
    raw.setblocking(False)
    with pytest.raises(WireClosed):
        for _ in range(MESSAGE_LIMIT):
            raw.send(b"x" * 4096)
            there.receive()


def test_the_end_of_the_other_side_is_told(ends: tuple[Wire, Wire, socket.socket]) -> None:
    here, there, raw = ends
    raw.close()
    here.close()
    with pytest.raises(WireClosed):
        there.receive()
    with pytest.raises(WireClosed):
        there.send({"t": "late"})


def test_one_who_does_not_read_is_dropped_not_waited_for(ends: tuple[Wire, Wire, socket.socket]) -> None:
    here, _, _ = ends
    with pytest.raises(WireClosed):
        for _ in range(100_000):
            here.send({"t": "more", "text": "x" * 1000})


def test_the_other_ends_process_is_known(ends: tuple[Wire, Wire, socket.socket]) -> None:
    assert ends[0].peer() == (os.getpid(), os.geteuid())
