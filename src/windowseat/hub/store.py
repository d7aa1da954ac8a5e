"""What the hub must not forget: tabs, operations under way, closed tabs, sessions, history.

SQLite in WAL mode. Each write is one small transaction on the loop's own thread: tens of
microseconds, no fsync (`synchronous=NORMAL` syncs at checkpoints only, and those run in a thread).
That survives a `kill -9` of the hub; a power cut may lose the last moments, and with them goes the
browser that the rows speak of. Source: contract C4 ("are in the store before the browser is asked").
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from windowseat.hub.store_file import open_file, refusal_of
from windowseat.rules.ids import Entry, Kind, Operation

CLOSED_KEPT: Final = 100
CLOSED_FOR: Final = 24 * 3600.0
HISTORY_KEPT: Final = 10_000

_TAB: Final = "id, target, tab_id, url, title, icon, session, opener, asleep, closing, opened_at, used_at"


@dataclass(frozen=True)
class StoredTab:
    """A row of `tab`: the entry and what people see of it. Wall-clock seconds."""

    entry: Entry
    title: str
    icon: str
    opened_at: float
    used_at: float


@dataclass(frozen=True)
class ClosedTab:
    """A tab that ended and may be reopened for a day.

    `chrome_session` is the browser's own id of the closed window, good only within `instance`.
    """

    id: str
    url: str
    title: str
    icon: str
    session: str | None
    opener: str | None
    opened_at: float
    closed_at: float
    reason: str
    instance: str | None
    chrome_session: str | None


@dataclass(frozen=True)
class Visit:
    """An address that was visited. Wall-clock seconds."""

    url: str
    title: str
    visits: int
    visited_at: float


@dataclass(frozen=True)
class StoredSession:
    """A session that was used, and its current tab."""

    name: str
    current: str | None
    used_at: float


class Store:
    """The open database. One per hub; the hub's lock keeps a second one away."""

    def __init__(self, path: Path) -> None:
        """Open or make it.

        Raises:
            Refusal: "disk-full", "home-unusable" or "store-damaged".
        """
        self._path = path
        self._db = open_file(path)
        try:
            self.check_writable()  # here, not in the middle of somebody's work
        except sqlite3.DatabaseError as failure:
            self._db.close()
            raise refusal_of(path, failure) from failure

    def close(self) -> None:
        """Write everything into the main file and close."""
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def checkpoint(self) -> None:
        """Move the log into the main file. Blocks on fsync: for a thread."""
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(self._path)) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """All writes within are one transaction."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def check_writable(self) -> None:
        """Prove that a write works now.

        Raises:
            sqlite3.Error: it does not, most likely because the disk is full.
        """
        self._db.execute("INSERT OR REPLACE INTO fact VALUES ('opened', ?)", (str(time.time()),))

    def rewrite(
        self,
        entries: Iterable[Entry],
        operations: Iterable[Operation],
        *,
        instance: str | None,
        spare: str | None,
    ) -> None:
        """Write down all ids anew, after writes have failed."""
        with self.together():
            known = {entry.id: entry for entry in entries}
            for row in self.tabs():
                if row.entry.id not in known:
                    self.drop_tab(row.entry.id)
            for entry in known.values():
                self.save_entry(entry)
            self._db.execute("DELETE FROM operation")
            for operation in operations:
                self.save_operation(operation)
            self.save_fact("instance", instance)
            self.save_fact("spare", spare)

    # -- facts -----------------------------------------------------------------------------

    def fact(self, name: str) -> str | None:
        """A single value: "instance", "spare"."""
        row = self._db.execute("SELECT value FROM fact WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def save_fact(self, name: str, value: str | None) -> None:
        """Save or, with None, forget a single value."""
        if value is None:
            self._db.execute("DELETE FROM fact WHERE name = ?", (name,))
        else:
            self._db.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, value))

    # -- tabs ------------------------------------------------------------------------------

    def tabs(self) -> list[StoredTab]:
        """All tabs that have not ended, the oldest first."""
        rows = self._db.execute(f"SELECT {_TAB} FROM tab ORDER BY opened_at, id")  # noqa: S608 (our columns)
        return [_stored_tab(row) for row in rows]

    def tab(self, id: str) -> StoredTab | None:
        """One tab that has not ended, or None."""
        found = self._db.execute(f"SELECT {_TAB} FROM tab WHERE id = ?", (id,))  # noqa: S608 (our columns)
        row = found.fetchone()
        return None if row is None else _stored_tab(row)

    def save_entry(self, entry: Entry) -> None:
        """Insert or update what `rules.ids` knows of a tab; its address only on insert."""
        now = time.time()
        self._db.execute(
            "INSERT INTO tab (id, target, tab_id, url, session, opener, asleep, closing, opened_at, used_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET target = excluded.target, "
            "tab_id = excluded.tab_id, session = excluded.session, opener = excluded.opener, "
            "asleep = excluded.asleep, closing = excluded.closing",
            (
                entry.id,
                entry.target,
                entry.tab_id,
                entry.url,
                entry.session,
                entry.opener,
                entry.asleep,
                entry.closing,
                now,
                now,
            ),
        )

    def save_face(self, id: str, url: str, title: str, icon: str) -> None:
        """What a tab shows: address, title, icon."""
        self._db.execute("UPDATE tab SET url = ?, title = ?, icon = ? WHERE id = ?", (url, title, icon, id))

    def save_use(self, id: str) -> None:
        """The tab was used now."""
        with contextlib.suppress(sqlite3.Error):  # a convenience: nobody's tab hangs on it
            self._db.execute("UPDATE tab SET used_at = ? WHERE id = ?", (time.time(), id))

    def drop_tab(self, id: str) -> None:
        """The id ended."""
        self._db.execute("DELETE FROM tab WHERE id = ?", (id,))

    # -- operations ------------------------------------------------------------------------

    def operations(self) -> list[Operation]:
        """What a former hub left open."""
        rows = self._db.execute("SELECT id, kind FROM operation")
        return [Operation(row[0], Kind(row[1])) for row in rows]

    def save_operation(self, operation: Operation) -> None:
        """An operation is about to ask the browser."""
        self._db.execute(
            "INSERT OR REPLACE INTO operation VALUES (?, ?)", (operation.id, operation.kind.value)
        )

    def drop_operation(self, id: str) -> None:
        """It has ended."""
        self._db.execute("DELETE FROM operation WHERE id = ?", (id,))

    # -- closed tabs -----------------------------------------------------------------------

    def save_closed(self, tab: ClosedTab) -> None:
        """Remember an ended tab; drops those over a day old and over `CLOSED_KEPT`."""
        self._db.execute(
            "INSERT OR REPLACE INTO closed VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                tab.id,
                tab.url,
                tab.title,
                tab.icon,
                tab.session,
                tab.opener,
                tab.opened_at,
                tab.closed_at,
                tab.reason,
                tab.instance,
                tab.chrome_session,
            ),
        )
        self._db.execute("DELETE FROM closed WHERE closed_at < ?", (tab.closed_at - CLOSED_FOR,))
        self._db.execute(
            "DELETE FROM closed WHERE id NOT IN (SELECT id FROM closed ORDER BY closed_at DESC LIMIT ?)",
            (CLOSED_KEPT,),
        )

    def closed(self) -> list[ClosedTab]:
        """Ended tabs that may be reopened, the latest first."""
        rows = self._db.execute(
            "SELECT * FROM closed WHERE closed_at >= ? ORDER BY closed_at DESC", (time.time() - CLOSED_FOR,)
        )
        return [ClosedTab(*row) for row in rows]

    def closed_tab(self, id: str) -> ClosedTab | None:
        """An ended tab that may be reopened, or None."""
        row = self._db.execute(
            "SELECT * FROM closed WHERE id = ? AND closed_at >= ?", (id, time.time() - CLOSED_FOR)
        ).fetchone()
        return None if row is None else ClosedTab(*row)

    def drop_closed(self, id: str) -> None:
        """It was reopened."""
        self._db.execute("DELETE FROM closed WHERE id = ?", (id,))

    # -- sessions --------------------------------------------------------------------------

    def sessions(self) -> list[StoredSession]:
        """All sessions, by name."""
        rows = self._db.execute("SELECT name, current, used_at FROM session ORDER BY name")
        return [StoredSession(*row) for row in rows]

    def session(self, name: str) -> StoredSession | None:
        """One session, or None."""
        row = self._db.execute(
            "SELECT name, current, used_at FROM session WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else StoredSession(*row)

    def save_session(self, name: str, current: str | None) -> None:
        """The session was used now; `current` is its current tab."""
        with contextlib.suppress(sqlite3.Error):  # a convenience
            self._db.execute("INSERT OR REPLACE INTO session VALUES (?, ?, ?)", (name, current, time.time()))

    # -- history ---------------------------------------------------------------------------

    def save_visit(self, url: str, title: str) -> None:
        """Count a visit of an address; the oldest go beyond `HISTORY_KEPT`."""
        with contextlib.suppress(sqlite3.Error):  # a convenience
            self._db.execute(
                "INSERT INTO history VALUES (?, ?, 1, ?) ON CONFLICT (url) "
                "DO UPDATE SET title = excluded.title, visits = visits + 1, visited_at = excluded.visited_at",
                (url, title, time.time()),
            )
            self._db.execute(
                "DELETE FROM history WHERE visited_at < (SELECT visited_at FROM history "
                "ORDER BY visited_at DESC LIMIT 1 OFFSET ?)",
                (HISTORY_KEPT,),
            )

    def save_visit_title(self, url: str, title: str) -> None:
        """The title of an address, once its page told it."""
        with contextlib.suppress(sqlite3.Error):  # a convenience
            self._db.execute("UPDATE history SET title = ? WHERE url = ?", (title, url))

    def visits(self, limit: int) -> list[Visit]:
        """The latest addresses first."""
        rows = self._db.execute("SELECT * FROM history ORDER BY visited_at DESC LIMIT ?", (limit,))
        return [Visit(*row) for row in rows]


def _stored_tab(row: tuple[Any, ...]) -> StoredTab:
    id, target, tab_id, url, title, icon, session, opener, asleep, closing, opened_at, used_at = row
    entry = Entry(
        id=id,
        target=target,
        tab_id=tab_id,
        url=url,
        session=session,
        opener=opener,
        asleep=bool(asleep),
        closing_until=0.0 if closing else None,  # the Undo starts anew with the hub
    )
    return StoredTab(entry, title=title, icon=icon, opened_at=opened_at, used_at=used_at)
