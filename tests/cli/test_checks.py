from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys

import pytest

from support.commands import command_environment
from windowseat.cli import checks
from windowseat.cli.call import Call
from windowseat.cli.doctor import doctor
from windowseat.errors import Refusal
from windowseat.hub.lock import try_lock


@pytest.fixture
def call(home) -> Call:
    return Call(argparse.Namespace(json=False))


def state(found) -> str:
    (check,) = found
    return check.state


def test_locks_tell_a_stale_socket_from_a_hub_that_hangs(call, home):
    assert state(checks.locks(call)) == "ok"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(home.hub_socket))
    listener.close()
    (stale,) = checks.locks(call)
    assert stale.state == "ok"
    assert "next start" in stale.message
    lock = try_lock(home.hub_lock)
    assert lock is not None
    (held,) = checks.locks(call)
    assert held.state == "warn"
    assert str(os.getpid()) in held.message
    assert "windowseat down" in held.next
    lock.release()


def test_a_busy_port_is_a_warning_with_the_way_out(call, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = taken.getsockname()[1]
        monkeypatch.setattr("windowseat.cli.options.DEFAULT_PORT", port)
        (busy,) = checks.ports(call)
    assert busy.state == "warn"
    assert str(port) in busy.message
    assert "--port" in busy.next


def test_a_display_is_named(call, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":7")
    assert ":7" in checks.display(call)[0].message


def test_a_disk_with_little_room_is_a_warning(call, monkeypatch):
    monkeypatch.setattr(checks, "_ENOUGH_DISK", 2**62)
    assert state(checks.disk(call)) == "warn"


def test_a_check_that_breaks_hides_no_other(call, monkeypatch, capsys):
    def broken(_call: Call):
        raise OSError("a surprise")

    def refused(_call: Call):
        raise Refusal("home-unusable", "Not here.", "Elsewhere.")

    monkeypatch.setattr("windowseat.cli.doctor.CHECKS", (broken, refused, checks.python))
    assert doctor(call) == 1
    said = capsys.readouterr().out
    assert "FAIL  broken: This check broke off: a surprise." in said
    assert "FAIL  refused: Not here.\n      Elsewhere." in said
    assert "ok    python" in said


@pytest.mark.skipif(os.getuid() != 0, reason="a namespace of its own needs root here")
def test_doctor_warns_in_a_sandbox(tmp_path):
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--", sys.executable, "-P", "-m", "windowseat", "doctor"],
        env=command_environment(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "warn  background:" in done.stdout
    up = subprocess.run(
        ["unshare", "--pid", "--fork", "--", sys.executable, "-P", "-m", "windowseat", "up", "--detach"],
        env=command_environment(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert up.returncode == 14
    assert "sandbox" in up.stderr
