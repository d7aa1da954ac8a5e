"""Ids and targets under random histories: a model browser, a hub that is killed, a browser that is."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windowseat.rules import ids
from windowseat.rules.ids import (
    PATIENCE,
    SPARE_OPERATION,
    SPARE_URL,
    UNDO,
    Described,
    Entry,
    Ids,
    Kind,
    Operation,
    Seen,
    placeholder_url,
)

STEPS = [
    "pop_up",
    "self_close",
    "own_discard",
    "deliver",
    "deliver",
    "deliver",
    "answer",
    "answer",
    "open",
    "sleep",
    "wake",
    "close",
    "reopen",
    "spare",
    "act",
    "act",
    "time",
    "silence",
    "crash_hub",
    "crash_browser",
]


@dataclass
class ModelPage:
    """One page of the model browser. `id` is what the hub called it first, for ever its name."""

    target: str
    tab_id: int
    url: str
    opener: str | None = None
    discarded: bool = False
    replaces: int | None = None
    id: str | None = None


@dataclass
class Stored:
    """What the effects put into the store: all that a killed hub leaves."""

    instance: str | None = None
    entries: dict[str, Entry] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    spare: str | None = None


class World:
    """Hub, store and browser, with events that arrive in order but late."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 100.0
        self.count = 0
        self.store = Stored()
        self.pages: list[ModelPage] = []
        self.instance = "b1"
        self.queue: list[ids.Event] = []
        self.asked: list[str] = []
        self.ask_all = False
        self.ended: dict[str, str] = {}
        self.running: dict[str, Kind] = {}  # operations whose browser part has not happened yet
        self.told: set[str] = set()
        self.hub = self._load()
        self.connect()

    # -- the hub ---------------------------------------------------------------------------

    def _fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def _load(self) -> Ids:
        return ids.load(
            lambda: self._fresh("id"),
            instance=self.store.instance,
            entries=self.store.entries.values(),
            operations=self.store.operations.values(),
            spare=self.store.spare,
        )

    def feed(self, event: ids.Event) -> None:
        for effect in self.hub.feed(event, self.now):
            self._take(effect)
        self.check()

    def _take(self, effect: ids.Effect) -> None:
        store = self.store
        match effect:
            case ids.SaveEntry(entry):
                store.entries[entry.id] = replace(entry, vanished_at=None)
            case ids.DropEntry(entry, reason):
                del store.entries[entry.id]
                self.ended[entry.id] = reason
            case ids.SaveOperation(operation):
                store.operations[operation.id] = operation
            case ids.DropOperation(id):
                store.operations.pop(id, None)
            case ids.SaveSpare(target):
                store.spare = target
            case ids.SaveInstance(instance):
                store.instance = instance
            case ids.Describe(target):
                self.asked.append(target)
            case ids.DescribeAll():
                self.ask_all = True
            case ids.CloseTarget(target):
                self.remove(target)
            case ids.Adopted(entry):
                self._name(entry)
            case _:
                pass

    def _name(self, entry: Entry) -> None:
        page = self.page(entry.target)
        if page is None:
            return
        assert page.id is None or page.id == entry.id, f"page of {page.id} was called {entry.id}"
        page.id = entry.id

    def connect(self) -> None:
        self.queue.clear()
        self.asked.clear()
        self.running.clear()
        self.feed(ids.Connected(self.instance, tuple(Seen(p.target, p.url, p.opener) for p in self.pages)))

    def crash_hub(self) -> None:
        self.hub = self._load()
        self.connect()

    def crash_browser(self) -> None:
        self.pages.clear()
        self.feed(ids.Disconnected())
        self.instance = self._fresh("b")
        self.connect()

    # -- the browser -----------------------------------------------------------------------

    def page(self, target: str | None) -> ModelPage | None:
        return next((p for p in self.pages if p.target == target), None)

    def appear(self, url: str, opener: str | None = None) -> ModelPage:
        page = ModelPage(self._fresh("t"), self.random.randrange(10**9), url, opener)
        self.pages.append(page)
        self.queue.append(ids.TargetSeen(Seen(page.target, url, opener)))
        return page

    def remove(self, target: str) -> None:
        page = self.page(target)
        if page is not None:
            self.pages.remove(page)
            self.queue.append(ids.TargetGone(target))

    def discard(self, page: ModelPage) -> None:
        old, old_tab = page.target, page.tab_id
        page.target, page.tab_id = self._fresh("t"), self.random.randrange(10**9)
        page.replaces, page.discarded = old_tab, True
        self.queue.append(ids.TargetSeen(Seen(page.target, page.url, page.opener)))
        self.queue.append(ids.TargetGone(old))

    def described(self, page: ModelPage) -> Described:
        return Described(page.tab_id, page.discarded, page.replaces)

    # -- steps -----------------------------------------------------------------------------

    def step(self) -> None:
        name = self.random.choice(STEPS)
        if name.startswith("crash") and self.random.random() < 0.6:
            return
        getattr(self, f"do_{name}", getattr(self, name, None))()  # type: ignore[misc]

    def do_pop_up(self) -> None:
        awake = [p for p in self.pages if not p.discarded]
        opener = self.random.choice(awake).target if awake else None
        self.appear("http://a/popup", opener)

    def do_self_close(self) -> None:
        mine = [p for p in self.pages if p.id is not None]
        if mine:
            self.remove(self.random.choice(mine).target)

    def do_own_discard(self) -> None:
        # Only pages whose number the hub knows: before that a discard cannot be told from a new tab.
        known = {e.tab_id for e in self.hub.entries.values()}
        mine = [p for p in self.pages if not p.discarded and p.tab_id in known]
        if mine and not self.hub.operations:
            self.discard(self.random.choice(mine))

    def do_deliver(self) -> None:
        if self.queue:
            self.feed(self.queue.pop(0))

    def do_answer(self) -> None:
        if self.ask_all:
            self.ask_all = False
            self.feed(ids.Mapped({p.target: self.described(p) for p in self.pages}))
        elif self.asked:
            target = self.asked.pop(0)
            page = self.page(target)
            self.feed(ids.TargetDescribed(target, Described() if page is None else self.described(page)))

    def do_open(self) -> None:
        if not self.hub.mapped:
            return
        entry = Entry(self._fresh("id"), url=f"http://a/{self.count}")
        self.told.add(entry.id)
        if self.hub.spare is not None and self.page(self.hub.spare) is not None:
            page = self.page(self.hub.spare)
            assert page is not None
            self.feed(ids.SpareTaken(entry))
            page.id, page.url = entry.id, entry.url
            self.feed(ids.Numbered(entry.id, page.target, page.tab_id))
            return
        self.feed(ids.Begun(Operation(entry.id, Kind.CREATE), entry))
        self.running[entry.id] = Kind.CREATE

    def do_spare(self) -> None:
        if self.hub.mapped and self.hub.spare is None and SPARE_OPERATION not in self.hub.operations:
            self.feed(ids.Begun(Operation(SPARE_OPERATION, Kind.SPARE)))
            self.running[SPARE_OPERATION] = Kind.SPARE

    def _free(self) -> list[Entry]:
        if not self.hub.mapped:
            return []
        return [e for e in self.hub.entries.values() if e.id not in self.hub.operations]

    def do_sleep(self) -> None:
        ready = [e for e in self._free() if e.target and not e.asleep and not e.closing and e.tab_id]
        if ready:
            entry = self.random.choice(ready)
            self.feed(ids.Begun(Operation(entry.id, Kind.SLEEP)))
            self.running[entry.id] = Kind.SLEEP

    def do_wake(self) -> None:
        ready = [e for e in self._free() if e.asleep and not e.closing]
        if ready:
            entry = self.random.choice(ready)
            self.feed(ids.Begun(Operation(entry.id, Kind.WAKE)))
            self.running[entry.id] = Kind.WAKE

    def do_close(self) -> None:
        ready = [e for e in self._free() if not e.closing]
        if ready:
            self.feed(ids.ClosedForEveryone(self.random.choice(ready).id))

    def do_reopen(self) -> None:
        ready = [e for e in self._free() if e.closing and e.target is None]
        if ready and not self.hub.unclaimed:
            entry = self.random.choice(ready)
            self.feed(ids.Reopened(replace(entry, asleep=False)))
            self.running[entry.id] = Kind.RESTORE

    def do_act(self) -> None:
        """The browser carries out an operation; what it tells of it comes before its answer."""
        if not self.running:
            return
        id = self.random.choice(list(self.running))
        kind = self.running.pop(id)
        if self.random.random() < 0.1:
            self.feed(ids.Failed(id, end=kind is Kind.CREATE))
            return
        done = self._carry_out(id, kind)
        if self.random.random() < 0.15:
            self.crash_hub()  # after the browser acted, before the hub heard of it
            return
        while self.queue:
            self.do_deliver()
        if done is None:
            self.feed(ids.Failed(id, end=kind is Kind.CREATE))
        elif id in self.hub.operations:
            self.feed(done)

    def _carry_out(self, id: str, kind: Kind) -> ids.Done | None:
        entry = self.hub.entries.get(id)
        page = self.page(None if entry is None else entry.target)
        if kind is Kind.SPARE:
            page = self.appear(SPARE_URL)
            return ids.Done(id, page.target)
        assert entry is not None
        if kind is Kind.SLEEP:
            if page is None:
                return None
            self.discard(page)
        elif kind is Kind.WAKE and page is not None:
            page.discarded = False
        else:
            page = self.appear(placeholder_url(id))
            page.id = id
        return ids.Done(id, page.target, page.tab_id, asleep=page.discarded)

    def do_silence(self) -> None:
        if self.hub.connected:
            self.feed(ids.Unanswered() if self.hub.answering else ids.Answered())

    def do_time(self) -> None:
        self.now += self.random.choice([0.5, PATIENCE, UNDO])
        self.feed(ids.AlarmRang())

    do_crash_hub = crash_hub
    do_crash_browser = crash_browser

    # -- what must hold --------------------------------------------------------------------

    def check(self) -> None:
        targets = [e.target for e in self.hub.entries.values() if e.target is not None]
        assert len(targets) == len(set(targets)), "two ids share a target"
        assert self.hub.spare not in targets, "the spare window is somebody's tab"
        assert not set(self.hub.entries) & set(self.ended), "an ended id came back by itself"
        assert self.hub.entries.keys() == self.store.entries.keys(), "the store knows other ids"
        assert self.hub.operations == self.store.operations
        assert self.hub.spare == self.store.spare
        for entry in self.hub.entries.values():
            assert self.store.entries[entry.id] == replace(entry, vanished_at=None)
        for page in self.pages:
            if page.id is not None and page.id not in self.hub.entries:
                assert page.id in self.ended, f"live page {page.id} lost its id"
                raise AssertionError(f"{page.id} ended ({self.ended[page.id]}) while its page lives")

    def settle(self) -> None:
        """Let everything arrive, then each page has its id and each awake id its page."""
        while self.running:
            self.do_act()
        for _ in range(1000):
            if not (self.queue or self.asked or self.ask_all):
                break
            self.do_deliver()
            self.do_answer()
        for page in self.pages:
            if page.target == self.hub.spare:
                continue
            entry = self.hub.of_target(page.target)
            assert entry is not None, f"{page} has no id"
            assert page.id in (None, entry.id), f"{page.id} is now {entry.id}"
        for entry in self.hub.entries.values():
            if entry.target is not None:
                assert self.page(entry.target) is not None, f"{entry} has a target that is gone"
        for id in self.told:
            assert id in self.hub.entries or id in self.ended, f"{id} was told and is nowhere"


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32))
def test_an_id_stays_with_its_page_through_any_history(seed: int) -> None:
    world = World(seed)
    for _ in range(80):
        world.step()
    world.settle()


