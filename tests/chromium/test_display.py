"""On which display a headed browser goes."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from windowseat.chromium.display import OWN, choose_display
from windowseat.errors import Refusal


@pytest.fixture
def display() -> str:
    """A socket where an X server would listen; nobody speaks X on it."""
    folder = Path("/tmp/.X11-unix")
    folder.mkdir(exist_ok=True)
    number = 7000 + os.getpid() % 1000
    return f":{number}"


def test_the_display_that_is_there_is_taken(display: str) -> None:
    path = Path(f"/tmp/.X11-unix/X{display[1:]}")
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        try:
            assert choose_display({"DISPLAY": display, "PATH": "/nowhere"}) == display
            assert choose_display({"DISPLAY": display + ".0", "PATH": "/nowhere"}) == display + ".0"
        finally:
            path.unlink()


def test_a_dead_display_is_not_taken(display: str) -> None:
    if shutil.which("Xvfb") is None:
        pytest.skip("needs Xvfb")
    assert choose_display({"DISPLAY": display, "PATH": os.environ["PATH"]}) == OWN
    assert choose_display({"PATH": os.environ["PATH"]}) == OWN


def test_neither_display_nor_xvfb_is_explained(display: str) -> None:
    with pytest.raises(Refusal) as refused:
        choose_display({"DISPLAY": display, "PATH": "/nowhere"})
    assert refused.value.code == "not-possible-here" and "xvfb" in refused.value.next_step


def test_a_display_on_another_machine_is_left_to_chromium() -> None:
    assert choose_display({"DISPLAY": "other:10.0", "PATH": "/nowhere"}) == "other:10.0"
