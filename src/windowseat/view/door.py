"""The part of `hub.hub.Hub` that the view uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from windowseat.hub.events import HubEvent
from windowseat.hub.tab import Tab
from windowseat.page.page import Page


class ClosedTab(Protocol):
    """A tab that ended and may be reopened."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def url(self) -> str:
        """Its address when it ended."""

    @property
    def title(self) -> str:
        """Its title then."""

    @property
    def session(self) -> str | None:
        """The session it belonged to."""


class HubDoor(Protocol):
    """Tabs by id. Methods raise `BrowserError`."""

    @property
    def tabs(self) -> Mapping[str, Tab]:
        """The tabs that have not ended."""

    @property
    def connected(self) -> bool:
        """Whether the browser is there."""

    async def page(self, id: str, /) -> Page:
        """The tab's page, woken and attached."""

    def live_page(self, id: str, /) -> Page | None:
        """The tab's page if it is awake and attached; never wakes it."""

    async def set_size(self, id: str, width: int, height: int, /) -> tuple[int, int]:
        """Give the page this viewport, CSS pixels; returns what it was cut to."""

    def page_size(self, id: str, /) -> tuple[int, int]:
        """The viewport that the page has or will have."""

    async def restore(self, id: str, /) -> Any:
        """Bring a closed tab back."""

    def closed(self) -> Sequence[ClosedTab]:
        """Ended tabs that can be reopened."""

    def subscribe(self, callback: Callable[[HubEvent], None], /) -> Callable[[], None]:
        """Hear of every change; returns a function that stops it."""
