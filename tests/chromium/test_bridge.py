"""The bridge extension in a real Chromium: what the hub asks of it, and how it survives."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import struct
import zlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

import windowseat
from support.chromium import RunningConnection, evaluate, open_page, running_chromium, serve_pages, wait_until
from windowseat.chromium.bridge import Bridge, BridgeEvent, TabReplaced, TabUpdated
from windowseat.chromium.connection import CdpSession
from windowseat.errors import BrowserError

FOLDER = Path(windowseat.__file__).parent / "extension"
ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><rect width='8' height='8' fill='red'/></svg>"
)
PAGES: dict[str, str] = {
    "/a": "<title>First</title><link rel=icon type=image/svg+xml href=/i.svg>a",
    "/b": "<title>Second</title>b",
    "/link": "<title>Link</title><a id=l href=/b target=_blank>open</a>",
    "/i.svg": ICON,
}


@pytest.fixture
def base() -> Iterator[str]:
    with serve_pages(PAGES) as address:
        yield address


@pytest.fixture
async def browser() -> AsyncIterator[RunningConnection]:
    async with running_chromium() as connection:
        yield connection


async def titled(page: CdpSession, title: str) -> bool:
    return bool(await evaluate(page, f"document.title === {title!r} && document.readyState === 'complete'"))


def target(page: CdpSession) -> str:
    return str(page.target)  # type: ignore[attr-defined]


async def go(page: CdpSession, url: str, title: str) -> None:
    await page.call("Page.navigate", {"url": url})
    await wait_until(lambda: titled(page, title))


async def test_everything_is_offered_and_tabs_are_mapped(browser: RunningConnection, base: str) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    assert bridge.offers == dict.fromkeys(("memory", "sleep", "reopening", "map", "events"), True)
    assert await bridge.tabs() == {}
    page = await open_page(root, base + "/a")
    tab = (await bridge.tabs())[target(page)]
    assert (tab.title, tab.url, tab.discarded, tab.replaces) == ("First", base + "/a", False, None)
    assert await bridge.describe(target(page)) is not None
    assert await bridge.describe("no such target") is None
    sizes = await bridge.memory()
    assert sizes[tab.tab_id] > 1024 * 1024


async def test_a_tab_sleeps_and_wakes_with_its_history(browser: RunningConnection, base: str) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    events: list[BridgeEvent] = []
    bridge.listen(events.append)
    page = await open_page(root, base + "/a")
    await go(page, base + "/b", "Second")
    before = (await bridge.tabs())[target(page)]
    asleep_id = await bridge.discard(before.tab_id)
    asleep_target, asleep = next(iter((await bridge.tabs()).items()))
    assert asleep.tab_id == asleep_id != before.tab_id
    assert asleep_target != target(page) and page.closed
    assert asleep.discarded and asleep.replaces == before.tab_id and asleep.window_id == before.window_id
    assert TabReplaced(asleep_id, before.tab_id) in events
    await bridge.reload(asleep_id)
    woken = await root.attach(asleep_target)
    await wait_until(lambda: titled(woken, "Second"))
    history = await woken.call("Page.getNavigationHistory")
    assert [entry["url"] for entry in history["entries"]] == [base + "/a", base + "/b"]
    awake = (await bridge.tabs())[asleep_target]
    assert awake.tab_id == asleep_id and not awake.discarded


async def test_a_closed_tab_comes_back_with_its_history(browser: RunningConnection, base: str) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    await open_page(root)
    page = await open_page(root, base + "/a")
    await go(page, base + "/b", "Second")
    await root.call("Target.closeTarget", {"targetId": target(page)})
    closed = await wait_until(bridge.recently_closed)
    assert (closed[0].url, closed[0].title) == (base + "/b", "Second")
    tab_id = await bridge.restore(closed[0].session_id)
    found = [name for name, tab in (await bridge.tabs()).items() if tab.tab_id == tab_id]
    again = await root.attach(found[0])
    await wait_until(lambda: titled(again, "Second"))
    history = await again.call("Page.getNavigationHistory")
    assert [entry["url"] for entry in history["entries"]] == [base + "/a", base + "/b"]
    windows = [tab.window_id for tab in (await bridge.tabs()).values()]
    assert len(set(windows)) == len(windows) == 2


async def test_a_link_to_a_new_tab_moves_to_a_window_with_its_page(
    browser: RunningConnection, base: str
) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    page = await open_page(root, base + "/link")
    await page.call("Runtime.evaluate", {"expression": "l.click()", "userGesture": True})
    await wait_until(lambda: _second(bridge, page))
    opened_target, opened = (await _second(bridge, page))[0]
    mine = (await bridge.tabs())[target(page)]
    assert opened.window_id == mine.window_id and opened.opener == mine.tab_id
    opened_page = await root.attach(opened_target)
    await wait_until(lambda: titled(opened_page, "Second"))
    await evaluate(opened_page, "window.mark = 42")
    await bridge.move_to_window(opened.tab_id)
    moved = (await bridge.tabs())[opened_target]
    assert moved.tab_id == opened.tab_id and moved.window_id != mine.window_id
    assert await evaluate(opened_page, "[window.mark, document.visibilityState]") == [42, "visible"]


async def _second(bridge: Bridge, page: CdpSession) -> list[object]:
    return [item for item in (await bridge.tabs()).items() if item[0] != target(page)]


def png(color: bytes) -> bytes:
    """A picture of 16 by 16 in one colour, three bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress((b"\0" + color * 16) * 16))
    return b"\x89PNG\r\n\x1a\n" + head + rows + chunk(b"IEND", b"")


