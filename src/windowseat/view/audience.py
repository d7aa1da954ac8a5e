"""The viewers of one tab, and telling them things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from windowseat.view.viewer import Viewer


class Audience:
    """Viewers by their id, in the order they came."""

    def __init__(self) -> None:
        self._viewers: dict[str, Viewer] = {}

    def __iter__(self) -> Iterator[Viewer]:
        return iter(self._viewers.values())

    def __len__(self) -> int:
        return len(self._viewers)

    def add(self, viewer: Viewer) -> None:
        """A viewer came."""
        self._viewers[viewer.id] = viewer

    def remove(self, viewer: Viewer) -> None:
        """A viewer went; harmless when they had gone."""
        self._viewers.pop(viewer.id, None)

    def one(self, id: str | None) -> Viewer:
        """The viewer of this id, else the first. Raises StopIteration when nobody looks."""
        return self._viewers.get(id or "") or next(iter(self))

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message to everybody."""
        for viewer in self:
            viewer.tell(message)

    def tell_others(self, viewer_id: str, message: Mapping[str, Any]) -> None:
        """Send a message to everybody but one."""
        for viewer in self:
            if viewer.id != viewer_id:
                viewer.tell(message)

    def people(self, seen_by: Viewer) -> list[dict[str, Any]]:
        """The PERSONs of the protocol, as one of them sees them."""
        return [viewer.as_seen_by(seen_by) for viewer in self]

    def tell_people(self, besides: Viewer | None = None) -> None:
        """Tell everybody (but one) who is here now."""
        for viewer in self:
            if viewer is not besides:
                viewer.tell({"t": "people", "people": self.people(viewer)})
