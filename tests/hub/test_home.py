from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from windowseat.errors import Refusal
from windowseat.hub import home as home_module
from windowseat.hub.home import find_home, write_whole


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    names = {"HOME": "home", "XDG_RUNTIME_DIR": "run"}
    return {**{name: str(tmp_path / folder) for name, folder in names.items()}, **more}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_prepare_makes_private_folders_and_an_id_that_stays(tmp_path):
    home = find_home(environ(tmp_path)).prepare()
    assert home.runtime == tmp_path / "run/windowseat"
    assert {mode(folder) for folder in home.folders()} == {0o700}
    assert mode(home.id_file) == 0o600
    assert len(home.id) == 32
    assert find_home(environ(tmp_path)).id == home.id
    assert find_home(environ(tmp_path)).prepare().id == home.id


def test_a_client_without_environment_finds_the_same_home(tmp_path, monkeypatch):
    made = find_home(environ(tmp_path)).prepare()
    bare = {"HOME": str(tmp_path / "home")}
    assert find_home(bare).runtime == made.runtime
    assert find_home({**bare, "XDG_RUNTIME_DIR": str(tmp_path / "other")}).runtime == made.runtime


def test_a_pointer_to_a_folder_that_went_says_nothing(tmp_path):
    made = find_home(environ(tmp_path)).prepare()
    made.runtime.rmdir()
    other = find_home(environ(tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "other")))
    assert other.runtime == tmp_path / "other/windowseat"


def test_finding_a_home_changes_nothing(tmp_path):
    find_home(environ(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_home_of_ones_own_keeps_its_mode_and_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir(mode=0o755)
    home = find_home({"WINDOWSEAT_HOME": "own"}).prepare()
    assert home.profile == tmp_path / "own/profile"
    assert mode(tmp_path / "own") == 0o755, "a folder that others may use is not ours to close"
    assert mode(home.runtime) == 0o700


def test_open_folders_are_closed_to_others(tmp_path):
    home = find_home(environ(tmp_path))
    home.state.mkdir(parents=True)
    home.state.chmod(0o777)
    home.prepare()
    assert mode(home.state) == 0o700


@pytest.mark.parametrize("which", ["runtime", "state", "profile", "config"])
def test_a_read_only_folder_is_refused_and_left_alone(tmp_path, which):
    home = find_home(environ(tmp_path)).prepare()
    folder = getattr(home, which)
    folder.chmod(0o500)
    with pytest.raises(Refusal) as refused:
        find_home(environ(tmp_path)).prepare()
    assert refused.value.code == "home-unusable"
    assert str(folder) in refused.value.message
    assert mode(folder) == 0o500


def test_a_file_in_the_way_is_refused(tmp_path):
    home = find_home(environ(tmp_path))
    home.state.parent.mkdir(parents=True)
    home.state.write_text("")
    with pytest.raises(Refusal) as refused:
        home.prepare()
    assert refused.value.code == "home-unusable"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_refused(tmp_path):
    home = find_home(environ(tmp_path)).prepare()
    os.chown(home.state, 12345, -1)
    with pytest.raises(Refusal) as refused:
        home.prepare()
    assert refused.value.code == "home-unusable"
    assert "12345" in refused.value.message


def test_a_full_disk_is_refused(tmp_path, monkeypatch):
    free = os.statvfs(tmp_path)
    monkeypatch.setattr(home_module, "LEAST_FREE_BYTES", free.f_bavail * free.f_frsize * 2)
    with pytest.raises(Refusal) as refused:
        find_home(environ(tmp_path)).prepare()
    assert refused.value.code == "disk-full"


def test_a_damaged_id_is_made_anew(tmp_path):
    home = find_home(environ(tmp_path)).prepare()
    first = home.id
    home.id_file.write_text("not an id")
    again = find_home(environ(tmp_path)).prepare()
    assert again.id
    assert again.id != first
    assert find_home(environ(tmp_path)).id == again.id


def test_many_first_starts_at_once_agree_on_the_id(tmp_path):
    code = "import os; from windowseat.hub.home import find_home; print(find_home(os.environ).prepare().id)"
    env = {**os.environ, **environ(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    env.pop("WINDOWSEAT_HOME", None)
    starts = [
        subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    ids = {start.communicate(timeout=60)[0] for start in starts}
    assert len(ids) == 1
    assert [start.returncode for start in starts] == [0] * 8


def test_sockets_of_a_long_path_are_reachable(tmp_path):
    home = find_home({"WINDOWSEAT_HOME": str(tmp_path / ("x" * 120))}).prepare()
    try:
        assert home.sockets != home.runtime
        assert mode(home.sockets) == 0o700
        assert len(str(home.keeper_socket)) <= 100
    finally:
        home.sockets.rmdir()


def test_write_whole_replaces_and_leaves_nothing_beside(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
