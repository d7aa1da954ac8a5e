"""Takes the pictures of docs/images from the running product: Launchpad and view, light, dark and phone.

`python scripts/screenshots.py [FOLDER]` starts a Windowseat of its own, with sessions that work in
small sample pages, looks at it with a second Chromium as a person would, and ends everything again.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from sample_pages import PAGES

from windowseat.chromium.find import find_chromium
from windowseat.cli.client import HubClient
from windowseat.hub.home import find_home

IMAGES = Path(__file__).parents[1] / "docs" / "images"
LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("light", {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}}),
    ("dark", {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}}),
    (
        "phone",
        {
            "color_scheme": "light",
            "viewport": {"width": 390, "height": 844},
            "device_scale_factor": 2,
            "has_touch": True,
            "is_mobile": True,
        },
    ),
)
WORK = """
tab.type('label=Your name', 'Ada Lovelace')
tab.type('label=Street and number', 'Analytical Lane 12')
tab.type('label=Town', 'Prague')
tab.click('role=button[name="Pay now"]')
"""


class Seat:
    """A Windowseat of the script's own."""

    def __init__(self, home: str) -> None:
        self._environ = {**os.environ, "WINDOWSEAT_HOME": home}
        self._hub = HubClient(find_home(self._environ))

    def run(self, *words: str) -> Any:
        """One command; its JSON document."""
        done = subprocess.run(
            [sys.executable, "-m", "windowseat", *words, "--json"],
            env=self._environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    def open_as_a_person(self, url: str) -> str:
        """A tab that belongs to no session, as one from the Launchpad's address bar; its id."""
        return str(self._hub.request("POST", "/hub/v1/tabs", {"url": url})["id"])


@contextlib.contextmanager
def sample_site() -> Iterator[str]:
    """Serve the sample pages on loopback."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = PAGES.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing of it belongs on the terminal."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def enter(seat: Seat, browser: Browser, look: dict[str, Any]) -> tuple[BrowserContext, Page]:
    """Sign a new person in; returns them and their Launchpad."""
    person = await browser.new_context(**look)
    launchpad = await person.new_page()
    await launchpad.goto(seat.run("url", "--name", "Grace")["url"])
    await launchpad.locator("tab-card").first.wait_for()
    return person, launchpad


async def settle(page: Page, ready: str) -> None:
    """Wait until `ready` (JavaScript) holds, at most 15 s, and fonts and pictures have been painted."""
    await page.wait_for_function(ready, timeout=15_000)
    await page.wait_for_timeout(900)


# Every picture that is on the screen, and nothing is about to end any more.
PICTURES_THERE = """() => !document.querySelector('[data-closing]') && document.querySelector('[data-known]')
  && [...document.querySelectorAll('tab-card')]
    .filter((card) => card.getBoundingClientRect().top < innerHeight)
    .every((card) => card.querySelector('canvas').width > 1)"""


async def pictures(folder: Path, home: str, site: str) -> None:
    """Make the scene and take every picture."""
    seat = Seat(home)
    seat.run("up", "--detach", "--port", "0", "--code-mode")
    try:
        sleeper = scene(seat, site)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(os.environ).path,
                args=["--no-sandbox"] if os.geteuid() == 0 else [],
            )
            # Somebody has seen the tab before it falls asleep, so its last picture is known.
            person, launchpad = await enter(seat, browser, LOOKS[0][1])
            await settle(launchpad, PICTURES_THERE)
            seat.run("sleep", sleeper)
            await person.close()
            for name, look in LOOKS:
                await take(seat, browser, name, look, folder)
            await browser.close()
    finally:
        seat.run("down")


async def take(seat: Seat, browser: Browser, name: str, look: dict[str, Any], folder: Path) -> None:
    """The Launchpad and a view, as a person sees them who looks at them in this way."""
    person, launchpad = await enter(seat, browser, look)
    seat.run("exec", "--session", "fix-checkout", "-e", WORK)
    await settle(launchpad, PICTURES_THERE)
    await launchpad.screenshot(path=folder / f"launchpad-{name}.png")
    if name == "light":
        await launchpad.screenshot(path=folder / f"launchpad-full-{name}.png", full_page=True)
    async with person.expect_page() as opening:
        await launchpad.locator("tab-card button.main", has_text="Checkout").first.click()
    view = await opening.value
    await view.wait_for_url(lambda url: "/t/" in url)
    await settle(view, "() => document.querySelector('#picture')?.width > 320")
    seat.run("exec", "--session", "fix-checkout", "-e", WORK)
    await view.wait_for_timeout(500)
    await view.screenshot(path=folder / f"view-{name}.png")
    await person.close()


def scene(seat: Seat, site: str) -> str:
    """Sessions with tabs, some of a person's own, some closed; the id of the one that is to sleep."""
    seat.run("open", f"{site}/checkout", "--session", "fix-checkout")
    seat.run("open", f"{site}/cart", "--session", "fix-checkout")
    seat.run("open", f"{site}/reference", "--session", "upgrade-docs")
    seat.run("exec", "--session", "fix-checkout", "-e", "browser.select(browser.tabs()[0])")
    own = [seat.open_as_a_person(f"{site}{path}") for path in ("/pull/188", "/sign-in", "/latency")]
    for path in ("/reference", "/cart"):
        seat.run("close", seat.open_as_a_person(f"{site}{path}"))
    return own[-1]


def main() -> None:
    """Take all pictures into the folder of the first argument, or docs/images."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    own = tempfile.TemporaryDirectory(prefix="windowseat-pictures-", ignore_cleanup_errors=True)
    with own as home, sample_site() as site:
        asyncio.run(pictures(folder, home, site))
    print(f"pictures in {folder}")


if __name__ == "__main__":
    main()