def ico(picture: bytes) -> bytes:
    """An .ico file with this one PNG in it."""
    entry = struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, len(picture), 22)
    return struct.pack("<HHH", 0, 1, 1) + entry + picture


class Icons:
    """The icon of the only tab, as the bridge tells it; None until it says anything."""

    def __init__(self, bridge: Bridge) -> None:
        self.told: list[str] = []
        bridge.listen(self._heard)

    def _heard(self, event: BridgeEvent) -> None:
        if isinstance(event, TabUpdated) and event.icon is not None:
            self.told.append(event.icon)

    async def next(self) -> str:
        """What is told from now on, first of all."""
        self.told.clear()
        await wait_until(lambda: self.told, what="news of an icon")
        return self.told[-1]


async def color_of(browser: RunningConnection, icon: str) -> list[int]:
    """The colour of a picture's middle, as a page that is shown it sees it."""
    page = await open_page(browser)
    draw = f"""(async () => {{
      const picture = new Image();
      picture.src = {json.dumps(icon)};
      await picture.decode();
      const drawn = new OffscreenCanvas(8, 8).getContext('2d');
      drawn.drawImage(picture, 0, 0, 8, 8);
      return [...drawn.getImageData(4, 4, 1, 1).data];
    }})()"""
    found: list[int] = await evaluate(page, draw)
    await browser.root.call("Target.closeTarget", {"targetId": target(page)})
    return found


RED, GREEN, BLUE = b"\xff\0\0", b"\0\xff\0", b"\0\0\xff"
LINK = "<title>{}</title><link id=l rel=icon href={}>"
SITES: dict[str, dict[str, str | bytes]] = {
    "ico": {"/": "<title>x</title>", "/favicon.ico": ico(png(RED))},
    "png": {"/": "<title>x</title>", "/favicon.ico": png(RED)},
    "svg": {"/": LINK.format("x", "/i.svg"), "/i.svg": ICON},
    "beside": {"/": LINK.format("x", "/i.png"), "/i.png": png(RED), "/favicon.ico": png(BLUE)},
}


