"""The view: every viewer of every tab, and the thumbnails of those who look at a list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from windowseat.errors import BrowserError
from windowseat.hub.events import Activity, HubEvent, PageReplaced, TabEnded, TabOpened, TabsChanged
from windowseat.hub.people import Person
from windowseat.hub.spawn import Tasks
from windowseat.hub.tab import Tab
from windowseat.view.door import HubDoor
from windowseat.view.tab_view import TabView
from windowseat.view.thumbnails import LastPictures
from windowseat.view.uploads import Uploads
from windowseat.view.viewer import GOING_AWAY, Channel, Viewer, Visit

VIEWERS_PER_TAB: Final = 50


class ViewService:
    """Serves viewers and thumbnails.

    Args:
        hub: whose tabs are shown.
        upload_folder: a folder of ours for files that people send; what is in it is removed.

    Attributes:
        uploads: the files that people have sent.
    """

    def __init__(self, hub: HubDoor, upload_folder: Path) -> None:
        self.uploads = Uploads(upload_folder)
        self._hub = hub
        self._tasks = Tasks()
        self._views: dict[str, TabView] = {}
        self._last = LastPictures()
        self._stop = hub.subscribe(self._hub_event)

    @property
    def thumbnails(self) -> ViewService:
        """Where thumbnails come from (`watch`)."""
        return self

    async def serve(self, tab_id: str, channel: Channel, visit: Visit) -> None:
        """Serve one viewer until either side ends; of a tab that ended and can be restored too.

        Raises:
            BrowserError: "no-such-tab" when there is none (any more), "not-allowed" when too many look at it.
        """
        tab = self._hub.tabs.get(tab_id) or self._ended_tab(tab_id)
        if tab is None:
            raise BrowserError("no-such-tab", "This tab does not exist any more.")
        view = self._view(tab_id)
        if len(view.viewers) >= VIEWERS_PER_TAB:
            raise BrowserError("not-allowed", f"{VIEWERS_PER_TAB} people look at this tab already.")
        viewer = Viewer(channel, visit)
        view.join(viewer, tab)
        try:
            await viewer.run(lambda message: view.handle(viewer, message))
        finally:
            view.leave(viewer)
            self._perhaps_forget(view)

    def watch(self, tab_id: str, callback: Callable[[bytes], None]) -> Callable[[], None]:
        """Call `callback(jpeg)` at each new thumbnail of a tab, at most 1.5 times a second.

        Never wakes a tab: one that sleeps shows its last picture. Returns a function that stops it.
        """
        view = self._view(tab_id)
        stop_watching = view.watch(callback)

        def stop() -> None:
            stop_watching()
            view.ask_pictures()
            self._perhaps_forget(view)

        return stop

    def viewers(self, tab_id: str) -> list[Person]:
        """Who looks at a tab now and answers, each person once."""
        view = self._views.get(tab_id)
        if view is None:
            return []
        people = {viewer.person.id: viewer.person for viewer in view.viewers if viewer.answers}
        return list(people.values())

    def disconnect(self, person_id: str) -> None:
        """End a person's sockets: their admission was revoked."""
        for view in self._views.values():
            for viewer in view.viewers:
                if viewer.person.id == person_id:
                    viewer.close(4401)

    async def aclose(self) -> None:
        """End every viewer and stop."""
        self._stop()
        for view in list(self._views.values()):
            for viewer in view.viewers:
                viewer.close(GOING_AWAY)
            view.close()
        self._views.clear()
        await self._tasks.aclose()

    # -- the hub's news ------------------------------------------------------------------------

    def _hub_event(self, event: HubEvent) -> None:
        match event:
            case TabsChanged(ids):
                for id in ids & self._views.keys():
                    self._views[id].tab_changed()
            case PageReplaced(id) if id in self._views:
                self._views[id].page_replaced()
            case TabOpened(id, opener) if opener in self._views and id in self._hub.tabs:
                self._views[opener].opened(self._hub.tabs[id])
            case TabEnded(id, reason):
                self._last.forget(id)
                self.uploads.forget(id)
                if id in self._views:
                    self._views[id].tab_ended(reason)
            case Activity() if event.tab in self._views:
                self._views[event.tab].agent(event)

    def _ended_tab(self, tab_id: str) -> Tab | None:
        for closed in self._hub.closed():
            if closed.id == tab_id:
                return Tab(tab_id, url=closed.url, title=closed.title, session=closed.session)
        return None

    def _view(self, tab_id: str) -> TabView:
        view = self._views.get(tab_id)
        if view is None:
            view = self._views[tab_id] = TabView(tab_id, self._hub, self._tasks, self.uploads)
            view.thumbnails.last = self._last.get(tab_id)
        return view

    def _perhaps_forget(self, view: TabView) -> None:
        if view.empty and self._views.get(view.tab_id) is view:
            self._last.keep(view.tab_id, view.thumbnails.last)
            del self._views[view.tab_id]
            view.close()