def hub(**entries: Entry) -> Ids:
    return ids.load(lambda: "fresh", instance="b", entries=entries.values(), operations=[], spare=None)


def test_a_page_that_goes_by_itself_ends_after_five_connected_seconds() -> None:
    state = hub(a=Entry("a", "t1"))
    state.feed(ids.Connected("b", (Seen("t1"),)), 0)
    state.feed(ids.Mapped({}), 0)
    effects = state.feed(ids.TargetGone("t1"), 10)
    assert ids.RingAt(10 + PATIENCE) in effects
    assert not any(isinstance(e, ids.DropEntry) for e in state.feed(ids.AlarmRang(), 10 + PATIENCE - 0.01))
    assert "a" in state.entries
    dropped = [e for e in state.feed(ids.AlarmRang(), 10 + PATIENCE) if isinstance(e, ids.DropEntry)]
    assert [(d.entry.id, d.reason) for d in dropped] == [("a", "page")]


def test_a_browser_that_quits_window_by_window_loses_no_id() -> None:
    state = hub(a=Entry("a", "t1"), b=Entry("b", "t2"))
    state.feed(ids.Connected("b", (Seen("t1"), Seen("t2"))), 0)
    state.feed(ids.Mapped({}), 0)
    state.feed(ids.TargetGone("t1"), 1)
    state.feed(ids.TargetGone("t2"), 1.2)
    state.feed(ids.Disconnected(), 1.3)
    assert not state.may_list()
    state.feed(ids.AlarmRang(), 60)
    state.feed(ids.Connected("b2", ()), 61)
    state.feed(ids.Mapped({}), 61)
    state.feed(ids.AlarmRang(), 120)
    assert {e.id: e.asleep for e in state.entries.values()} == {"a": True, "b": True}


