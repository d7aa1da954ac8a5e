"""What every test starts from: an environment that names no home and no session of the developer's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from windowseat.hub.home import Home, find_home

_NAMING = ("WINDOWSEAT_", "AGENT_BROWSER_", "CODEX_", "CLAUDE_", "AGENT_SESSION_ID")


@pytest.fixture(autouse=True)
def _no_home_of_the_developer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A test that starts a hub without saying where must not meet the one that the developer uses.
    for name in list(os.environ):
        if name.startswith(_NAMING) and name != "WINDOWSEAT_CHROMIUM":
            monkeypatch.delenv(name)
    monkeypatch.setenv("WINDOWSEAT_HOME", str(tmp_path / "home"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A prepared home of the test's own."""
    return find_home({**os.environ, "WINDOWSEAT_HOME": str(tmp_path / "home")}).prepare()
