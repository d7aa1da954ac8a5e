"""What a page sees of the browser must not tell headless from headed, nor speak of automation."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.chromium import evaluate, open_page, running_chromium, seen_headers, serve_pages
from windowseat.chromium.flags import (
    LaunchOptions,
    launch_environment,
    launch_flags,
    options_for_this_machine,
    warnings_for,
)

LOOKS = """(async () => ({
  webdriver: navigator.webdriver,
  agent: navigator.userAgent,
  languages: navigator.languages,
  hints: await navigator.userAgentData.getHighEntropyValues(
    ["architecture", "bitness", "formFactors", "fullVersionList", "model", "platformVersion"]),
  screen: [screen.width, screen.height, screen.availWidth, screen.availHeight, screen.colorDepth],
  ratio: devicePixelRatio,
  window: [outerWidth, outerHeight, innerWidth, innerHeight],
}))()"""


def texts(options: LaunchOptions) -> list[str]:
    return [flag.text for flag in launch_flags(options)]


def test_every_flag_has_a_reason_and_none_comes_twice() -> None:
    for headed in (False, True):
        flags = launch_flags(LaunchOptions(Path("/p"), 156, headed=headed, sandbox=False, small_shm=True))
        names = [flag.text.partition("=")[0] for flag in flags]
        assert len(names) == len(set(names))
        assert all(flag.reason for flag in flags)
        assert not any("remote-debugging-port" in flag.text for flag in flags)


def test_the_sandbox_goes_only_for_root_and_not_in_silence() -> None:
    user, root = LaunchOptions(Path("/p"), 156), LaunchOptions(Path("/p"), 156, sandbox=False)
    assert "--no-sandbox" not in texts(user) and warnings_for(user) == []
    assert "--no-sandbox" in texts(root) and "root" in warnings_for(root)[0]
    assert options_for_this_machine(Path("/p"), 156).sandbox == (os.geteuid() != 0)


def test_a_small_shm_is_not_used() -> None:
    assert "--disable-dev-shm-usage" in texts(LaunchOptions(Path("/p"), 156, small_shm=True))
    assert "--disable-dev-shm-usage" not in texts(LaunchOptions(Path("/p"), 156))


def test_headless_gets_no_display() -> None:
    environ = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0", "HOME": "/h"}
    assert "DISPLAY" not in launch_environment(environ)
    headed = launch_environment(environ, display=":7")
    assert headed["DISPLAY"] == ":7" and "WAYLAND_DISPLAY" not in headed


async def looks(base: str, *, headed: bool) -> dict[str, Any]:
    async with running_chromium(headed=headed) as connection:
        page = await open_page(connection, base + "/")
        found: dict[str, Any] = await evaluate(page, LOOKS)
        sent = seen_headers["/"]
        found["sent"] = {name: value for name, value in sent.items() if name.lower() != "host"}
        return found


async def test_a_page_sees_the_same_headless_and_headed(xvfb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_pages({"/": "<title>looks</title>"}) as base:
        headless = await looks(base, headed=False)
        monkeypatch.setenv("DISPLAY", xvfb)
        headed = await looks(base, headed=True)
    assert headless == headed
    assert headless["webdriver"] is False
    assert "Headless" not in str(headless)
    assert headless["screen"][:2] == [1920, 1080]


@pytest.fixture
def xvfb() -> Iterator[str]:
    """A display of the test's own."""
    program = shutil.which("Xvfb")
    if program is None:
        pytest.skip("needs Xvfb")
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [program, "-displayfd", str(write_end), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"],
        pass_fds=(write_end,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end) as numbers:
        number = numbers.readline().strip()
    try:
        yield f":{number}"
    finally:
        process.terminate()
        process.wait(10)
