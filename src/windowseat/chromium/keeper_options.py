"""What a keeper is told when it is started, and what it tells of the browser it started."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from windowseat.chromium.display import OWN
from windowseat.chromium.find import Found
from windowseat.chromium.flags import LaunchOptions, launch_environment, launch_flags


@dataclass(frozen=True)
class KeeperOptions:
    """What a keeper that is started must know.

    Attributes:
        argv: Chromium and all its arguments.
        environ: Chromium's environment.
        profile: its profile folder.
        lock: the lock file that only one keeper can hold.
        log, browser_log: where the keeper and Chromium write.
        own_display: size of the Xvfb to start for a headed Chromium, or None.
    """

    argv: Sequence[str]
    environ: Mapping[str, str] = field(repr=False)
    profile: Path
    lock: Path
    log: Path
    browser_log: Path
    own_display: tuple[int, int] | None = None

    @classmethod
    def of(
        cls,
        found: Found,
        launch: LaunchOptions,
        environ: Mapping[str, str],
        *,
        lock: Path,
        log_folder: Path,
        display: str | None = None,
    ) -> KeeperOptions:
        """Put them together: the binary, its flags, and for a headed one what `choose_display` said."""
        own = display == OWN
        return cls(
            argv=(found.path, *(flag.text for flag in launch_flags(launch))),
            environ=launch_environment(environ, display=None if own else display),
            profile=launch.profile,
            lock=lock,
            log=log_folder / "keeper.log",
            browser_log=log_folder / "chromium.log",
            own_display=launch.screen if own else None,
        )

    def as_json(self, socket_path: Path, *, adopts: bool) -> bytes:
        """The object that the keeper reads from its stdin."""
        return json.dumps(
            {
                "argv": list(self.argv),
                "environ": dict(self.environ),
                "profile": str(self.profile),
                "socket": str(socket_path),
                "lock": str(self.lock),
                "log": str(self.log),
                "browser_log": str(self.browser_log),
                "own_display": self.own_display,
                "adopts": adopts,
            }
        ).encode()


@dataclass(frozen=True)
class Browser:
    """A running Chromium as the keeper handed it over.

    Attributes:
        pid: its process id.
        instance: random id of this start of it.
        read_fd, write_fd: the pipe; they are the hub's, a `Connection` closes them.
        former_roots: ids of root sessions that former hubs left attached.
    """

    pid: int
    instance: str
    read_fd: int
    write_fd: int
    former_roots: tuple[str, ...] = ()
