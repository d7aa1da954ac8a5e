"""Fds, alarms and SIGTERM in the keeper's loop."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from support.keeper import SOURCES
from windowseat.chromium.keeper_loop import KeeperLoop


def test_alarms_ring_in_time_once_and_may_be_moved_or_cancelled() -> None:
    loop, rung = KeeperLoop(), []
    loop.ring("moved", 0.0, lambda: rung.append("too early"))
    loop.ring("moved", 0.02, lambda: rung.append("moved"))
    loop.ring("cancelled", 0.0, lambda: rung.append("cancelled"))
    loop.cancel("cancelled")
    loop.cancel("never there")
    loop.ring("last", 0.04, lambda: rung.append("last"))
    began = time.monotonic()
    while "last" not in rung:
        loop.turn()
    assert rung == ["moved", "last"] and 0.04 <= time.monotonic() - began < 5


def test_an_alarm_that_cancels_another_of_the_same_moment_is_obeyed() -> None:
    loop, rung = KeeperLoop(), []
    loop.ring("first", 0.0, lambda: (rung.append("first"), loop.cancel("second")))
    loop.ring("second", 0.0, lambda: rung.append("second"))
    loop.ring("third", 0.01, lambda: rung.append("third"))
    while "third" not in rung:
        loop.turn()
    assert rung == ["first", "third"]


def test_a_watched_fd_that_an_earlier_action_unwatched_is_left_alone() -> None:
    loop, seen = KeeperLoop(), []
    pipes = [os.pipe() for _ in range(2)]
    for number, (read_end, write_end) in enumerate(pipes):
        other = pipes[1 - number][0]
        loop.watch(read_end, lambda number=number, other=other: (seen.append(number), loop.unwatch(other)))
        os.write(write_end, b"x")
    loop.turn()
    assert len(seen) == 1
    for pair in pipes:
        for fd in pair:
            os.close(fd)


def test_sigterm_wakes_a_loop_that_has_nothing_to_do() -> None:
    code = (
        "from windowseat.chromium.keeper_loop import KeeperLoop\n"
        "ended = []\nloop = KeeperLoop()\nloop.on_terminate(lambda: ended.append(1))\n"
        "print('ready', flush=True)\n"
        "while not ended: loop.turn()\nprint('well ended')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": SOURCES},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.terminate()
    out, _ = process.communicate(timeout=10)
    assert out == "well ended\n" and process.returncode == 0
