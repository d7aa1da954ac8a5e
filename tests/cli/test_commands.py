"""Commands as processes, where no hub runs: sentences, exit codes, and what they load."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.commands import command_environment, windowseat
from windowseat.hub.home import find_home

NEEDS_HUB = [
    ("tabs",), ("tabs", "--session", "a"), ("open", "http://localhost/"), ("close", "x"), ("restore",),
    ("restore", "x"), ("sleep", "x"), ("wake", "x"), ("sessions",), ("url",), ("exec", "-e", "1"), ("down",),
]  # fmt: skip


@pytest.mark.parametrize("words", NEEDS_HUB, ids=" ".join)
def test_without_a_hub_a_command_says_so(tmp_path, words):
    done = windowseat(tmp_path, *words)
    assert done.code == 3
    assert done.out == ""
    assert "not running" in done.err
    machine = windowseat(tmp_path, *words, "--json")
    assert machine.code == 3
    assert machine.document["error"]["code"] == "not-running"
    assert list(tmp_path.iterdir()) == [], "asking makes nothing"


def test_status_without_a_hub_is_a_fact(tmp_path):
    done = windowseat(tmp_path, "status", "--json")
    assert (done.code, done.document) == (3, {"running": False})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tbs",), "did you mean tabs?"),
        (("close",), "TAB is missing"),
        (("up", "--port"), "--port"),
        (("up", "--nonsense"), "windowseat up --help"),
        (("up", "--port", "7800", "--view-port", "7800"), "both 7800"),
        (("open",), "URL"),
        (("up", "--port", "70000"), "0 to 65535"),
        (("exec", "-e", "1", "--timeout", "0"), "at most 600"),
        (("exec",), "one way"),
        (("exec", "-e", "1", "file.py"), "one way"),
        (("exec", "/nonexistent.py"), "cannot be read"),
        (("tabs", "--session", "a b"), "a b"),
        (("open", "http://x/", "--session", "é"), "é"),
    ],
)
def test_bad_usage_is_two_and_one_sentence(tmp_path, words, said):
    done = windowseat(tmp_path, *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 2, "what is wrong, and the next step"
    machine = windowseat(tmp_path, *words, "--json")
    assert (machine.code, machine.document["error"]["code"]) == (2, "bad-usage")


def test_without_a_command_it_teaches(tmp_path):
    done = windowseat(tmp_path)
    assert done.code == 2
    assert "windowseat up" in done.err
    assert windowseat(tmp_path, "--help").code == 0


def test_help_as_a_word(tmp_path):
    assert windowseat(tmp_path, "help").out == windowseat(tmp_path, "--help").out
    assert windowseat(tmp_path, "help", "up").out == windowseat(tmp_path, "up", "--help").out


def test_messages_name_the_command_as_it_was_called(tmp_path):
    assert "Start it: windowseat up" in windowseat(tmp_path, "url").err
    assert "Start it: ./run up" in windowseat(tmp_path, "url", WINDOWSEAT_CALLED_AS="./run").err
    machine = windowseat(tmp_path, "nonsense", "--json", WINDOWSEAT_CALLED_AS="./run")
    assert "./run" not in machine.out, "programs get one wording"


@pytest.mark.parametrize("command", ["up", "exec", "mcp", "open", "url"])
def test_help_of_a_command_has_an_example(tmp_path, command):
    done = windowseat(tmp_path, command, "--help")
    assert done.code == 0
    assert command in done.out


def test_a_call_loads_nothing_heavy(tmp_path):
    code = (
        "import sys; from windowseat.cli.main import main; main(sys.argv[1:]); print(' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "tabs", "--json"],
        env=command_environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    heavy = {
        "asyncio", "pydantic", "starlette", "uvicorn", "httpx", "http.client", "ssl", "email", "dataclasses",
        "inspect", "subprocess", "logging", "hashlib", "mcp", "orjson", "psutil", "sqlite3",
    }  # fmt: skip
    assert loaded & heavy == set()
    assert "windowseat.cli.tabs" in loaded


def test_doctor_reports_a_missing_chromium_and_fails(tmp_path):
    done = windowseat(tmp_path, "doctor", "--json", WINDOWSEAT_CHROMIUM="/nonexistent")
    checks = {check["name"]: check for check in done.document["checks"]}
    assert done.code == 1
    assert checks["chromium"]["state"] == "fail"
    assert checks["chromium"]["next"]
    assert {"python", "home", "disk", "locks", "shared memory", "sandbox", "background", "hub"} <= set(checks)
    assert all(set(check) == {"name", "state", "message", "next"} for check in checks.values())


def test_doctor_says_when_a_folder_is_read_only(tmp_path):
    home = find_home({"WINDOWSEAT_HOME": str(tmp_path)}).prepare()
    home.runtime.chmod(0o500)
    done = windowseat(tmp_path, "doctor")
    assert done.code == 1
    assert f"FAIL  home: The folder {home.runtime} cannot be written." in done.out


@pytest.mark.parametrize("more", [(), ("--detach",)], ids=["here", "detached"])
def test_up_in_a_read_only_home_is_refused(tmp_path, more):
    home = find_home({"WINDOWSEAT_HOME": str(tmp_path)}).prepare()
    home.runtime.chmod(0o500)
    done = windowseat(tmp_path, "up", "--port", "0", *more)
    assert done.code == 8
    assert str(home.runtime) in done.err
    assert len(done.err.strip().splitlines()) == 2


@pytest.mark.parametrize("more", [(), ("--detach",)], ids=["here", "detached"])
def test_up_without_a_chromium_is_refused(tmp_path, more):
    done = windowseat(tmp_path, "up", "--port", "0", "--json", *more, WINDOWSEAT_CHROMIUM="/nonexistent")
    assert done.code == 5
    assert done.document["error"]["code"] == "no-chromium"
    assert "/nonexistent" in done.err
    # Nothing is left that would hinder the next start.
    assert windowseat(tmp_path, "status").code == 3
    assert not list(tmp_path.rglob("*.sock"))


@pytest.mark.skipif(os.getuid() != 0, reason="mounting a small disk needs root")
def test_up_on_a_full_disk_is_refused(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)], check=True)
    try:
        done = windowseat(tmp_path, "up", "--port", "0")
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert done.code == 9
    assert "full" in done.err


def test_letters_that_the_locale_does_not_know_break_nothing(tmp_path):
    folder = tmp_path / "domov-š"
    for words in (("doctor",), ("doctor", "--json"), ("exec", "/nonexistent-é.py")):
        done = windowseat(folder, *words, PYTHONIOENCODING="ascii")
        assert "Traceback" not in done.err
        assert done.out or done.err
    assert "domov-" in windowseat(folder, "doctor", PYTHONIOENCODING="ascii").out
