"""What the hub tells: typed, past tense, delivered synchronously to every subscriber."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TabsChanged:
    """Something that a list of tabs shows has changed for these ids (new and ended ones too)."""

    ids: frozenset[str]


@dataclass(frozen=True)
class TabOpened:
    """A new tab has its id. `opener` is the id of the tab whose page opened it, if one did."""

    tab: str
    opener: str | None


@dataclass(frozen=True)
class TabEnded:
    """An id ended. `reason`: "closed" (for everyone), "page" (it closed itself), "lost"."""

    tab: str
    reason: str


@dataclass(frozen=True)
class PageReplaced:
    """The tab's `Page` came, was exchanged for another, or went; ask `Hub.live_page` again."""

    tab: str


@dataclass(frozen=True)
class Activity:
    """What an agent does in a tab, for people who watch it.

    Attributes:
        session: the agent's session name.
        line: one short line of text, "clicks button “Pay now”"; never a typed password.
        x, y: CSS pixels of the page's viewport, where there is a place.
        kind: "move", "click" or "note".
    """

    tab: str
    session: str
    line: str
    x: float | None = None
    y: float | None = None
    kind: str = "note"


HubEvent = TabsChanged | TabOpened | TabEnded | PageReplaced | Activity
