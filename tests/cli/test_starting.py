from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from support.commands import command_environment
from windowseat.cli import detach, starting
from windowseat.cli.detach import ends_with_its_command, refuse_in_sandbox, start_detached
from windowseat.cli.options import HubOptions
from windowseat.cli.starting import Announcer, NewsOfStart, start_lock
from windowseat.cli.up import already_running, forward_hint
from windowseat.errors import Refusal
from windowseat.hub.lock import holder_of, try_lock

STATUS = {"hub": {"pid": 7}, "launchpad": "http://localhost:7001", "view": "http://localhost:7002"}


def wait_with(home, tell) -> dict:
    news = NewsOfStart(home)
    thread = threading.Thread(target=tell, args=(str(news.path),))
    thread.start()
    try:
        return news.wait_ready(lambda: True)
    finally:
        thread.join(timeout=10)
        news.close()


def test_the_parent_hears_that_the_hub_is_ready(home):
    long = {**STATUS, "url": "x" * 300_000}
    assert wait_with(home, lambda path: Announcer(path).ready(long)) == long
    assert not list(home.sockets.glob("*.sock"))


def test_the_parent_hears_the_hubs_own_reason(home):
    refusal = Refusal("port-busy", "Port 7717 is taken.", "Take another.")
    with pytest.raises(Refusal) as refused:
        wait_with(home, lambda path: Announcer(path).refused(refusal))
    found = refused.value
    assert (found.code, found.message, found.next_step) == (
        "port-busy",
        "Port 7717 is taken.",
        "Take another.",
    )


def test_a_hub_that_dies_while_starting_is_noticed_at_once(home):
    child = "import sys; from windowseat.cli.starting import Announcer; Announcer(sys.argv[1])"
    news = NewsOfStart(home)
    env = command_environment(home.state)
    process = subprocess.Popen([sys.executable, "-c", child, str(news.path)], env=env)
    try:
        started = time.monotonic()
        with pytest.raises(Refusal) as refused:
            news.wait_ready(lambda: True)
        assert refused.value.code == "hub-failed"
        assert "start.log" in refused.value.next_step
        assert time.monotonic() - started < starting.START_LIMIT / 2
    finally:
        process.wait(timeout=10)
        news.close()


def test_a_program_that_never_says_a_word_is_noticed(home):
    news = NewsOfStart(home)
    try:
        with pytest.raises(Refusal) as refused:
            news.wait_ready(lambda: False)
    finally:
        news.close()
    assert refused.value.code == "hub-failed"


def test_a_hub_that_hangs_is_given_up(home, monkeypatch):
    monkeypatch.setattr(starting, "START_LIMIT", 0.2)
    news = NewsOfStart(home)
    announcer = Announcer(str(news.path))
    try:
        with pytest.raises(Refusal) as refused:
            news.wait_ready(lambda: True)
    finally:
        news.close()
        announcer.ready({})  # a parent that has gone is no failure of the hub
    assert "did not answer" in refused.value.message


def test_one_start_at_a_time(home, monkeypatch):
    with start_lock(home):
        assert holder_of(home.start_lock) == os.getpid()
        monkeypatch.setattr(starting, "START_LIMIT", 0.1)
        with pytest.raises(Refusal) as refused, start_lock(home):
            pass
    assert refused.value.code == "already-running"
    assert str(os.getpid()) in refused.value.message
    with start_lock(home):
        pass


def test_a_start_waits_for_the_one_before(home):
    first = try_lock(home.start_lock)
    assert first is not None
    threading.Timer(0.2, first.release).start()
    with start_lock(home):
        assert holder_of(home.start_lock) == os.getpid()


def fake_proc(folder: Path, *, numbers: str, first: str, namespace: str) -> Path:
    (folder / "self/ns").mkdir(parents=True)
    (folder / "1").mkdir()
    (folder / "self/status").write_text(f"Name:\tsh\nNSpid:\t{numbers}\n")
    (folder / "1/comm").write_text(first + "\n")
    (folder / "self/ns/pid").symlink_to(namespace)
    return folder


