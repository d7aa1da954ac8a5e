"""The Launchpad before a real hub: what a person does there happens in the real browser."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright, expect

from support.chromium import serve_pages
from support.commands import windowseat
from windowseat.chromium.find import find_chromium

SHOP = "<title>Cart</title><body style='background:rgb(200,30,30)'><h1>Cart</h1>"
DOCS = "<title>Docs</title><h1>Docs</h1>"
WITHIN = 30_000  # milliseconds; the machine may be busy

# Whether the picture of the tab with this title is red, as its page is.
IS_RED = """title => {
  const card = [...document.querySelectorAll("tab-card")].find((one) => one.textContent.includes(title));
  const canvas = card?.querySelector("canvas.drawn");
  if (!canvas) return false;
  const [r, g, b] = canvas.getContext("2d").getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
  return r > 150 && g < 90 && b < 90;
}"""


@pytest.fixture
def up(tmp_path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    home = tmp_path / "home"
    done = windowseat(home, "up", "--detach", "--port", "0", "--json")
    assert done.code == 0, done.err
    yield home, done.document
    assert windowseat(home, "down").code == 0


async def test_a_person_s_way_through_the_launchpad(up):
    home, status = up
    with serve_pages({"/": SHOP, "/docs": DOCS}) as site:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(os.environ).path, args=["--no-sandbox"]
            )
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            page = await context.new_page()
            page.set_default_timeout(WITHIN)
            expect.set_options(timeout=WITHIN)
            await page.goto(status["url"])
            await expect(page.get_by_text("No tabs yet")).to_be_visible()

            async with context.expect_page() as beside:
                await page.get_by_placeholder("Search or type an address").fill(site)
                await page.keyboard.press("Enter")
            view = await beside.value
            await view.wait_for_url(re.compile(re.escape(status["view"]) + "/t/[a-z0-9]+$"))
            await expect(page.locator("tab-card", has_text="Cart")).to_be_visible()
            await page.bring_to_front()
            await page.wait_for_function(IS_RED, arg="Cart")
            await expect(page.locator("side-bar")).to_contain_text("You, watching")
            await view.close()

            windowseat(home, "open", f"{site}/docs", "--session", "writing-docs")
            docs = page.locator("tab-card", has_text="Docs")
            await expect(docs).to_be_visible()
            await docs.hover()
            await docs.get_by_role("button", name="Sleep: Docs").click()
            await expect(docs).to_contain_text("asleep")
            await docs.hover()
            await docs.get_by_role("button", name="Wake: Docs").click()
            await expect(docs).not_to_contain_text("asleep")

            await docs.hover()
            await docs.get_by_role("button", name="Close Docs for everyone").click()
            await expect(docs).to_contain_text("Ends in")
            await docs.get_by_role("button", name="Undo closing Docs").click()
            await expect(docs.get_by_text("Ends in")).to_be_hidden()
            await docs.locator(".main").focus()
            await page.keyboard.press("Delete")
            await expect(page.locator("closed-list")).to_contain_text("Docs")
            await page.get_by_role("button", name=re.compile("^Reopen Docs")).click()
            await expect(docs).to_be_visible()

            await the_view_opens_without_the_launchpad_s_cookie(context, page)
            await the_hub_dies_and_another_comes(home, status, page)
            await browser.close()


async def the_view_opens_without_the_launchpad_s_cookie(context: Any, page: Any) -> None:
    """By another host name no cookie goes along: the view's own sign-in page trades the token."""
    address = await page.evaluate(
        """async () => {
          const cards = [...document.querySelectorAll("tab-card")];
          const { id } = cards.find((one) => one.tab.title === "Cart").tab;
          const headers = { "X-Windowseat-Secret": localStorage.getItem("windowseat-secret") };
          return (await (await fetch(`/api/v1/tabs/${id}/view`, { method: "POST", headers })).json()).view;
        }"""
    )
    elsewhere = await context.new_page()
    address = address.replace("//localhost:", "//127.0.0.1:")
    await elsewhere.goto(address)
    await expect(elsewhere).to_have_title(re.compile("^Cart"))
    assert "#" not in elsewhere.url
    # Used up: another browser gets nothing for it, this one needs it no more.
    await elsewhere.reload()
    await expect(elsewhere).to_have_title(re.compile("^Cart"))
    stranger = await context.browser.new_page()
    await stranger.goto(address)
    await expect(stranger.get_by_role("alert")).to_contain_text("used already")
    await stranger.close()
    await elsewhere.close()


async def the_hub_dies_and_another_comes(home: Path, status: dict[str, Any], page: Any) -> None:
    os.kill(status["hub"]["pid"], signal.SIGKILL)
    await expect(page.get_by_text("Lost the hub")).to_be_visible()
    ports = {name: status[name].rsplit(":", 1)[1] for name in ("launchpad", "view")}
    again = await asyncio.to_thread(
        windowseat,
        home,
        "up",
        "--detach",
        "--port",
        ports["launchpad"],
        "--view-port",
        ports["view"],
        "--json",
    )
    assert again.code == 0, again.err
    # Nobody signs in anew, and the tabs are those from before.
    await expect(page.get_by_text("Lost the hub")).to_be_hidden()
    await expect(page.locator("tab-card")).to_have_count(2)
    await expect(page.locator("tab-card", has_text="Cart")).to_be_visible()