@pytest.mark.parametrize("kind", SITES)
async def test_an_icon_comes_as_data_whatever_kind_it_is(browser: RunningConnection, kind: str) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    icons = Icons(bridge)
    with serve_pages(SITES[kind]) as site:
        page = await open_page(root, f"{site}/")
        icon = await icons.next()
    assert icon.startswith("data:image/png;base64,") and len(icon) <= 32 * 1024
    assert (await bridge.tabs())[target(page)].icon == icon
    assert await color_of(browser, icon) == [255, 0, 0, 255]
    # The site is away: only the browser can have it still.
    icons.told.clear()
    await bridge.tell_icons()
    await wait_until(lambda: icon in icons.told, what="the icon once more")


async def test_a_site_without_an_icon_has_none_and_takes_away_the_former(browser: RunningConnection) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    icons = Icons(bridge)
    with serve_pages({"/": "<title>none</title>"}) as none, serve_pages(SITES["ico"]) as some:
        page = await open_page(root, f"{none}/")
        assert await icons.next() == ""
        await go(page, f"{some}/", "x")
        await wait_until(lambda: icons.told[-1], what="the icon")
        await go(page, f"{none}/", "none")
        await wait_until(lambda: icons.told[-1] == "", what="no icon any more")
        assert (await bridge.tabs())[target(page)].icon == ""


async def test_an_icon_that_a_page_changes_is_told_and_its_own_data_is_kept(
    browser: RunningConnection,
) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    icons = Icons(bridge)
    site = {"/": LINK.format("x", "/red.png"), "/red.png": png(RED), "/green.png": png(GREEN)}
    own = f"data:image/svg+xml,{quote(ICON)}"
    too_long = own + "%20" * 12_000
    with serve_pages(site) as base:
        page = await open_page(root, f"{base}/")
        red = await wait_until(lambda: icons.told and icons.told[-1], what="the first icon")
        await evaluate(page, "l.href = '/green.png'")
        await wait_until(lambda: icons.told[-1] != red, what="the second icon")
        assert await color_of(browser, icons.told[-1]) == [0, 255, 0, 255]
        await evaluate(page, f"l.href = {json.dumps(own)}")
        await wait_until(lambda: icons.told[-1] == own, what="the page's own data")
        await evaluate(page, f"l.href = {json.dumps(too_long)}")
        await wait_until(lambda: icons.told[-1] != own, what="a picture of it that is small enough")
        assert len(icons.told[-1]) <= 32 * 1024
        # A page that never rests does not keep its icon from being told.
        icons.told.clear()
        await evaluate(
            page, "setInterval(() => { l.href = ['/red.png', '/green.png'][++window.n % 2] }, 5, n = 0)"
        )
        await wait_until(lambda: len(icons.told) > 2, what="news of a restless icon")


async def test_after_a_flood_of_titles_the_last_one_is_told(browser: RunningConnection, base: str) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    titles: list[str] = []
    bridge.listen(lambda event: titles.append(event.title or "") if isinstance(event, TabUpdated) else None)
    page = await open_page(root, base + "/a")
    await evaluate(
        page,
        "n = 0; f = setInterval(() => { for (let k = 0; k < 20; k++) document.title = 'flood ' + ++n;"
        " if (n > 2000) { clearInterval(f); document.title = 'calm'; } }, 5); 1",
    )
    # The flood outlasts the worker's patience; what it slept through is told when it listens again.
    await wait_until(lambda: "calm" in titles, timeout=30, what="the last title")
    await evaluate(page, "document.title = 'later'")
    await wait_until(lambda: "later" in titles, what="a title after it")


async def test_news_of_a_noisy_title_are_cut_and_gathered(browser: RunningConnection, base: str) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    events: list[TabUpdated] = []
    bridge.listen(lambda event: events.append(event) if isinstance(event, TabUpdated) else None)
    page = await open_page(root, base + "/a")
    await wait_until(lambda: any(event.icon for event in events), what="the icon")
    events.clear()
    await evaluate(page, "for (let i = 0; i < 500; i++) document.title = i + 'x'.repeat(5e3) + '\\ud800'")
    await wait_until(lambda: any((event.title or "").startswith("499x") for event in events))
    assert all(len(event.title or "") <= 256 for event in events)
    assert len(events) < 100
    await evaluate(page, "history.pushState(0, '', '#' + 'y'.repeat(1e5)); document.title = '\\ud800 done'")
    await wait_until(lambda: any((event.title or "").endswith(" done") for event in events))
    assert len((await bridge.tabs())[target(page)].url) == 2048


