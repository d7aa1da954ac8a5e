"""The store: what a killed hub leaves, and what it says when it cannot work."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from windowseat.errors import Refusal
from windowseat.hub.store import CLOSED_KEPT, ClosedTab, Store
from windowseat.rules.ids import Entry, Kind, Operation


def closed(id: str, at: float) -> ClosedTab:
    return ClosedTab(id, "http://a/", "A", "", None, None, at, at, "closed", "b1", "7")


def test_what_was_saved_is_there_after_the_process_ended(tmp_path: Path) -> None:
    path = tmp_path / "windowseat.db"
    store = Store(path)
    store.save_entry(Entry("a", "t1", 5, "http://a/", "s", None))
    store.save_face("a", "http://a/next", "Titel: žluťoučký 🐎", "data:,")
    store.save_operation(Operation("a", Kind.SLEEP))
    store.save_fact("spare", "t2")
    # No close: a killed hub does not close its store either.
    again = Store(path)
    (row,) = again.tabs()
    assert (row.entry.target, row.entry.tab_id, row.entry.session) == ("t1", 5, "s")
    assert (row.entry.url, row.title) == ("http://a/next", "Titel: žluťoučký 🐎")
    assert again.operations() == [Operation("a", Kind.SLEEP)]
    assert again.fact("spare") == "t2"


def test_an_entry_saved_again_keeps_its_face(tmp_path: Path) -> None:
    store = Store(tmp_path / "windowseat.db")
    entry = Entry("a", "t1", url="http://a/")
    store.save_entry(entry)
    store.save_face("a", "http://b/", "B", "")
    store.save_entry(replace(entry, target="t2", asleep=True))
    row = store.tab("a")
    assert row is not None
    assert (row.entry.url, row.title, row.entry.target, row.entry.asleep) == ("http://b/", "B", "t2", True)


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path / "windowseat.db")
    with pytest.raises(RuntimeError), store.together():
        store.save_entry(Entry("a"))
        raise RuntimeError
    assert store.tabs() == []


def test_closed_tabs_are_kept_for_a_day_and_at_most_a_hundred(tmp_path: Path) -> None:
    store = Store(tmp_path / "windowseat.db")
    now = time.time()
    store.save_closed(closed("old", now - 25 * 3600))
    assert store.closed_tab("old") is None
    for n in range(CLOSED_KEPT + 5):
        store.save_closed(closed(f"c{n}", now + n))
    kept = store.closed()
    assert len(kept) == CLOSED_KEPT
    assert kept[0].id == f"c{CLOSED_KEPT + 4}"


def test_a_damaged_store_is_refused_with_a_next_step(tmp_path: Path) -> None:
    path = tmp_path / "windowseat.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(Refusal) as refused:
        Store(path)
    assert refused.value.code == "store-damaged"
    assert "mv " in refused.value.next_step


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "windowseat.db"
    Store(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(Refusal) as refused:
        Store(path)
    assert "newer" in refused.value.message


def test_the_store_is_only_its_users(tmp_path: Path) -> None:
    path = tmp_path / "windowseat.db"
    Store(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "windowseat.db"
    with pytest.raises(Refusal) as refused:
        Store(missing)
    assert refused.value.code == "home-unusable"


def test_history_counts_visits(tmp_path: Path) -> None:
    store = Store(tmp_path / "windowseat.db")
    store.save_visit("http://a/", "")
    store.save_visit("http://a/", "A")
    store.save_visit_title("http://a/", "A!")
    (visit,) = store.visits(10)
    assert (visit.visits, visit.title) == (2, "A!")
