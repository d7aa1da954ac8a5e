"""A person with a browser of their own signs in and works in a tab: everything arrives exactly."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page

from support.product import Product, open_address, persons_browser, running_product, sign_in

PAGE = """<!doctype html><meta charset=utf-8><title>Bench of a person</title>
<style>body{margin:0;font:16px sans-serif} body>*{position:absolute}
#name{left:20px;top:20px;width:300px;height:30px} #text{left:20px;top:80px;width:500px;height:120px}
#go{left:20px;top:220px;width:120px;height:40px}
#piece{left:20px;top:300px;width:100px;height:50px;background:#cde}
#drop{left:300px;top:300px;width:200px;height:120px;background:#eee}</style>
<input id=name><textarea id=text></textarea><button id=go>Go</button>
<div id=piece draggable=true>piece</div><div id=drop>here</div>
<script>
const seen = {clicks: [], dropped: [], drag: [], composed: [], pasted: [], trusted: true};
const $ = (id) => document.getElementById(id);
let sending = Promise.resolve();
function report() {
  const body = JSON.stringify({...seen, name: $('name').value, text: $('text').value});
  sending = sending.then(() => fetch('/report', {method: 'POST', body})).catch(() => {});
}
document.addEventListener('input', (e) => { seen.trusted &&= e.isTrusted; report(); });
document.addEventListener('paste', (e) => {
  seen.pasted.push(e.clipboardData.getData('text/plain').length); report(); });
document.addEventListener('compositionend', (e) => { seen.composed.push(e.data); report(); });
$('go').addEventListener('click', (e) => { seen.clicks.push([e.button, e.detail]); report(); });
$('go').addEventListener('contextmenu', (e) => {
  e.preventDefault(); seen.clicks.push(['menu', e.button]); report(); });
$('piece').addEventListener('dragstart', (e) => e.dataTransfer.setData('text/plain', 'the piece'));
for (const kind of ['mousedown', 'mouseup', 'dragstart', 'dragenter', 'dragend'])
  document.addEventListener(kind, (e) => { seen.drag.push([kind, e.clientX, e.clientY]); report(); });
$('drop').addEventListener('dragover', (e) => e.preventDefault());
$('drop').addEventListener('drop', (e) => {
  e.preventDefault(); seen.dropped.push(e.dataTransfer.getData('text/plain')); report(); });
report();
</script>"""

# The person's own page, from which they copy and into which they paste.
OWN_PAGE = "<!doctype html><meta charset=utf-8><textarea id=from></textarea><textarea id=to></textarea>"

LONG = ("Příliš žluťoučký kůň úpěl ďábelské ódy 🐎👩‍👩‍👧 — " * 60)[:1990] + "\nlast line"


class Site:
    """Serves the page and keeps what it reports last."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = (OWN_PAGE if self.path == "/own" else PAGE).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                site.last = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    async def until(self, condition: Callable[[dict[str, Any]], Any], what: str) -> None:
        """Wait until the page reports it."""
        for _ in range(1000):
            if self.last and condition(self.last):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{what}; the page last said {self.last}")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with running_product(tmp_path_factory.mktemp("person")) as product:
        yield product


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.fixture
async def seat(product: Product, site: Site) -> AsyncIterator[tuple[BrowserContext, Page]]:
    """A person who is in and looks at the page."""
    link = product.run("url", "--json").document["url"]
    async with persons_browser() as person:
        launchpad = await sign_in(person, link)
        view = await open_address(person, launchpad, site.base)
        await site.until(lambda last: True, "the page is there")
        yield person, view


async def at(view: Page, x: float, y: float) -> tuple[float, float]:
    """A point of the page in the view."""
    box = await view.locator("#picture").bounding_box()
    assert box is not None
    return box["x"] + x, box["y"] + y


async def click(view: Page, x: float, y: float, **options: Any) -> None:
    await view.mouse.click(*await at(view, x, y), **options)


