"""`windowseat demo` with a person's second Chromium: they watch the agent live and correct its field."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from support.commands import command_environment
from support.product import Product, open_view, persons_browser, running_product, sign_in
from windowseat.cli.client import HubClient
from windowseat.hub.home import find_home

LOOK = """() => {
  const picture = document.querySelector('#picture');
  const copy = document.createElement('canvas');
  copy.width = 200; copy.height = 150;
  copy.getContext('2d').drawImage(picture, 0, 0, 200, 150);
  return copy.toDataURL();
}"""


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    with running_product(tmp_path, "--code-mode") as product:
        yield product


@pytest.fixture
def demo(product: Product) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-u", "-m", "windowseat", "demo", "--no-open"],
        env=command_environment(product.home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    yield process
    process.kill()
    process.wait()


async def until_said(process: subprocess.Popen[str], text: str, seconds: float = 60) -> str:
    """Read the demo's lines until one has `text`; returns it."""
    said: list[str] = []
    async with asyncio.timeout(seconds):
        while True:
            assert process.stdout is not None
            line = await asyncio.to_thread(process.stdout.readline)
            assert line, f"the demo ended: {said}"
            said.append(line)
            if text in line:
                return line


def operate(product: Product, op: str, **args: Any) -> Any:
    """One operation of the agent's session, beside the cell that waits."""
    hub = HubClient(find_home({"WINDOWSEAT_HOME": str(product.home)}))
    answer = hub.request("POST", f"/hub/v1/sessions/demo/operations/{op}", {"args": args})
    return answer["data"]


async def place_of_town(product: Product) -> tuple[float, float]:
    box = await asyncio.to_thread(
        operate,
        product,
        "tab.evaluate",
        js="(() => { const box = document.querySelector('#town').getBoundingClientRect();"
        " return [box.x + 40, box.y + box.height / 2]; })()",
    )
    return float(box[0]), float(box[1])


async def watched_live(view: Page, seconds: float = 20.0) -> int:
    """How many different pictures come while the agent types, until three have."""
    seen: set[str] = set()
    async with asyncio.timeout(seconds):
        while len(seen) < 3:
            seen.add(await view.evaluate(LOOK))
            await asyncio.sleep(0.1)
    return len(seen)


async def test_a_person_watches_the_agent_and_corrects_its_field(
    product: Product, demo: subprocess.Popen[str]
) -> None:
    began = time.monotonic()
    await until_said(demo, "opens its tab")
    async with persons_browser() as person:
        launchpad = await sign_in(person, product.run("url", "--json").document["url"])
        view = await open_view(person, launchpad, "Tea by post")
        await watched_live(view)
        await view.locator("#agent-line").wait_for(state="visible", timeout=20_000)
        assert "demo" in await view.locator("#agent-line").inner_text()
        await until_said(demo, "Your turn")
        assert time.monotonic() - began < 60

        x, y = await place_of_town(product)
        box = await view.locator("#picture").bounding_box()
        assert box is not None
        await view.mouse.click(box["x"] + x, box["y"] + y)
        await view.keyboard.press("Control+A")
        await view.keyboard.type("Prague")
        await view.keyboard.press("Tab")
        line = await until_said(demo, "sees that you wrote")
        assert "Prague" in line
        await until_said(demo, "Thank you")
