"""The store's file: its tables, how it is opened, and what is said when it cannot be."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

from windowseat.errors import Refusal

VERSION: Final = 1

_SCHEMA: Final = """
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tab (
    id TEXT PRIMARY KEY, target TEXT, tab_id INTEGER, url TEXT NOT NULL, title TEXT NOT NULL DEFAULT '',
    icon TEXT NOT NULL DEFAULT '', session TEXT, opener TEXT, asleep INTEGER NOT NULL,
    closing INTEGER NOT NULL, opened_at REAL NOT NULL, used_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE operation (id TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE closed (
    id TEXT PRIMARY KEY, url TEXT NOT NULL, title TEXT NOT NULL, icon TEXT NOT NULL, session TEXT,
    opener TEXT, opened_at REAL NOT NULL, closed_at REAL NOT NULL, reason TEXT NOT NULL,
    instance TEXT, chrome_session TEXT
) WITHOUT ROWID;
CREATE TABLE session (name TEXT PRIMARY KEY, current TEXT, used_at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE history (
    url TEXT PRIMARY KEY, title TEXT NOT NULL, visits INTEGER NOT NULL, visited_at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX history_by_time ON history (visited_at);
"""


def open_file(path: Path) -> sqlite3.Connection:
    """Open the store's file, make it (0600) where it is missing, and bring its tables.

    Raises:
        Refusal: "disk-full", "home-unusable" or "store-damaged".
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.close(fd)
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
        _prepare(db)
    except sqlite3.DatabaseError as failure:
        raise refusal_of(path, failure) from failure
    except OSError as failure:
        if failure.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _disk_full(path) from failure
        raise Refusal(
            "home-unusable",
            f"The store {path} cannot be opened: {failure.strerror}.",
            "Give this user read and write rights to that folder, or set WINDOWSEAT_HOME to another.",
        ) from failure
    return db


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA wal_autocheckpoint=0")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise sqlite3.DatabaseError(f"it was written by a newer Windowseat (version {version})")
    if version == 0:
        db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")


def refusal_of(path: Path, failure: sqlite3.DatabaseError) -> Refusal:
    """What a person is told when the store cannot be used."""
    text = str(failure)
    if "full" in text:
        return _disk_full(path)
    if isinstance(failure, sqlite3.OperationalError):
        return Refusal(
            "home-unusable",
            f"The store {path} cannot be used: {text}.",
            "Give this user read and write rights to that folder, or set WINDOWSEAT_HOME to another.",
        )
    return Refusal(
        "store-damaged",
        f"The store {path} cannot be read: {text}.",
        f"Move it away (mv {path} {path}.damaged) and start again; tabs that are open now are found again.",
    )


def _disk_full(path: Path) -> Refusal:
    return Refusal(
        "disk-full",
        f"The disk that holds {path.parent} is full.",
        "Free some space there and start again; nothing was lost.",
    )
