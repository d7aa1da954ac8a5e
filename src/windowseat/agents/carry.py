"""What each operation does, once its arguments are checked and its session is known (contract C3).

One function per operation, in `CARRIERS` by name. Each takes a `Command` and returns the operation's
data as JSON, or raises `BrowserError`. What an agent does in a tab is told to the people who watch it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from windowseat.errors import BrowserError
from windowseat.hub.events import Activity
from windowseat.page import actions, snapshot
from windowseat.rules.address import check_agent_url
from windowseat.rules.operations import OPERATIONS, Operation

if TYPE_CHECKING:
    from windowseat.agents.broker import Broker
    from windowseat.hub.hub import Hub
    from windowseat.hub.tab import Tab
    from windowseat.page.page import Page

BLANK: Final = "about:blank"
# How long one page may keep a list of tabs waiting; afterwards what is known of it is told.
FACE_LIMIT: Final = 0.3
FACE: Final = """function() {
  return [String(location.href).slice(0, 2048), String(document.title).slice(0, 256)];
}"""
# How long a page that comes back may keep a command waiting before it is used as it is.
BACK_LIMIT: Final = 5.0
SHOWN_AGAIN: Final = "location.protocol !== 'about:' && document.readyState !== 'loading'"
LINE_LIMIT: Final = 120


@dataclass(frozen=True)
class Command:
    """One operation under way.

    Attributes:
        args: checked, with defaults.
        deadline: monotonic seconds by which a page's own waiting ends.
    """

    hub: Hub
    broker: Broker
    session: str
    operation: Operation
    args: Mapping[str, Any]
    deadline: float

    def left(self) -> float:
        """Seconds that are left."""
        return max(0.05, self.deadline - time.monotonic())

    async def tab(self) -> Tab:
        """The tab that is meant. Raises `no-such-tab` for one that is not the session's."""
        given = self.args.get("tab")
        if given is not None:
            return self.broker.own_tab(self.session, given)
        return await self.broker.current_tab(self.session)

    async def page(self) -> tuple[Tab, Page]:
        """The tab that is meant, and its page, awake; waits while the tab comes back after a crash.

        Raises:
            BrowserError: `no-such-tab`; `host-unavailable`, it did not come back in time.
        """
        tab = await self.tab()
        away, address = self.hub.live_page(tab.id) is None, tab.url
        page = await self._awake(tab)
        if away and not address.startswith("about:"):
            await self._wait_back(page)
        return tab, page

    async def _awake(self, tab: Tab) -> Page:
        """The tab's page. An id that lives without one has lost its browser, and gets its page again."""
        changed = asyncio.Event()
        stop = self.hub.subscribe(lambda _event: changed.set())
        try:
            while True:
                changed.clear()
                try:
                    return await self.hub.page(tab.id)
                except BrowserError as error:
                    lives = tab.id in self.hub.tabs and tab.closes_at is None
                    if error.code != "host-unavailable" or not lives:
                        raise
                await self._wait_changed(changed)
        finally:
            stop()

    async def _wait_back(self, page: Page) -> None:
        """Give a page that was asleep or lost a moment to show its document again."""
        with contextlib.suppress(BrowserError):
            await actions.wait(page, js=SHOWN_AGAIN, timeout=min(BACK_LIMIT, self.left()))

    async def _wait_changed(self, changed: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self.left()):
                await changed.wait()
        except TimeoutError:
            raise BrowserError("host-unavailable", "The browser is being started again; try again.") from None

    def tell(self, tab: Tab, line: str) -> None:
        """Say to those who watch what the agent does there."""
        self.hub.report(Activity(tab.id, self.session, cut(line)))

    def teller(self, tab: Tab) -> actions.Tell:
        """The same, for actions that have a place on the page."""

        def tell(kind: str, line: str, x: float, y: float) -> None:
            self.hub.report(Activity(tab.id, self.session, cut(line), x, y, kind))

        return tell

    def told(self, tab: Tab) -> dict[str, Any]:
        """A tab as data."""
        return {
            "id": tab.id,
            "url": tab.url,
            "title": tab.title,
            "loading": tab.loading,
            "asleep": tab.asleep,
            "opener": tab.opener,
            "current": self.broker.current(self.session) == tab.id,
        }


def cut(line: str) -> str:
    """One line, short enough to be read in passing."""
    flat = " ".join(line.split())
    return flat if len(flat) <= LINE_LIMIT else flat[: LINE_LIMIT - 1] + "…"


async def _list(command: Command) -> list[dict[str, Any]]:
    if command.args["all"]:
        raise BrowserError("not-allowed", "Others' tabs are not shown to sessions; leave `all` out.")
    tabs = command.broker.tabs_of(command.session)
    return list(await asyncio.gather(*(_now(command, tab) for tab in tabs)))


async def _now(command: Command, tab: Tab) -> dict[str, Any]:
    """A tab as its page is at this moment; the hub's own copy follows a little later."""
    told = command.told(tab)
    page = command.hub.live_page(tab.id)
    if page is None:
        return told
    told["loading"] = page.loading
    with contextlib.suppress(BrowserError):
        limit = min(FACE_LIMIT, command.left())
        url, told["title"] = await page.evaluate_isolated(FACE, timeout=limit)
        if not url.startswith("chrome-error:"):  # an error page shows the address that failed
            told["url"] = url
    return told


async def _open(command: Command) -> dict[str, Any]:
    url = check_agent_url(command.args["url"])
    tab = await command.hub.open(BLANK, command.session)
    command.tell(tab, f"opens {url}")
    if url != BLANK:
        await _first_page(command, tab, url)
    if not command.args["background"]:
        command.broker.select(command.session, tab.id)
    return await _now(command, tab)


