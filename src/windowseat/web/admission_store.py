"""Where admissions are kept: one small SQLite file, only digests in it.

Every statement touches a handful of rows by key, so it may run on the event loop.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from windowseat.errors import Refusal
from windowseat.hub.people import Person

# More open views than anybody has; the oldest credential goes first.
CREDENTIALS_A_PERSON: Final = 500

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS codes (digest BLOB PRIMARY KEY, name TEXT NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS people (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, color TEXT NOT NULL,
    cookie BLOB NOT NULL UNIQUE, secret BLOB NOT NULL, since REAL NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS view_cookies (
    digest BLOB PRIMARY KEY, person TEXT NOT NULL REFERENCES people(id) ON DELETE CASCADE,
    since REAL NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS credentials (
    digest BLOB PRIMARY KEY, tab TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people(id) ON DELETE CASCADE, since REAL NOT NULL);
CREATE INDEX IF NOT EXISTS credentials_of ON credentials (person, since);
CREATE INDEX IF NOT EXISTS view_cookies_of ON view_cookies (person, since);
"""


class AdmissionStore:
    """The file. Digests are SHA-256, times wall-clock seconds. Any method may raise `sqlite3.Error`.

    Raises:
        Refusal: "home-unusable", "disk-full" or "store-damaged", when it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        try:
            # Made before SQLite sees it, because SQLite would make it readable to others.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            path.chmod(0o600)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=2)
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;" + _SCHEMA)
            self._db.execute("PRAGMA foreign_keys=ON")
        except OSError as error:
            raise Refusal(
                "home-unusable",
                f"The list of admitted people, {path}, cannot be opened: {error.strerror}.",
                "Make its folder writable for you, or set WINDOWSEAT_HOME to another one.",
            ) from error
        except sqlite3.Error as error:
            raise _refusal_of(path, error) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def forget_expired(self, now: float) -> None:
        """Remove codes, cookies and people whose time is over."""
        with self._db:
            self._db.execute("DELETE FROM codes WHERE until < ?", (now,))
            self._db.execute("DELETE FROM view_cookies WHERE until < ?", (now,))
            self._db.execute("DELETE FROM people WHERE until < ?", (now,))

    def add_code(self, digest: bytes, name: str, until: float) -> None:
        """Keep a code; `name` is empty where none was given."""
        self._db.execute("INSERT INTO codes VALUES (?, ?, ?)", (digest, name, until))

    def take_code(self, digest: bytes, now: float) -> str | None:
        """Remove a code; the name that was given with it, or None when it does not admit."""
        # All rows are fetched: a statement with rows left would keep its transaction open.
        rows = self._db.execute(
            "DELETE FROM codes WHERE digest = ? RETURNING name, until", (digest,)
        ).fetchall()
        return str(rows[0][0]) if rows and rows[0][1] >= now else None

    def put_person(self, person: Person, cookie: bytes, secret: bytes, since: float, until: float) -> None:
        """Admit a person, or give one who is admitted a new cookie and secret."""
        self._db.execute(
            "INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
            " SET cookie = excluded.cookie, secret = excluded.secret, until = excluded.until",
            (person.id, person.name, person.color, cookie, secret, since, until),
        )

    def cookie_person(self, cookie: bytes, now: float) -> tuple[Person, bytes] | None:
        """The person of a cookie, and the digest of the secret that belongs to it."""
        row = self._db.execute(
            "SELECT id, name, color, secret FROM people WHERE cookie = ? AND until >= ?", (cookie, now)
        ).fetchone()
        return (Person(*row[:3]), bytes(row[3])) if row is not None else None

    def person(self, person_id: str, now: float) -> Person | None:
        """The person with this id, while admitted."""
        row = self._db.execute(
            "SELECT id, name, color FROM people WHERE id = ? AND until >= ?", (person_id, now)
        ).fetchone()
        return Person(*row) if row is not None else None

    def people(self, now: float) -> list[tuple[Person, float, float]]:
        """Everybody admitted, with since and until, the oldest first."""
        rows = self._db.execute(
            "SELECT id, name, color, since, until FROM people WHERE until >= ? ORDER BY since, rowid", (now,)
        )
        return [(Person(*row[:3]), row[3], row[4]) for row in rows]

    def rename(self, person_id: str, name: str) -> None:
        """Give a person another name."""
        self._db.execute("UPDATE people SET name = ? WHERE id = ?", (name, person_id))

    def remove_person(self, person_id: str) -> bool:
        """Remove a person with all their cookies and credentials; whether there was one."""
        return self._db.execute("DELETE FROM people WHERE id = ?", (person_id,)).rowcount > 0

    def add_view_cookie(self, digest: bytes, person_id: str, since: float, until: float) -> None:
        """Keep a cookie of the view origin; a person's oldest go beyond 500."""
        self._db.execute("INSERT INTO view_cookies VALUES (?, ?, ?, ?)", (digest, person_id, since, until))
        self._keep_newest("view_cookies", person_id)

    def view_cookie_person(self, digest: bytes, now: float) -> Person | None:
        """The person of a cookie of the view origin."""
        row = self._db.execute(
            "SELECT p.id, p.name, p.color FROM view_cookies c JOIN people p ON p.id = c.person"
            " WHERE c.digest = ? AND c.until >= ? AND p.until >= ?",
            (digest, now, now),
        ).fetchone()
        return Person(*row) if row is not None else None

    def add_credential(self, digest: bytes, tab: str, person_id: str, since: float) -> None:
        """Keep a view credential; a person's oldest go beyond 500."""
        self._db.execute("INSERT INTO credentials VALUES (?, ?, ?, ?)", (digest, tab, person_id, since))
        self._keep_newest("credentials", person_id)

    def credential_person(self, digest: bytes, tab: str, now: float) -> Person | None:
        """The person of a view credential of this tab."""
        row = self._db.execute(
            "SELECT p.id, p.name, p.color FROM credentials c JOIN people p ON p.id = c.person"
            " WHERE c.digest = ? AND c.tab = ? AND p.until >= ?",
            (digest, tab, now),
        ).fetchone()
        return Person(*row) if row is not None else None

    def _keep_newest(self, table: str, person_id: str) -> None:
        self._db.execute(
            f"DELETE FROM {table} WHERE digest IN (SELECT digest FROM {table} WHERE person = ?"  # noqa: S608
            " ORDER BY since DESC, rowid DESC LIMIT -1 OFFSET ?)",
            (person_id, CREDENTIALS_A_PERSON),
        )


def _refusal_of(path: Path, error: sqlite3.Error) -> Refusal:
    text = str(error)
    if "full" in text:
        return Refusal("disk-full", f"No room to write {path}.", "Free some disk space and start again.")
    if "readonly" in text or "unable to open" in text or "locked" in text:
        return Refusal(
            "home-unusable",
            f"The list of admitted people, {path}, cannot be written: {text}.",
            "Make the file writable for you, or end the program that holds it.",
        )
    return Refusal(
        "store-damaged",
        f"The list of admitted people, {path}, is damaged: {text}.",
        "Move the file away and start again; everybody then signs in anew with `windowseat url`.",
    )
