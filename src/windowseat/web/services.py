"""What the web room needs of the others, named narrowly; the assembly in cli/ fills it in.

Protocols rather than the classes themselves: a test gives exactly what a route uses, and nothing
here learns more of the hub than this page says.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from windowseat.hub.events import HubEvent
from windowseat.hub.people import Person
from windowseat.hub.store import ClosedTab, StoredSession
from windowseat.hub.tab import Tab
from windowseat.web.admission import Admission
from windowseat.web.origins import Origins

NEW_WINDOWS_A_MINUTE: Final = 20


class HubDoor(Protocol):
    """The part of `hub.hub.Hub` that people and programs reach. Methods raise `BrowserError`."""

    @property
    def tabs(self) -> Mapping[str, Tab]:
        """Every tab that has not ended, by id."""

    async def open(self, url: str, /, session: str | None = None) -> Tab:
        """Open a tab at an address."""

    async def close(self, tab_id: str, /) -> Tab:
        """Close a tab for everyone; it stays listed for its Undo."""

    async def restore(self, tab_id: str, /) -> Tab:
        """Undo a close, or reopen a tab that ended within the day."""

    async def sleep(self, tab_id: str, /) -> Tab:
        """Put a tab's page away."""

    async def wake(self, tab_id: str, /) -> Tab:
        """Bring a sleeping tab's page back."""

    async def session_window(self, name: str, /) -> Tab:
        """The session's tab, made if it has none."""

    def closed(self) -> Sequence[ClosedTab]:
        """Tabs that ended and may be reopened, the latest first."""

    def sessions(self) -> Sequence[StoredSession]:
        """Every session that is known, with or without tabs."""

    async def memory(self) -> Mapping[str, int]:
        """Private memory in bytes by tab id, as far as the browser tells."""

    def subscribe(self, callback: Callable[[HubEvent], None], /) -> Callable[[], None]:
        """Hear of every change; answers `stop`."""


class ThumbnailsDoor(Protocol):
    """Small live pictures of tabs, shared by everybody who looks at the Launchpad."""

    def watch(self, tab_id: str, callback: Callable[[bytes], None], /) -> Callable[[], None]:
        """Call `callback(jpeg)` at each new picture of a tab; answers `stop`."""


class ViewsDoor(Protocol):
    """The part of `view.service.ViewService` that the Launchpad shows."""

    @property
    def thumbnails(self) -> ThumbnailsDoor:
        """Where small pictures come from."""

    def viewers(self, tab_id: str, /) -> Sequence[Person]:
        """Who has this tab's view open now."""


class ExecutedDoor(Protocol):
    """What a cell answered (contract C11, `exec`)."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON object of `exec`."""


class KernelsDoor(Protocol):
    """The part of `agents.kernels.Kernels` that runs code for a session."""

    async def execute(self, session: str, code: str, timeout_s: float) -> ExecutedDoor:
        """Run a cell. Raises `BrowserError`, for example "not-allowed" where code mode is off."""

    async def reset(self, session: str, /) -> None:
        """End the session's kernel."""

    def alive(self, session: str, /) -> bool:
        """Whether the session's agent counts as alive (contract C5)."""


class BrokerDoor(Protocol):
    """The part of `agents.broker.Broker` that carries out one operation."""

    async def dispatch(
        self, session: str, op: str, args: Mapping[str, Any], timeout_s: float | None
    ) -> dict[str, Any]:
        """The `result` of contract C3; never raises."""


class WindowLimit:
    """How many sessions' windows may be made anew: 20 a minute, by all ways together (contract C6)."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: deque[float] = deque(maxlen=NEW_WINDOWS_A_MINUTE)

    def take(self) -> bool:
        """Count one more; whether it may be made."""
        now = self._clock()
        if len(self._made) == NEW_WINDOWS_A_MINUTE and now - self._made[0] < 60:
            return False
        self._made.append(now)
        return True


@dataclass(frozen=True)
class Services:
    """Everything that the Launchpad's origin and the hub's API are made of.

    Attributes:
        status: the document of `windowseat status` (contract C11).
        doctor: the hub's own checks, each `{"name","state","message","next"}`.
        down: end the hub, soon after it has answered; the argument keeps the browser running.
        browser_pid: Chromium's process, while it runs.
        token: what a program on the loopback port sends as its bearer.
        machine: this machine's name, for the Launchpad's corner.
        windows: the limit on new windows.
    """

    hub: HubDoor
    views: ViewsDoor
    admission: Admission
    origins: Origins
    kernels: KernelsDoor
    broker: BrokerDoor
    status: Callable[[], Mapping[str, Any]]
    doctor: Callable[[], Awaitable[Sequence[Mapping[str, Any]]]]
    down: Callable[[bool], None]
    browser_pid: Callable[[], int | None]
    token: str
    machine: str
    windows: WindowLimit = field(default_factory=WindowLimit)
