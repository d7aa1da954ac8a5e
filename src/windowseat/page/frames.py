"""Which frames a page has, and which DevTools session serves each.

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
FRAME_LIMIT: Final = 200  # frames kept per page; what comes beyond them is not looked into


class Frames:
    """The frames of one page below its main frame.

    `arrived(session)` is called for the session of each cross-site frame, `left(frame)` when a
    frame's document ends.
    """

    def __init__(
        self, session: CdpSession, arrived: Callable[[CdpSession], None], left: Callable[[str], None]
    ) -> None:
        self._page = session
        self._arrived = arrived
        self._left = left
        self._apart: dict[str, CdpSession] = {}
        # Frame to (parent frame, session that told of it).
        self._known: dict[str, tuple[str, CdpSession]] = {}
        self._follow(session)

    def all(self) -> dict[str, CdpSession]:
        """Every frame but the main one: frame id to the session that serves its document."""
        return {frame: self.session_of(frame, told) for frame, (_parent, told) in self._known.items()}

    @property
    def apart(self) -> dict[str, CdpSession]:
        """The frames that have a process of their own: frame id to session."""
        return self._apart

    def parent_of(self, frame: str) -> str | None:
        """The frame that embeds this one; None for the main frame and unknown ones."""
        known = self._known.get(frame)
        return known[0] if known else None

    def session_of(self, frame: str, parent: CdpSession) -> CdpSession:
        """The session of a frame whose embedding document is served by `parent`."""
        return self._apart.get(frame, parent)

    def session_of_frame(self, frame: str) -> CdpSession:
        """The session that serves this frame's document."""
        known = self._known.get(frame)
        return self._apart.get(frame, known[1] if known else self._page)

    def learn(self, session: CdpSession, tree: dict[str, Any]) -> None:
        """Take what `Page.getFrameTree` of a session answered."""
        for child in tree.get("childFrames", ()):
            self._add(child["frame"]["id"], child["frame"].get("parentId"), session)
            self.learn(session, child)

    def forget_all(self) -> None:
        """The main frame shows another document; frames of the new one tell of themselves."""
        self._known.clear()

    def _follow(self, session: CdpSession) -> None:
        session.on("Target.attachedToTarget", lambda params: self._attached(session, params))
        session.on(
            "Page.frameAttached",
            lambda params: self._add(params["frameId"], params["parentFrameId"], session),
        )
        session.on("Page.frameNavigated", lambda params: self._navigated(session, params["frame"]))
        session.on("Page.frameDetached", self._detached)

    def _add(self, frame: str, parent: str | None, session: CdpSession) -> None:
        if parent is not None and (frame in self._known or len(self._known) < FRAME_LIMIT):
            self._known[frame] = (parent, session)

    def _navigated(self, session: CdpSession, frame: dict[str, Any]) -> None:
        parent = frame.get("parentId")
        # The root of a cross-site frame's own session names no parent: what is known of it stays.
        if parent is not None and session is self._known.get(frame["id"], (parent, session))[1]:
            self._add(frame["id"], parent, session)
        self._left(frame["id"])

    def _attached(self, parent: CdpSession, params: dict[str, Any]) -> None:
        frame = params["targetInfo"]["targetId"]
        child = parent.connection.session(params["sessionId"])
        if params["targetInfo"].get("type") != "iframe" or len(self._apart) >= FRAME_LIMIT:
            with contextlib.suppress(CdpGone):
                parent.detach(child)
            return
        self._apart[frame] = child
        self._left(frame)
        child.on_end(lambda: self._ended(frame, child))
        self._follow(child)
        with contextlib.suppress(CdpGone):
            child.send("Page.enable")
            child.send("Target.setAutoAttach", AUTO_ATTACH)
            self._arrived(child)
            tree = child.send("Page.getFrameTree")
            tree.add_done_callback(
                lambda done: (
                    None
                    if done.cancelled() or done.exception()
                    else self.learn(child, done.result()["frameTree"])
                )
            )

    def _ended(self, frame: str, child: CdpSession) -> None:
        if self._apart.get(frame) is child:
            del self._apart[frame]
            self._left(frame)

    def _detached(self, params: dict[str, Any]) -> None:
        # A swap moves the frame to another process; only a removal ends it.
        if params.get("reason") != "swap":
            frame = params["frameId"]
            self._known.pop(frame, None)
            self._left(frame)