FIRST, OTHER = "pid:[4026531836]", "pid:[4026532999]"


@pytest.mark.parametrize(
    ("numbers", "first", "namespace", "marked", "ends"),
    [
        ("812", "systemd", FIRST, False, False),  # a plain machine
        ("812", "sh", OTHER, True, False),  # a container, which lives on
        ("812\t3", "systemd", FIRST, False, True),  # a sandbox with the machine's own /proc
        ("3", "bwrap", OTHER, True, True),  # a sandbox in a container
        ("3", "bash", OTHER, False, True),  # unshare --pid --mount-proc
    ],
)
def test_where_a_background_process_would_end_with_its_command(
    tmp_path, numbers, first, namespace, marked, ends
):
    mark = tmp_path / "mark"
    if marked:
        mark.write_text("")
    proc = fake_proc(tmp_path / "proc", numbers=numbers, first=first, namespace=namespace)
    assert ends_with_its_command(proc, (str(mark),)) is ends


def test_the_sandboxs_refusal_says_what_to_do(tmp_path):
    with pytest.raises(Refusal) as refused:
        refuse_in_sandbox(fake_proc(tmp_path, numbers="9\t2", first="x", namespace=FIRST), ())
    assert refused.value.code == "not-possible-here"
    assert "sandbox" in refused.value.next_step


@pytest.mark.skipif(os.getuid() != 0, reason="a namespace of its own needs root here")
def test_a_real_namespace_is_recognised(tmp_path):
    code = "from windowseat.cli.detach import refuse_in_sandbox; refuse_in_sandbox()"
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--", sys.executable, "-c", code],
        env=command_environment(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Refusal" in done.stderr


FAKE_SYSTEMD_RUN = """#!/bin/sh
# Stands for a systemd that takes the unit: notes its arguments, starts the command after `--`.
printf '%s\\n' "$@" > "$NOTES"
while [ "$1" != -- ]; do shift; done
shift
"$@" >/dev/null 2>&1 &
"""
HUB = "import sys; from windowseat.cli.starting import Announcer; Announcer(sys.argv[1]).ready({'pid': 1})"


@pytest.mark.parametrize("there", [True, False], ids=["systemd", "none"])
def test_a_detached_start_goes_through_the_users_systemd_where_it_is(tmp_path, home, monkeypatch, there):
    program = tmp_path / "bin/systemd-run"
    program.parent.mkdir()
    program.write_text(FAKE_SYSTEMD_RUN)
    program.chmod(0o755)
    runtime = tmp_path / "run-user"
    runtime.mkdir()
    if there:
        (runtime / "systemd").mkdir()
        (runtime / "systemd/private").write_text("")
    notes = tmp_path / "notes"
    for name, value in command_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setenv("NOTES", str(notes))
    monkeypatch.setattr(detach, "_command", lambda _options, news: [sys.executable, "-c", HUB, str(news)])
    assert start_detached(home, HubOptions()) == {"pid": 1}
    assert notes.exists() is there
    if there:
        words = notes.read_text().splitlines()
        assert {"--user", "--collect", "--property=KillMode=process"} <= set(words)
        assert f"--setenv=WINDOWSEAT_HOME={os.environ['WINDOWSEAT_HOME']}" in words


def test_the_way_through_ssh_is_said_only_over_ssh():
    hint = forward_hint(STATUS, "10.0.0.9 51000 10.0.0.2 22")
    assert hint is not None
    assert hint.endswith("ssh -L 7001:localhost:7001 -L 7002:localhost:7002 10.0.0.2")
    assert forward_hint(STATUS, None) is None
    public = {"launchpad": "https://seat.example", "view": "https://view.example"}
    assert forward_hint(public, "10.0.0.9 51000 10.0.0.2 22") is None


def test_a_second_up_says_where_the_first_runs():
    refusal = already_running(STATUS)
    assert refusal.exit_code == 4
    assert "7" in refusal.message
    assert STATUS["launchpad"] in refusal.message
    assert "windowseat url" in refusal.next_step
