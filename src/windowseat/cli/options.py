"""What `windowseat up` can be told, as the assembly of the hub takes it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

DEFAULT_PORT = 7717


@dataclass(frozen=True)
class HubOptions:
    """How a hub shall run.

    Attributes:
        port: the Launchpad's port; 0 takes a free one.
        view_port: the view's port; None is `port` + 1, or a free one where `port` is 0.
        headed: show Chromium's windows on the display that is there, or on an Xvfb.
        code_mode: sessions may run code (contract C10).
        chromium: the path of a Chromium to use instead of the one that is found.
        window_width, window_height: CSS pixels of a new tab's page.
    """

    port: int = DEFAULT_PORT
    view_port: int | None = None
    headed: bool = False
    code_mode: bool = False
    chromium: str | None = None
    window_width: int = 1280
    window_height: int = 800

    @property
    def wanted_view_port(self) -> int:
        """The view's port to bind; 0 takes a free one."""
        if self.view_port is not None:
            return self.view_port
        return self.port + 1 if self.port else 0

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to hand to a process that is started."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> HubOptions:
        """The options that `as_dict` gave; unknown names are left out."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in found.items() if name in known})
