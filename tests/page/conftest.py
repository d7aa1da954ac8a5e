"""One Chromium per module of tests, a fresh page per test, and a site of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio

from support.chromium import RunningConnection, open_page, running_chromium, serve_pages, wait_until
from windowseat.page.page import Page


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chromium() -> AsyncIterator[RunningConnection]:
    async with running_chromium() as connection:
        yield connection


@pytest_asyncio.fixture(loop_scope="module")
async def page(chromium: RunningConnection) -> AsyncIterator[Page]:
    """A started page in a window of its own; `page.sent` lists the methods sent on its session."""
    session = await open_page(chromium)
    sent: list[str] = []
    send = session.send

    def recording(method: str, params: Any = None) -> Any:
        sent.append(method)
        return send(method, params)

    session.send = recording
    made = Page(session, session.target)
    made.sent = sent
    await made.start()
    yield made
    if not made.gone:
        await chromium.root.call("Target.closeTarget", {"targetId": made.target})
        await wait_until(lambda: made.gone, what="the page to go")


@pytest.fixture
def pages() -> dict[str, str | bytes]:
    """The site's pages by path; a test puts its own in."""
    return {}


@pytest.fixture
def site(pages: dict[str, str | bytes]) -> Iterator[str]:
    """The base address of a server on loopback that serves `pages`."""
    with serve_pages(pages) as base:
        yield base


@pytest.fixture
def show(page: Page, pages: dict[str, str | bytes], site: str) -> Callable[[str], Awaitable[str]]:
    """Open a document with this body in the page; returns its address."""

    async def shown(body: str) -> str:
        pages["/"] = f"<!doctype html><title>Test</title><body>{body}"
        await page.navigate(f"{site}/")
        return f"{site}/"

    return shown
