from __future__ import annotations

import argparse
import json
import os

import pytest

from windowseat.cli.call import Call
from windowseat.cli.options import HubOptions
from windowseat.cli.up import _say_warnings, _tell_of_running, forward_hint
from windowseat.errors import Refusal

RUNNING = {
    "hub": {"pid": 7},
    "browser": {"version": "156.0.1"},
    "launchpad": "http://localhost:7717",
    "view": "http://localhost:7718",
}


def call(*, as_json: bool = False) -> Call:
    return Call(argparse.Namespace(json=as_json))


def test_a_second_start_says_where_the_first_one_is(capsys):
    _tell_of_running(call(), HubOptions(), RUNNING)
    assert "http://localhost:7717" in capsys.readouterr().err
    _tell_of_running(call(as_json=True), HubOptions(), RUNNING)
    assert json.loads(capsys.readouterr().out) == RUNNING


def test_code_mode_is_not_promised_where_it_is_off():
    with pytest.raises(Refusal, match="without code mode") as refused:
        _tell_of_running(call(), HubOptions(code_mode=True), {**RUNNING, "code_mode": False})
    assert refused.value.code == "already-running"
    _tell_of_running(call(), HubOptions(code_mode=True), {**RUNNING, "code_mode": True})


def test_a_start_in_the_background_gives_its_warnings_too(capsys, monkeypatch, home):
    here = call()
    here.home = home
    for user, warned in ((0, True), (1000, False)):
        monkeypatch.setattr(os, "getuid", lambda user=user: user)
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        _say_warnings(here, HubOptions(), RUNNING)
        assert ("sandbox is off" in capsys.readouterr().err) is warned


def test_over_ssh_both_ports_are_named():
    hint = forward_hint(RUNNING, "10.0.0.1 5 box 22")
    assert hint is not None
    assert "-L 7717:localhost:7717 -L 7718:localhost:7718 box" in hint
    assert forward_hint(RUNNING, None) is None
