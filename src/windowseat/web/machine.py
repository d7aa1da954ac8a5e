"""Memory of this machine and of the browser, for the Launchpad's bar. Linux, through psutil."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

# cgroup v2 and v1: a container's own limit, where there is one.
_LIMITS: Final = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


@dataclass(frozen=True)
class MachineMemory:
    """Bytes. `browser` is what Chromium's processes have for themselves, `used` includes it."""

    total: int
    used: int
    browser: int

    def as_dict(self) -> dict[str, Any]:
        """The object in overviews: total, browser, rest, free."""
        browser = min(self.browser, self.used)
        return {
            "total": self.total,
            "browser": browser,
            "rest": self.used - browser,
            "free": self.total - self.used,
        }


def machine_memory(browser_pid: int | None) -> MachineMemory:
    """Read it now. Takes some milliseconds with many processes: for a thread."""
    memory = psutil.virtual_memory()
    total, used = int(memory.total), int(memory.total - memory.available)
    limit = _container_limit()
    if limit is not None and limit[0] < total:
        total, used = limit
    return MachineMemory(total, min(used, total), _browser_memory(browser_pid))


def process_tree(pid: int | None) -> list[psutil.Process]:
    """A process and everything it started that still runs; empty when it has ended."""
    if pid is None:
        return []
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    return []


def _browser_memory(pid: int | None) -> int:
    total = 0
    for process in process_tree(pid):
        with contextlib.suppress(psutil.Error):
            found = process.memory_info()
            # Without what is shared: the same library pages would count in every renderer.
            total += max(0, int(found.rss) - int(found.shared))
    return total


def _container_limit() -> tuple[int, int] | None:
    """Limit and use of the container this runs in, when it has one."""
    for limit, use in _LIMITS:
        with contextlib.suppress(OSError, ValueError):
            return int(limit.read_text()), int(use.read_text())
    return None
