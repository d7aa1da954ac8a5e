"""The command line against a real hub and a real Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.commands import Done, command_environment, processor_time, windowseat
from windowseat.hub.home import find_home
from windowseat.hub.lock import holder_of

UP = ("up", "--detach", "--json", "--port", "0", "--code-mode")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose hub runs, in the background."""
    home = tmp_path_factory.mktemp("running")
    done = windowseat(home, *UP, timeout=120)
    assert done.code == 0, done.err
    yield home
    assert end(home)


def end(home: Path) -> bool:
    return windowseat(home, "down", timeout=60).code in (0, 3)


def ok(done: Done) -> Done:
    assert done.code == 0, done.err
    return done


def opened(folder: Path, url: str = "about:blank", *more: str) -> dict:
    return ok(windowseat(folder, "open", url, "--json", *more)).document


def tab_ids(folder: Path) -> set[str]:
    return {tab["id"] for tab in ok(windowseat(folder, "tabs", "--json")).document["tabs"]}


def test_status_has_what_programs_need(folder):
    status = ok(windowseat(folder, "status", "--json")).document
    assert status["running"] is True
    for pid in (status["hub"]["pid"], status["keeper"]["pid"], status["browser"]["pid"]):
        os.kill(pid, 0)
    assert re.match(r"\d+\.\d+", status["browser"]["version"])
    assert status["browser"]["headless"] is True
    assert status["runtime_dir"] == str(folder / "run")
    assert Path(status["socket"]).is_socket()
    assert status["uptime_s"] > 0
    assert status["launchpad"] != status["view"]
    said = ok(windowseat(folder, "status")).out
    assert status["launchpad"] in said
    assert str(status["browser"]["pid"]) in said


def test_a_second_up_says_that_it_runs_and_where(folder):
    running = windowseat(folder, "status", "--json").document
    here = windowseat(folder, "up")
    assert here.code == 4
    assert running["launchpad"] in here.err
    assert "windowseat url" in here.err
    detached = ok(windowseat(folder, *UP))
    assert detached.document["hub"]["pid"] == running["hub"]["pid"]
    assert running["launchpad"] in ok(windowseat(folder, "up", "--detach")).err


def test_url_prints_a_link_of_its_own_each_time(folder):
    launchpad = windowseat(folder, "status", "--json").document["launchpad"]
    links = [ok(windowseat(folder, "url", "--json", "--name", "Ana")).document for _ in range(2)]
    for link in links:
        assert link["url"].startswith(f"{launchpad}/enter#")
        assert 0 < link["expires_s"] <= 300
    assert links[0]["url"] != links[1]["url"]
    assert ok(windowseat(folder, "url")).out.startswith(f"{launchpad}/enter#")


def test_a_tabs_life_from_the_command_line(folder):
    tab = opened(folder, "about:blank", "--session", "life")
    assert {
        "id", "target", "url", "title", "session", "opener", "held_by", "agents", "viewers", "asleep",
        "closes_at", "memory",
    } <= set(tab)  # fmt: skip
    assert tab["session"] == "life"
    assert tab["id"] in ok(windowseat(folder, "tabs")).out
    listed = ok(windowseat(folder, "tabs", "--json", "--session", "life")).document["tabs"]
    assert [each["id"] for each in listed] == [tab["id"]]
    assert ok(windowseat(folder, "tabs", "--json", "--session", "nobody")).document["tabs"] == []

    assert ok(windowseat(folder, "sleep", tab["id"], "--json")).document["asleep"] is True
    assert ok(windowseat(folder, "wake", tab["id"], "--json")).document["asleep"] is False

    assert ok(windowseat(folder, "close", tab["id"], "--json")).document["closes_at"]
    # Without an id the tab that was closed last comes back.
    back = ok(windowseat(folder, "restore", "--json")).document
    assert back["id"] == tab["id"]
    assert back["closes_at"] is None
    sessions = ok(windowseat(folder, "sessions", "--json")).document["sessions"]
    life = next(each for each in sessions if each["name"] == "life")
    assert life["tabs"] == 1
    assert set(life) == {"name", "tabs", "alive", "last_used_s"}
    assert "life" in ok(windowseat(folder, "sessions")).out


