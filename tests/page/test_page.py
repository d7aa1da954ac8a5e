"""A page's state, its evaluation, its dialogs and choosers, and its end, in a real Chromium."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.chromium import RunningConnection, evaluate, open_page, wait_until
from windowseat.chromium.connection import CdpSession, CdpTimeout
from windowseat.errors import BrowserError
from windowseat.page.events import (
    Changed,
    ChooserOpened,
    Crashed,
    DialogClosed,
    DialogOpened,
    Gone,
    Navigated,
)
from windowseat.page.page import Page

pytestmark = pytest.mark.asyncio(loop_scope="module")

Show = Callable[[str], Awaitable[str]]


def heard(page: Page, kind: type) -> list[Any]:
    found: list[Any] = []
    page.listen(lambda event: found.append(event) if isinstance(event, kind) else None)
    return found


async def code_of(work: Awaitable[Any]) -> str:
    with pytest.raises(BrowserError) as failure:
        await work
    return failure.value.code


async def test_title_address_icon_and_history_are_read_without_runtime_enable(
    page: Page, pages: dict[str, str | bytes], site: str
) -> None:
    pages["/a"] = '<title>First</title><link rel="shortcut icon" href="/i.png"><h1>x</h1>'
    pages["/b"] = "<title>Second</title>"
    navigated = heard(page, Navigated)
    await page.navigate(f"{site}/a")
    await page.navigate(f"{site}/b")
    await wait_until(lambda: (page.title, page.can_back) == ("Second", True))
    await page.back()
    await wait_until(lambda: (page.title, page.can_back, page.can_forward) == ("First", True, True))
    assert page.url == f"{site}/a"
    assert page.icon == f"{site}/i.png"
    assert [event.url for event in navigated] == [f"{site}/a", f"{site}/b", f"{site}/a"]
    assert len({event.document for event in navigated}) >= 2
    assert await page.evaluate_isolated("function(a, b){ return a + b }", 1, 2) == 3
    assert not {
        method for method in page.sent if method in ("Runtime.enable", "Debugger.enable", "DOM.enable")
    }


async def test_a_page_finds_nothing_of_ours_in_its_world(page: Page, show: Show) -> None:
    await show("<button>x</button>")
    before = await page.evaluate_page("Object.getOwnPropertyNames(window).length")
    from windowseat.page.snapshot import take

    await take(page)
    assert await page.evaluate_page("Object.getOwnPropertyNames(window).length") == before
    assert (
        await page.evaluate_page(
            "typeof windowseatScript + document.documentElement.outerHTML.includes('windowseat')"
        )
        == "undefinedfalse"
    )


async def test_a_title_set_by_script_is_read_when_asked(page: Page, show: Show) -> None:
    await show("")
    changed = heard(page, Changed)
    await page.evaluate_page("document.title = 'Later ' + 'x'.repeat(3e6)")
    page.read_soon()
    await wait_until(lambda: page.title.startswith("Later"))
    assert len(page.title) == 256
    assert changed


@pytest.mark.parametrize(
    ("js", "value"),
    [
        ("1 + 1", 2),
        ("const a = 5; a * 2", 10),
        ("const a = 6; await Promise.resolve(a)", 6),
        ("() => ({x: [1, null]})", {"x": [1, None]}),
        ("async () => 'later'", "later"),
        ("return 7", 7),
        ("Promise.resolve(8)", 8),
        ("undefined", None),
        ("NaN", None),
        ("10n ** 20n", "100000000000000000000"),
        ("'Žluť 🐎'", "Žluť 🐎"),
        ("[...document.querySelectorAll('li')].map(e => e.textContent)", ["a", "b"]),
    ],
)
async def test_evaluation_takes_what_a_console_takes(page: Page, show: Show, js: str, value: Any) -> None:
    await show("<li>a</li><li>b</li>")
    assert await page.evaluate_page(js) == value
    assert await page.evaluate_page(js) == value


async def test_evaluation_says_what_was_thrown_and_where(page: Page, show: Show) -> None:
    await show("")
    with pytest.raises(BrowserError) as failure:
        await page.evaluate_page("1;\nnope.x")
    assert failure.value.code == "execution-failed"
    assert "ReferenceError: nope is not defined (line 2)" in failure.value.message
    assert await code_of(page.evaluate_page("x y z")) == "execution-failed"
    assert await code_of(page.evaluate_page("Promise.reject(new Error('no'))")) == "execution-failed"
    assert await code_of(page.evaluate_page("new Promise(() => {})", timeout=0.3)) == "timeout"


async def test_endless_code_of_the_caller_ends_at_its_time_and_the_page_goes_on(
    page: Page, show: Show
) -> None:
    await show("")
    began = time.monotonic()
    assert await code_of(page.evaluate_page("while (true) {}", timeout=0.5)) == "timeout"
    assert time.monotonic() - began < 1.5
    assert await page.evaluate_page("1 + 1") == 2


async def test_evaluation_in_a_document_that_goes_says_so(page: Page, show: Show, site: str) -> None:
    await show("")
    never = "function(){ document.title = 'begun'; return new Promise(() => {}) }"
    waiting = asyncio.ensure_future(page.evaluate_isolated(never))
    await wait_until(lambda: evaluate(page.session, "document.title === 'begun'"))
    await page.navigate("about:blank")
    assert await code_of(waiting) == "cancelled"
    assert await page.evaluate_isolated("function(){ return location.href }") == "about:blank"


async def test_a_dialog_stays_until_it_is_answered_once(page: Page, show: Show) -> None:
    await show("")
    opened, closed = heard(page, DialogOpened), heard(page, DialogClosed)
    asking = asyncio.ensure_future(page.evaluate_page("window.said = prompt('Name?', 'Ann')"))
    assert await code_of(asking) == "dialog-open"
    dialog = page.dialog
    assert dialog is not None
    assert (dialog.kind, dialog.message, dialog.default) == ("prompt", "Name?", "Ann")
    assert [event.dialog for event in opened] == [dialog]
    began = time.monotonic()
    assert await code_of(page.evaluate_page("1")) == "dialog-open"
    assert await code_of(page.evaluate_isolated("function(){}")) == "dialog-open"
    assert await code_of(page.navigate("about:blank")) == "dialog-open"
    assert time.monotonic() - began < 0.5
    both = await asyncio.gather(
        page.answer_dialog(True, "Eve"), page.answer_dialog(False), return_exceptions=True
    )
    assert [getattr(answer, "code", None) for answer in both] == [None, "not-found"]
    await wait_until(lambda: page.dialog is None)
    assert [event.dialog for event in closed] == [dialog.id]
    assert await page.evaluate_page("said") == "Eve"


@pytest.mark.parametrize(
    ("js", "accept", "value"), [("confirm('?')", True, True), ("confirm('?')", False, False)]
)
async def test_confirm_gets_its_answer(page: Page, show: Show, js: str, accept: bool, value: bool) -> None:
    await show("")
    assert await code_of(page.evaluate_page(f"window.said = {js}")) == "dialog-open"
    await page.answer_dialog(accept)
    assert await page.evaluate_page("said") is value


async def test_an_answer_for_an_earlier_dialog_does_not_hit_the_next(page: Page, show: Show) -> None:
    await show("")
    await code_of(page.evaluate_page("alert(1)"))
    first = page.dialog
    assert first is not None
    await page.answer_dialog(True, dialog=first.id)
    await wait_until(lambda: page.dialog is None)
    await code_of(page.evaluate_page("alert(2)"))
    assert await code_of(page.answer_dialog(True, dialog=first.id)) == "not-found"
    assert page.dialog is not None
    await page.answer_dialog(True)


async def test_leaving_may_be_asked_about(page: Page, show: Show, site: str) -> None:
    await show("<input>")
    await page.evaluate_page("addEventListener('beforeunload', e => e.preventDefault())")
    from windowseat.page.actions import type_text

    await type_text(page, "input", "x")
    assert await code_of(page.navigate("about:blank")) == "dialog-open"
    assert page.dialog is not None
    assert page.dialog.kind == "beforeunload"
    await page.answer_dialog(False)
    assert await page.evaluate_page("location.href") == f"{site}/"


async def test_files_are_chosen_and_refused(page: Page, show: Show, tmp_path: Path) -> None:
    await show(
        """<input type=file accept="image/*,.pdf" multiple oncancel="document.title = 'cancelled'"
          onchange="document.title = [...this.files].map(f => f.name)">"""
    )
    opened = heard(page, ChooserOpened)
    one, two = tmp_path / "one.pdf", tmp_path / "dvě.png"
    one.write_text("1")
    two.write_text("2")
    await page.evaluate_page("document.querySelector('input').click()")
    await wait_until(lambda: page.chooser)
    assert page.chooser is not None
    assert (page.chooser.multiple, page.chooser.accept) == (True, "image/*,.pdf")
    await page.answer_chooser([str(one), str(two)])
    assert await page.evaluate_page("document.title") == "one.pdf,dvě.png"
    assert page.chooser is None
    assert await code_of(page.answer_chooser([])) == "not-found"
    await page.evaluate_page("document.querySelector('input').click()")
    await wait_until(lambda: page.chooser)
    await page.answer_chooser([])
    await wait_until(lambda: evaluate(page.session, "document.title === 'cancelled'"))
    assert len(opened) == 2


async def test_one_file_only_where_one_is_asked_for(page: Page, show: Show) -> None:
    await show("<input type=file>")
    await page.evaluate_page("document.querySelector('input').click()")
    await wait_until(lambda: page.chooser)
    assert await code_of(page.answer_chooser(["/a", "/b"])) == "invalid-args"
    assert page.chooser is not None


async def test_a_crashed_page_says_so_and_comes_back_by_reload(page: Page, show: Show) -> None:
    url = await show("<p>here</p>")
    crashed = heard(page, Crashed)
    waiting = asyncio.ensure_future(page.evaluate_page("new Promise(() => {})"))
    await asyncio.sleep(0)
    page.session.send("Page.crash")
    assert await code_of(waiting) == "execution-failed"
    await wait_until(lambda: page.crashed)
    assert len(crashed) == 1
    assert await code_of(page.evaluate_page("1")) == "execution-failed"
    await page.reload()
    assert not page.crashed
    assert page.url == url
    assert await page.evaluate_page("document.body.innerText") == "here"


async def test_a_closed_tab_ends_what_waits_for_it(
    page: Page, chromium: RunningConnection, show: Show
) -> None:
    await show("")
    gone = heard(page, Gone)
    waiting = asyncio.ensure_future(page.evaluate_page("new Promise(() => {})"))
    await asyncio.sleep(0)
    await chromium.root.call("Target.closeTarget", {"targetId": page.target})
    assert await code_of(waiting) == "host-unavailable"
    assert page.gone
    assert len(gone) == 1
    assert await code_of(page.evaluate_page("1")) == "host-unavailable"
    assert await code_of(page.navigate("about:blank")) == "host-unavailable"


async def test_a_page_stuck_in_a_loop_costs_only_its_own_time(
    page: Page, chromium: RunningConnection, show: Show, site: str
) -> None:
    from windowseat.page import actions
    from windowseat.page.snapshot import take

    await show("<button>x</button>")
    page.session.send("Runtime.evaluate", {"expression": "while (true) {}"})
    began = time.monotonic()
    assert await code_of(page.evaluate_page("1", timeout=0.3)) in ("timeout", "execution-failed")
    assert await code_of(take(page, timeout=0.3)) == "timeout"
    assert await code_of(actions.click(page, "button", timeout=0.3)) == "timeout"
    assert await code_of(actions.wait(page, timeout=0.3, text="never")) == "timeout"
    assert await code_of(actions.screenshot(page, timeout=0.3)) == "timeout"
    assert time.monotonic() - began < 4
    second = Page(await chromium.root.attach(page.target), page.target)
    began = time.monotonic()
    await second.start()
    assert 2.5 < time.monotonic() - began < 4.5
    assert second.unresponsive
    page.session.send("Runtime.terminateExecution")
    await wait_until(lambda: evaluate(page.session, "true"))
    second.read_soon()
    await wait_until(lambda: not second.unresponsive and second.title == "Test")
    chromium.root.detach(second.session)


async def test_a_stopped_renderer_does_not_stop_the_start(chromium: RunningConnection) -> None:
    session = await open_page(chromium, "data:text/html,<title>Stopped</title>")
    target = session.target
    pid = await stop_renderer(session, chromium)
    try:
        page = Page(await chromium.root.attach(target), target)
        began = time.monotonic()
        await page.start()
        assert time.monotonic() - began < 4
        assert page.unresponsive
        assert await code_of(page.evaluate_page("1", timeout=0.2)) == "timeout"
    finally:
        os.kill(pid, signal.SIGCONT)
    page.read_soon()
    await wait_until(lambda: page.title == "Stopped")
    assert not page.unresponsive
    await chromium.root.call("Target.closeTarget", {"targetId": target})


async def stop_renderer(session: CdpSession, chromium: RunningConnection) -> int:
    """Stop the process of this page: the one without which it does not answer. Returns its id."""
    for process in psutil.Process(chromium.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # one that ended, or waits to be reaped
            if "--type=renderer" not in process.cmdline():
                continue
            process.suspend()
            try:
                await session.call("Runtime.evaluate", {"expression": "1"}, timeout=2.0)
            except CdpTimeout:
                return process.pid
            process.resume()
    raise AssertionError("no renderer belongs to the page")
