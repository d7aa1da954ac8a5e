"""The shell around `rules.ids`: takes events, keeps the store ahead of everyone, carries out effects.

`feed` is synchronous on purpose: an await between reading and storing would let two events share
one decision. What must ask the browser is spawned, and its answer comes back as an event.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
import time
from typing import Final, Protocol

from windowseat.errors import BrowserError
from windowseat.hub.spawn import Tasks
from windowseat.hub.store import ClosedTab, Store
from windowseat.rules import ids
from windowseat.rules.ids import Described, Effect, Entry, Event, Ids

log = logging.getLogger(__name__)

# No look-alikes (0 o, 1 l i): people read ids aloud and type them.
ALPHABET: Final = "23456789abcdefghjkmnpqrstuvwxyz"
ID_LENGTH: Final = 10


def new_id() -> str:
    """A random tab id, 49 bits: shown everywhere, grants nothing."""
    return "".join(secrets.choice(ALPHABET) for _ in range(ID_LENGTH))


class Browser(Protocol):
    """What effects ask of the connected browser. Each is bounded and never raises."""

    async def describe(self, target: str) -> Described:
        """What the bridge knows of one target."""

    async def describe_all(self) -> dict[str, Described]:
        """What it knows of every target."""

    async def close_target(self, target: str) -> None:
        """Ask for the end of a page."""


class Listener(Protocol):
    """Who hears what happened to ids, in order, after the store has it."""

    def saved(self, entry: Entry) -> None:
        """An entry is new or changed."""

    def adopted(self, entry: Entry) -> None:
        """A target nobody ordered has its id."""

    def rebound(self, entry: Entry) -> None:
        """An id has this target now."""

    def unbound(self, id: str) -> None:
        """The target of an id went."""

    def dropped(self, entry: Entry, reason: str) -> None:
        """An id ended: "closed", "page" or "lost"."""

    def list_changed(self) -> None:
        """A list taken now would differ."""


class Targets:
    """The one owner of the map of ids and targets."""

    def __init__(self, store: Store, listener: Listener, tasks: Tasks) -> None:
        self._store = store
        self._listener = listener
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None
        self._behind = False
        self._mapping: asyncio.Task[None] | None = None
        self.browser: Browser | None = None
        self.ids: Ids = ids.load(
            new_id,
            instance=store.fact("instance"),
            entries=[row.entry for row in store.tabs()],
            operations=store.operations(),
            spare=store.fact("spare"),
        )

    def feed(self, event: Event) -> None:
        """Take one event: first the store, then everyone else.

        A store that cannot be written (a full disk) stops no event: the browser has moved on already.
        All ids are written anew as soon as it can be; operations ask beforehand (`Moves`).

        Raises:
            UnknownIdError: the event does not fit the id's state; nothing changed.
        """
        effects = self.ids.feed(event, self._loop.time())
        try:
            if self._behind:
                self._write_all()
            with self._store.together():
                for effect in effects:
                    self._save(effect)
        except sqlite3.Error:
            if not self._behind:
                log.exception("the store cannot be written; it is tried again with every change")
            self._behind = True
        for effect in effects:
            self._carry_out(effect)

    def ask(self, event: Event) -> None:
        """`feed` for those who answer somebody.

        Raises:
            BrowserError: "host-unavailable", the event does not fit; nothing changed.
        """
        try:
            self.feed(event)
        except ids.UnknownIdError as failure:
            # Something else came first: the browser was lost, or a page is still on its way out.
            raise BrowserError(
                "host-unavailable", f"The tab is on the move ({failure.args[0]}). Try again in a moment."
            ) from failure

    def _write_all(self) -> None:
        state = self.ids
        self._store.rewrite(
            state.entries.values(), state.operations.values(), instance=state.instance, spare=state.spare
        )
        self._behind = False
        log.info("the store is written again")

    async def wait_mapped(self) -> None:
        """Return once the targets of the last `Connected` are mapped; operations may begin then."""
        if self._mapping is not None:
            await asyncio.shield(self._mapping)

    def close(self) -> None:
        """Stop the alarm."""
        if self._alarm is not None:
            self._alarm.cancel()

    def _save(self, effect: Effect) -> None:
        match effect:
            case ids.SaveEntry(entry):
                self._store.save_entry(entry)
            case ids.DropEntry(entry, reason):
                self._remember_closed(entry, reason)
                self._store.drop_tab(entry.id)
            case ids.SaveOperation(operation):
                self._store.save_operation(operation)
            case ids.DropOperation(id):
                self._store.drop_operation(id)
            case ids.SaveSpare(target):
                self._store.save_fact("spare", target)
            case ids.SaveInstance(instance):
                self._store.save_fact("instance", instance)
            case _:
                pass

    def _remember_closed(self, entry: Entry, reason: str) -> None:
        row = self._store.tab(entry.id)
        if row is None or reason == "lost":
            return
        known = self._store.closed_tab(entry.id)
        self._store.save_closed(
            ClosedTab(
                id=entry.id,
                url=row.entry.url,
                title=row.title,
                icon=row.icon,
                session=entry.session,
                opener=entry.opener,
                opened_at=row.opened_at,
                closed_at=time.time(),
                reason=reason,
                instance=self.ids.instance,
                chrome_session=None if known is None else known.chrome_session,
            )
        )

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case ids.SaveEntry(entry):
                self._listener.saved(entry)
            case ids.DropEntry(entry, reason):
                self._listener.dropped(entry, reason)
            case ids.Adopted(entry):
                self._listener.adopted(entry)
            case ids.Rebound(entry):
                self._listener.rebound(entry)
            case ids.Unbound(id):
                self._listener.unbound(id)
            case ids.ListChanged():
                self._listener.list_changed()
            case ids.Describe(target):
                self._tasks.spawn(self._describe(target), name=f"describe {target}")
            case ids.DescribeAll():
                self._mapping = self._tasks.spawn(self._describe_all(), name="describe all targets")
            case ids.CloseTarget(target):
                if self.browser is not None:
                    self._tasks.spawn(self.browser.close_target(target), name=f"close {target}")
            case ids.RingAt(at):
                self._ring_at(at)
            case _:
                pass

    def _ring_at(self, at: float) -> None:
        # One timer for all: an alarm that rings for one entry looks at every entry, and each that
        # is not due asks for its own again.
        if self._alarm is not None:
            if self._alarm.when() <= at:
                return
            self._alarm.cancel()
        self._alarm = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self.feed(ids.AlarmRang())

    async def _describe(self, target: str) -> None:
        browser = self.browser
        described = Described() if browser is None else await browser.describe(target)
        self.feed(ids.TargetDescribed(target, described))

    async def _describe_all(self) -> None:
        browser = self.browser
        found = {} if browser is None else await browser.describe_all()
        if self.browser is browser:  # else that connection is gone and its map with it
            self.feed(ids.Mapped(found))
