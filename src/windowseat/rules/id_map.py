"""What is known of ids and targets, the questions about it, and the smallest steps that change it.

The state of `rules.ids`, which decides; apart from it so that each can be read alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from windowseat.rules.id_events import (
    PATIENCE,
    Effect,
    Entry,
    ListChanged,
    Operation,
    RingAt,
    SaveEntry,
    Seen,
    Unbound,
)


class UnknownIdError(KeyError):
    """An event named an id that is not there, or one that its state does not allow."""


@dataclass
class IdMap:
    """Ids that have not ended, operations under way, the spare, and targets without an id."""

    new_id: Callable[[], str]
    instance: str | None = None
    entries: dict[str, Entry] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    spare: str | None = None
    connected: bool = False
    mapped: bool = False
    answering: bool = True
    unclaimed: dict[str, Seen] = field(default_factory=dict)

    # -- questions -------------------------------------------------------------------------

    def of_target(self, target: str) -> Entry | None:
        """The entry that has this target, also one asleep or closing."""
        for entry in self.entries.values():
            if entry.target == target:
                return entry
        return None

    def of_tab(self, tab_id: int | None) -> Entry | None:
        """The entry that has this tab id in the browser."""
        if tab_id is None:
            return None
        return next((e for e in self.entries.values() if e.tab_id == tab_id), None)

    def shown_target(self, id: str) -> str | None:
        """The target that lists show for an id (C4): None unless its page is there and stays."""
        entry = self.entries[id]
        if entry.asleep or entry.closing or id in self.operations or not self.connected:
            return None
        return entry.target

    def may_list(self) -> bool:
        """Whether a tab list may be taken now (C4: not before the targets are mapped)."""
        return self.connected and self.mapped and self.answering

    # -- small steps -----------------------------------------------------------------------

    def _may_lack_target(self, entry: Entry) -> bool:
        return entry.asleep or entry.closing or entry.vanished_at is not None or entry.id in self.operations

    def _put_to_sleep_without_target(self, entry: Entry) -> list[Effect]:
        entry = self._put(replace(entry, target=None, tab_id=None, asleep=True, vanished_at=None))
        return [SaveEntry(entry)]

    def _lose_target(self, entry: Entry, now: float) -> list[Effect]:
        effects: list[Effect] = []
        lost = replace(entry, target=None)
        if not self._may_lack_target(entry):
            lost = replace(lost, vanished_at=now)
            effects.append(RingAt(now + PATIENCE))
        return [SaveEntry(self._put(lost)), Unbound(entry.id), *effects, ListChanged()]

    def _put(self, entry: Entry) -> Entry:
        self.entries[entry.id] = entry
        return entry