@pytest.mark.parametrize("verb", ["close", "sleep", "wake", "restore"])
def test_an_unknown_tab_is_said(folder, verb):
    done = windowseat(folder, verb, "no-such/../tab", "--json")
    assert done.code == 1
    assert done.document["error"]["code"] in ("no-such-tab", "not-found")
    assert "Traceback" not in done.err


def test_an_address_that_may_not_be_opened_is_refused(folder):
    before = tab_ids(folder)
    done = windowseat(folder, "open", "file:///etc/passwd", "--session", "s")
    assert done.code == 1
    assert "file:" in done.err
    assert tab_ids(folder) == before


def test_exec_runs_code_in_its_session(folder):
    def execute(*words: str, **more) -> Done:
        return windowseat(folder, "exec", "--session", "cells", *words, timeout=120, **more)

    result = ok(execute("-e", "kept = 6\nkept * 7", "--json")).document
    assert result["ok"] is True
    assert result["value"] == 42
    assert {"ok", "text", "images", "state_lost", "duration_s"} <= set(result)
    assert ok(execute("-", typed="print('kept is', kept)")).out == "kept is 6\n"
    script = folder / "script.py"
    script.write_text("kept + 1")
    assert ok(execute(str(script))).out.strip() == "7"

    failed = execute("-e", "1 / 0", "--json")
    assert failed.code == 1
    assert failed.document["ok"] is False
    assert "ZeroDivisionError" in json.dumps(failed.document)
    late = execute("-e", "while True: pass", "--timeout", "0.5", "--json")
    assert late.code == 1
    assert late.document["error"]["code"] == "timeout"
    assert late.document["state_lost"] is False
    assert ok(execute("-e", "kept")).out.strip() == "6"


def test_nothing_in_the_home_is_open_to_other_users(folder):
    code = 'print("x" * 20_000); tab.screenshot()'
    ok(windowseat(folder, "exec", "--session", "modes", "-e", code))
    seen = 0
    kept = [path for part in ("config", "profile", "run", "state") for path in (folder / part).rglob("*")]
    for path in kept:
        with contextlib.suppress(FileNotFoundError):  # Chromium's own files come and go
            status = path.lstat()
            assert stat.S_ISLNK(status.st_mode) or not status.st_mode & 0o077, path
            seen += 1
    assert seen > 50


def test_the_folder_gives_the_session_where_nothing_else_does(folder):
    assert opened(folder)["session"].startswith("dir-")
    thread = ok(windowseat(folder, "open", "about:blank", "--json", CODEX_THREAD_ID="abc"))
    assert thread.document["session"] == "codex-abc"
    ran = ok(windowseat(folder, "exec", "-e", "len(browser.tabs())", timeout=120, CODEX_THREAD_ID="abc"))
    assert ran.out.strip() == "1"


def test_doctor_asks_the_hub_too(folder):
    done = windowseat(folder, "doctor", "--json")
    checks = {check["name"]: check for check in done.document["checks"]}
    assert [check for check in checks.values() if check["state"] == "fail"] == []
    assert done.code == 0
    assert "browser" in checks
    assert all(check["state"] in ("ok", "warn") for check in checks.values())


def test_a_call_costs_little_over_the_work(folder):
    """C11: at most 60 ms over the work itself. The work is the hub's; this is what the call adds."""

    def took(*command: str) -> float:
        env = command_environment(folder)
        return processor_time(lambda: subprocess.run(command, env=env, capture_output=True, check=True))

    empty = took(sys.executable, "-c", "pass")
    call = took(sys.executable, "-P", "-m", "windowseat", "status", "--json")
    assert call - empty < 0.1, "about 0.04 on an idle machine"


