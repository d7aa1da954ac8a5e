"""The product as a user has it, and a second Chromium as the person's own browser."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Page, async_playwright

from support.commands import Done, windowseat
from windowseat.chromium.find import find_chromium


class Product:
    """One home with a hub that runs in the background on free ports."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.started: dict[str, Any] = {}

    def up(self, *more: str) -> dict[str, Any]:
        """Start (again), or fail with what it said; the document of `up --json`."""
        ports = ("--port", "0")
        if self.started:  # a person's browser knows the former ports
            former = [self.started[name].rsplit(":", 1)[1] for name in ("launchpad", "view")]
            ports = ("--port", former[0], "--view-port", former[1])
        found = self.run("up", "--detach", "--json", *ports, *more, timeout=120).document
        self.started = found
        return dict(found)

    def run(self, *words: str, timeout: float = 60) -> Done:
        """One command that must work."""
        done = windowseat(self.home, *words, timeout=timeout)
        assert done.code == 0, f"{words}: {done.err}{done.out}"
        return done

    def status(self) -> dict[str, Any]:
        """The status document; {"running": false} when no hub runs."""
        return dict(windowseat(self.home, "status", "--json").document)

    def tabs(self) -> dict[str, dict[str, Any]]:
        """The tabs by id."""
        return {tab["id"]: tab for tab in self.run("tabs", "--json").document["tabs"]}

    def kill_hub(self) -> None:
        """SIGKILL to the hub."""
        os.kill(self.started["hub"]["pid"], signal.SIGKILL)

    def down(self) -> None:
        """End everything."""
        windowseat(self.home, "down", timeout=60)


@contextlib.contextmanager
def running_product(home: Path, *more: str) -> Iterator[Product]:
    """The product, up with its first link; down in the end."""
    product = Product(home)
    try:
        product.up(*more)
        yield product
    finally:
        product.down()


@contextlib.asynccontextmanager
async def persons_browser(**options: Any) -> AsyncIterator[BrowserContext]:
    """The person's own Chromium, with nothing of the product's in it. No permission is granted."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(os.environ).path,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        try:
            yield await browser.new_context(**{"viewport": {"width": 1100, "height": 760}, **options})
        finally:
            await browser.close()


async def sign_in(person: BrowserContext, link: str) -> Page:
    """Follow the printed link; returns the Launchpad."""
    launchpad = await person.new_page()
    await launchpad.goto(link)
    await launchpad.wait_for_url(lambda url: "/enter" not in url)
    return launchpad


async def open_address(person: BrowserContext, launchpad: Page, address: str) -> Page:
    """Type an address into the Launchpad; returns the view that opens, once it shows a picture."""
    bar = launchpad.locator("address-bar input")
    await bar.fill(address)
    async with person.expect_page() as opening:
        await bar.press("Enter")
    view = await opening.value
    await wait_picture(view)
    return view


async def open_view(person: BrowserContext, launchpad: Page, title: str) -> Page:
    """Open the tab of that title from its card; returns the view, once it shows a picture."""
    async with person.expect_page() as opening:
        await launchpad.locator("tab-card button.main", has_text=title).first.click()
    view = await opening.value
    await wait_picture(view)
    return view


async def wait_picture(view: Page, timeout: float = 30.0) -> None:
    """Wait until the view's canvas shows something."""
    async with asyncio.timeout(timeout):
        while "/t/" not in view.url or not await view.evaluate(HAS_PICTURE):
            await asyncio.sleep(0.05)


# The canvas is a bitmap renderer's: its pixels are read from a copy. Until the page has this viewer's
# size its pictures are scaled, and a point here is another point there.
HAS_PICTURE = """() => {
  const picture = document.querySelector('#picture');
  if (!picture || !picture.width) return false;
  const shown = picture.getBoundingClientRect().width;
  if (Math.abs(shown - innerWidth) > 1 || picture.width !== innerWidth) return false;
  const copy = document.createElement('canvas');
  copy.width = 40; copy.height = 40;
  const context = copy.getContext('2d');
  context.drawImage(picture, 0, 0, 40, 40);
  return context.getImageData(0, 0, 40, 40).data.some((value) => value > 0);
}"""
