"""What the bridge extension knows of tabs: their state, their news, and those that were closed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BridgeTab:
    """One tab as Chromium's own tab strip knows it.

    Attributes:
        tab_id: `chrome.tabs` id; it changes when the tab falls asleep.
        window_id: id of its window.
        discarded: whether it sleeps.
        audible: whether it makes sound.
        title, url: cut to 256 and 2,048 UTF-16 units.
        icon: its icon as a data: address of at most 32 KiB; "" when it has none or it is not known yet.
        opener: tab id of the tab that opened it.
        replaces: the tab id whose place it took when it fell asleep.
    """

    tab_id: int
    window_id: int
    discarded: bool
    audible: bool
    title: str
    icon: str
    url: str
    opener: int | None = None
    replaces: int | None = None


@dataclass(frozen=True)
class ClosedEntry:
    """A tab that Chromium can reopen with its history; `at` is in seconds since 1970."""

    session_id: str
    url: str
    title: str
    at: float


@dataclass(frozen=True)
class TabUpdated:
    """Something of a tab changed; None where it did not.

    Attributes:
        icon: as a data: address; "" says that it has none.
        status: "loading", "complete", "unloaded".
    """

    tab_id: int
    title: str | None = None
    icon: str | None = None
    url: str | None = None
    status: str | None = None
    audible: bool | None = None
    discarded: bool | None = None


@dataclass(frozen=True)
class TabReplaced:
    """A tab fell asleep: tab id `removed` is `added` from now on."""

    added: int
    removed: int


BridgeEvent = TabUpdated | TabReplaced


def tab_from(shown: dict[str, Any]) -> BridgeTab:
    """A `BridgeTab` from what the worker's `shown` made."""
    return BridgeTab(
        tab_id=shown["tab"],
        window_id=shown["window"],
        discarded=shown["discarded"],
        audible=shown["audible"],
        title=shown["title"],
        icon=shown["icon"],
        url=shown["url"],
        opener=shown["opener"],
        replaces=shown["replaces"],
    )
