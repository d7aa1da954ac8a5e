"""`./run` without a network: its words, its quickness, its refusals."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.commands import processor_time

ROOT = Path(__file__).parents[2]
RUN = ROOT / "run"


def run(*words: str, script: Path = RUN, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(script), *words], env={**os.environ, **more}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


installed = pytest.mark.skipif(
    not (ROOT / ".venv/.stamp-running").exists(), reason="this checkout was not set up by ./run"
)


def test_the_script_is_plain_sh():
    for script in (RUN, ROOT / "scripts/lock"):
        assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0


def test_without_a_verb_it_teaches_and_makes_nothing(tmp_path):
    copy = Path(shutil.copy(RUN, tmp_path))
    done = run(script=copy)
    assert done.returncode == 2
    assert "./run up" in done.stderr
    assert list(tmp_path.iterdir()) == [copy]


def test_without_a_python_it_says_which_one_it_needs(tmp_path):
    # A path with the tools of a bare system, but no Python.
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in (
        "sh",
        "dirname",
        "readlink",
        "cat",
        "sha256sum",
        "flock",
        "mkdir",
        "id",
        "printf",
        "rm",
        "find",
    ):
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("run", "pyproject.toml", "requirements.txt", "requirements-build.txt"):
        shutil.copy(ROOT / name, checkout)
    done = run("status", script=checkout / "run", PATH=str(tools))
    assert done.returncode == 1
    assert "Python 3.11" in done.stderr
    assert done.stdout == ""


@installed
def test_other_words_go_to_windowseat_quickly_and_quietly(tmp_path):
    def once() -> None:
        done = run("status", "--json", WINDOWSEAT_HOME=str(tmp_path))
        assert (done.returncode, done.stdout, done.stderr) == (3, '{"running": false}\n', "")

    assert processor_time(once) < 0.3, "about 0.07 on an idle machine"


@installed
def test_it_works_from_elsewhere_and_through_a_link(tmp_path):
    link = tmp_path / "seat"
    link.symlink_to(RUN)
    done = subprocess.run(
        [str(link), "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("windowseat 0.")


@installed
def test_an_unknown_figure_lists_the_known_ones():
    if not (ROOT / ".venv/.stamp-developing").exists():
        pytest.skip("no dev environment yet")
    done = run("bench", "nonsense")
    assert done.returncode == 2
    assert "There are:" in done.stderr


APT = """#!/bin/sh
echo "apt-get $*" >> "$APT_NOTES"
"""


def without_chromium(tmp_path: Path, *, uid: int) -> tuple[subprocess.CompletedProcess[str], str]:
    """`./run up` where Debian's Chromium is hidden and apt-get only notes what it is told."""
    tools, empty, notes = tmp_path / "bin", tmp_path / "empty", tmp_path / "notes"
    tools.mkdir()
    empty.mkdir()
    for name, text in {"apt-get": APT, "id": f"#!/bin/sh\necho {uid}\n"}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    hidden = "mount --bind $EMPTY /usr/lib/chromium && rm -f $KNOWN && exec $RUN up --help"
    known = ROOT / ".venv/.chromium"
    before = known.read_bytes() if known.exists() else None
    environ = {
        "HOME": str(tmp_path), "PATH": f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin", "EMPTY": str(empty),
        "RUN": str(RUN), "KNOWN": str(known), "APT_NOTES": str(notes),
    }  # fmt: skip
    try:
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", hidden], env=environ, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    finally:
        if before is not None:
            known.write_bytes(before)
    return done, notes.read_text() if notes.exists() else ""


hides = pytest.mark.skipif(
    os.getuid() != 0 or not Path("/usr/lib/chromium/chromium").exists(),
    reason="hiding Debian's Chromium needs root, and one that is there",
)


@installed
@hides
def test_without_a_chromium_root_gets_one_from_apt(tmp_path):
    done, notes = without_chromium(tmp_path, uid=0)
    assert done.returncode == 0
    assert notes.splitlines()[0].endswith(" update")
    assert "install --no-install-recommends chromium" in notes
    assert "Installing: chromium" in done.stderr


@installed
@hides
def test_without_a_terminal_a_user_is_told_the_command(tmp_path):
    done, notes = without_chromium(tmp_path, uid=1000)
    assert done.returncode == 5
    assert notes == "", "nothing is installed unasked"
    assert "apt-get install --no-install-recommends chromium" in done.stderr