async def _first_page(command: Command, tab: Tab, url: str) -> None:
    """Bring a new tab to its address; one that shows nothing but an error is not kept."""
    page = await command.hub.page(tab.id)
    try:
        await page.navigate(url, "load", command.left())
    except BrowserError as error:
        if error.code == "timeout" and page.url == url:
            return  # a page that never finishes is there all the same; `loading` says so
        if error.code in ("navigation-failed", "not-allowed"):
            await command.hub.close(tab.id)
        raise


async def _select(command: Command) -> dict[str, Any]:
    tab = command.broker.own_tab(command.session, command.args["tab"])
    command.broker.select(command.session, tab.id)
    return await _now(command, tab)


async def _close(command: Command) -> dict[str, Any]:
    tab = await command.tab()
    await command.hub.close(tab.id)
    return {"id": tab.id, "restorable": True}


async def _navigate(command: Command) -> dict[str, Any]:
    url = check_agent_url(command.args["url"])
    tab, page = await command.page()
    command.tell(tab, f"opens {url}")
    return await page.navigate(url, command.args["wait"], command.left())


async def _back(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    command.tell(tab, "goes back")
    return await page.back(command.left())


async def _forward(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    command.tell(tab, "goes forward")
    return await page.forward(command.left())


async def _reload(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    command.tell(tab, "reloads the page")
    return await page.reload(timeout=command.left())


async def _stop(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    command.tell(tab, "stops loading")
    return await page.stop()


async def _snapshot(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    command.tell(tab, "reads the page")
    args = command.args
    return await snapshot.take(
        page,
        max_refs=args["max_refs"],
        within=args["within"],
        since=args["since"],
        interactive=args["interactive"],
        timeout=command.left(),
    )


async def _click(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    args = command.args
    position = args["position"]
    return await actions.click(
        page,
        args["target"],
        button=args["button"],
        count=args["count"],
        modifiers=args["modifiers"] or (),
        position=None if position is None else (position[0], position[1]),
        timeout=command.left(),
        tell=command.teller(tab),
    )


async def _type(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    args = command.args
    return await actions.type_text(
        page,
        args["target"],
        args["text"],
        mode=args["mode"],
        submit=args["submit"],
        timeout=command.left(),
        tell=command.teller(tab),
    )


async def _wait(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    name = next(each for each in command.operation.one_of if command.args[each] is not None)
    wanted: str = command.args[name]
    if name == "url":
        wanted = url_pattern(wanted)
    words = {"text": "the text ", "url": "the address ", "gone": "the end of ", "js": "JavaScript: "}
    command.tell(tab, f"waits for {words.get(name, '')}“{wanted}”")
    return await actions.wait(page, timeout=command.left(), **{name: wanted})


def url_pattern(wanted: str) -> str:
    """Return a pattern for an address that can be matched in a moment, whoever chose pattern and address.

    A page's address may have 2,048 characters, and the hub matches it for everybody: regular
    expressions and many stars could take it hours.

    Raises:
        BrowserError: `invalid-args`, it has too many stars.
    """
    anchored = "://" in wanted
    pattern = re.sub(r"\*+", "*", wanted)
    if not anchored:
        pattern = pattern.strip("*")  # it may stand anywhere in the address as it is
    if pattern.count("*") > (2 if anchored else 1):
        raise BrowserError(
            "invalid-args", "tab.wait: url may have two * in a whole address, else one in the middle."
        )
    if not pattern or (len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/")):
        pattern += "*"  # "/inbox/" is a piece of an address here, not a regular expression
    return pattern


async def _screenshot(command: Command) -> dict[str, Any]:
    tab, page = await command.page()
    command.tell(tab, "takes a picture")
    args = command.args
    return await actions.screenshot(
        page,
        target=args["target"],
        full_page=args["full_page"],
        format=args["format"],
        max_side=args["max_side"],
        timeout=command.left(),
    )


async def _evaluate(command: Command) -> Any:
    tab, page = await command.page()
    command.tell(tab, "runs JavaScript")
    return await actions.evaluate(
        page, command.args["js"], world=command.args["world"], timeout=command.left()
    )


async def _sleep(command: Command) -> dict[str, Any]:
    tab = command.broker.own_tab(command.session, command.args["tab"])
    return command.told(await command.hub.sleep(tab.id))


async def _restore(command: Command) -> dict[str, Any]:
    tab_id: str = command.args["tab"]
    ended = [tab.id for tab in command.hub.closed() if tab.session == command.session]
    if tab_id not in ended:
        command.broker.own_tab(command.session, tab_id, closing=True)
    return command.told(await command.hub.restore(tab_id))


CARRIERS: Final[Mapping[str, Callable[[Command], Awaitable[Any]]]] = {
    "tabs.list": _list,
    "tabs.open": _open,
    "tabs.select": _select,
    "tab.close": _close,
    "tab.navigate": _navigate,
    "tab.back": _back,
    "tab.forward": _forward,
    "tab.reload": _reload,
    "tab.stop": _stop,
    "tab.snapshot": _snapshot,
    "tab.click": _click,
    "tab.type": _type,
    "tab.wait": _wait,
    "tab.screenshot": _screenshot,
    "tab.evaluate": _evaluate,
    "tab.sleep": _sleep,
    "tab.restore": _restore,
}

assert set(CARRIERS) == set(OPERATIONS), "every operation of the registry is carried out here"