async def test_typing_and_clicking_arrive_exactly(seat: tuple[BrowserContext, Page], site: Site) -> None:
    _, view = seat
    await click(view, 100, 35)
    await view.keyboard.type("Anna K. 42 <x@y.cz> ěščřžýáíé")
    await site.until(lambda s: s["name"] == "Anna K. 42 <x@y.cz> ěščřžýáíé", "the typed text")
    await click(view, 70, 240)
    await click(view, 70, 240, button="right")
    await site.until(lambda s: s["clicks"] == [[0, 1], ["menu", 2]], "a left and a right click")
    await click(view, 70, 240, click_count=2, delay=5)
    await site.until(lambda s: s["clicks"][-2:] == [[0, 1], [0, 2]], "a double click")
    assert site.last["trusted"]


async def test_two_thousand_characters_pasted_and_copied_back(
    seat: tuple[BrowserContext, Page], site: Site
) -> None:
    person, view = seat
    assert len(LONG) == 2000
    own = await person.new_page()
    await own.goto(f"{site.base}/own")
    await own.fill("#from", LONG)
    await own.focus("#from")
    await own.keyboard.press("Control+A")
    await own.keyboard.press("Control+C")
    await view.bring_to_front()
    await click(view, 100, 120)
    await view.keyboard.press("Control+V")
    await site.until(lambda s: s["text"] == LONG, "the pasted text")
    # The page counts UTF-16 units, Python characters.
    assert site.last["pasted"] == [len(LONG.encode("utf-16-le")) // 2]

    await own.bring_to_front()
    await own.fill("#from", "something else")
    await own.focus("#from")
    await own.keyboard.press("Control+A")
    await own.keyboard.press("Control+C")
    await view.bring_to_front()
    await click(view, 100, 120)
    await view.keyboard.press("Control+A")
    await view.keyboard.press("Control+C")
    for _ in range(200):
        await own.bring_to_front()
        await own.fill("#to", "")
        await own.focus("#to")
        await own.keyboard.press("Control+V")
        copied = await own.input_value("#to")
        if copied == LONG:
            break
        await asyncio.sleep(0.05)
    assert copied == LONG


async def test_an_ime_composition_arrives(seat: tuple[BrowserContext, Page], site: Site) -> None:
    person, view = seat
    await click(view, 100, 35)
    ime = await person.new_cdp_session(view)
    for text in ("に", "にほ", "にほん", "日本"):
        await ime.send(
            "Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        )
        await site.until(lambda s, text=text: s["name"] == text, f"the composition {text}, live")
    await ime.send("Input.insertText", {"text": "日本"})
    await site.until(lambda s: s["composed"] == ["日本"] and s["name"] == "日本", "its end")


async def test_a_drag_arrives(seat: tuple[BrowserContext, Page], site: Site) -> None:
    _, view = seat
    await view.mouse.move(*await at(view, 70, 325))
    await view.mouse.down()
    for x in range(90, 400, 30):
        await view.mouse.move(*await at(view, x, 340))
    await view.mouse.move(*await at(view, 400, 360))
    await view.mouse.up()
    await site.until(lambda s: s["dropped"] == ["the piece"], "the drop")


def test_no_chromium_listens(product: Product) -> None:
    """No port of the browser's, whatever its processes."""
    import psutil

    browser = psutil.Process(product.status()["browser"]["pid"])
    processes = [browser, *browser.children(recursive=True)]
    assert len(processes) > 2
    for process in processes:
        assert [c for c in process.net_connections() if c.status == psutil.CONN_LISTEN] == []


def test_nothing_secret_in_argv_or_logs(product: Product) -> None:
    import psutil

    status = product.status()
    token = (Path(status["runtime_dir"]) / "token").read_text().strip()
    assert len(token) > 20
    for process in psutil.process_iter(["cmdline"]):
        assert token not in " ".join(process.info["cmdline"] or [])
    for log in (product.home / "state" / "log").iterdir():
        text = log.read_text(errors="replace")
        assert token not in text
        assert "/enter#" not in text
