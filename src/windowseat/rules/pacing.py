"""When does one viewer get the next picture, and how fine may a tab's pictures be?

Latest picture wins: a viewer has at most `MOST` pictures under way, and what comes meanwhile
replaces what waits. A viewer whose acknowledgements are slow has one under way only, since a
second would be old before it is drawn. A `Pace` knows no picture, only numbers: the caller keeps
the latest picture and sends it when a step says so. Times are seconds of any steady clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

MOST: Final = 2
# From these lags on a viewer counts as slow, and as quick again (seconds). Between them nothing
# changes, so that one hiccup does not make the window swing.
SLOW_LAG: Final = 0.25
QUICK_LAG: Final = 0.12
# How much of a new, lower lag is believed at once; a higher one is believed whole.
TRUST: Final = 0.3


@dataclass(frozen=True)
class Offered:
    """A newer picture is there."""


@dataclass(frozen=True)
class Acked:
    """The viewer has drawn picture `n`, and so will not draw an earlier one any more."""

    n: int


@dataclass(frozen=True)
class Hidden:
    """Nobody looks at the viewer's page."""


@dataclass(frozen=True)
class Shown:
    """Somebody looks again: the latest picture is owed."""


Event = Offered | Acked | Hidden | Shown


@dataclass(frozen=True)
class Pace:
    """One viewer's pace.

    Attributes:
        next_n: the number of the next picture; they count up from 1.
        under_way: number and sending time of each picture not yet acknowledged, oldest first.
        waiting: whether a newer picture than the last one sent is there.
        shown: whether somebody looks.
        lag: seconds from sending to acknowledgement, smoothed downwards; None before the first.
        window: how many pictures may be under way now.
        dropped: pictures that a newer one replaced before they were sent.
    """

    next_n: int = 1
    under_way: tuple[tuple[int, float], ...] = ()
    waiting: bool = False
    shown: bool = True
    lag: float | None = None
    window: int = MOST
    dropped: int = 0


def step(pace: Pace, event: Event, now: float) -> tuple[Pace, int | None]:
    """Return the next pace, and the number under which to send the latest picture now, if at all.

    Raises:
        ValueError: a picture was acknowledged that was never sent; nothing has changed then.
    """
    match event:
        case Offered():
            missed = pace.waiting and pace.shown
            pace = replace(pace, waiting=True, dropped=pace.dropped + missed)
        case Acked(n):
            pace = _acknowledged(pace, n, now)
        case Hidden():
            pace = replace(pace, shown=False)
        case Shown():
            pace = replace(pace, shown=True, waiting=True)
    return _send(pace, now)


def _acknowledged(pace: Pace, n: int, now: float) -> Pace:
    if not 1 <= n < pace.next_n:
        raise ValueError(f"picture {n} was never sent")
    sent = next((at for number, at in pace.under_way if number == n), None)
    if sent is None:  # acknowledged twice, or an earlier one after a later one
        return pace
    took = now - sent
    lag = took if pace.lag is None or took > pace.lag else pace.lag + TRUST * (took - pace.lag)
    window = pace.window
    if lag > SLOW_LAG:
        window = 1
    elif lag < QUICK_LAG:
        window = MOST
    left = tuple(entry for entry in pace.under_way if entry[0] > n)
    return replace(pace, under_way=left, lag=lag, window=window)


def _send(pace: Pace, now: float) -> tuple[Pace, int | None]:
    if not (pace.waiting and pace.shown):
        return pace, None
    if pace.under_way and now - pace.under_way[0][1] > SLOW_LAG:
        # Its acknowledgement is overdue: do not wait for it to learn that this viewer is slow.
        pace = replace(pace, window=1)
    if len(pace.under_way) >= pace.window:
        return pace, None
    n = pace.next_n
    under_way = (*pace.under_way, (n, now))
    return replace(pace, next_n=n + 1, under_way=under_way, waiting=False), n


def lag_of(pace: Pace, now: float) -> float | None:
    """How far behind this viewer is, in seconds, an overdue acknowledgement included."""
    if not pace.under_way:
        return pace.lag
    overdue = now - pace.under_way[0][1]
    return overdue if pace.lag is None else max(pace.lag, overdue)


@dataclass(frozen=True)
class Fineness:
    """What one screencast asks for: JPEG quality 0 to 100, and the share of the page's size."""

    quality: int
    scale: float


# From the finest on. Every viewer of a tab gets the same pictures, so a coarser step is taken
# only when all of them are slow.
STEPS: Final = (Fineness(70, 1.0), Fineness(45, 1.0), Fineness(40, 0.6), Fineness(30, 0.4))
COARSER_LAG: Final = 0.5
FINER_LAG: Final = 0.1


def fineness(level: int, lags: Iterable[float | None]) -> int:
    """The index into `STEPS` to use next, at most one away from `level`.

    Args:
        level: the index in use.
        lags: of every viewer that looks; None where it is not known yet.
    """
    known = [lag for lag in lags if lag is not None]
    if not known:
        return level
    quickest = min(known)
    if quickest > COARSER_LAG:
        return min(level + 1, len(STEPS) - 1)
    if quickest < FINER_LAG:
        return max(level - 1, 0)
    return level