def test_a_killed_hub_is_followed_by_one_with_the_same_tabs(tmp_path):
    try:
        first = ok(windowseat(tmp_path, *UP, timeout=120)).document
        tabs = {opened(tmp_path, "about:blank", "--session", f"s{number}")["id"] for number in range(3)}
        os.kill(first["hub"]["pid"], signal.SIGKILL)
        wait_gone(first["hub"]["pid"])
        alone = windowseat(tmp_path, "status")
        assert alone.code == 3
        assert str(first["keeper"]["pid"]) in alone.err
        second = ok(windowseat(tmp_path, *UP, timeout=120)).document
        assert second["hub"]["pid"] != first["hub"]["pid"]
        assert second["browser"]["pid"] == first["browser"]["pid"]
        assert tab_ids(tmp_path) >= tabs

        # The browser alone, without a hub: down ends that too.
        ok(windowseat(tmp_path, "down", "--keep-browser"))
        os.kill(second["browser"]["pid"], 0)
        ok(windowseat(tmp_path, "down"))
        wait_gone(second["browser"]["pid"])
        wait_gone(second["keeper"]["pid"])
        assert windowseat(tmp_path, "down").code == 3
    finally:
        end(tmp_path)


def test_down_ends_a_hub_that_hangs(tmp_path):
    try:
        status = ok(windowseat(tmp_path, *UP, timeout=120)).document
        os.kill(status["hub"]["pid"], signal.SIGSTOP)
        done = ok(windowseat(tmp_path, "down", timeout=90))
        assert "does not answer" in done.err
        for process in ("hub", "keeper", "browser"):
            wait_gone(status[process]["pid"])
    finally:
        end(tmp_path)


def test_two_starts_at_once_give_one_hub(tmp_path):
    try:
        with ThreadPoolExecutor(2) as pool:
            both = list(pool.map(lambda _: windowseat(tmp_path, *UP, timeout=180), range(2)))
        assert [done.code for done in both] == [0, 0], [done.err for done in both]
        assert len({done.document["hub"]["pid"] for done in both}) == 1
    finally:
        end(tmp_path)


def test_up_here_prints_the_link_and_ends_with_ctrl_c(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "windowseat", "up", "--port", "0"],
        env=command_environment(tmp_path, SSH_CONNECTION="192.0.2.1 5000 192.0.2.2 22"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        assert lines[0] == "Windowseat is up.\n"
        assert re.fullmatch(r"Launchpad  http://localhost:\d+/enter#\S+\n", lines[1])
        assert "windowseat url" in lines[2]
        assert re.search(r"ssh -L (\d+):localhost:\1 -L (\d+):localhost:\2 192\.0\.2\.2", lines[3])
        status = ok(windowseat(tmp_path, "status", "--json")).document
        assert status["hub"]["pid"] == process.pid
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        wait_gone(status["browser"]["pid"])
        assert windowseat(tmp_path, "status").code == 3
        assert holder_of(find_home({"WINDOWSEAT_HOME": str(tmp_path)}).hub_lock) is None
    finally:
        process.kill()
        process.communicate()
        end(tmp_path)


@pytest.mark.parametrize("option", ["--port", "--view-port"])
@pytest.mark.parametrize("more", [(), ("--detach",)], ids=["here", "detached"])
def test_a_busy_port_is_one_sentence(tmp_path, option, more):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        port = str(taken.getsockname()[1])
        ports = (option, port) if option == "--port" else ("--port", "0", option, port)
        done = windowseat(tmp_path, "up", *ports, *more, timeout=120)
    assert done.code == 7
    assert port in done.err
    assert option in done.err
    assert len(done.err.strip().splitlines()) == 2
    assert windowseat(tmp_path, "status").code == 3
    assert not list(tmp_path.rglob("*.sock"))


def test_a_chromium_that_ends_at_once_is_one_sentence(tmp_path):
    false = shutil.which("false")
    assert false is not None
    done = windowseat(tmp_path, "up", "--port", "0", "--chromium", false, timeout=120)
    assert done.code in (5, 11)
    assert "Traceback" not in done.err
    assert windowseat(tmp_path, "status").code == 3


def wait_gone(pid: int, limit: float = 20.0) -> None:
    """Wait for a process that is not our child to end."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], limit)[0], f"process {pid} is still there"
    finally:
        os.close(handle)
