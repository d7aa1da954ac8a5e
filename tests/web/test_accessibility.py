"""Every page of ours before axe: nothing serious or critical, in light and in dark."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, expect

from support.chromium import serve_pages
from support.product import Product, open_view, persons_browser, running_product, sign_in

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
WITHIN = 30_000  # milliseconds; the machine may be busy
FAILING = ("serious", "critical")
LOOK = """async () => (await axe.run(document, {resultTypes: ['violations']})).violations
  .map(({id, impact, nodes}) => [impact, id, ...nodes.map((node) => [node.html, node.failureSummary])])"""


@pytest.fixture(scope="module")
def axe() -> str:
    assert AXE.exists(), f"{AXE} is not there. Run `npm ci` in the checkout, or `./run test`, which does it."
    return AXE.read_text()


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with running_product(tmp_path_factory.mktemp("accessible") / "home") as product:
        yield product


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serve_pages({"/cart": "<title>Cart</title><h1>Cart</h1>", "/docs": "<title>Docs</title>d"}) as base:
        yield base


@asynccontextmanager
async def a_person(axe: str, scheme: str, **options: Any) -> AsyncIterator[BrowserContext]:
    async with persons_browser(color_scheme=scheme, reduced_motion="reduce", **options) as person:
        person.set_default_timeout(WITHIN)
        await person.add_init_script(axe)
        yield person


@pytest.fixture(autouse=True)
def nothing_left(product: Product) -> Iterator[None]:
    """What a failing test left open is not in the way of the next one."""
    yield
    for id in product.tabs():
        product.run("close", id)


async def complaints(page: Page) -> list[Any]:
    """What axe finds that shuts people out, with where and why."""
    found = [one for one in await page.evaluate(LOOK) if one[0] in FAILING]
    for one in found:
        print(*one, sep="\n")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_sign_in_pages(axe: str, product: Product, scheme: str) -> None:
    async with a_person(axe, scheme) as person:
        page = await person.new_page()
        await page.goto(product.started["launchpad"])
        await expect(page.get_by_role("heading").first).to_be_visible()
        assert await complaints(page) == []
        await page.goto(f"{product.started['view']}/t/t000000000")
        await expect(page.get_by_role("heading").first).to_be_visible()
        assert await complaints(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_launchpad_and_view(axe: str, product: Product, site: str, scheme: str) -> None:
    expect.set_options(timeout=WITHIN)
    link = product.run("url", "--json").document["url"]
    async with a_person(axe, scheme) as person:
        launchpad = await sign_in(person, link)
        await expect(launchpad.get_by_text("No tabs yet")).to_be_visible()
        assert await complaints(launchpad) == []

        cart, docs = [
            product.run("open", f"{site}{path}", "--session", "shop", "--json").document["id"]
            for path in ("/cart", "/docs")
        ]
        product.run("sleep", docs)
        await expect(launchpad.locator("tab-card[data-asleep]")).to_have_count(1)
        await expect(launchpad.locator("memory-bar[data-known]")).to_be_visible()
        await launchpad.locator("tab-card").first.hover()
        assert await complaints(launchpad) == []
        view = await open_view(person, launchpad, "Cart")
        assert await complaints(view) == []
        await view.get_by_role("button", name="More").click()
        await expect(view.get_by_role("menu")).to_be_visible()
        assert await complaints(view) == []

        await launchpad.bring_to_front()
        await launchpad.locator("my-account button.me").click()
        assert await complaints(launchpad) == []
        await launchpad.keyboard.press("Escape")
        product.run("close", cart)
        product.run("close", docs)
        await expect(launchpad.locator("tab-card[data-closing]")).to_have_count(2)
        assert await complaints(launchpad) == []
        await expect(launchpad.locator("closed-list li").first).to_be_visible()
        assert await complaints(launchpad) == []
        assert await complaints(view) == []  # it says that the tab ended


async def test_a_phone(axe: str, product: Product, site: str) -> None:
    expect.set_options(timeout=WITHIN)
    link = product.run("url", "--json").document["url"]
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    async with a_person(axe, "light", **phone) as person:
        launchpad = await sign_in(person, link)
        await expect(launchpad.get_by_text("No tabs yet")).to_be_visible()
        product.run("open", f"{site}/cart", "--session", "shop")
        await launchpad.get_by_role("button", name="More for Cart").tap()
        await expect(launchpad.get_by_role("menuitem", name="Sleep")).to_be_visible()
        assert await complaints(launchpad) == []
        await launchpad.keyboard.press("Escape")
        view = await open_view(person, launchpad, "Cart")
        assert await complaints(view) == []
