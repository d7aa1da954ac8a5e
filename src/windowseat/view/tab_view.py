"""One tab as its viewers see it: who is there, what they are told, and what they do to it.

A `TabView` lives while somebody looks, at the view or at a thumbnail. It never decides what becomes
of the tab: it asks the hub and passes on what the hub says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from windowseat.errors import BrowserError
from windowseat.hub.events import Activity
from windowseat.hub.spawn import Tasks
from windowseat.hub.tab import Tab
from windowseat.page import events
from windowseat.page.page import Page
from windowseat.view.audience import Audience
from windowseat.view.cast import Picture
from windowseat.view.documents import tab_document
from windowseat.view.doing import do
from windowseat.view.door import HubDoor
from windowseat.view.hands import INPUTS, Input
from windowseat.view.hover import Hover
from windowseat.view.messages import (
    Ack,
    Hello,
    Leave,
    Message,
    MouseMessage,
    Pong,
    Size,
    Visible,
    acts,
)
from windowseat.view.pointers import Pointers
from windowseat.view.protocol import MalformedError
from windowseat.view.sizing import Sizing
from windowseat.view.stage import Stage
from windowseat.view.thumbnails import ThumbnailPace
from windowseat.view.uploads import Uploads
from windowseat.view.viewer import Viewer

TICK: Final = 1.0
UNDER_WAY_AT_MOST: Final = 8  # navigations, answers and the like of one tab's viewers


class TabView:
    """Everything of one tab's view; `audience` are its viewers."""

    def __init__(self, tab_id: str, hub: HubDoor, tasks: Tasks, uploads: Uploads) -> None:
        self.tab_id = tab_id
        self.audience = Audience()
        self.uploads = uploads
        self.hub = hub
        self.thumbnails = ThumbnailPace()
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._stage: Stage | None = None
        self._hovers: dict[str, Hover] = {}
        self._pointers = Pointers(self.audience.tell_others)
        self._told_tab: dict[str, Any] = {}
        self._told_status = "live"
        self._ended: dict[str, Any] | None = None
        self._actor: str | None = None
        self._sizing = Sizing(
            hub.page_size(tab_id),
            lambda size: hub.set_size(tab_id, *size),
            lambda work: tasks.spawn(work, name=f"size of {tab_id}"),
            self._resized,
        )
        self._waking = False
        self._owed_page = False
        self._doing = 0
        self._ticker: asyncio.TimerHandle | None = None

    # -- who is there --------------------------------------------------------------------------

    @property
    def viewers(self) -> list[Viewer]:
        """Who looks, in the order they came."""
        return list(self.audience)

    @property
    def page(self) -> Page | None:
        """The tab's page while it is awake and followed here."""
        return None if self._stage is None else self._stage.page

    @property
    def empty(self) -> bool:
        """Whether nobody looks any more."""
        return not self.viewers and not self.thumbnails.watched

    def join(self, viewer: Viewer, tab: Tab) -> None:
        """A viewer came in: tell them how things stand, and wake the page."""
        self.audience.add(viewer)
        self._hovers[viewer.id] = Hover(self._hover_task, viewer.tell)
        if len(self.viewers) == 1:
            self._actor = viewer.id
            self._sizing.want(viewer.size)
        viewer.tell(
            {
                "t": "welcome",
                "credential": viewer.visit.credential,
                "viewer": viewer.id,
                "name": viewer.person.name,
                "color": viewer.person.color,
                "tab": tab_document(tab, self.page),
                "people": self.audience.people(viewer),
                "size": {"w": self._sizing.size[0], "h": self._sizing.size[1]},
                "launchpad": viewer.visit.launchpad,
            }
        )
        self.audience.tell_people(besides=viewer)
        self._follow()
        self.ask_pictures()
        self._tell_pending(viewer)
        self.tab_changed()
        if self.tab_id not in self.hub.tabs and self._ended is None:
            self.tab_ended("closed")
        elif self._stage is None and tab.closes_at is None and self._ended is None:
            self.wake()
        if self._ticker is None:
            self._ticker = self._loop.call_later(TICK, self._tick)

    def leave(self, viewer: Viewer) -> None:
        """A viewer's socket ended."""
        self.audience.remove(viewer)
        hover = self._hovers.pop(viewer.id, None)
        if hover is not None:
            hover.close()
        self._pointers.left(viewer.id)
        self.audience.tell_people()
        if self._stage is not None:
            self._stage.left(viewer)
            self.ask_pictures()

    def watch(self, callback: Callable[[bytes], None]) -> Callable[[], None]:
        """Give thumbnails to `callback`; returns a function that stops it."""
        stop = self.thumbnails.watch(callback)
        self._follow()
        self.ask_pictures()
        return stop

    def close(self) -> None:
        """Nobody looks any more, or the hub ends."""
        self._pointers.close()
        self.thumbnails.close()
        for hover in self._hovers.values():
            hover.close()
        if self._ticker is not None:
            self._ticker.cancel()
            self._ticker = None
        self._drop_stage()

    # -- what viewers say ------------------------------------------------------------------------

    def handle(self, viewer: Viewer, message: Message) -> None:
        """One message of a viewer. Raises `MalformedError` where it makes no sense now."""
        if acts(message):
            self._act(viewer)
        if isinstance(message, INPUTS):
            self._input(viewer, message)
            return
        match message:
            case Ack(n):
                viewer.acknowledged(n)
            case Pong():
                viewer.ponged()
            case Size(w, h):
                viewer.size = (w, h)
                if self._actor == viewer.id or len(self.viewers) == 1:
                    self._sizing.want(viewer.size)
            case Visible(on):
                viewer.shown(on)
                self.ask_pictures()
            case Leave():
                self._hovers[viewer.id].left()
                self._pointers.left(viewer.id)
                if self._stage is not None:
                    self._stage.pointer_left(viewer)
            case Hello():
                raise MalformedError("hello: it comes once, first.")
            case _:
                self._do(viewer, message)

    def _input(self, viewer: Viewer, message: Input) -> None:
        stage = self._stage
        if stage is None:
            return
        if isinstance(message, MouseMessage):
            self._pointers.at(viewer.id, message.x, message.y, down=message.k == "down")
            self._hovers[viewer.id].at(stage.page, message.x, message.y)
        try:
            stage.input(viewer, message)
        except BrowserError as error:
            viewer.error(error.code, error.message)

    def _do(self, viewer: Viewer, message: Message) -> None:
        if self._doing >= UNDER_WAY_AT_MOST:
            viewer.error("timeout", "Too much is under way in this tab; wait a moment.")
            return
        self._doing += 1
        self._tasks.spawn(self._done(viewer, do(self, message)), name="what a viewer asked for")

    async def _done(self, viewer: Viewer, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except BrowserError as error:
            if error.code != "dialog-open":  # the dialog itself is shown
                viewer.error(error.code, error.message)
        finally:
            self._doing -= 1

    def _act(self, viewer: Viewer) -> None:
        self._actor = viewer.id
        self._sizing.want(viewer.size)

    # -- what the hub and the page say -------------------------------------------------------------

    def tab_changed(self) -> None:
        """Something of the tab may differ: tell what does."""
        tab = self.hub.tabs.get(self.tab_id)
        if tab is None:
            return
        if self.page is None and self.viewers and not self.hub.connected:
            # A browser that died is not a tab put to sleep: who looks gets the page back (C5).
            self._owed_page = True
        if tab.closes_at is not None:
            if self._ended is None:
                self._ended = {"t": "ended", "reason": "closed", "restorable": True}
                self.audience.tell(self._ended)
            return
        document = tab_document(tab, self.page)
        if document != self._told_tab or self._ended is not None:
            self._told_tab, self._ended = document, None
            self.audience.tell({"t": "tab", "tab": document})
        self._tell_status()

    def page_replaced(self) -> None:
        """The tab's page came, was exchanged, or went."""
        self._follow()
        self.tab_changed()

    def tab_ended(self, reason: str) -> None:
        """The tab's id ended."""
        restorable = any(closed.id == self.tab_id for closed in self.hub.closed())
        self._ended = {"t": "ended", "reason": reason, "restorable": restorable}
        self.audience.tell(self._ended)

    def opened(self, tab: Tab) -> None:
        """The tab's page opened another tab."""
        document = tab_document(tab, None)
        for viewer in self.viewers:
            viewer.tell({"t": "opened", "tab": document, "url": viewer.visit.view_url(tab.id)})

    def agent(self, activity: Activity) -> None:
        """An agent does something here."""
        message: dict[str, Any] = {"t": "agent", "session": activity.session, "line": activity.line[:300]}
        if activity.x is not None and activity.y is not None:
            message.update(x=activity.x, y=activity.y)
            if activity.kind in ("move", "click"):
                message["k"] = activity.kind
        self.audience.tell(message)
        if self._stage is not None:
            self._stage.cast.nudge()

    def _page_event(self, event: events.PageEvent) -> None:
        match event:
            case events.DialogOpened(dialog):
                self.audience.tell({"t": "dialog", **dialog.as_dict()})
            case events.DialogClosed(id):
                self.audience.tell({"t": "dialog-closed", "id": id})
            case events.ChooserOpened(chooser):
                self.audience.tell({"t": "chooser", **chooser.as_dict()})
            case events.ChooserClosed(id):
                self.audience.tell({"t": "chooser-closed", "id": id})
            case events.Navigated() | events.Crashed():
                if self._stage is not None:
                    self._stage.document_left(was_crashed=self._told_status == "crashed")
                self.tab_changed()
            case events.Changed():
                self.tab_changed()

    # -- following the page ----------------------------------------------------------------------

    def _follow(self) -> None:
        page = self.hub.live_page(self.tab_id)
        if page is self.page:
            return
        self._drop_stage()
        if page is None:
            return
        self._owed_page = False
        self._stage = Stage(page, self._tasks, on_picture=self._picture, on_event=self._page_event)
        self._waking = False
        self.ask_pictures()
        for viewer in self.viewers:
            self._tell_pending(viewer)
        if self.viewers:
            self._sizing.renew(self.audience.one(self._actor).size)

    def _drop_stage(self) -> None:
        stage, self._stage = self._stage, None
        if stage is None:
            return
        stage.close()
        for message in _closing(stage.page):
            self.audience.tell(message)

    def wake(self) -> None:
        """Bring the page, without waiting for it."""
        if self._waking:
            return
        self._waking = True
        self._tell_status()
        self._tasks.spawn(self._wake(), name=f"wake {self.tab_id} for its viewers")

    async def _wake(self) -> None:
        try:
            await self.hub.page(self.tab_id)
        except BrowserError as error:
            for viewer in self.viewers:
                viewer.error(error.code, error.message)
        finally:
            self._waking = False
        self._follow()
        self.tab_changed()

    def ask_pictures(self) -> None:
        """Ask the cast for what is wanted now, and greet who has no picture yet."""
        if self._stage is not None:
            self._stage.demand(self.viewers, thumbnails=self.thumbnails.watched)
            latest = self._stage.cast.latest
            if latest is not None:
                for viewer in self.viewers:
                    viewer.greet(latest)

    def _picture(self, picture: Picture) -> None:
        if not picture.small:
            self._sizing.seen((picture.width, picture.height))
        for viewer in self.viewers:
            viewer.offer(picture)
        self.thumbnails.offer(picture)
        if picture.sharp:
            for hover in self._hovers.values():
                hover.again()

    def _resized(self, size: tuple[int, int]) -> None:
        self.audience.tell({"t": "size", "w": size[0], "h": size[1]})
        if self._stage is not None:
            self._stage.cast.nudge()

    # -- telling ------------------------------------------------------------------------------------

    def _tell_pending(self, viewer: Viewer) -> None:
        page = self.page
        if page is not None and page.dialog is not None:
            viewer.tell({"t": "dialog", **page.dialog.as_dict()})
        if page is not None and page.chooser is not None:
            viewer.tell({"t": "chooser", **page.chooser.as_dict()})
        if self._told_status != "live":
            viewer.tell({"t": "status", "state": self._told_status})
        if self._ended is not None:
            viewer.tell(self._ended)

    def _tell_status(self) -> None:
        page = self.page
        state = "live"
        if page is None:
            state = "waking" if self._waking or self._owed_page else self._told_status
        elif page.crashed:
            state = "crashed"
        elif self._stage is not None and self._stage.stuck():
            state = "unresponsive"
        if state != self._told_status:
            self._told_status = state
            self.audience.tell({"t": "status", "state": state})

    def _tick(self) -> None:
        self._ticker = None
        if not self.viewers:
            return
        self._ticker = self._loop.call_later(TICK, self._tick)
        if self._owed_page and self.hub.connected:
            self.wake()
        self._tell_status()
        if self._stage is not None:
            self._stage.adapt(self.viewers)

    def _hover_task(self, work: Coroutine[Any, Any, None]) -> object:
        return self._tasks.spawn(work, name="what lies under a pointer")


def _closing(page: Page) -> list[dict[str, Any]]:
    open_ones = (("dialog-closed", page.dialog), ("chooser-closed", page.chooser))
    return [{"t": kind, "id": one.id} for kind, one in open_ones if one is not None]