def test_a_browser_that_does_not_answer_ends_no_id() -> None:
    state = hub(a=Entry("a", "t1"))
    state.feed(ids.Connected("b", (Seen("t1"),)), 0)
    state.feed(ids.Mapped({}), 0)
    state.feed(ids.TargetGone("t1"), 1)
    state.feed(ids.Unanswered(), 2)
    assert not state.may_list()
    state.feed(ids.AlarmRang(), 60)
    assert "a" in state.entries
    assert ids.RingAt(60 + PATIENCE) in state.feed(ids.Answered(), 60)
    state.feed(ids.AlarmRang(), 60 + PATIENCE - 0.1)
    assert "a" in state.entries
    state.feed(ids.AlarmRang(), 60 + PATIENCE)
    assert "a" not in state.entries


def test_no_list_before_the_targets_are_mapped() -> None:
    state = hub(a=Entry("a", "t1"))
    assert not state.may_list()
    state.feed(ids.Connected("b", (Seen("t1"),)), 0)
    assert not state.may_list()
    state.feed(ids.Mapped({}), 0)
    assert state.may_list()


def test_an_unknown_target_waits_for_open_operations() -> None:
    state = hub(a=Entry("a", "t1", tab_id=1))
    state.feed(ids.Connected("b", (Seen("t1"),)), 0)
    state.feed(ids.Mapped({"t1": Described(1)}), 0)
    state.feed(ids.Begun(Operation("a", Kind.SLEEP)), 0)
    assert state.feed(ids.TargetSeen(Seen("t2")), 0) == []
    assert state.shown_target("a") is None
    state.feed(ids.TargetGone("t1"), 0)
    state.feed(ids.Done("a", "t2", 2, asleep=True), 0)
    assert list(state.entries) == ["a"]
    assert state.entries["a"].target == "t2"


