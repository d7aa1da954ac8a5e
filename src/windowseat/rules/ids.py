"""Which id does a target have? Contract C4, "Ids" and "Tab list", as a state machine without I/O.

A target has one id and an id at most one target, through sleeping, waking, restoring, crashes of
hub and browser, and whatever Chromium does by itself. Three ideas carry it:

* What will change a target is begun here, and so in the store, before the browser is asked. While
  such an operation is open, a target nobody knows gets no id: it may be the operation's own.
* A target that went without the hub's order is not an ended tab yet. Its id ends only when the
  browser stayed connected for `PATIENCE` seconds more: a browser that quits closes its windows one
  by one while its pipe is still open.
* Nothing is decided before the connection's targets are mapped: a new hub settles what an earlier
  one left open, then gives ids to what is left.

Times are monotonic seconds and arguments. `feed` returns effects in the order they are owed; the
`Save...` and `Drop...` ones must be in the store before any other effect is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from windowseat.rules.id_events import (
    BLANK,
    PATIENCE,
    SPARE_OPERATION,
    SPARE_URL,
    UNDO,
    Adopted,
    AlarmRang,
    Answered,
    Begun,
    ClosedForEveryone,
    CloseTarget,
    Connected,
    Describe,
    DescribeAll,
    Described,
    Disconnected,
    Done,
    DropEntry,
    DropOperation,
    Effect,
    Entry,
    Event,
    Failed,
    Kind,
    ListChanged,
    Mapped,
    Numbered,
    Operation,
    Rebound,
    Reopened,
    RingAt,
    SaveEntry,
    SaveInstance,
    SaveOperation,
    SaveSpare,
    Seen,
    SpareTaken,
    TargetDescribed,
    TargetGone,
    TargetSeen,
    Unanswered,
    Unbound,
    placeholder_url,
)
from windowseat.rules.id_map import IdMap, UnknownIdError

__all__ = [
    "BLANK",
    "PATIENCE",
    "SPARE_OPERATION",
    "SPARE_URL",
    "UNDO",
    "Adopted",
    "AlarmRang",
    "Answered",
    "Begun",
    "CloseTarget",
    "ClosedForEveryone",
    "Connected",
    "Describe",
    "DescribeAll",
    "Described",
    "Disconnected",
    "Done",
    "DropEntry",
    "DropOperation",
    "Effect",
    "Entry",
    "Event",
    "Failed",
    "Ids",
    "Kind",
    "ListChanged",
    "Mapped",
    "Numbered",
    "Operation",
    "Rebound",
    "Reopened",
    "RingAt",
    "SaveEntry",
    "SaveInstance",
    "SaveOperation",
    "SaveSpare",
    "Seen",
    "SpareTaken",
    "TargetDescribed",
    "TargetGone",
    "TargetSeen",
    "Unanswered",
    "Unbound",
    "UnknownIdError",
    "load",
    "placeholder_url",
]


@dataclass
class Ids(IdMap):
    """The decisions. `new_id` gives a random id nobody has had."""

    def feed(self, event: Event, now: float) -> list[Effect]:  # noqa: C901 (one line per event)
        """Take one event and return the effects owed, in order.

        Raises:
            UnknownIdError: the event names an id that has ended or is not in that state; nothing changed.
        """
        match event:
            case Connected():
                return self._connected(event, now)
            case Mapped(described):
                return self._mapped(described)
            case Disconnected():
                return self._disconnected()
            case Unanswered():
                self.answering = False
                return []
            case Answered():
                return self._answered(now)
            case TargetSeen(seen):
                return self._seen(seen)
            case TargetGone(target):
                return self._gone(target, now)
            case TargetDescribed(target, described):
                return self._described(target, described)
            case Begun(operation, entry):
                return self._begun(operation, entry)
            case Done():
                return self._done(event, now)
            case Failed(id, end):
                return self._failed(id, end, now)
            case SpareTaken(entry):
                return self._spare_taken(entry)
            case Numbered(id, target, tab_id):
                return self._numbered(id, target, tab_id)
            case ClosedForEveryone(id):
                return self._closed(id, now)
            case Reopened(entry):
                return self._reopened(entry)
            case AlarmRang():
                return self._alarm(now)

    # -- the connection --------------------------------------------------------------------

    def _connected(self, event: Connected, now: float) -> list[Effect]:
        effects: list[Effect] = []
        present = {seen.target: seen for seen in event.seen}
        if event.instance != self.instance:
            effects += self._forget_instance(event.instance)
        self.connected, self.mapped, self.answering = True, False, True
        if self.spare is not None and self.spare not in present:
            self.spare = None
            effects.append(SaveSpare(None))
        for entry in list(self.entries.values()):
            if entry.closing:
                # The Undo starts anew: nobody could press it while no hub was there.
                anew = self._put(replace(entry, closing_until=now + UNDO))
                effects += [SaveEntry(anew), RingAt(now + UNDO)]
                if entry.target in present and entry.target is not None:
                    effects.append(CloseTarget(entry.target))
            if entry.target is not None and entry.target not in present:
                effects += self._lose_target(entry, now)
            elif entry.target is None and not self._may_lack_target(entry):
                # Its page went before the former hub ended; the patience starts anew.
                lost = self._put(replace(entry, vanished_at=now))
                effects += [SaveEntry(lost), RingAt(now + PATIENCE)]
        claimed = {entry.target for entry in self.entries.values()} | {self.spare}
        self.unclaimed = {t: seen for t, seen in present.items() if t not in claimed}
        effects.append(DescribeAll())
        return effects

    def _forget_instance(self, instance: str) -> list[Effect]:
        # Another start of Chromium: no target of before exists. Every id comes back asleep.
        effects: list[Effect] = [SaveInstance(instance)]
        self.instance = instance
        effects += [DropOperation(id) for id in self.operations]
        self.operations.clear()
        if self.spare is not None:
            self.spare = None
            effects.append(SaveSpare(None))
        for entry in list(self.entries.values()):
            there = replace(entry, target=None, tab_id=None, vanished_at=None)
            if not there.closing:
                there = replace(there, asleep=True)
            effects.append(SaveEntry(self._put(there)))
        return effects

    def _mapped(self, described: Mapping[str, Described]) -> list[Effect]:
        if not self.connected or self.mapped:
            return []
        self.mapped = True
        effects: list[Effect] = []
        for entry in list(self.entries.values()):
            what = described.get(entry.target) if entry.target is not None else None
            if what is not None and (what.tab_id, what.discarded) != (entry.tab_id, entry.asleep):
                there = self._put(replace(entry, tab_id=what.tab_id, asleep=what.discarded))
                effects.append(SaveEntry(there))
        for operation in list(self.operations.values()):
            effects += self._settle(operation, described)
        for target in list(self.unclaimed):
            effects += self._adopt(target, described.get(target, Described()))
        bound = [e for e in self.entries.values() if e.target is not None and not e.closing]
        return [*effects, *(Rebound(entry) for entry in bound), ListChanged()]

    def _settle(self, operation: Operation, described: Mapping[str, Described]) -> list[Effect]:
        """Finish what a former hub left open; what cannot be found again is asleep at its address."""
        del self.operations[operation.id]
        effects: list[Effect] = [DropOperation(operation.id)]
        entry = self.entries.get(operation.id)
        if entry is None:
            return effects  # the spare's: a spare that came is told by its address
        if entry.target is not None and operation.kind in (Kind.SLEEP, Kind.WAKE):
            # The old target is still there; whether it sleeps was just described.
            return effects
        found = self._find_again(entry, operation.kind, described)
        if found is not None:
            del self.unclaimed[found]
            what = described.get(found, Described())
            entry = replace(entry, target=found, tab_id=what.tab_id, asleep=what.discarded, vanished_at=None)
            return [*effects, SaveEntry(self._put(entry)), Rebound(entry)]
        return effects + self._put_to_sleep_without_target(entry)

    def _find_again(self, entry: Entry, kind: Kind, described: Mapping[str, Described]) -> str | None:
        for target, seen in self.unclaimed.items():
            if seen.url == placeholder_url(entry.id):
                return target
            if entry.tab_id is not None and described.get(target, Described()).replaces == entry.tab_id:
                return target
        if kind is not Kind.RESTORE or entry.url == BLANK:
            return None
        for target, seen in self.unclaimed.items():
            # A window that the browser was reopening with its history when a former hub ended: no
            # page opened it, and it is in no other tab's place.
            stands_for = self.of_tab(described.get(target, Described()).replaces)
            if seen.url == entry.url and seen.opener is None and stands_for is None:
                return target
        return None

    def _disconnected(self) -> list[Effect]:
        self.connected = self.mapped = False
        self.unclaimed.clear()
        effects: list[Effect] = []
        for entry in list(self.entries.values()):
            if entry.vanished_at is not None:
                # Its page went while the browser was ending: it has not ended, it comes back.
                effects.append(SaveEntry(self._put(replace(entry, vanished_at=None))))
            if entry.target is not None:
                effects.append(Unbound(entry.id))
        return effects

    def _answered(self, now: float) -> list[Effect]:
        if self.answering:
            return []
        self.answering = True
        effects: list[Effect] = []
        for entry in list(self.entries.values()):
            if entry.vanished_at is not None:  # five seconds of a browser that answers (C4)
                self._put(replace(entry, vanished_at=now))
                effects.append(RingAt(now + PATIENCE))
        return [*effects, ListChanged()]

    # -- targets ---------------------------------------------------------------------------

    def _seen(self, seen: Seen) -> list[Effect]:
        known = seen.target == self.spare or self.of_target(seen.target) is not None
        if not self.connected or known:
            return []
        self.unclaimed[seen.target] = seen
        if self.operations or not self.mapped:
            return []
        return [Describe(seen.target)]

    def _gone(self, target: str, now: float) -> list[Effect]:
        self.unclaimed.pop(target, None)
        if target == self.spare:
            self.spare = None
            return [SaveSpare(None)]
        entry = self.of_target(target)
        return [] if entry is None else self._lose_target(entry, now)

    def _described(self, target: str, described: Described) -> list[Effect]:
        if target not in self.unclaimed or self.operations or not self.mapped:
            return []  # described again when the operation has ended
        return self._adopt(target, described)

    def _adopt(self, target: str, what: Described) -> list[Effect]:
        seen = self.unclaimed.pop(target)
        if seen.url == SPARE_URL and seen.opener is None:
            if self.spare is None:
                self.spare = target
                return [SaveSpare(target)]
            return [CloseTarget(target)]  # two spares after a crash between two steps
        replaced = self.of_tab(what.replaces)
        if replaced is not None:
            entry = replace(
                replaced, target=target, tab_id=what.tab_id, asleep=what.discarded, vanished_at=None
            )
            # A close that met the old target did nothing: it is owed to the new one.
            last: Effect = CloseTarget(target) if entry.closing else Rebound(entry)
            return [SaveEntry(self._put(entry)), last, ListChanged()]
        by = self.of_target(seen.opener) if seen.opener is not None else self.of_tab(what.opener_tab)
        entry = Entry(
            id=self.new_id(),
            target=target,
            tab_id=what.tab_id,
            url=seen.url or BLANK,
            session=None if by is None else by.session,
            opener=None if by is None else by.id,
            asleep=what.discarded,
        )
        return [SaveEntry(self._put(entry)), Adopted(entry), ListChanged()]

    # -- operations ------------------------------------------------------------------------

    def _need_map(self) -> None:
        if not self.mapped:
            raise UnknownIdError("no operation can begin before the targets are mapped")

    def _begun(self, operation: Operation, entry: Entry | None) -> list[Effect]:
        self._need_map()
        if operation.id in self.operations:
            raise UnknownIdError(f"{operation.id} has an operation under way")
        effects: list[Effect] = []
        if operation.kind is Kind.CREATE:
            if entry is None or entry.id in self.entries:
                raise UnknownIdError(f"{operation.id} cannot be created")
            effects.append(SaveEntry(self._put(entry)))
        elif operation.kind is not Kind.SPARE and operation.id not in self.entries:
            raise UnknownIdError(operation.id)
        self.operations[operation.id] = operation
        return [*effects, SaveOperation(operation), ListChanged()]

    def _done(self, event: Done, now: float) -> list[Effect]:
        operation = self.operations.pop(event.id, None)
        if operation is None:
            raise UnknownIdError(f"{event.id} has no operation under way")
        effects: list[Effect] = [DropOperation(event.id)]
        if operation.kind is Kind.SPARE:
            if event.target is not None and self.unclaimed.pop(event.target, None) is not None:
                self.spare = event.target
                effects.append(SaveSpare(event.target))
            return effects + self._describe_rest()
        entry = self.entries.get(event.id)
        if entry is None:  # closed and ended meanwhile
            return effects + self._describe_rest()
        there = event.target is None or event.target == entry.target
        if event.target is not None and self.unclaimed.pop(event.target, None) is not None:
            there = True
        if event.target is not None and event.target == self.spare:
            there, self.spare = True, None
            effects.append(SaveSpare(None))
        entry = replace(
            entry,
            target=event.target,
            tab_id=event.tab_id,
            asleep=event.asleep,
            vanished_at=None,
            closing_until=None if operation.kind is Kind.RESTORE else entry.closing_until,
        )
        self._put(entry)
        if not there:  # it came and went before the answer
            return effects + self._lose_target(entry, now) + self._describe_rest()
        return [*effects, SaveEntry(entry), Rebound(entry), ListChanged(), *self._describe_rest()]

    def _failed(self, id: str, end: bool, now: float) -> list[Effect]:
        operation = self.operations.pop(id, None)
        if operation is None:
            raise UnknownIdError(f"{id} has no operation under way")
        effects: list[Effect] = [DropOperation(id)]
        entry = self.entries.get(id)
        if entry is not None and entry.closing_until is not None:
            effects.append(RingAt(entry.closing_until))
        elif entry is not None and entry.target is None:
            if operation.kind is Kind.SLEEP:
                # Its page went by itself, or the browser put it away first: what replaces it may
                # still come.
                effects += self._lose_target(entry, now)
            elif end and self.connected:
                del self.entries[id]
                effects += [DropEntry(entry, "lost")]
            else:
                effects += self._put_to_sleep_without_target(entry)
        return [*effects, ListChanged(), *self._describe_rest()]

    def _describe_rest(self) -> list[Effect]:
        if self.operations or not self.mapped:
            return []
        return [Describe(target) for target in self.unclaimed]

    def _spare_taken(self, entry: Entry) -> list[Effect]:
        self._need_map()
        if self.spare is None or entry.id in self.entries:
            raise UnknownIdError(f"{entry.id} cannot take the spare window")
        entry = self._put(replace(entry, target=self.spare))
        self.spare = None
        return [SaveEntry(entry), SaveSpare(None), Rebound(entry), ListChanged()]

    def _numbered(self, id: str, target: str, tab_id: int) -> list[Effect]:
        entry = self.entries.get(id)
        if entry is None or entry.target != target:
            return []
        return [SaveEntry(self._put(replace(entry, tab_id=tab_id)))]

    # -- ends ------------------------------------------------------------------------------

    def _closed(self, id: str, now: float) -> list[Effect]:
        entry = self.entries.get(id)
        if entry is None:
            raise UnknownIdError(id)
        if entry.closing:
            return []
        entry = self._put(replace(entry, closing_until=now + UNDO, vanished_at=None))
        effects: list[Effect] = [SaveEntry(entry), ListChanged(), RingAt(now + UNDO)]
        if entry.target is not None:
            effects.append(CloseTarget(entry.target))
        return effects

    def _reopened(self, entry: Entry) -> list[Effect]:
        self._need_map()
        there = self.entries.get(entry.id)
        if there is not None and not there.closing:
            raise UnknownIdError(f"{entry.id} is open")
        if there is not None and (there.target is not None or self.unclaimed):
            # Also while a target has no id yet: it may be the page that is to close.
            raise UnknownIdError(f"{entry.id} is still closing")
        if entry.id in self.operations:
            raise UnknownIdError(f"{entry.id} has an operation under way")
        back = self._put(replace(entry, target=None, tab_id=None, closing_until=None, vanished_at=None))
        operation = Operation(entry.id, Kind.RESTORE)
        self.operations[entry.id] = operation
        return [SaveEntry(back), SaveOperation(operation), ListChanged()]

    def _alarm(self, now: float) -> list[Effect]:
        effects: list[Effect] = []
        for entry in list(self.entries.values()):
            if entry.id in self.operations:
                continue
            if entry.closing_until is not None:
                effects += self._end_if_due(entry, entry.closing_until, now, "closed")
            elif entry.vanished_at is not None and self.connected and self.answering:
                effects += self._end_if_due(entry, entry.vanished_at + PATIENCE, now, "page")
        return effects

    def _end_if_due(self, entry: Entry, due: float, now: float, reason: str) -> list[Effect]:
        if now < due:  # a stale alarm, or one that rang within the clock's resolution
            return [RingAt(due)]
        if self.unclaimed:
            return [RingAt(now + 1.0)]  # a target that has no id yet may be its own
        if entry.target is not None:
            # The page does not go: its id stays until it has, so that it never gets another.
            return [CloseTarget(entry.target), RingAt(now + 1.0)]
        del self.entries[entry.id]
        return [DropEntry(entry, reason), ListChanged()]


def load(
    new_id: Callable[[], str],
    *,
    instance: str | None,
    entries: Iterable[Entry],
    operations: Iterable[Operation],
    spare: str | None,
) -> Ids:
    """The map as the store has it, not connected yet."""
    return Ids(
        new_id=new_id,
        instance=instance,
        entries={entry.id: entry for entry in entries},
        operations={operation.id: operation for operation in operations},
        spare=spare,
    )
