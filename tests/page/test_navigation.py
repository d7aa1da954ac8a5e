"""Opening addresses and travelling: what is answered when all goes well, and when it does not."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
import pytest_asyncio

from support.chromium import RunningConnection, wait_until
from windowseat.errors import BrowserError
from windowseat.page import actions
from windowseat.page.page import Page
from windowseat.page.snapshot import take

pytestmark = pytest.mark.asyncio(loop_scope="module")

HTML = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
ANSWERS = {
    "/ok": f"{HTML}<title>Fine</title><p id=p>ok</p>",
    "/missing": HTML.replace("200 OK", "404 Not Found") + "<title>Missing</title>",
    "/moved": "HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n",
    "/circle": "HTTP/1.1 302 Found\r\nLocation: /circle\r\nContent-Length: 0\r\n\r\n",
    "/nothing": "HTTP/1.1 204 No Content\r\n\r\n",
    "/file": "HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 1\r\n"
    'Content-Disposition: attachment; filename="report.zip"\r\n\r\nx',
    "/script": f"{HTML}<script>location = '/ok'</script>",
    "/hanging": f"{HTML}<title>Hanging</title><p>text</p><img src=/never>",
    "/unload": f"{HTML}<title>Asks</title><input>"
    "<script>onbeforeunload = event => event.preventDefault()</script>",
}


class Odd:
    """A server with strange answers; a path it does not know is never answered."""

    def __init__(self) -> None:
        self._open: set[asyncio.StreamWriter] = set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with contextlib.suppress(OSError, IndexError):
            request = await reader.read(65536)
            if request[:1] == b"\x16":  # a TLS handshake
                answer = "HTTP/1.1 400 Bad Request\r\n\r\n"
            else:
                path = request.split()[1].decode().partition("?")[0]
                answer = ANSWERS.get(path, "")
            if answer:
                writer.write(answer.encode())
                await writer.drain()
                writer.close()

    def end(self) -> None:
        for writer in self._open:
            writer.close()


@pytest_asyncio.fixture(loop_scope="module")
async def odd() -> AsyncIterator[str]:
    answers = Odd()
    server = await asyncio.start_server(answers.answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    answers.end()


async def failure_of(work: Awaitable[Any]) -> BrowserError:
    with pytest.raises(BrowserError) as failure:
        await work
    return failure.value


async def test_it_answers_address_title_and_status(page: Page, odd: str) -> None:
    assert await page.navigate(f"{odd}/ok") == {"url": f"{odd}/ok", "title": "Fine", "status": 200}
    assert (await page.navigate(f"{odd}/missing"))["status"] == 404
    assert (await page.navigate(f"{odd}/moved"))["url"] == f"{odd}/ok"
    assert await page.navigate("about:blank") == {"url": "about:blank", "title": "", "status": None}


async def test_a_move_within_the_document_is_complete_at_once(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/ok")
    assert (await page.navigate(f"{odd}/ok#p"))["url"] == f"{odd}/ok#p"
    assert (await page.back())["url"] == f"{odd}/ok"


async def test_a_page_that_goes_on_by_itself_ends_where_it_leads(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/script")
    await wait_until(lambda: page.url == f"{odd}/ok")


@pytest.mark.parametrize("wait", ["domcontentloaded", "commit", "none"])
async def test_waiting_less_answers_sooner(page: Page, odd: str, wait: str) -> None:
    began = time.monotonic()
    await page.navigate(f"{odd}/hanging", wait=wait, timeout=5)
    assert time.monotonic() - began < 4
    await wait_until(lambda: page.title == "Hanging")
    assert page.loading


async def test_a_page_that_never_finishes_can_be_used_all_the_same(page: Page, odd: str) -> None:
    began = time.monotonic()
    late = await failure_of(page.navigate(f"{odd}/hanging", timeout=1.0))
    assert time.monotonic() - began < 2.5
    assert late.code == "timeout"
    assert f"{odd}/hanging is open" in late.message
    found = await take(page)
    assert "text: text" in found["text"] or "paragraph: text" in found["text"]
    assert "still loading" in found["hint"]
    await page.stop()
    await wait_until(lambda: not page.loading)


async def test_a_server_that_never_answers_ends_in_time(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/ok")
    began = time.monotonic()
    late = await failure_of(page.navigate(f"{odd}/never", timeout=0.7))
    assert (late.code, late.outcome) == ("timeout", "unknown")
    assert time.monotonic() - began < 2
    await page.stop()
    assert await page.evaluate_page("document.title") == "Fine"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/circle", "redirects in a circle"),
        ("/nothing", "sent no page"),
        ("/file", "is a download (report.zip)"),
    ],
)
async def test_what_is_no_page_is_explained(page: Page, odd: str, path: str, words: str) -> None:
    failed = await failure_of(page.navigate(odd + path))
    assert (failed.code, failed.retryable) == ("navigation-failed", True)
    assert words in failed.message


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:9/", "browsers refuse that port"),
        ("http://windowseat.invalid/", "no such host"),
        ("https://{host}/", "does not speak https"),
    ],
)
async def test_network_failures_are_sentences(page: Page, odd: str, url: str, words: str) -> None:
    failed = await failure_of(page.navigate(url.format(host=odd.removeprefix("http://")), timeout=5))
    assert (failed.code, words in failed.message) == ("navigation-failed", True)


async def test_the_address_that_failed_stays_the_tabs_address(page: Page) -> None:
    await failure_of(page.navigate("http://windowseat.invalid/x"))
    await wait_until(lambda: page.url == "http://windowseat.invalid/x")
    assert (await take(page))["url"] == "http://windowseat.invalid/x"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("file:///etc/passwd", "not-allowed"),
        ("javascript:alert(1)", "not-allowed"),
        ("chrome://version", "not-allowed"),
        ("view-source:http://localhost/", "not-allowed"),
        ("data:text/html,x", "not-allowed"),
        ("localhost:3000", "invalid-args"),
        ("", "invalid-args"),
    ],
)
async def test_other_schemes_are_refused_before_anything_happens(page: Page, url: str, code: str) -> None:
    page.sent.clear()
    assert (await failure_of(page.navigate(url))).code == code
    assert "Page.navigate" not in page.sent


async def test_unknown_waits_are_refused(page: Page) -> None:
    assert (await failure_of(page.navigate("about:blank", wait="soon"))).code == "invalid-args"


async def test_history_goes_both_ways_and_ends(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/ok")
    await page.navigate(f"{odd}/missing")
    assert await page.back() == {"url": f"{odd}/ok", "title": "Fine"}
    assert (await page.forward())["title"] == "Missing"
    assert (await failure_of(page.forward())).code == "not-found"
    assert (await page.reload(hard=True))["url"] == f"{odd}/missing"


async def test_out_of_the_back_forward_cache_everything_works(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/ok")
    await take(page)
    await page.evaluate_page("kept = 7")
    await page.navigate(odd.replace("127.0.0.1", "localhost") + "/ok")
    await page.back()
    assert (await take(page))["url"] == f"{odd}/ok"
    assert (await actions.evaluate(page, "document.title", world="isolated")) == "Fine"
    await actions.click(page, "#p")


async def test_leaving_a_page_that_asks_waits_for_the_answer(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/unload")
    await actions.type_text(page, "input", "x")
    assert (await failure_of(page.navigate(f"{odd}/ok"))).code == "dialog-open"
    await page.answer_dialog(True)
    await wait_until(lambda: page.title == "Fine")


async def test_a_stuck_page_can_be_left(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/ok")
    page.session.send("Runtime.evaluate", {"expression": "while (true) {}"})
    other = odd.replace("127.0.0.1", "localhost")
    assert (await page.navigate(f"{other}/ok", timeout=10))["title"] == "Fine"
    assert (await take(page))["text"] == "- paragraph: ok"


async def test_many_navigations_at_once_leave_a_usable_page(page: Page, odd: str) -> None:
    await asyncio.gather(
        *(page.navigate(f"{odd}/ok?{n}", timeout=5) for n in range(5)), return_exceptions=True
    )
    assert (await page.navigate(f"{odd}/ok"))["status"] == 200
    assert (await take(page))["text"] == "- paragraph: ok"


async def test_a_page_met_in_the_middle_of_its_life_is_known_as_it_is(
    page: Page, odd: str, chromium: RunningConnection
) -> None:
    await page.navigate(f"{odd}/ok")
    later = Page(await chromium.root.attach(page.target), page.target)
    await later.start()
    assert (later.url, later.title, later.loading) == (f"{odd}/ok", "Fine", False)
    assert later.document == page.document
    assert (await actions.wait(later, load="load", timeout=1))["met"] == "load"
    await page.navigate(f"{odd}/hanging", wait="domcontentloaded")
    still = Page(await chromium.root.attach(page.target), page.target)
    await still.start()
    assert (still.title, still.loading) == ("Hanging", True)
    assert (await failure_of(actions.wait(still, load="load", timeout=0.3))).code == "timeout"
    await page.stop()
    await wait_until(lambda: not still.loading)
    for other in (later, still):
        chromium.root.detach(other.session)


async def test_the_title_stays_while_a_page_is_loaded_again(page: Page, odd: str) -> None:
    await page.navigate(f"{odd}/ok")
    await wait_until(lambda: page.title == "Fine")
    titles: set[str] = set()
    page.listen(lambda _: titles.add(page.title))
    await page.reload()
    await wait_until(lambda: not page.loading)
    assert titles == {"Fine"}
