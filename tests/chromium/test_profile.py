"""Whether a profile is free: living users are named, dead ones are cleared away."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.chromium import wait_until
from windowseat.chromium.profile import make_free, user_of
from windowseat.errors import Refusal

HOST = socket.gethostname()


def mark(profile: Path, owner: str) -> None:
    profile.mkdir(exist_ok=True)
    (profile / "SingletonLock").symlink_to(owner)
    (profile / "SingletonSocket").symlink_to("/nowhere/socket")
    (profile / "SingletonCookie").symlink_to("123")


@pytest.fixture
def dead_pid() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


def test_a_new_profile_is_made_for_its_owner_only(tmp_path: Path) -> None:
    make_free(str(tmp_path / "a" / "profile"))
    assert stat.S_IMODE((tmp_path / "a" / "profile").stat().st_mode) == 0o700
    assert user_of(str(tmp_path / "a" / "profile")) is None


def test_a_dead_ones_lock_is_cleared(tmp_path: Path, dead_pid: int) -> None:
    mark(tmp_path / "p", f"{HOST}-{dead_pid}")
    make_free(str(tmp_path / "p"))
    assert list((tmp_path / "p").iterdir()) == []


def test_a_later_process_of_the_same_number_does_not_count(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    mark(tmp_path / "p", f"{HOST}-{sleeper.pid}")
    make_free(str(tmp_path / "p"))
    assert user_of(str(tmp_path / "p")) is None


@pytest.mark.parametrize("sign", ["its arguments", "a file that it has open"])
async def test_a_living_browser_is_named(tmp_path: Path, sign: str) -> None:
    profile = tmp_path / "p"
    profile.mkdir()
    words = [f"--user-data-dir={profile}"] if sign == "its arguments" else []
    with open(profile / "History", "w") as kept:
        other = subprocess.Popen(["sh", "-c", "read line", *words], stdin=subprocess.PIPE, stdout=kept)
    try:
        # The arguments of a process that is just being started can be empty for a moment.
        await wait_until(lambda: b"read" in Path(f"/proc/{other.pid}/cmdline").read_bytes())
        mark(profile, f"{HOST}-{other.pid}")
        with pytest.raises(Refusal) as refused:
            make_free(str(profile))
        assert refused.value.code == "profile-in-use" and str(other.pid) in refused.value.message
        assert user_of(str(profile)) == (HOST, other.pid)
    finally:
        other.communicate(b"\n")


def test_another_machines_lock_stays(tmp_path: Path) -> None:
    mark(tmp_path / "p", "other-host-1234")
    with pytest.raises(Refusal) as refused:
        make_free(str(tmp_path / "p"))
    assert refused.value.code == "profile-in-use" and "other-host" in refused.value.message
    assert user_of(str(tmp_path / "p")) == ("other-host", 1234)


def test_a_profile_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal) as refused:
        make_free(str(tmp_path / "file" / "profile"))
    assert refused.value.code == "home-unusable"


def test_nonsense_in_the_lock_is_no_user(tmp_path: Path) -> None:
    os.symlink("nonsense", tmp_path / "SingletonLock")
    assert user_of(str(tmp_path)) is None
