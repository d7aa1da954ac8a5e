"""Reads the boot clock: the moments that `rules.clock` compares (contract C4)."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

from windowseat.rules.clock import BootTime


@lru_cache(maxsize=1)
def boot_id() -> str:
    """The kernel's id of the boot that runs now."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def boot_now() -> BootTime:
    """This moment. `CLOCK_BOOTTIME` goes on while the machine sleeps and never steps."""
    return BootTime(boot_id(), time.clock_gettime(time.CLOCK_BOOTTIME))
