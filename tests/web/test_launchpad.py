"""The Launchpad as a person uses it, in a real Chromium, before a hub that the test scripts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from support.web_services import Running, running_web
from windowseat.chromium.find import find_chromium
from windowseat.hub.events import Activity

expect.set_options(timeout=10_000)


# One browser for all of these: starting one takes longer than most of the tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(
            executable_path=find_chromium(os.environ).path, args=["--no-sandbox"]
        )
        yield found
        await found.close()


@pytest_asyncio.fixture(loop_scope="module")
async def web(tmp_path: Path, browser: Browser) -> AsyncIterator[Running]:
    async with running_web(tmp_path) as running:
        yield running
        for context in browser.contexts:
            await context.close()


class Seen(list[str]):
    """What a page has complained of: console errors (refusals of the content policy too), exceptions."""


async def sign_in(browser: Browser, web: Running, **how: object) -> tuple[BrowserContext, Page, Seen]:
    context = await browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **how})
    page = await context.new_page()
    seen = Seen()
    page.on(
        "console", lambda message: seen.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: seen.append(str(error)))
    await page.goto(f"{web.base}/enter#{web.services.admission.new_code()}")
    await expect(page.get_by_role("button", name="All tabs")).to_be_visible()
    return context, page, seen


def card(page: Page, title: str):
    return page.locator("tab-card", has_text=title)


async def test_signing_in_and_the_address_keeps_no_code(browser, web):
    context, page, seen = await sign_in(browser, web)
    assert page.url == f"{web.base}/"
    [cookie] = await context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    await page.go_back()
    assert "#" not in page.url
    await page.goto(web.base)
    await expect(page.get_by_text("No tabs yet")).to_be_visible()
    await expect(page.get_by_text("claude mcp add windowseat -- windowseat mcp")).to_be_visible()
    assert seen == []


async def test_a_used_link_says_what_to_do(browser, web):
    code = web.services.admission.new_code()
    web.services.admission.enter(code)
    page = await browser.new_page()
    await page.goto(f"{web.base}/enter#{code}")
    await expect(page.get_by_role("alert")).to_contain_text("windowseat url")
    assert "#" not in page.url


async def test_a_cookie_without_the_secret_shows_the_sign_in_page(browser, web):
    web.hub.add("t1", "Secret plans")
    _, page, _ = await sign_in(browser, web)
    await page.evaluate("localStorage.clear()")
    await page.goto(web.base)
    await expect(page.get_by_role("heading", name="Sign in with a link")).to_be_visible()
    assert "Secret plans" not in await page.content()


async def test_a_link_from_another_site_still_finds_the_person_signed_in(browser, web):
    context, page, _ = await sign_in(browser, web)
    await context.route("http://other.example/", lambda route: route.fulfill(
        content_type="text/html", body=f'<a href="{web.base}/">there</a>'))  # fmt: skip
    await page.goto("http://other.example/")
    await page.click("a")
    await expect(page.get_by_role("button", name="All tabs")).to_be_visible()


async def test_tabs_are_grouped_and_follow_the_hub(browser, web):
    web.hub.add("t1", "Cart", "https://shop.example/", session="fix")
    web.hub.add("t2", "Mine", "https://mine.example/")
    web.hub.memory_of = {"t1": 96_400_000}
    web.kernels.living.add("fix")
    _, page, seen = await sign_in(browser, web)
    group = page.get_by_role("region", name=re.compile("^fix"))
    await expect(group.locator("tab-card")).to_have_count(1)
    await expect(group.locator("h2")).to_contain_text("agent working · 1 tab · 96 MB")
    await expect(page.get_by_role("region", name=re.compile("^Yours"))).to_contain_text("Mine")
    await expect(page.get_by_role("button", name="fix, 1 tab, agent working")).to_be_visible()
    web.hub.tell(Activity("t1", "fix", "clicks button “Pay now”"))
    await expect(card(page, "Cart")).to_contain_text("clicks button “Pay now”")
    web.hub.change("t1", title="Checkout", loading=True)
    await expect(card(page, "Checkout")).to_be_visible()
    web.hub.change("t1", asleep=True)
    await expect(card(page, "Checkout")).to_contain_text("asleep")
    web.views.looking["t2"] = [web.enter("Petra").person]
    await expect(page.locator("side-bar")).to_contain_text("Petra, watching")
    await expect(
        page.get_by_role("button", name=re.compile("^Open Mine, .*, yours, .*looked at by Petra"))
    ).to_be_visible()
    web.hub.end("t2")
    await expect(card(page, "Mine")).to_have_count(0)
    await expect(page.locator("closed-list")).to_contain_text("Mine")
    assert seen == []


async def test_page_text_is_never_markup(browser, web):
    title = "<img src=x onerror=document.title='taken'>"
    web.hub.add("t1", title, "https://shop.example/", session="fix", icon="https://evil.example/icon.png")
    web.hub.add("t2", "lone \ud800 surrogate", "javascript:alert(1)")
    _, page, seen = await sign_in(browser, web)
    await expect(card(page, title)).to_be_visible()
    await expect(card(page, "lone")).to_be_visible()
    assert await page.title() == "Windowseat"
    assert await page.locator("tab-card img").count() == 0
    assert seen == []


async def test_closing_counts_down_with_undo(browser, web):
    web.hub.add("t1", "Cart")
    _, page, _ = await sign_in(browser, web)
    await card(page, "Cart").hover()
    await page.get_by_role("button", name="Close Cart for everyone").click()
    await expect(card(page, "Cart")).to_contain_text(re.compile(r"Ends in [78] s"))
    await expect(card(page, "Cart")).to_contain_text(re.compile(r"Ends in [56] s"))
    await expect(page.locator("#said")).to_contain_text("Cart closed for everyone")
    await page.get_by_role("button", name="Undo closing Cart").click()
    await expect(card(page, "Cart").get_by_text("Undo")).to_be_hidden()
    assert [asked[0] for asked in web.hub.asked] == ["close", "restore"]
    assert web.hub.tabs["t1"].closes_at is None


async def test_sleep_wake_and_reopen(browser, web):
    web.hub.add("t1", "Cart")
    web.hub.add("t2", "Other")
    _, page, _ = await sign_in(browser, web)
    await card(page, "Cart").hover()
    await page.get_by_role("button", name="Sleep: Cart").click()
    await page.get_by_role("button", name="Wake: Cart").click()
    await expect(page.get_by_role("button", name="Sleep: Cart")).to_be_attached()
    web.hub.end("t2")
    await page.get_by_role("button", name=re.compile("^Reopen Other")).click()
    await expect(card(page, "Other")).to_be_visible()
    assert [asked[:2] for asked in web.hub.asked] == [("sleep", "t1"), ("wake", "t1"), ("restore", "t2")]


async def test_opening_a_tab_shows_its_view_beside(browser, web):
    web.hub.add("t1", "Cart")
    context, page, _ = await sign_in(browser, web)
    view = f"http://localhost:{web.port + 1}"
    await context.route(
        f"{view}/**", lambda route: route.fulfill(content_type="text/html", body="<title>view")
    )
    async with context.expect_page() as opened:
        await page.locator("tab-card .main").click()
    beside = await opened.value
    await beside.wait_for_url(re.compile(re.escape(f"{view}/t/t1#")))
    token = beside.url.partition("#")[2]
    assert await beside.evaluate("window.opener") is None
    assert await beside.evaluate("document.referrer") == ""
    assert web.services.admission.trade_view_token(token, "t1") is not None
    async with context.expect_page() as opened:
        await page.get_by_placeholder("Search or type an address").fill("shop.example/cart")
        await page.keyboard.press("Enter")
    beside = await opened.value
    await beside.wait_for_url(re.compile(re.escape(f"{view}/t/new1#")))
    assert web.hub.asked == [("open", "https://shop.example/cart", "")]


async def test_a_refused_address_is_told_and_leaves_no_empty_window(browser, web):
    context, page, _ = await sign_in(browser, web)
    await page.get_by_placeholder("Search or type an address").fill("javascript:alert(1)")
    await page.keyboard.press("Enter")
    await expect(page.locator("#toast")).to_be_visible()
    assert await page.locator("#toast").inner_text()
    await expect_pages(context, 1)
    assert web.hub.asked == []


async def expect_pages(context: BrowserContext, count: int) -> None:
    async with asyncio.timeout(5):
        while len(context.pages) != count:
            await asyncio.sleep(0.02)


async def test_the_keyboard_reaches_everything(browser, web):
    for number in range(12):
        web.hub.add(f"t{number}", f"Tab {number}")
    _, page, _ = await sign_in(browser, web)
    await expect(page.locator("tab-card")).to_have_count(12)
    await page.locator("tab-card .main").first.focus()
    focused = "document.activeElement.closest('tab-card')?.tab.id"
    columns = await page.evaluate(
        "getComputedStyle(document.querySelector('.cards')).gridTemplateColumns.split(' ').length"
    )
    for key, id in [
        ("ArrowRight", "t1"),
        ("ArrowDown", f"t{1 + columns}"),
        ("ArrowUp", "t1"),
        ("ArrowLeft", "t0"),
        ("ArrowLeft", "t0"),
        ("End", "t11"),
        ("Home", "t0"),
    ]:
        await page.keyboard.press(key)
        assert await page.evaluate(focused) == id, key
    await page.keyboard.press("Delete")
    await expect(card(page, "Tab 0").first).to_contain_text("Ends in")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Ends in 8 s")).to_be_hidden()
    assert [asked[:2] for asked in web.hub.asked] == [("close", "t0"), ("restore", "t0")]
    # One Tab leads to this card's actions, further ones out of the cards: not through all twelve.
    names = []
    for _ in range(3):
        await page.keyboard.press("Tab")
        names.append(await page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert names[:2] == ["Sleep: Tab 0", "Close Tab 0 for everyone"]
    assert await page.evaluate(focused) is None
    await page.keyboard.press("/")
    await expect(page.get_by_placeholder("Search or type an address")).to_be_focused()


async def test_the_focus_stays_when_its_card_ends(browser, web):
    for number in range(3):
        web.hub.add(f"t{number}", f"Tab {number}")
    _, page, _ = await sign_in(browser, web)
    await page.locator("tab-card .main").nth(1).focus()
    web.hub.end("t1")
    await expect(page.locator("tab-card")).to_have_count(2)
    assert await page.evaluate("document.activeElement.closest('tab-card')?.tab.id") == "t2"


async def test_choosing_a_session_shows_its_tabs_only(browser, web):
    web.hub.add("t1", "Cart", session="fix")
    web.hub.add("t2", "Docs", session="docs")
    web.hub.add("t3", "Mine")
    _, page, _ = await sign_in(browser, web)
    await page.get_by_role("button", name="docs, 1 tab").click()
    await expect(page.locator("tab-card")).to_have_count(1)
    await expect(card(page, "Docs")).to_be_visible()
    await page.get_by_role("button", name="Yours, 1 tab").click()
    await expect(card(page, "Mine")).to_be_visible()
    await page.get_by_role("button", name="docs, 1 tab").click()
    web.hub.end("t2")
    # The session has gone: everything is shown again rather than nothing.
    await expect(page.locator("tab-card")).to_have_count(2)


async def test_a_lost_hub_is_said_and_found_again(browser, web):
    web.hub.add("t1", "Cart")
    _, page, _ = await sign_in(browser, web)
    await page.evaluate("""() => {
      const real = window.WebSocket;
      window.away = true;
      window.WebSocket = class { constructor(...all) {
        if (!window.away) return new real(...all);
        setTimeout(() => this.onclose?.({ code: 1006 }), 10);
      } };
      window.WebSocket.OPEN = real.OPEN;
    }""")
    web.services.admission.rename(web.services.admission.list()[0].person.id, "Ana")
    # The hub closes every socket, as it does when it ends.
    await close_sockets(web)
    await expect(page.get_by_text("Lost the hub")).to_be_visible()
    await expect(card(page, "Cart")).to_be_visible()
    web.hub.change("t1", title="Checkout")
    await page.evaluate("window.away = false")
    await page.get_by_role("button", name="Try now").click()
    await expect(page.get_by_text("Lost the hub")).to_be_hidden()
    await expect(card(page, "Checkout")).to_be_visible()


async def close_sockets(web: Running) -> None:
    for task in asyncio.all_tasks():
        if task.get_name() == "launchpad reads":
            task.cancel()


async def test_revoking_ends_the_open_page(browser, web):
    web.hub.add("t1", "Cart")
    _, page, _ = await sign_in(browser, web)
    await expect(card(page, "Cart")).to_be_visible()
    web.services.admission.revoke(web.services.admission.list()[0].person.id)
    await expect(page.get_by_role("heading", name="Sign in with a link")).to_be_visible()


async def test_changing_one_s_name(browser, web):
    _, page, _ = await sign_in(browser, web)
    _, other, _ = await sign_in(browser, web)
    await page.get_by_role("button", name=re.compile("You are ana")).click()
    await page.get_by_role("textbox", name="The name that others see").fill("Petra")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name=re.compile("You are Petra"))).to_be_visible()
    await expect(other.locator("side-bar")).to_contain_text("Petra")


async def test_thumbnails_of_what_is_on_the_screen_only(browser, web):
    for number in range(100):
        web.hub.add(f"t{number}", f"Tab {number}")
    _, page, seen = await sign_in(browser, web)
    await expect(page.locator("tab-card")).to_have_count(100)
    await until(lambda: "t0" in web.views.watched)
    assert 4 <= len(web.views.watched) < 40
    assert "t99" not in web.views.watched
    # An element that lives through updates: nothing is built anew.
    await page.evaluate("document.querySelector('tab-card').mark = 1")
    jpeg = await page.screenshot(type="jpeg")
    for callback in web.views.watched["t0"]:
        callback(jpeg)
    await expect(page.locator("tab-card").first.locator("canvas.drawn")).to_be_visible()
    web.hub.change("t0", title="Changed")
    await expect(card(page, "Changed")).to_be_visible()
    assert await page.evaluate("document.querySelector('tab-card').mark") == 1
    await page.locator("tab-card").last.scroll_into_view_if_needed()
    await until(lambda: "t99" in web.views.watched and "t0" not in web.views.watched)
    await page.close()
    await until(lambda: not web.views.watched)
    assert seen == []


async def test_the_memory_bar(browser, web):
    _, page, _ = await sign_in(browser, web)
    await expect(page.locator("memory-bar")).to_contain_text(re.compile(r"Memory · .* of .*GB"))
    await expect(page.locator("memory-bar .bar")).to_have_attribute(
        "aria-label", re.compile("^Browser .* Free")
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_phone(browser, web, scheme):
    for number in range(6):
        web.hub.add(
            f"t{number}", f"A rather long title of the tab number {number}", session=f"a-session-{number % 2}"
        )
    how = {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "color_scheme": scheme,
    }
    _, page, seen = await sign_in(browser, web, **how)
    await expect(page.locator("tab-card")).to_have_count(6)
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width == 390
    side, main = [await page.locator(name).bounding_box() for name in ("nav.side", "main")]
    assert side["y"] + side["height"] <= main["y"] + 1
    # What a finger must hit is large enough, and nothing lies on a picture.
    await expect(page.locator(".acts").first).to_be_hidden()
    small = await page.evaluate(
        """[...document.querySelectorAll("button, input")].filter((one) => one.checkVisibility())
        .map((one) => [one.outerHTML.slice(0, 60), one.getBoundingClientRect()])
        .filter(([_, box]) => box.width < 40 || box.height < 40)"""
    )
    assert small == []
    pictures = [await page.locator(".shown").nth(n).bounding_box() for n in range(6)]
    for number, picture in enumerate(pictures):
        more = await page.locator(".ask").nth(number).bounding_box()
        assert more["y"] >= picture["y"] + picture["height"]
    background = await page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)"
    )
    assert (sum(background) > 3 * 128) == (scheme == "light")
    assert seen == []


async def test_a_finger_finds_what_can_be_done_with_a_card(browser, web):
    for number in range(6):
        web.hub.add(f"t{number}", f"Tab {number}", session=None)
    how = {"viewport": {"width": 390, "height": 600}, "is_mobile": True, "has_touch": True}
    _, page, seen = await sign_in(browser, web, **how)
    menu = page.locator("card-menu")
    await page.get_by_role("button", name="More for Tab 5").tap()
    await expect(menu).to_be_visible()
    box = await menu.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 600
    await page.touchscreen.tap(200, 70)  # elsewhere
    await expect(menu).to_be_hidden()
    await page.get_by_role("button", name="More for Tab 0").tap()
    await expect(page.get_by_role("menuitem", name="Open")).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(page.get_by_role("menuitem", name="Close for everyone")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(menu).to_be_hidden()
    await expect(page.get_by_role("button", name="More for Tab 0")).to_be_focused()
    await page.get_by_role("button", name="More for Tab 0").tap()
    await page.get_by_role("menuitem", name="Sleep").tap()
    await expect(page.locator("tab-card").first).to_have_attribute("data-asleep", "")
    await page.get_by_role("button", name="More for Tab 0").tap()
    await expect(page.get_by_role("menuitem", name="Wake")).to_be_visible()
    await page.get_by_role("menuitem", name="Close for everyone").tap()
    await expect(page.locator("tab-card").first).to_have_attribute("data-closing", "")
    await expect(page.get_by_role("button", name="More for Tab 0")).to_be_hidden()
    assert seen == []


async def test_the_socket_ends_at_what_no_page_sends(web):
    entered = web.enter()
    cookie = {"Cookie": f"{entered.cookie_name}={entered.cookie_value}"}
    hello = {"t": "hello", "secret": entered.secret}
    for message in (
        {"t": "what"},
        {"t": "watch", "tabs": ["x"] * 61},
        {"t": "watch", "tabs": [1]},
        {"t": "watch"},
        {"t": "watch", "tabs": ["x" * 65]},
        [],
        b"\x00\xff",
    ):
        async with connect(
            f"ws://{web.host}/api/v1/live", origin=web.base, additional_headers=cookie
        ) as socket:
            await socket.send(json.dumps(hello))
            assert json.loads(await socket.recv())["t"] == "state"
            await socket.send(message if isinstance(message, bytes) else json.dumps(message))
            with pytest.raises(ConnectionClosed):
                async with asyncio.timeout(5):
                    while True:
                        await socket.recv()
            assert socket.close_code == 4400, message


async def test_changes_are_few_and_bounded(web):
    entered = web.enter()
    cookie = {"Cookie": f"{entered.cookie_name}={entered.cookie_value}"}
    web.hub.add("t1", "One")
    async with connect(f"ws://{web.host}/api/v1/live", origin=web.base, additional_headers=cookie) as socket:
        await socket.send(json.dumps({"t": "hello", "secret": entered.secret}))
        state = json.loads(await socket.recv())
        assert (state["you"]["name"], state["machine"]) == ("ana", "devbox")

        async def change() -> None:
            for number in range(200):
                web.hub.change("t1", title=f"Title {number}")
                await asyncio.sleep(0.005)

        loop = asyncio.get_running_loop()
        began = loop.time()
        changing = asyncio.create_task(change())
        seen = 0
        async with asyncio.timeout(10):
            while True:
                message = json.loads(await socket.recv())
                seen += 1
                if [tab["title"] for tab in message.get("tabs", [])] == ["Title 199"]:
                    break
        await changing
        assert seen <= 4 * (loop.time() - began) + 3, "more than four messages a second"


async def test_memory_is_read_while_somebody_looks_only(web, monkeypatch):
    read = asyncio.Event()

    async def memory() -> dict[str, int]:
        read.set()
        return {}

    monkeypatch.setattr(web.hub, "memory", memory)
    monkeypatch.setattr("windowseat.web.board._MEMORY_EVERY", 0.05)
    entered = web.enter()
    cookie = {"Cookie": f"{entered.cookie_name}={entered.cookie_value}"}
    async with connect(f"ws://{web.host}/api/v1/live", origin=web.base, additional_headers=cookie) as socket:
        await socket.send(json.dumps({"t": "hello", "secret": entered.secret}))
        await asyncio.wait_for(read.wait(), 5)
        await socket.send(json.dumps({"t": "visible", "on": False}))
        async with asyncio.timeout(5):
            while read.is_set():  # what was under way when the page was hidden may end
                read.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(read.wait(), 0.5)
        await socket.send(json.dumps({"t": "visible", "on": True}))
        await asyncio.wait_for(read.wait(), 5)


async def until(condition, timeout: float = 10) -> None:
    async with asyncio.timeout(timeout):
        while not condition():
            await asyncio.sleep(0.02)