def test_a_discard_of_chromiums_own_keeps_the_id() -> None:
    state = hub(a=Entry("a", "t1", tab_id=1))
    state.feed(ids.Connected("b", (Seen("t1"),)), 0)
    state.feed(ids.Mapped({"t1": Described(1)}), 0)
    assert ids.Describe("t2") in state.feed(ids.TargetSeen(Seen("t2")), 0)
    state.feed(ids.TargetGone("t1"), 0)
    state.feed(ids.TargetDescribed("t2", Described(2, discarded=True, replaces=1)), 0)
    assert list(state.entries) == ["a"]
    assert (state.entries["a"].target, state.entries["a"].asleep) == ("t2", True)


def test_a_pop_up_belongs_to_its_openers_session() -> None:
    state = hub(a=Entry("a", "t1", session="codex-1"))
    state.feed(ids.Connected("b", (Seen("t1"),)), 0)
    state.feed(ids.Mapped({}), 0)
    state.feed(ids.TargetSeen(Seen("t2", "http://x/", "t1")), 0)
    state.feed(ids.TargetDescribed("t2", Described()), 0)
    assert state.entries["fresh"].session == "codex-1"
    assert state.entries["fresh"].opener == "a"


def test_undo_within_the_eight_seconds_and_the_end_after_them() -> None:
    state = hub(a=Entry("a", "t1"))
    state.feed(ids.Connected("b", (Seen("t1"),)), 0)
    state.feed(ids.Mapped({}), 0)
    assert ids.CloseTarget("t1") in state.feed(ids.ClosedForEveryone("a"), 1)
    with pytest.raises(ids.UnknownIdError):
        state.feed(ids.Reopened(state.entries["a"]), 1)  # its page has not gone yet
    state.feed(ids.TargetGone("t1"), 1)
    assert state.entries["a"].closing
    state.feed(ids.AlarmRang(), 1 + UNDO - 0.1)
    assert "a" in state.entries
    state.feed(ids.AlarmRang(), 1 + UNDO)
    assert "a" not in state.entries
