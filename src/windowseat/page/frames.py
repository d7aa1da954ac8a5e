"""Which DevTools session serves which frame of a page.

A cross-site iframe lives in a process of its own and is a target of its own; its id is the frame's
id. The page's session attaches to those flat and by itself (`Target.setAutoAttach`, iframes only,
never paused), and each of them does the same for what is nested in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Final

from windowseat.chromium.connection import CdpGone, CdpSession

AUTO_ATTACH: Final[dict[str, Any]] = {
    "autoAttach": True,
    "flatten": True,
    "waitForDebuggerOnStart": False,
    "filter": [{"type": "iframe", "exclude": False}, {"exclude": True}],
}
FRAME_LIMIT: Final = 200  # sessions of cross-site frames kept per page; later ones are let go


class Frames:
    """The page's own session and the sessions of its cross-site frames.

    `arrived(session)` is called for each new one, `left(frame)` when a frame's document or session
    ends.
    """

    def __init__(
        self, session: CdpSession, arrived: Callable[[CdpSession], None], left: Callable[[str], None]
    ) -> None:
        self._page = session
        self._arrived = arrived
        self._left = left
        self._apart: dict[str, CdpSession] = {}
        self._follow(session)

    @property
    def apart(self) -> dict[str, CdpSession]:
        """The cross-site frames: frame id to session."""
        return self._apart

    def session_of(self, frame: str, parent: CdpSession) -> CdpSession:
        """The session of a frame whose embedding document is served by `parent`."""
        return self._apart.get(frame, parent)

    def _follow(self, session: CdpSession) -> None:
        session.on("Target.attachedToTarget", lambda params: self._attached(session, params))
        session.on("Page.frameNavigated", lambda params: self._left(params["frame"]["id"]))
        session.on("Page.frameDetached", self._detached)

    def _attached(self, parent: CdpSession, params: dict[str, Any]) -> None:
        frame = params["targetInfo"]["targetId"]
        child = parent.connection.session(params["sessionId"])
        if params["targetInfo"].get("type") != "iframe" or len(self._apart) >= FRAME_LIMIT:
            with contextlib.suppress(CdpGone):
                parent.detach(child)
            return
        self._apart[frame] = child
        child.on_end(lambda: self._ended(frame, child))
        self._follow(child)
        with contextlib.suppress(CdpGone):
            child.send("Page.enable")
            child.send("Target.setAutoAttach", AUTO_ATTACH)
            self._arrived(child)

    def _ended(self, frame: str, child: CdpSession) -> None:
        if self._apart.get(frame) is child:
            del self._apart[frame]
            self._left(frame)

    def _detached(self, params: dict[str, Any]) -> None:
        # A swap moves the frame to another process; only a removal ends it.
        if params.get("reason") != "swap":
            self._left(params["frameId"])
