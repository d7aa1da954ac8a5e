"""Kill anything: the next one goes on with the same tabs, and who watches comes back by themselves."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.async_api import BrowserContext, Page

from support.chromium import serve_pages
from support.commands import windowseat
from support.hub import wait_until
from support.product import Product, open_address, persons_browser, running_product, sign_in, wait_picture

TABS = 20
PAGES = {
    "/": "<title>Kept</title><body style='background:#fed'><input id=i autofocus>",
    **{f"/{n}": f"<title>Page {n}</title><body>{n}" for n in range(TABS)},
}


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    with running_product(tmp_path, "--code-mode") as product:
        yield product


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serve_pages(PAGES) as base:
        yield str(base).rstrip("/")


@pytest.fixture
async def person() -> AsyncIterator[BrowserContext]:
    async with persons_browser() as person:
        yield person


def in_tab(product: Product, session: str, js: str) -> Any:
    """Evaluate in the session's own tab."""
    done = product.run("exec", "--json", "--session", session, "-e", f"tab.evaluate({js!r})")
    return done.document


async def waiting_view(person: BrowserContext, product: Product, site: str) -> tuple[Page, Page]:
    launchpad = await sign_in(person, product.started["url"])
    view = await open_address(person, launchpad, f"{site}/")
    return launchpad, view


async def says(view: Page, text: str) -> None:
    await view.get_by_text(text).first.wait_for(timeout=20_000)


async def test_a_killed_hub_is_followed_by_one_with_the_same_twenty_tabs(
    product: Product, site: str, person: BrowserContext
) -> None:
    launchpad, view = await waiting_view(person, product, site)
    for n in range(TABS - 1):
        product.run("open", f"{site}/{n}", "--session", "agent-1")
    in_tab(product, "agent-1", "globalThis.mark = 'untouched'")
    before = product.tabs()
    assert len(before) == TABS

    product.kill_hub()
    lost = view.locator("#banners").get_by_text(re.compile("Connection lost|Reconnecting"))
    await lost.wait_for(timeout=20_000)
    began = time.monotonic()
    product.up("--code-mode")
    took = time.monotonic() - began
    after = product.tabs()
    assert {id: tab["target"] for id, tab in after.items()} == {
        id: tab["target"] for id, tab in before.items()
    }
    assert {tab["title"] for tab in after.values()} == {tab["title"] for tab in before.values()}
    assert in_tab(product, "agent-1", "globalThis.mark")["value"] == "untouched"
    print(f"the next hub answered {took:.2f} s after it was asked for")

    # Neither page was touched; both find the new hub.
    await lost.wait_for(state="detached", timeout=20_000)
    await view.mouse.click(300, 300)
    await view.keyboard.type("x")
    await launchpad.locator("tab-card").nth(TABS - 1).wait_for(timeout=20_000)


async def test_a_killed_chromium_is_back_within_ten_seconds_with_every_tab(
    product: Product, site: str, person: BrowserContext
) -> None:
    _, view = await waiting_view(person, product, site)
    for n in range(5):
        product.run("open", f"{site}/{n}")
    before = set(product.tabs())
    listed = Path(product.started["runtime_dir"]) / "tabs.json"
    lists: list[set[str]] = []

    def ids_listed() -> set[str]:
        return {tab["id"] for tab in json.loads(listed.read_text())["tabs"]}

    async def watch() -> None:
        while True:
            lists.append(ids_listed())
            await asyncio.sleep(0.02)

    await wait_until(lambda: ids_listed() == before, "a list with all of them")

    watching = asyncio.create_task(watch())
    browser = product.started["browser"]["pid"]
    began = time.monotonic()
    os.killpg(browser, signal.SIGKILL)

    def back() -> bool:
        now = product.status().get("browser", {}).get("pid")
        return now not in (None, browser) and set(product.tabs()) == before

    await wait_until(back, "the browser is back with every tab", 20)
    print(f"Chromium was back after {time.monotonic() - began:.2f} s")
    watching.cancel()
    assert set.intersection(*lists) == before
    # The one that is looked at is awake again by itself, the others sleep until somebody opens them.
    await wait_until(lambda: sum(not tab["asleep"] for tab in product.tabs().values()) == 1, "one awake", 20)
    await wait_picture(view)


async def test_a_killed_keeper_leaves_no_orphan_and_loses_nothing(product: Product, site: str) -> None:
    product.run("open", f"{site}/1", "--session", "s")
    in_tab(product, "s", "globalThis.mark = 1")
    status = product.status()
    os.kill(status["keeper"]["pid"], signal.SIGKILL)
    await wait_until(
        lambda: product.status()["keeper"]["pid"] not in (0, None, status["keeper"]["pid"]), "another keeper"
    )
    assert product.status()["browser"]["pid"] == status["browser"]["pid"]
    assert in_tab(product, "s", "globalThis.mark")["value"] == 1
    product.down()
    await wait_until(lambda: not of_home(product.home), "nothing of this home runs", 20)


async def test_keeper_and_hub_killed_together_leave_no_orphan(product: Product, site: str) -> None:
    product.run("open", f"{site}/1")
    before = set(product.tabs())
    status = product.status()
    os.kill(status["keeper"]["pid"], signal.SIGKILL)
    os.kill(status["hub"]["pid"], signal.SIGKILL)
    await wait_until(lambda: not of_home(product.home), "Chromium sees the end of its pipe", 20)
    product.up("--code-mode")
    tabs = product.tabs()
    assert set(tabs) == before
    assert all(tab["asleep"] for tab in tabs.values())


async def test_a_killed_renderer_is_said_and_reload_brings_it_back(
    product: Product, site: str, person: BrowserContext
) -> None:
    _, view = await waiting_view(person, product, site)
    browser = psutil.Process(product.status()["browser"]["pid"])
    renderers = [
        process
        for process in browser.children(recursive=True)
        if "--type=renderer" in process.cmdline() and "--extension-process" not in process.cmdline()
    ]
    for renderer in renderers:
        renderer.kill()
    await says(view, "crashed")
    await view.get_by_role("button", name="Reload").last.click()
    await view.get_by_text("crashed").first.wait_for(state="hidden", timeout=20_000)
    await wait_until(lambda: all(tab["title"] == "Kept" for tab in product.tabs().values()), "the page again")


async def test_down_and_up_bring_every_tab_back_asleep(product: Product, site: str) -> None:
    product.run("open", f"{site}/1")
    product.run("open", f"{site}/2", "--session", "s")
    await wait_until(lambda: {t["title"] for t in product.tabs().values()} == {"Page 1", "Page 2"}, "titles")
    before = product.tabs()
    assert windowseat(product.home, "down").code == 0
    assert not of_home(product.home)
    product.up("--code-mode")
    after = product.tabs()
    assert {id: (t["title"], t["session"], t["asleep"]) for id, t in after.items()} == {
        id: (t["title"], t["session"], True) for id, t in before.items()
    }


def of_home(home: Path) -> list[psutil.Process]:
    """Every process that was started for this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if any(str(home) in word for word in process.cmdline()) and process.pid != os.getpid():
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found
