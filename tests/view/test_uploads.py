"""Files that people send: names, bounds, and that nothing of them stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from windowseat.errors import BrowserError
from windowseat.view import uploads as uploads_module
from windowseat.view.uploads import Uploads, safe_name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("příloha č. 1.pdf", "příloha č. 1.pdf"),
        ("../../etc/passwd", ".._.._etc_passwd"),
        ("a\\b\x00c\n.txt", "a_b_c_.txt"),
        ("..", "file"),
        ("", "file"),
        ("  ", "file"),
        ("a\ud800.txt", "a?.txt"),
    ],
)
def test_names_are_kept_as_far_as_they_are_harmless(name: str, kept: str):
    assert safe_name(name) == kept


def test_a_long_name_is_cut_before_its_ending():
    name = safe_name("ž" * 300 + ".tar.gz")
    assert len(name.encode()) <= 200
    assert name.endswith("ž.gz")
    assert len(safe_name("x." + "e" * 300).encode()) == 200


def test_two_files_of_one_name_do_not_meet(tmp_path: Path):
    uploads = Uploads(tmp_path / "up")
    ids = []
    for content in (b"one", b"two"):
        incoming = uploads.begin("t1", "same.txt")
        incoming.write(content)
        ids.append(incoming.finish().id)
    assert [Path(path).read_bytes() for path in uploads.paths("t1", tuple(ids))] == [b"one", b"two"]


def test_what_is_dropped_or_forgotten_or_of_a_former_hub_is_gone(tmp_path: Path):
    folder = tmp_path / "up"
    uploads = Uploads(folder)
    incoming = uploads.begin("t1", "a")
    incoming.write(b"half")
    incoming.drop()
    assert not list(folder.rglob("a"))
    kept = uploads.begin("t1", "b").finish()
    uploads.forget("t1")
    assert not kept.path.exists()
    uploads.begin("t2", "c").finish()
    Uploads(folder)
    assert not folder.exists()


def test_sizes_and_numbers_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(uploads_module, "SIZE_AT_MOST", 10)
    monkeypatch.setattr(uploads_module, "FILES_AT_MOST", 2)
    uploads = Uploads(tmp_path / "up")
    incoming = uploads.begin("t1", "a")
    incoming.write(b"x" * 10)
    with pytest.raises(BrowserError, match="4 GiB"):
        incoming.write(b"x")
    incoming.drop()
    for _ in range(2):
        uploads.begin("t1", "a").finish()
    with pytest.raises(BrowserError, match="at most 2"):
        uploads.begin("t1", "a")
