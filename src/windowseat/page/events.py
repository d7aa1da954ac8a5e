"""What a page tells: typed, past tense, delivered synchronously in the order the browser sent it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windowseat.page.choosers import Chooser
    from windowseat.page.dialogs import Dialog


@dataclass(frozen=True)
class Changed:
    """One of `url`, `title`, `icon`, `loading`, `can_back`, `can_forward`, `unresponsive` or
    `crashed` differs from before.
    """


@dataclass(frozen=True)
class Navigated:
    """The main frame shows another document.

    Attributes:
        document: the browser's id of that document (its loader id).
        url: its address, cut to 2,048 characters.
        restored: whether it came back out of the back/forward cache.
    """

    document: str
    url: str
    restored: bool = False


@dataclass(frozen=True)
class DialogOpened:
    """The page stands still until somebody answers `dialog`."""

    dialog: Dialog


@dataclass(frozen=True)
class DialogClosed:
    """The dialog of this id was answered by somebody, or its page went."""

    dialog: str


@dataclass(frozen=True)
class ChooserOpened:
    """The page asks for files."""

    chooser: Chooser


@dataclass(frozen=True)
class ChooserClosed:
    """The chooser of this id was answered, or its page went."""

    chooser: str


@dataclass(frozen=True)
class WindowOpened:
    """The page is opening another tab at `url` (which may be empty)."""

    url: str


@dataclass(frozen=True)
class DownloadBegan:
    """The page started a download. `name` is what the site suggests to call it."""

    url: str
    name: str


@dataclass(frozen=True)
class Crashed:
    """The page's process ended; a reload brings it back (and `Navigated` comes then)."""


@dataclass(frozen=True)
class Gone:
    """The tab's target or the browser ended; this `Page` is of no use any more."""


PageEvent = (
    Changed
    | Navigated
    | DialogOpened
    | DialogClosed
    | ChooserOpened
    | ChooserClosed
    | WindowOpened
    | DownloadBegan
    | Crashed
    | Gone
)
