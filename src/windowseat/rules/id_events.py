"""What `rules.ids` is told and what it answers: nouns, events (past tense), effects (imperative)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PATIENCE: Final = 5.0
UNDO: Final = 8.0
BLANK: Final = "about:blank"
SPARE_URL: Final = "about:blank#windowseat-spare"


def placeholder_url(id: str) -> str:
    """The address of a page that is made for `id`: a hub that finds it knows whose it is."""
    return f"{BLANK}#windowseat-{id}"


class Kind(StrEnum):
    """What an operation does to the target of its id."""

    CREATE = "create"
    SLEEP = "sleep"
    WAKE = "wake"
    RESTORE = "restore"
    SPARE = "spare"


SPARE_OPERATION: Final = "spare"


@dataclass(frozen=True)
class Operation:
    """A change of target under way. `id` is a tab's, or `SPARE_OPERATION`."""

    id: str
    kind: Kind


@dataclass(frozen=True)
class Entry:
    """One id that has not ended.

    Attributes:
        target: its target now, also that of a page put to sleep; None while it has none.
        tab_id: the browser's own number for it (`chrome.tabs`), of this browser instance.
        asleep: its page is put away; `target` is then not shown to anyone.
        closing_until: closed for everyone; the Undo ends then.
        vanished_at: its target went then without an order.
    """

    id: str
    target: str | None = None
    tab_id: int | None = None
    url: str = BLANK
    session: str | None = None
    opener: str | None = None
    asleep: bool = False
    closing_until: float | None = None
    vanished_at: float | None = None

    @property
    def closing(self) -> bool:
        """Whether it was closed for everyone and may still be brought back by Undo."""
        return self.closing_until is not None


@dataclass(frozen=True)
class Seen:
    """A page target as `Target.targetCreated` or `Target.getTargets` tells of it."""

    target: str
    url: str = ""
    opener: str | None = None  # the opener's target


@dataclass(frozen=True)
class Described:
    """What the bridge extension knows of a target.

    Attributes:
        replaces: the tab id whose place this one took (`chrome.tabs.onReplaced`).
        opener_tab: the tab id of the page that opened it, where the browser keeps it.
    """

    tab_id: int | None = None
    discarded: bool = False
    replaces: int | None = None
    opener_tab: int | None = None


# -- events --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Connected:
    """A pipe to the browser is there. `instance` names one start of Chromium."""

    instance: str
    seen: tuple[Seen, ...]


@dataclass(frozen=True)
class Mapped:
    """The bridge described the targets after `Connected`; those it could not are left out."""

    described: Mapping[str, Described]


@dataclass(frozen=True)
class Disconnected:
    """The pipe ended."""


@dataclass(frozen=True)
class Unanswered:
    """The browser did not answer within 10 s: it counts as not connected, though its pipe is open (C4)."""


@dataclass(frozen=True)
class Answered:
    """It answers, perhaps again."""


@dataclass(frozen=True)
class TargetSeen:
    """`Target.targetCreated`, or a row of `Target.getTargets`."""

    seen: Seen


@dataclass(frozen=True)
class TargetGone:
    """`Target.targetDestroyed`."""

    target: str


@dataclass(frozen=True)
class TargetDescribed:
    """The answer to a `Describe` effect; `described` is empty where the bridge knows nothing."""

    target: str
    described: Described


@dataclass(frozen=True)
class Begun:
    """An operation is about to ask the browser. `entry` only for `Kind.CREATE`."""

    operation: Operation
    entry: Entry | None = None


@dataclass(frozen=True)
class Done:
    """An operation got its target; None for one that was put to sleep and has none."""

    id: str
    target: str | None
    tab_id: int | None = None
    asleep: bool = False


@dataclass(frozen=True)
class Failed:
    """An operation changed nothing. `end`: its id shall not stay (a tab that never came)."""

    id: str
    end: bool = False


@dataclass(frozen=True)
class SpareTaken:
    """A new id takes the spare window; only while `Ids.spare` is not None."""

    entry: Entry


@dataclass(frozen=True)
class Numbered:
    """The bridge told the browser's own number of a tab; nothing where the id or target has changed."""

    id: str
    target: str
    tab_id: int


@dataclass(frozen=True)
class ClosedForEveryone:
    """A person or a session closes a tab; its page goes at once, its id after the Undo."""

    id: str


@dataclass(frozen=True)
class Reopened:
    """A closed tab (within its Undo or after it) is to come back under its id."""

    entry: Entry


@dataclass(frozen=True)
class AlarmRang:
    """A time asked for by `RingAt` has come; ringing too early or twice does no harm."""


Event = (
    Connected
    | Mapped
    | Disconnected
    | Unanswered
    | Answered
    | TargetSeen
    | TargetGone
    | TargetDescribed
    | Begun
    | Done
    | Failed
    | SpareTaken
    | Numbered
    | ClosedForEveryone
    | Reopened
    | AlarmRang
)

# -- effects -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SaveEntry:
    """The store must have this entry."""

    entry: Entry


@dataclass(frozen=True)
class DropEntry:
    """The id ended. `reason`: "closed", "page" or "lost"."""

    entry: Entry
    reason: str


@dataclass(frozen=True)
class SaveOperation:
    """The store must have this operation before the browser is asked."""

    operation: Operation


@dataclass(frozen=True)
class DropOperation:
    """The operation has ended."""

    id: str


@dataclass(frozen=True)
class SaveSpare:
    """The spare window's target, or that there is none."""

    target: str | None


@dataclass(frozen=True)
class SaveInstance:
    """The start of Chromium that the targets belong to."""

    instance: str


@dataclass(frozen=True)
class DescribeAll:
    """Ask the bridge for all targets and feed `Mapped`."""


@dataclass(frozen=True)
class Describe:
    """Ask the bridge for one target and feed `TargetDescribed`."""

    target: str


@dataclass(frozen=True)
class CloseTarget:
    """Ask the browser to end this page."""

    target: str


@dataclass(frozen=True)
class Adopted:
    """A target nobody ordered has its id: a page opened it, or an earlier hub did not get to it."""

    entry: Entry


@dataclass(frozen=True)
class Rebound:
    """An id has this target now; told for every id once the targets are mapped."""

    entry: Entry


@dataclass(frozen=True)
class Unbound:
    """The target of an id went."""

    id: str


@dataclass(frozen=True)
class RingAt:
    """Feed `AlarmRang` at this time."""

    at: float


@dataclass(frozen=True)
class ListChanged:
    """A tab list taken now would differ in more than addresses and titles."""


Effect = (
    SaveEntry
    | DropEntry
    | SaveOperation
    | DropOperation
    | SaveSpare
    | SaveInstance
    | DescribeAll
    | Describe
    | CloseTarget
    | Adopted
    | Rebound
    | Unbound
    | RingAt
    | ListChanged
)
