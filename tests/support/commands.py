"""Runs the command line as a user would: a process of its own, with a home of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parents[2] / "src"


@dataclass(frozen=True)
class Done:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def command_environment(home: Path, **more: str) -> dict[str, str]:
    """An environment with this home and nothing of the developer's but the path."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(SOURCES),
        "WINDOWSEAT_HOME": str(home),
        "LANG": "C.UTF-8",
        **more,
    }


def windowseat(home: Path, *words: str, typed: str | None = None, timeout: float = 60, **more: str) -> Done:
    """Run one command to its end. `typed` is its stdin, `more` its further environment."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "windowseat", *words],
        env=command_environment(home, **more),
        input="" if typed is None else typed,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def processor_time(run: Callable[[], object], times: int = 5) -> float:
    """The least processor time (seconds) of the programs that `run` starts and waits for.

    Not the time on a clock: other tests share the machine.
    """

    def used() -> float:
        found = resource.getrusage(resource.RUSAGE_CHILDREN)
        return found.ru_utime + found.ru_stime

    best = float("inf")
    for _ in range(times):
        before = used()
        run()
        best = min(best, used() - before)
    return best
