"""The boot clock's order (contract C4): when one moment is provably later than another.

A moment is a boot's id and the seconds since that boot. The wall clock is never asked: it can
step. Boot ids have no order among themselves, so every boot but the current one counts as
earlier. Reading the clock is `hub.clock`'s; here are only the comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BootTime:
    """A moment: `boot` is the kernel's boot id, `at` seconds since that boot (C4's `{"boot","at"}`)."""

    boot: str
    at: float

    def as_dict(self) -> dict[str, Any]:
        """The object that stands in lists, holder files and API answers."""
        return {"boot": self.boot, "at": self.at}

    def plus(self, seconds: float) -> BootTime:
        """The moment so many seconds later in the same boot."""
        return BootTime(self.boot, self.at + seconds)

    def rounded_up(self, step: float) -> BootTime:
        """The next whole multiple of `step` seconds: how a record's time is kept (C4, Records).

        A moment that is a multiple already goes one step on, so that the result is never earlier
        than a clock that was cut down to `step`.
        """
        return BootTime(self.boot, (math.floor(self.at / step) + 1) * step)


def read_boot_time(found: object) -> BootTime | None:
    """The moment in a parsed JSON value, or None if it is not one (a file of another's making)."""
    if not isinstance(found, Mapping):
        return None
    boot, at = found.get("boot"), found.get("at")
    if not isinstance(boot, str) or not boot:
        return None
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at):
        return None
    return BootTime(boot, float(at))


def is_later(moment: BootTime, than: BootTime | None, *, current_boot: str) -> bool:
    """Whether `moment` is strictly later than `than`, as far as anyone can know.

    Two moments of one boot compare by their seconds. A moment of the current boot is later than
    one of any other boot, and than one that was never recorded (None). Two moments of different
    earlier boots cannot be ordered: then nothing is later.
    """
    if than is not None and moment.boot == than.boot:
        return moment.at > than.at
    return moment.boot == current_boot


def may_drop(taken: BootTime, recorded: BootTime | None, *, current_boot: str) -> bool:
    """Whether a list without an id may end a record of it (C4, Reconciliation).

    Args:
        taken: the stamp of the tab list that does not have the id.
        recorded: when the app recorded the id; None counts as an earlier boot.
        current_boot: the boot that runs now. A list of another boot says nothing.
    """
    if taken.boot != current_boot:
        return False
    return is_later(taken, recorded, current_boot=current_boot)
