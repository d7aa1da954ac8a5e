from __future__ import annotations

import pytest

from windowseat.rules.home import SOCKET_PATH_LIMIT, choose_places, sockets_folder


def places(environ, *, pointer=None, run_user_exists=True):
    return choose_places(
        environ, home_folder="/home/ana", uid=1000, pointer=pointer, run_user_exists=run_user_exists
    )


def test_one_variable_moves_everything():
    found = places({"WINDOWSEAT_HOME": "/w", "XDG_RUNTIME_DIR": "/x"}, pointer="/elsewhere")
    assert found == ("/w/run", "/w/state", "/w/profile", "/w/config", "/w/run")


@pytest.mark.parametrize(
    ("environ", "pointer", "run_user", "runtime"),
    [
        ({"XDG_RUNTIME_DIR": "/x"}, "/pointed", True, "/pointed"),
        ({"XDG_RUNTIME_DIR": "/x"}, None, True, "/x/windowseat"),
        ({}, None, True, "/run/user/1000/windowseat"),
        ({}, None, False, "/home/ana/.local/state/windowseat/run"),
        ({"XDG_RUNTIME_DIR": "relative"}, None, False, "/home/ana/.local/state/windowseat/run"),
        ({"XDG_STATE_HOME": "/s"}, None, False, "/s/windowseat/run"),
    ],
)
def test_the_runtime_folder_in_the_contracts_order(environ, pointer, run_user, runtime):
    assert places(environ, pointer=pointer, run_user_exists=run_user).runtime == runtime


def test_the_other_folders_follow_xdg():
    named = {"XDG_STATE_HOME": "/s", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}
    found = places(named)
    assert (found.state, found.profile, found.config) == (
        "/s/windowseat",
        "/d/windowseat/profile",
        "/c/windowseat",
    )
    plain = places({})
    assert plain.state == "/home/ana/.local/state/windowseat"
    assert plain.profile == "/home/ana/.local/share/windowseat/profile"
    assert plain.config == "/home/ana/.config/windowseat"


def test_sockets_move_to_a_short_folder_only_where_they_must():
    assert sockets_folder("/run/user/1000/windowseat", 1000) == "/run/user/1000/windowseat"
    long = "/" + "é" * 50  # 101 bytes in UTF-8, though only 51 characters
    short = sockets_folder(long, 1000)
    assert len(f"{short}/keeper.sock".encode()) <= SOCKET_PATH_LIMIT
    assert short != sockets_folder(long + "x", 1000), "two homes must not share sockets"
    assert short == sockets_folder(long + "/", 1000), "one folder, however it is written"
