from __future__ import annotations

import socket
from pathlib import Path

import pytest
from starlette.applications import Starlette

from windowseat.cli import serving
from windowseat.errors import Refusal


def both(found: serving.Listening) -> set[str]:
    return {each.getsockname()[0] for each in found.sockets}


def test_a_free_port_is_free_on_both_addresses():
    found = serving.listen(0, "--port")
    try:
        assert {each.getsockname()[1] for each in found.sockets} == {found.port}
        assert "127.0.0.1" in both(found)
    finally:
        found.close()


def test_a_port_that_is_taken_is_refused_by_name():
    found = serving.listen(0, "--port")
    try:
        with pytest.raises(Refusal, match=f"Port {found.port}") as refused:
            serving.listen(found.port, "--view-port")
        assert "--view-port" in refused.value.next_step
    finally:
        found.close()


def test_a_free_port_that_the_other_address_has_taken_is_passed_over(monkeypatch):
    given = serving._bind
    refusals = 3

    def bind(family, host, port, option):
        nonlocal refusals
        if family == socket.AF_INET6 and refusals:
            refusals -= 1
            raise Refusal("port-busy", "taken", "")
        return given(family, host, port, option)

    monkeypatch.setattr(serving, "_bind", bind)
    serving.listen(0, "--port").close()
    assert refusals == 0


def test_without_any_free_port_it_says_so(monkeypatch):
    def none_free(*_):
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(socket.socket, "bind", none_free)
    with pytest.raises(Refusal, match=r"No port of 127\.0\.0\.1 is free"):
        serving.listen(0, "--port")


async def test_a_unix_socket_is_this_user_s_alone_and_goes_with_its_server(tmp_path: Path):
    path = tmp_path / "hub.sock"
    served = await serving.serve_socket(Starlette(), path)
    assert path.stat().st_mode & 0o777 == 0o600
    await served.aclose()
    assert not path.exists()
