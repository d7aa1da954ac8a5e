"""One tab, as the hub knows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Tab:
    """A page of the browser under an id that outlives sleeping, restoring and a browser restart.

    Attributes:
        id: ours, for example "t7k2m9qx4d".
        target: its DevTools target id now; None while it has none (asleep, moving, coming back,
            closed within its Undo, vanished within the last 5 s).
        url, title: as last read, cut to 2,048 and 256 characters.
        icon: its icon as a data: address, "" when it has none or none is known yet.
        opener: id of the tab whose page opened it.
        session: the session it belongs to, or None for a person's own.
        asleep: whether its page is put away until somebody uses it.
        closes_at: CLOCK_BOOTTIME seconds at which a closed tab's Undo ends; None while it is open.
        restorable: whether `restore` can bring it back (closed for everyone, at most a day ago).
        opened_at: wall-clock seconds, for people.
    """

    id: str
    target: str | None = None
    url: str = "about:blank"
    title: str = ""
    icon: str = ""
    opener: str | None = None
    session: str | None = None
    asleep: bool = False
    closes_at: float | None = None
    opened_at: float = 0.0
    crashed: bool = False
    loading: bool = False
    audible: bool = False
