"""Pauses between starts, reasons from a log, and logs that stay small."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from windowseat.chromium import kept_browser
from windowseat.chromium.kept_browser import Backoff, bound_log, open_log, reason_from


def test_pauses_double_up_to_half_a_minute() -> None:
    backoff = Backoff()
    assert [backoff.ended(20.0) for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]


def test_a_minute_up_starts_the_pauses_anew() -> None:
    backoff = Backoff()
    assert [backoff.ended(up) for up in (0.1, 0.1, 60.0, 0.1)] == [1, 2, 1, 2]


def test_three_quick_ends_are_hopeless_and_each_further_three_again() -> None:
    backoff = Backoff()
    told = []
    for _ in range(7):
        backoff.ended(1.0)
        told.append(backoff.hopeless)
    assert told == [False, False, True, False, False, True, False]
    backoff.ended(11.0)
    assert not backoff.hopeless


@given(st.lists(st.floats(0, 1e6), max_size=2000))
def test_a_pause_is_always_between_one_and_thirty_seconds(uptimes: list[float]) -> None:
    backoff = Backoff()
    assert all(1 <= backoff.ended(uptime) <= 30 for uptime in uptimes)


def test_the_reason_is_what_this_start_said_without_the_noise(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("FATAL: an earlier start\n")
    since = log.stat().st_size
    with log.open("a") as file:
        file.write("ERROR:dbus/bus.cc: Failed to connect\nMissing X server or $DISPLAY\n\n")
    assert reason_from(str(log), since) == "Missing X server or $DISPLAY"
    assert reason_from(str(tmp_path / "missing"), 0) == ""
    log.write_text("x" * 100_000)
    assert len(reason_from(str(log), 0)) <= 600


def test_a_log_stays_bounded_while_and_between_starts(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    fd = open_log(path)
    os.write(fd, b"x" * (kept_browser.LOG_LIMIT + 1))
    bound_log(path)
    os.write(fd, b"after\n")
    os.close(fd)
    assert (tmp_path / "log").read_bytes() == b"after\n"
    (tmp_path / "log").write_bytes(b"x" * (kept_browser.LOG_LIMIT + 1))
    os.close(open_log(path))
    assert (tmp_path / "log").stat().st_size == 0
    assert (tmp_path / "log.1").stat().st_size > kept_browser.LOG_LIMIT
