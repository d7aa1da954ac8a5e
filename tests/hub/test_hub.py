"""The hub with a real browser: ids through sleep, close, crashes of hub, keeper and browser."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest

from support.chromium import seen_headers, serve_pages
from support.hub import RunningHub, running_hub, wait_until
from windowseat.errors import BrowserError
from windowseat.hub.events import TabEnded, TabOpened
from windowseat.hub.hub import Hub

PAGES = {
    "/": """<title>Hello</title><link rel=icon href="data:image/png;base64,iVBORw0KGgo=">
        <a id=blank target=_blank href=/other>other</a>
        <button id=open onclick="window.w = window.open('/other', 'x', 'width=400,height=300')">open</button>
        <button id=close onclick="window.close()">close</button>
        <button id=title onclick="document.title = 'Renamed'">title</button>""",
    "/other": "<title>Other</title>other",
    "/third": "<title>Third</title>third",
    "/dialog": "<title>Dialog</title><script>setTimeout(() => alert('wait'), 50)</script>",
    "/huge": "<script>history.replaceState(0, '', '/huge?' + 'x'.repeat(300000));"
    "document.title = 'T'.repeat(3000) + '\\ud800';</script>",
}


@pytest.fixture(scope="module")
def site() -> AsyncIterator[str]:
    with serve_pages(PAGES) as base:
        yield str(base).rstrip("/")  # type: ignore[misc]


@pytest.fixture
async def running() -> AsyncIterator[RunningHub]:
    async with running_hub() as hub:
        yield hub


async def shows(hub: Hub, id: str, title: str) -> None:
    await wait_until(lambda: hub.tabs[id].title == title, f"tab {id} shows {title}")


async def test_a_tab_opens_with_address_title_and_icon_and_stands_in_the_list(
    running: RunningHub, site: str
) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    await wait_until(lambda: hub.tabs[tab.id].icon.startswith("data:image/png"), "its icon")
    target = hub.tabs[tab.id].target
    assert target is not None
    await wait_until(lambda: running.listed().get(tab.id, {}).get("target") == target, "its row in the list")
    assert running.listed()[tab.id]["asleep"] is False
    page = await hub.page(tab.id)
    history = await page.session.call("Page.getNavigationHistory")
    assert [e["url"] for e in history["entries"]] == [f"{site}/"]  # no blank page to go back to
    assert running.home.tab_list.stat().st_mode & 0o777 == 0o600


async def test_icons_of_sites_are_shown_as_data_and_those_that_came_without_a_hub_too(
    running: RunningHub,
) -> None:
    hub = running.hub
    svg = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><path d='M0 0h8v8' fill='{}'/></svg>"
    page = "<title>{}</title><link id=l rel=icon href={}>"
    site = {
        "/a": page.format("A", "/a.svg"),
        "/b": page.format("B", "/a.svg"),
        "/a.svg": svg.format("red"),
        "/z.svg": svg.format("blue"),
    }
    with serve_pages(site) as base, serve_pages({"/": "<title>Bare</title>"}) as bare:
        tab = await hub.open(f"{base}/a")
        red = await wait_until(lambda: hub.tabs[tab.id].icon, "the icon of a site")
        assert red.startswith("data:image/png;base64,")
        shown: list[str] = []
        stop = hub.subscribe(lambda _: shown.append(hub.tabs[tab.id].icon))
        live = await hub.page(tab.id)
        await live.navigate(f"{base}/b", "load", 10)
        await shows(hub, tab.id, "B")
        await live.navigate(f"{bare}/", "load", 10)
        await wait_until(lambda: not hub.tabs[tab.id].icon, "no icon of another site")
        stop()
        assert set(shown) == {red, ""}
        await live.navigate(f"{base}/a", "load", 10)
        await wait_until(lambda: hub.tabs[tab.id].icon == red, "the icon again")
        timer = "setTimeout(() => { l.href = '/z.svg'; document.title = 'Blue' }, 1000)"
        await live.session.call("Runtime.evaluate", {"expression": timer})
        await running.leave()
        assert "/z.svg" not in seen_headers
        await wait_until(lambda: "/z.svg" in seen_headers, "the new icon fetched while no hub is there")
        hub = await running.start()
        await shows(hub, tab.id, "Blue")
        await wait_until(lambda: hub.tabs[tab.id].icon not in ("", red), "the new icon")
        blue = hub.tabs[tab.id].icon
        await hub.sleep(tab.id)
        assert hub.tabs[tab.id].icon == blue


async def test_a_link_to_a_new_tab_gets_a_window_of_its_own_and_its_openers_session(
    running: RunningHub, site: str
) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/", "codex-1")
    page = await hub.page(tab.id)
    await shows(hub, tab.id, "Hello")
    for button in ("blank", "open"):
        known = set(hub.tabs)
        await page.session.call(
            "Runtime.evaluate",
            {"expression": f"document.getElementById('{button}').click()", "userGesture": True},
        )
        (new,) = await wait_until(lambda known=known: set(hub.tabs) - known, "the pop-up's tab")
        await shows(hub, new, "Other")
        assert hub.tabs[new].session == "codex-1"
        assert hub.tabs[new].opener == tab.id
        assert TabOpened(new, tab.id) in running.events

    async def windows() -> list[int]:
        root = hub.link.root
        assert root is not None
        return [
            (await root.call("Browser.getWindowForTarget", {"targetId": t.target}))["windowId"]
            for t in hub.tabs.values()
        ]

    async with asyncio.timeout(10):
        while len(set(await windows())) < 3:
            await asyncio.sleep(0.05)


async def test_titles_that_change_later_are_told(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    await (await hub.page(tab.id)).evaluate_page("document.getElementById('title').click()")
    await shows(hub, tab.id, "Renamed")


async def test_hostile_addresses_and_titles_are_cut(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/huge")
    await wait_until(lambda: len(hub.tabs[tab.id].url) == 2048, "the cut address")
    await wait_until(lambda: len(hub.tabs[tab.id].title) == 256, "the cut title")
    await wait_until(lambda: len(running.listed().get(tab.id, {}).get("title", "")) == 256, "its row")


async def test_sleep_keeps_the_id_and_the_history_and_use_wakes(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    await (await hub.page(tab.id)).navigate(f"{site}/other")
    await shows(hub, tab.id, "Other")
    slept = await hub.sleep(tab.id)
    assert (slept.asleep, slept.target, slept.title) == (True, None, "Other")
    await wait_until(lambda: running.listed()[tab.id]["asleep"], "asleep in the list")
    assert hub.live_page(tab.id) is None
    page = await hub.page(tab.id)
    assert hub.tabs[tab.id].asleep is False
    history = await page.session.call("Page.getNavigationHistory")
    assert [e["url"] for e in history["entries"]] == [f"{site}/", f"{site}/other"]
    assert len(hub.tabs) == 1


async def test_a_page_discarded_by_chromium_keeps_its_id(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    bridge, former = hub.link.bridge, hub.tabs[tab.id].target
    assert bridge is not None
    assert former is not None
    number = (await bridge.describe(former)).tab_id  # type: ignore[union-attr]
    await bridge.discard(number)  # behind the hub's back
    await wait_until(lambda: hub.tabs[tab.id].asleep, "the tab counts as asleep")
    assert list(hub.tabs) == [tab.id]


async def test_close_has_an_undo_and_a_day_of_reopening(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    await (await hub.page(tab.id)).navigate(f"{site}/other")
    await shows(hub, tab.id, "Other")
    closed = await hub.close(tab.id)
    assert closed.closes_at is not None
    with pytest.raises(BrowserError) as refused:
        await hub.page(tab.id)
    assert refused.value.code == "no-such-tab"
    row = await wait_until(lambda: running.listed()[tab.id].get("closes_at"), "its countdown in the list")
    assert row.keys() == {"boot", "at"}
    restored = await hub.restore(tab.id)
    assert (restored.id, restored.closes_at) == (tab.id, None)
    assert "closes_at" not in running.listed()[tab.id]  # restore answers once a list has the tab
    history = await (await hub.page(tab.id)).session.call("Page.getNavigationHistory")
    assert [e["url"] for e in history["entries"]] == [f"{site}/", f"{site}/other"]

    await hub.close(tab.id)
    await wait_until(lambda: tab.id not in hub.tabs, "the end after the Undo", timeout=12)
    assert TabEnded(tab.id, "closed") in running.events
    await wait_until(lambda: tab.id not in running.listed(), "a list without it")
    assert [c.id for c in hub.closed()] == [tab.id]
    again = await hub.restore(tab.id)
    assert again.url == f"{site}/other"
    assert hub.closed() == []


async def test_a_page_that_closes_itself_ends_after_five_seconds(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    page = await hub.page(tab.id)
    await page.session.call("Page.close")
    await wait_until(lambda: hub.tabs[tab.id].target is None, "its page is gone")
    assert tab.id in hub.tabs
    await wait_until(lambda: tab.id not in hub.tabs, "its end", timeout=9)
    assert TabEnded(tab.id, "page") in running.events


async def test_two_who_ask_for_a_sessions_window_get_the_same(running: RunningHub) -> None:
    hub = running.hub
    tabs = await asyncio.gather(*(hub.session_window("claude-1") for _ in range(5)))
    assert len({tab.id for tab in tabs}) == 1
    await hub.close(tabs[0].id)
    assert (await hub.session_window("claude-1")).id != tabs[0].id  # a closing tab is not handed out
    with pytest.raises(BrowserError) as refused:
        await hub.session_window("not a name")
    assert refused.value.code == "invalid-args"


async def test_a_new_hub_has_the_same_tabs_and_their_pages_untouched(running: RunningHub, site: str) -> None:
    tabs = [await running.hub.open(f"{site}/", "s1") for _ in range(5)]
    for tab in tabs:
        await shows(running.hub, tab.id, "Hello")
        await (await running.hub.page(tab.id)).evaluate_page(f"globalThis.mark = '{tab.id}'")
    await running.hub.sleep(tabs[4].id)
    before = {tab.id: tab.target for tab in running.hub.tabs.values()}
    await running.leave()
    hub = await running.start()
    await wait_until(lambda: {t.id: t.target for t in hub.tabs.values()} == before, "the same map")
    for tab in tabs[:4]:
        assert await (await hub.page(tab.id)).evaluate_page("globalThis.mark") == tab.id
    assert hub.tabs[tabs[4].id].asleep
    assert {t.session for t in hub.tabs.values()} == {"s1"}


async def test_tabs_opened_and_closed_while_no_hub_ran_are_found(running: RunningHub, site: str) -> None:
    tab = await running.hub.open(f"{site}/")
    await shows(running.hub, tab.id, "Hello")
    page = await running.hub.page(tab.id)
    await page.session.call(
        "Runtime.evaluate",
        {"expression": "setTimeout(() => open('/other'), 300); 1", "userGesture": True},
    )
    await running.leave()
    await asyncio.sleep(0.8)  # the page acts by its own clock while no hub is there to see it
    hub = await running.start()
    await wait_until(lambda: len(hub.tabs) == 2, "the tab opened meanwhile")
    other = next(t for t in hub.tabs.values() if t.id != tab.id)
    await shows(hub, other.id, "Other")


async def test_a_killed_browser_comes_back_with_every_tab_under_its_id(
    running: RunningHub, site: str
) -> None:
    hub = running.hub
    tabs = [await hub.open(f"{site}/") for _ in range(4)]
    for tab in tabs:
        await shows(hub, tab.id, "Hello")
    await wait_until(lambda: len(running.listed()) == 4, "the list")
    lists: list[set[str]] = []

    async def watch() -> None:
        while True:
            lists.append(set(running.listed()))
            await asyncio.sleep(0.01)

    watching = asyncio.create_task(watch())
    running.kill_browser()
    await wait_until(lambda: not hub.connected, "the hub sees it")
    await wait_until(lambda: hub.connected and all(t.asleep for t in hub.tabs.values()), "all asleep", 10)
    await wait_until(lambda: all(r["asleep"] for r in running.listed().values()), "listed asleep")
    watching.cancel()
    assert set.intersection(*lists) == {tab.id for tab in tabs}  # no list in between lacked one
    page = await hub.page(tabs[0].id)
    async with asyncio.timeout(10):
        while await page.evaluate_page("document.title") != "Hello":
            await asyncio.sleep(0.05)


async def test_a_killed_keeper_is_replaced_and_nothing_is_lost(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    await (await hub.page(tab.id)).evaluate_page("globalThis.mark = 1")
    browser, keeper = running.keeper.browser.pid, running.keeper.pid
    os.kill(keeper, signal.SIGKILL)
    await wait_until(lambda: running.keeper.pid not in (0, keeper), "another keeper")
    assert await (await hub.page(tab.id)).evaluate_page("globalThis.mark") == 1
    assert running.keeper.browser.pid == browser
    await running.leave()
    hub = await running.start()
    assert await (await hub.page(tab.id)).evaluate_page("globalThis.mark") == 1


async def test_a_dialog_in_one_tab_stops_no_other_and_no_list(running: RunningHub, site: str) -> None:
    hub = running.hub
    stuck = await hub.open(f"{site}/dialog")
    page = await hub.page(stuck.id)
    await wait_until(lambda: page.dialog, "the dialog")
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    await wait_until(lambda: set(running.listed()) == {stuck.id, tab.id}, "a list with both")
    await hub.close(stuck.id)
    await wait_until(lambda: hub.tabs[stuck.id].target is None, "it closes all the same")


async def test_a_sessions_first_page_has_nothing_to_go_back_to(running: RunningHub, site: str) -> None:
    tab = await running.hub.session_window("s")
    page = await running.hub.page(tab.id)
    await page.navigate(f"{site}/")

    async def entries() -> list[str]:
        history = await page.session.call("Page.getNavigationHistory")
        return [entry["url"] for entry in history["entries"]]

    async with asyncio.timeout(10):
        while await entries() != [f"{site}/"]:
            await asyncio.sleep(0.02)
    await page.navigate(f"{site}/other")
    assert await entries() == [f"{site}/", f"{site}/other"]  # only the blank one is forgotten


async def test_a_sessions_new_blank_tab_can_be_used_at_once(running: RunningHub) -> None:
    hub = running.hub
    for number in range(4):
        tab = await hub.session_window(f"at-once-{number}")
        page = await hub.page(tab.id)
        # Nothing changes the document under whoever begins now.
        waits = "await new Promise((done) => setTimeout(done, 100)); return location.href;"
        assert await page.evaluate_page(f"(async () => {{ {waits} }})()") == "about:blank"


async def test_the_current_tab_is_known_without_waking_it(running: RunningHub, site: str) -> None:
    hub = running.hub
    assert hub.current_tab("s") is None
    first = await hub.open(f"{site}/", "s")
    second = await hub.open(f"{site}/other", "s")
    assert hub.current_tab("s") == hub.tabs[second.id]
    hub.select("s", first.id)
    await hub.sleep(first.id)
    assert hub.current_tab("s") == hub.tabs[first.id]
    assert hub.tabs[first.id].asleep
    with pytest.raises(BrowserError) as refused:
        hub.select("other", first.id)
    assert refused.value.code == "no-such-tab"


async def test_unknown_ids_are_refused_with_a_sentence(running: RunningHub) -> None:
    hub = running.hub
    for call in (hub.page, hub.close, hub.restore, hub.sleep, hub.wake):
        with pytest.raises(BrowserError) as refused:
            await call("nosuchtab")
        assert refused.value.code == "no-such-tab"
        assert "windowseat tabs" in refused.value.message


async def test_a_new_page_has_the_size_of_new_pages(running: RunningHub, site: str) -> None:
    hub = running.hub
    for _ in range(2):  # the first may come before there is a spare window, the second takes it
        tab = await hub.open(f"{site}/")
        await shows(hub, tab.id, "Hello")
        page = await hub.page(tab.id)
        async with asyncio.timeout(10):
            while await page.evaluate_page("innerWidth + 'x' + innerHeight") != "1280x800":
                await asyncio.sleep(0.02)
        assert hub.page_size(tab.id) == (1280, 800)


async def test_a_page_takes_the_size_that_is_asked(running: RunningHub, site: str) -> None:
    hub = running.hub
    tab = await hub.open(f"{site}/")
    await shows(hub, tab.id, "Hello")
    page = await hub.page(tab.id)
    for width, height in ((1280, 800), (390, 844), (2000, 1300)):
        assert await hub.set_size(tab.id, width, height) == (width, height)
        assert hub.page_size(tab.id) == (width, height)
        async with asyncio.timeout(10):
            while await page.evaluate_page("innerWidth + 'x' + innerHeight") != f"{width}x{height}":
                await asyncio.sleep(0.02)
