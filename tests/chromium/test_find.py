"""Which Chromium is found, and what is said where none is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from windowseat.chromium.find import Found, _is_snap, find_chromium, read_version
from windowseat.errors import Refusal


def program(path: Path, prints: str = "Chromium 150.0.1.2 built on something", code: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\nexit {code}\n")
    path.chmod(0o755)
    return path


def bare(home: Path, **more: str) -> dict[str, str]:
    """An environment without any browser on its path."""
    return {"HOME": str(home), "PATH": str(home / "bin"), **more}


def test_the_browser_of_this_machine_is_the_real_binary() -> None:
    found = find_chromium(os.environ)
    assert found.major >= 120
    with open(found.path, "rb") as file:
        assert file.read(4) == b"\x7fELF"


def test_debians_comes_before_the_caches(tmp_path: Path) -> None:
    debian = program(tmp_path / "usr/lib/chromium/chromium", "Chromium 151.0.0.1 ")
    program(tmp_path / ".cache/ms-playwright/chromium-1200/chrome-linux/chrome")
    assert find_chromium(bare(tmp_path), system=str(tmp_path)) == Found(str(debian), "debian", "151.0.0.1")


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("chrome", "opt/google/chrome/chrome"),
        ("playwright", ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome"),
        ("playwright", ".cache/ms-playwright/chromium-1200/chrome-linux/chrome"),
        ("agent-browser", ".agent-browser/browsers/chrome-149.0.1.2/chrome"),
        ("agent-browser", ".agent-browser/browsers/chrome-149.0.1.2/chrome-linux64/chrome"),
        ("chrome-for-testing", ".cache/puppeteer/chrome/linux-149.0.1.2/chrome-linux64/chrome"),
    ],
)
def test_each_place_is_looked_into(tmp_path: Path, kind: str, path: str) -> None:
    made = program(tmp_path / path)
    assert find_chromium(bare(tmp_path), system=str(tmp_path)) == Found(str(made), kind, "150.0.1.2")


def test_the_newest_of_a_cache_is_taken_and_a_moved_cache_is_found(tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    for number in ("999", "1200", "1100"):
        program(moved / f"chromium-{number}/chrome-linux/chrome")
    found = find_chromium(bare(tmp_path, PLAYWRIGHT_BROWSERS_PATH=str(moved)), system=str(tmp_path))
    assert "chromium-1200" in found.path


def test_the_named_one_is_taken_or_refused(tmp_path: Path) -> None:
    program(tmp_path / "usr/lib/chromium/chromium")
    mine = program(tmp_path / "mine", "Google Chrome 152.0.0.0")
    found = find_chromium(bare(tmp_path, WINDOWSEAT_CHROMIUM=str(mine)), system=str(tmp_path))
    assert found == Found(str(mine), "named", "152.0.0.0")
    broken = program(tmp_path / "broken", "no version here")
    for wrong in (str(broken), str(tmp_path / "missing"), str(tmp_path)):
        with pytest.raises(Refusal) as refused:
            find_chromium(bare(tmp_path, WINDOWSEAT_CHROMIUM=wrong), system=str(tmp_path))
        assert refused.value.code == "no-chromium" and wrong in refused.value.message
        assert "apt-get install chromium" in refused.value.next_step


def test_a_launcher_script_that_is_named_leads_to_its_binary() -> None:
    if not os.path.exists("/usr/lib/chromium/chromium"):
        pytest.skip("needs Debian's Chromium")
    found = find_chromium({**os.environ, "WINDOWSEAT_CHROMIUM": "/usr/bin/chromium"})
    assert found.path == "/usr/lib/chromium/chromium"


def test_no_browser_gives_the_command_that_installs_one(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as refused:
        find_chromium(bare(tmp_path), system=str(tmp_path))
    assert refused.value.code == "no-chromium" and refused.value.exit_code == 5
    assert "apt-get install chromium" in refused.value.next_step


def test_a_browser_that_does_not_start_is_passed_over_or_told(tmp_path: Path) -> None:
    broken = program(tmp_path / "usr/lib/chromium/chromium", "error while loading shared libraries", 127)
    with pytest.raises(Refusal) as refused:
        find_chromium(bare(tmp_path), system=str(tmp_path))
    assert str(broken) in refused.value.message
    program(tmp_path / "opt/google/chrome/chrome")
    assert find_chromium(bare(tmp_path), system=str(tmp_path)).kind == "chrome"


def test_a_snap_is_left_out(tmp_path: Path) -> None:
    stub = program(tmp_path / "bin/chromium-browser", "start /snap/bin/chromium")
    assert _is_snap(str(stub))
    assert not _is_snap(str(program(tmp_path / "bin/chromium")))


def test_a_file_that_cannot_be_run_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    assert read_version(str(tmp_path / "text")) is None
