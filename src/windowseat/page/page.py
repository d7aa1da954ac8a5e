"""One page of the browser: its state, what it tells, and the bounded wait all work on it goes through.

`Page` wraps one DevTools session of one page target. It keeps what people see of a tab (address,
title, icon, loading, dialog, chooser, crash) and offers evaluation, navigation and answers. Every wait
has a deadline and ends at once when a dialog opens, the page crashes or the tab goes, so a
stuck page costs only the one who asked. `Runtime.enable` is never sent (see `world`).

Leaves out: snapshots (`page.snapshot`), acting (`page.actions`), raw input (`page.input`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession, CdpTimeout
from windowseat.errors import BrowserError
from windowseat.page import events, navigation
from windowseat.page.choosers import Chooser, Choosers
from windowseat.page.dialogs import Dialog, Dialogs, answer_dialog, dialog_error
from windowseat.page.evaluation import evaluate_in_page
from windowseat.page.events import PageEvent
from windowseat.page.frames import AUTO_ATTACH, Frames
from windowseat.page.loading import Loading
from windowseat.page.problems import page_crashed, page_gone
from windowseat.page.problems import translated as translated
from windowseat.page.reading import URL_LIMIT, Reader
from windowseat.page.refs import Refs
from windowseat.page.waits import Waits
from windowseat.page.world import CALLERS_WORLD, DocumentGoneError, ScriptError, Worlds

log = logging.getLogger(__name__)

START_LIMIT: Final = 3.0


class Page:
    """One page target, through one flat session attached to it.

    Attributes:
        session: the DevTools session; other rooms may send page commands of their own on it.
        target: the DevTools target id.
        url, title, icon: as last read; cut to 2,048, 256 and 8,192 characters.
        loading: whether the main frame is loading.
        can_back, can_forward: whether the history has an entry there.
        crashed: the page's process ended; a reload brings it back.
        gone: the tab's target ended for good.
        unresponsive: the page did not answer its last quick reading in time.
    """

    def __init__(self, session: CdpSession, target: str) -> None:
        self.session = session
        self.target = target
        self.main_frame = target
        self.url = ""
        self.title = ""
        self.icon = ""
        self.document = ""
        self.loading = False
        self.can_back = False
        self.can_forward = False
        self.crashed = False
        self.gone = False
        self.unresponsive = False
        self.dialogs = Dialogs()
        self.refs = Refs()
        self.load = Loading()
        self.reading = asyncio.Lock()  # one snapshot at a time: they share the count of refs
        self._waits = Waits()
        self._reader = Reader(self)
        self._choosers = Choosers(self)
        self.worlds = Worlds(self.settle)
        self._callers = Worlds(self.settle, CALLERS_WORLD)
        self.frames = Frames(session, self._set_up_frame, self._frame_left)
        self._listeners: list[Callable[[PageEvent], None]] = []
        self.outlines: dict[str, tuple[str, ...]] = {}  # last snapshots by id, for `since`
        self._tasks: set[asyncio.Task[None]] = set()
        self._focused = False
        self._subscribe()

    @property
    def dialog(self) -> Dialog | None:
        """The dialog that stands open, answered or not, until the browser says that it went."""
        return self.dialogs.open

    @property
    def chooser(self) -> Chooser | None:
        """The file chooser that waits for files."""
        return self._choosers.open

    # -- start and events --------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to follow the page. Never waits for a stuck page longer than 3 s.

        A page that does not answer in time counts as `unresponsive` and is followed all the same.

        Raises:
            BrowserError: `host-unavailable`, the target is gone.
        """
        commands: list[tuple[str, dict[str, Any]]] = [
            ("Page.enable", {}),
            ("Inspector.enable", {}),
            ("Page.setLifecycleEventsEnabled", {"enabled": True}),
            ("Page.setInterceptFileChooserDialog", {"enabled": True}),
            ("Target.setAutoAttach", AUTO_ATTACH),
            ("Page.getFrameTree", {}),
        ]
        try:
            sent = [self.session.send(method, params) for method, params in commands]
        except CdpGone as error:
            raise page_gone() from error
        sent[-1].add_done_callback(self._reader.found)
        _done, late = await asyncio.wait(sent, timeout=START_LIMIT)
        if self.session.closed:
            raise page_gone()
        if late:
            # They stay queued: Chromium carries them out once the page answers again.
            self.set_state(unresponsive=True)
            return
        await self._reader.read()

    def listen(self, callback: Callable[[PageEvent], None]) -> Callable[[], None]:
        """Call `callback(event)` for each event; it must not block. Returns a function that stops it."""
        self._listeners.append(callback)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(callback)

        return stop

    def emit(self, event: PageEvent) -> None:
        """Tell every listener; what one of them throws is only logged."""
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener of a page failed")

    def _subscribe(self) -> None:
        on = self.session.on
        on("Page.frameNavigated", self._frame_navigated)
        on("Page.navigatedWithinDocument", self._navigated_within)
        on("Page.lifecycleEvent", self._lifecycle)
        on("Page.frameStartedLoading", lambda p: self._loading_is(p, True))
        on("Page.frameStoppedLoading", lambda p: self._loading_is(p, False))
        on("Page.frameRequestedNavigation", self._navigation_asked)
        on("Page.frameStartedNavigating", self._navigation_asked)
        on("Page.javascriptDialogOpening", self._dialog_opened)
        on("Page.javascriptDialogClosed", lambda _: self._dialog_closed())
        on("Page.fileChooserOpened", lambda p: self._choosers.asked(self.session, p))
        on("Page.windowOpen", lambda p: self.emit(events.WindowOpened(str(p.get("url", ""))[:URL_LIMIT])))
        on("Page.downloadWillBegin", self._download_began)
        on("Inspector.targetCrashed", lambda _: self._crashed())
        self.session.on_end(self._ended)

    def _set_up_frame(self, session: CdpSession) -> None:
        session.send("Page.setInterceptFileChooserDialog", {"enabled": True})
        session.on("Page.fileChooserOpened", lambda p: self._choosers.asked(session, p))

    def _frame_left(self, frame: str) -> None:
        self.worlds.forget(frame)
        self._callers.forget(frame)
        self._waits.document_left(frame)
        self.refs.forget(frame)

    def _frame_navigated(self, params: dict[str, Any]) -> None:
        frame = params["frame"]
        if frame.get("parentId"):
            return
        self.main_frame = frame["id"]
        self.document = str(frame.get("loaderId", ""))
        self.worlds.forget_all()
        self._callers.forget_all()
        self._waits.document_left()
        self.refs.forget_all()
        self.frames.forget_all()
        restored = params.get("type") == "BackForwardCacheRestore"
        self.load.committed(self.document, whole=restored)
        url = str(frame.get("unreachableUrl") or frame.get("url", "")) + str(frame.get("urlFragment") or "")
        self._choosers.close()
        if restored:  # a document comes out of the cache with its frames, unannounced
            self.session.send("Page.getFrameTree").add_done_callback(self._reader.found)
        if url[:URL_LIMIT] != self.url:  # a reload keeps its face until the new one is read
            self.set_state(url=url[:URL_LIMIT], title="", icon="")
        self.set_state(crashed=False, unresponsive=False)
        self.emit(events.Navigated(self.document, self.url, restored))
        self.read_soon()

    def _navigated_within(self, params: dict[str, Any]) -> None:
        if params["frameId"] == self.main_frame:
            self.load.moved_within()
            self.set_state(url=str(params.get("url", ""))[:URL_LIMIT])
            self.read_soon()

    def _lifecycle(self, params: dict[str, Any]) -> None:
        if params["frameId"] != self.main_frame:
            return
        self.load.reached(str(params.get("loaderId", "")), str(params["name"]))
        if params["name"] in ("DOMContentLoaded", "load"):
            self.read_soon()

    def _loading_is(self, params: dict[str, Any], loading: bool) -> None:
        if params["frameId"] == self.main_frame:
            self.set_state(loading=loading)
            self.load.is_loading(loading)
            if not loading:
                self.read_soon()

    def _navigation_asked(self, params: dict[str, Any]) -> None:
        if params.get("frameId") == self.main_frame:
            self.load.asked(str(params.get("url", "")))

    def _download_began(self, params: dict[str, Any]) -> None:
        name = str(params.get("suggestedFilename", ""))[:255]
        self.emit(events.DownloadBegan(str(params.get("url", ""))[:URL_LIMIT], name))

    def _crashed(self) -> None:
        self._dialog_closed()
        self._choosers.close()
        self.worlds.forget_all()
        self._callers.forget_all()
        self.refs.forget_all()
        self.set_state(crashed=True, loading=False)
        self._interrupt(page_crashed())
        self.emit(events.Crashed())

    def _ended(self) -> None:
        if self.gone:
            return
        self.gone = True
        self._reader.cancel()
        self._dialog_closed()
        self._choosers.close()
        self._interrupt(page_gone())
        self.emit(events.Gone())

    # -- state ---------------------------------------------------------------------------------

    def set_state(self, **state: Any) -> None:
        """Take new values of the attributes that people see; tells `Changed` where one differs."""
        if any(getattr(self, name) != value for name, value in state.items()):
            for name, value in state.items():
                setattr(self, name, value)
            self.emit(events.Changed())

    def read_soon(self) -> None:
        """Read address, title, icon and history again in a moment; many calls make one reading.

        The hub calls this when it hears that the target's information changed: the browser tells
        the page itself nothing about a title that a script sets.
        """
        self._reader.soon()

    def spawn(self, work: Awaitable[None], name: str) -> None:
        """Run work of this page in the background; what the page does to it is no failure."""

        async def guarded() -> None:
            try:
                await work
            except (BrowserError, CdpError, CdpGone, CdpTimeout, DocumentGoneError, ScriptError) as error:
                log.debug("%s: %s", name, error)
            except Exception:
                log.exception("%s failed", name)

        task = asyncio.get_running_loop().create_task(guarded(), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(
        self,
        future: asyncio.Future[dict[str, Any]],
        timeout: float,
        what: str,
        *,
        despite_dialog: bool = False,
        frame: str | None = None,
    ) -> dict[str, Any]:
        """Wait for a command's answer; see `waits.Waits.settle`."""
        return await self._waits.settle(
            future,
            timeout,
            what,
            dialog=None if despite_dialog else self.dialog,
            stoppable=not despite_dialog,
            frame=frame,
        )

    def _interrupt(self, error: BrowserError) -> None:
        self.load.wake()
        self._waits.interrupt(error)

    def check_usable(self) -> None:
        """Raise what keeps any work on the page from succeeding: gone, crashed, or a dialog."""
        if self.gone:
            raise page_gone()
        if self.crashed:
            raise page_crashed()
        if self.dialog is not None:
            raise dialog_error(self.dialog)

    # -- evaluation ------------------------------------------------------------------------------

    async def evaluate_isolated(self, function: str, *args: Any, timeout: float = 5.0) -> Any:
        """Call a JavaScript function with JSON arguments in our own world of the main frame.

        Returns its JSON result; promises are awaited within the time.

        Raises:
            BrowserError: `timeout`, `dialog-open`, `execution-failed` (it threw, or the page
                crashed), `cancelled` (the document went), `host-unavailable`.
        """
        self.check_usable()
        with translated():
            return await self.worlds.call(self.session, self.main_frame, function, list(args), timeout)

    async def evaluate_page(self, js: str, timeout: float = 5.0) -> Any:
        """Evaluate an expression, statements or a function in the page's own world; see `evaluation`."""
        self.check_usable()
        with translated():
            return await evaluate_in_page(self, js, timeout)

    async def evaluate_world(self, js: str, timeout: float = 5.0) -> Any:
        """As `evaluate_page`, in a world for callers: the page's DOM, nothing of its scripts or of ours."""
        self.check_usable()
        with translated():
            context = await self._callers.context(self.session, self.main_frame, timeout)
            return await evaluate_in_page(self, js, timeout, context.id)

    async def keep_focused(self) -> None:
        """Let the page count as focused, whichever window is: keys and carets need it."""
        if not self._focused:
            self._focused = True
            with contextlib.suppress(CdpGone):
                self.session.send("Emulation.setFocusEmulationEnabled", {"enabled": True})

    # -- navigation --------------------------------------------------------------------------------

    async def navigate(self, url: str, wait: str = "load", timeout: float = 15.0) -> dict[str, Any]:
        """Open an address; see `navigation.navigate`."""
        return await navigation.navigate(self, url, wait, timeout)

    async def back(self, timeout: float = 15.0) -> dict[str, Any]:
        """Go one entry back; see `navigation.travel`."""
        return await navigation.travel(self, -1, timeout)

    async def forward(self, timeout: float = 15.0) -> dict[str, Any]:
        """Go one entry forward; see `navigation.travel`."""
        return await navigation.travel(self, +1, timeout)

    async def reload(self, hard: bool = False, timeout: float = 15.0) -> dict[str, Any]:
        """Load the page again, `hard` past the cache; see `navigation.reload`."""
        return await navigation.reload(self, hard, timeout)

    async def stop(self) -> dict[str, Any]:
        """Stop loading. Returns `url` and `title`."""
        return await navigation.stop(self)

    # -- dialogs and choosers ------------------------------------------------------------------------

    def _dialog_opened(self, params: dict[str, Any]) -> None:
        dialog = self.dialogs.opened(params)
        self._interrupt(dialog_error(dialog, outcome="unknown"))
        self.emit(events.DialogOpened(dialog))

    def _dialog_closed(self) -> None:
        dialog = self.dialogs.closed()
        if dialog is not None:
            self.emit(events.DialogClosed(dialog.id))
            self.read_soon()

    async def answer_dialog(
        self, accept: bool, text: str | None = None, *, dialog: str | None = None, timeout: float = 5.0
    ) -> None:
        """Answer the open dialog once.

        Args:
            text: what a prompt gets; None keeps its default.
            dialog: the id of the dialog meant; None for the open one.

        Raises:
            BrowserError: `not-found` when none is open or somebody has answered it.
        """
        await answer_dialog(self, accept, text, dialog, timeout)

    async def answer_chooser(
        self, paths: list[str], *, chooser: str | None = None, timeout: float = 10.0
    ) -> None:
        """Give the open chooser files (absolute paths the browser can read), or cancel it with none.

        Raises:
            BrowserError: `not-found`, none is open (any more); `invalid-args`, several files
                for an input that takes one; `unsupported`, the page used a picker without an input.
        """
        await self._choosers.answer(paths, chooser, timeout)