@pytest.mark.parametrize("same_files", [True, False])
async def test_a_second_hub_takes_the_worker_or_loads_it_anew_and_pages_stay(
    browser: RunningConnection, base: str, tmp_path: Path, same_files: bool
) -> None:
    folder = tmp_path / "extension"
    shutil.copytree(FOLDER, folder)
    root = await browser.attach_root()
    first = await Bridge.load(root, folder)
    assert first._worker is not None
    await evaluate(first._worker, "globalThis.mark = 'of the first hub'")
    page = await open_page(browser, base + "/a")
    await evaluate(page, "window.mark = 7")
    tab = (await first.tabs())[target(page)]
    browser.root.send("Target.detachFromTarget", {"sessionId": root.session_id})
    if not same_files:
        with (folder / "worker.js").open("a") as file:
            file.write("// another version\n")
    second = await Bridge.load(await browser.attach_root(), folder)
    assert second._worker is not None
    assert (await evaluate(second._worker, "typeof mark") == "string") is same_files
    assert all(second.offers.values())
    events: list[BridgeEvent] = []
    second.listen(events.append)
    assert (await second.tabs())[target(page)].tab_id == tab.tab_id
    assert await evaluate(page, "window.mark") == 7
    await evaluate(page, "document.title = 'Changed'")
    await wait_until(lambda: ("Changed", tab.tab_id) in [(e.title, e.tab_id) for e in updates(events)])


def updates(events: list[BridgeEvent]) -> list[TabUpdated]:
    return [event for event in events if isinstance(event, TabUpdated)]


async def worker_pid(bridge: Bridge) -> int:
    worker = bridge._worker
    assert worker is not None
    found = await evaluate(worker, "chrome.processes.getProcessInfo([], false)")
    return next(int(one["osProcessId"]) for one in found.values() if one["type"] == "service_worker")


async def test_a_killed_worker_comes_back_and_tells_all(browser: RunningConnection, base: str) -> None:
    root = await browser.attach_root()
    bridge = await Bridge.load(root, FOLDER)
    page = await open_page(root, base + "/a")
    events: list[BridgeEvent] = []
    bridge.listen(events.append)
    os.kill(await worker_pid(bridge), signal.SIGKILL)
    tab = (await asyncio.wait_for(bridge.tabs(), 15))[target(page)]
    assert tab.title == "First"
    await wait_until(
        lambda: any(isinstance(e, TabUpdated) and e.title == "First" for e in events), what="all tabs anew"
    )
    assert await asyncio.wait_for(bridge.discard(tab.tab_id), 15) != tab.tab_id


async def test_refusals_have_codes(browser: RunningConnection) -> None:
    bridge = await Bridge.load(await browser.attach_root(), FOLDER)
    for call in (bridge.discard(12345), bridge.reload(12345), bridge.restore("12345")):
        with pytest.raises(BrowserError) as refused:
            await call
        assert refused.value.code in ("not-found", "execution-failed")
    bridge.offers["sleep"] = False
    with pytest.raises(BrowserError) as lacking:
        await bridge.discard(12345)
    assert lacking.value.code == "unsupported"


async def test_a_browser_that_refuses_extensions_says_so(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text((FOLDER / "manifest.json").read_text())
    async with running_chromium(extra=("--disable-extensions",)) as connection:
        with pytest.raises(BrowserError) as refused:
            await Bridge.load(await connection.attach_root(), FOLDER)
    assert refused.value.code in ("unsupported", "timeout")


def test_no_page_can_reach_the_extension() -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text())
    assert manifest["externally_connectable"] == {}
    assert "web_accessible_resources" not in manifest and "content_scripts" not in manifest
    assert "onMessageExternal" not in (FOLDER / "worker.js").read_text()
