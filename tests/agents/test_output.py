"""A cell's output where the disk takes no file: the cell and its kernel go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from windowseat.agents.output import CellOutput

LONG = "a line of output\n" * 2000


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_long_output_is_whole_in_its_file(workspace: Path) -> None:
    output = CellOutput(1)
    output.write(LONG[:9000])
    output.write(LONG[9000:])
    output.end()
    assert (workspace / "output" / "cell-1.txt").read_text() == LONG
    assert "the whole is in output/cell-1.txt" in output.text()


def test_a_disk_that_takes_no_folder_fails_no_print(workspace: Path) -> None:
    (workspace / "output").write_text("in the way")
    output = CellOutput(1)
    for _ in range(3):
        assert output.write(LONG) == len(LONG)
    output.end()
    shown = output.text()
    assert f"{3 * len(LONG) - 10_000:,} characters left out; they could not be kept in a file" in shown
    assert shown.endswith(LONG[-5000:])


@pytest.mark.parametrize("times", [1, 20])
def test_a_disk_that_fills_up_fails_neither_print_nor_end(workspace: Path, times: int) -> None:
    (workspace / "output").mkdir()
    (workspace / "output" / "cell-1.txt").symlink_to("/dev/full")
    output = CellOutput(1)
    for _ in range(times):
        output.write(LONG)
    output.end()
    assert "they could not be kept in a file: No space left on device" in output.text()
