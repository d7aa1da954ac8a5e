"""The broker over a real hub and Chromium: own tabs only, closed codes, deadlines, what people are told."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.server
import os
import signal
import threading
import time

import pytest
import pytest_asyncio

from support.agents import until
from support.hub_here import hub_here
from windowseat.agents import broker as broker_module
from windowseat.agents.broker import Broker
from windowseat.agents.carry import CARRIERS, cut, url_pattern
from windowseat.agents.kernels import Kernels
from windowseat.errors import BrowserError
from windowseat.hub.events import Activity
from windowseat.page.waiting import url_matcher
from windowseat.rules.operations import OPERATIONS

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORM = """<!doctype html><title>Order</title><h1>Order</h1>
<label>Name <input id=name></label><label>Password <input id=pass type=password></label>
<button onclick="out.textContent = 'Thanks ' + document.getElementById('name').value">Send</button>
<button onclick="alert('stop')">Alarm</button><p id=out></p>
<a href="/two" target=_blank>Two</a> <a href="/two" id=here>Here</a>"""
PAGES = {"/": FORM, "/two": "<title>Two</title><p>second page", "/spin": "<title>Spin</title><p>spin"}


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/never":
            self.server.release.wait(60)  # type: ignore[attr-defined]
        page = PAGES.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((page or "<title>None</title>nothing").encode())

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.release = threading.Event()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.release.set()  # type: ignore[attr-defined]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hub(tmp_path_factory):
    async with hub_here(tmp_path_factory.mktemp("home")) as there:
        yield there


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def broker(hub):
    return Broker(hub)


@pytest_asyncio.fixture(loop_scope="module")
async def session(request, broker):
    """A session of its own for each test, whose tabs end with it."""
    name = request.node.name.split("[")[0][:60].replace("test_", "")
    yield name
    for tab in broker.tabs_of(name):
        await broker.dispatch(name, "tab.close", {"tab": tab.id})


async def good(broker, session, op, timeout=30.0, **args):
    result = await broker.dispatch(session, op, args, timeout)
    assert result["ok"], result
    return result["data"]


async def bad(broker, session, op, timeout=30.0, **args):
    result = await broker.dispatch(session, op, args, timeout)
    assert not result["ok"], result
    return result["error"]


async def test_a_form_is_filled_and_people_are_told(hub, broker, session, site):
    heard: list[Activity] = []
    stop = hub.subscribe(lambda event: heard.append(event) if isinstance(event, Activity) else None)
    went = await good(broker, session, "tab.navigate", url=f"{site}/")
    assert went == {"url": f"{site}/", "title": "Order", "status": 200}
    outline = await good(broker, session, "tab.snapshot")
    assert 'textbox "Name" @e' in outline["text"] and outline["refs"] == 6
    assert (await good(broker, session, "tab.type", target="label=Name", text="Ada"))["value"] == "Ada"
    await good(broker, session, "tab.type", target="#pass", text="hunter2")
    await good(broker, session, "tab.click", target='role=button[name="Send"]')
    assert (await good(broker, session, "tab.wait", text="Thanks Ada"))["met"] == "text"
    assert await good(broker, session, "tab.evaluate", js="document.title") == "Order"
    stop()
    lines = [event.line for event in heard]
    assert lines[0] == f"opens {site}/" and any("Ada" in line for line in lines)
    assert "hunter2" not in str(heard), "a password is never told"
    assert {event.session for event in heard} == {session}
    assert any(event.kind == "click" and event.x is not None for event in heard)


async def test_the_first_operation_opens_the_sessions_window_and_the_list_does_not(broker, session):
    assert await good(broker, session, "tabs.list") == []
    await good(broker, session, "tab.evaluate", js="1")
    (tab,) = await good(broker, session, "tabs.list")
    assert tab["current"] is True and set(tab) == {
        "id", "url", "title", "loading", "asleep", "opener", "current",
    }  # fmt: skip


async def test_opening_selecting_closing_and_restoring(broker, session, site):
    one = await good(broker, session, "tabs.open", url=f"{site}/")
    assert (one["url"], one["title"], one["current"]) == (f"{site}/", "Order", True)
    two = await good(broker, session, "tabs.open", url=f"{site}/two", background=True)
    assert two["title"] == "Two" and not two["current"]
    assert await good(broker, session, "tab.evaluate", js="document.title") == "Order"
    assert (await good(broker, session, "tabs.select", tab=two["id"]))["current"]
    assert await good(broker, session, "tab.evaluate", js="document.title") == "Two"
    assert await good(broker, session, "tab.close") == {"id": two["id"], "restorable": True}
    assert [tab["id"] for tab in await good(broker, session, "tabs.list")] == [one["id"]]
    assert await good(broker, session, "tab.evaluate", js="document.title") == "Order"
    assert (await bad(broker, session, "tab.evaluate", js="1", tab=two["id"]))["code"] == "no-such-tab"
    back = await good(broker, session, "tab.restore", tab=two["id"])
    assert back["id"] == two["id"]
    assert len(await good(broker, session, "tabs.list")) == 2


async def test_history_and_reload(broker, session, site):
    await good(broker, session, "tab.navigate", url=f"{site}/")
    await good(broker, session, "tab.click", target="#here")
    assert (await good(broker, session, "tab.back"))["title"] == "Order"
    assert (await good(broker, session, "tab.forward"))["title"] == "Two"
    assert (await good(broker, session, "tab.reload"))["url"] == f"{site}/two"
    assert (await good(broker, session, "tab.stop"))["title"] == "Two"
    assert (await bad(broker, session, "tab.forward"))["code"] == "not-found"


async def test_sleeping_keeps_the_id_and_use_wakes(broker, session, site):
    tab = await good(broker, session, "tabs.open", url=f"{site}/two")
    assert (await good(broker, session, "tab.sleep", tab=tab["id"]))["asleep"]
    assert (await good(broker, session, "tabs.list"))[0]["asleep"]
    assert await good(broker, session, "tab.evaluate", js="document.title", tab=tab["id"]) == "Two"


async def test_a_tab_that_a_page_opens_is_the_sessions(broker, session, site):
    await good(broker, session, "tab.navigate", url=f"{site}/")
    await good(broker, session, "tab.click", target="text=Two")
    await until(lambda: len(broker.tabs_of(session)) == 2)
    tabs = await good(broker, session, "tabs.list")
    popup = next(tab for tab in tabs if tab["opener"])
    assert popup["opener"] == next(tab["id"] for tab in tabs if not tab["opener"]) and not popup["current"]
    assert "second page" in (await good(broker, session, "tab.snapshot", tab=popup["id"]))["text"]


@pytest.mark.parametrize("op", [name for name in OPERATIONS if "tab" in OPERATIONS[name].arg_names])
async def test_the_tab_of_another_session_or_of_a_person_is_as_one_that_never_was(hub, broker, session, op):
    others = await good(broker, "somebody-else", "tabs.open")
    persons = await hub.open("about:blank")
    needed = {"url": "http://127.0.0.1/", "target": "#a", "text": "x", "js": "1"}
    required = [
        arg.name for arg in OPERATIONS[op].args if arg.required or arg.name in OPERATIONS[op].one_of[:1]
    ]
    args = {name: needed[name] for name in required if name != "tab"}
    try:
        never = await bad(broker, session, op, tab="t0neverwas", **args)
        assert never["code"] == "no-such-tab"
        for tab_id in (others["id"], persons.id):
            error = await bad(broker, session, op, tab=tab_id, **args)
            assert error["message"].replace(tab_id, "t0neverwas") == never["message"]
        # A closed tab of somebody else is no more there than an open one.
        await hub.close(others["id"])
        error = await bad(broker, session, op, tab=others["id"], **args)
        assert error["message"].replace(others["id"], "t0neverwas") == never["message"]
    finally:
        with contextlib.suppress(BrowserError):  # on a busy machine its Undo may be over before the answer
            await hub.close(persons.id)
    assert others["id"] not in str(await good(broker, session, "tabs.list"))


async def test_failures_are_closed_codes(broker, session, site):
    await good(broker, session, "tab.navigate", url=f"{site}/")
    cases = [
        ("execution-failed", "tab.evaluate", {"js": "nothing.there"}, 5),
        # On a busy machine the page's own answer may come after the deadline.
        ("not-found or timeout", "tab.click", {"target": "text=nowhere"}, 4),
        ("invalid-args", "tab.click", {"target": "button"}, 3),
        ("stale-ref", "tab.click", {"target": "@e999999"}, 3),
        ("not-allowed", "tab.navigate", {"url": "file:///etc/passwd"}, 5),
        ("not-allowed", "tabs.open", {"url": "javascript:1"}, 5),
        ("navigation-failed", "tab.navigate", {"url": "http://127.0.0.1:1/"}, 5),
        ("not-allowed", "tabs.list", {"all": True}, 5),
        ("invalid-args", "tab.clik", {}, 5),
        ("invalid-args", "tab.click", {"tagret": "x"}, 5),
    ]
    for code, op, args, timeout in cases:
        error = await bad(broker, session, op, timeout, **args)
        assert error["code"] in code.split(" or "), (op, error)
    assert (await broker.dispatch("no name", "tabs.list", {}))["error"]["code"] == "invalid-args"


async def test_a_tab_that_could_not_be_opened_is_not_kept(broker, session, site):
    assert (await bad(broker, session, "tabs.open", url="http://127.0.0.1:1/"))["code"] == "navigation-failed"
    assert await good(broker, session, "tabs.list") == []


async def test_a_dialog_is_told_at_once(broker, session, site):
    await good(broker, session, "tab.navigate", url=f"{site}/")
    clicked = await good(broker, session, "tab.click", target="text=Alarm")
    assert clicked["dialog"]["message"] == "stop"
    began = time.monotonic()
    assert (await bad(broker, session, "tab.evaluate", js="1"))["code"] == "dialog-open"
    assert time.monotonic() - began < 2


async def test_deadlines_hold_and_what_may_have_happened_is_said(broker, session, site):
    await good(broker, session, "tab.navigate", url=f"{site}/spin")
    for op, args, unknown in [
        ("tab.evaluate", {"js": "new Promise(() => {})"}, True),
        ("tab.wait", {"text": "never"}, False),
        ("tab.navigate", {"url": f"{site}/never"}, True),
    ]:
        began = time.monotonic()
        error = await bad(broker, session, op, 1.0, **args)
        assert time.monotonic() - began < 2.0, op
        assert error["code"] == "timeout" and error["retryable"], error
        assert (error.get("outcome") == "unknown") == unknown, (op, error)
    began = time.monotonic()
    assert (await bad(broker, session, "tab.wait", text="x", timeout_ms=300))["code"] == "timeout"
    assert time.monotonic() - began < 1.5


async def test_a_page_in_an_endless_loop_costs_its_own_commands_only(broker, session, site):
    stuck = await good(broker, session, "tabs.open", url=f"{site}/spin")
    error = await bad(broker, session, "tab.evaluate", 1.0, js="while (true) {}", tab=stuck["id"])
    assert error["code"] in ("timeout", "execution-failed")
    other = await good(broker, session, "tabs.open", url=f"{site}/two")
    assert "second page" in (await good(broker, session, "tab.snapshot", tab=other["id"]))["text"]


async def test_a_bug_of_ours_costs_only_its_command(broker, session, monkeypatch, caplog):
    async def broken(_command):
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(broker_module, "CARRIERS", {**CARRIERS, "tab.stop": broken})
    error = await bad(broker, session, "tab.stop")
    assert error["code"] == "execution-failed" and "secret" not in error["message"]
    assert "a secret detail" in caplog.text


async def test_a_picture_fits_what_agents_take(broker, session, site):
    await good(broker, session, "tab.navigate", url=f"{site}/")
    picture = await good(broker, session, "tab.screenshot", max_side=300, format="jpeg")
    assert picture["mime_type"] == "image/jpeg" and max(picture["width"], picture["height"]) == 300
    assert base64.b64decode(picture["data"])[:2] == b"\xff\xd8"


async def test_code_in_a_kernel_drives_the_browser(broker, session, site, tmp_path):
    kernels = Kernels(broker, tmp_path, True)
    await kernels.start()
    try:
        code = (
            f"tab.navigate({site + '/'!r})\ntab.type('label=Name', 'Ada')\ntab.click('text=Send')\n"
            "tab.wait(text='Thanks Ada')\nother = browser.open(tab.url)\n"
            "print(len(browser.tabs()), other.title)\n"
            "s = other.snapshot()\nprint('@e' in s, s.title)\ntab.screenshot()"
        )
        answer = await kernels.execute(session, code, 30)
        assert answer.ok, answer.text
        assert answer.text.startswith("2 Order\nTrue Order\n<screenshot ") and len(answer.images) == 1
        again = await kernels.execute(
            session, "other.close(); browser.restore(other); tab.id == other.id", 30
        )
        assert again.ok, again.text
        late = await kernels.execute(session, "tab.wait(text='never', timeout_ms=60000)", 1.5)
        assert late.error is not None and late.error["code"] == "timeout" and not late.state_lost
        assert "Waited" in late.text, "the operation's own sentence comes before the cell's end"
    finally:
        await kernels.aclose()


async def test_two_commands_at_once_ask_for_one_window(broker, session):
    await asyncio.gather(*(good(broker, session, "tab.evaluate", js="1") for _ in range(4)))
    assert len(await good(broker, session, "tabs.list")) == 1


@pytest.mark.parametrize(
    ("wanted", "address", "met"),
    [
        ("/two", "http://a/two?x=1", True),
        ("*/inbox*", "http://a/mail/inbox/3", True),
        ("/inbox/", "http://a/inbox/3", True),
        ("/(a+)+$/", "http://a/(a+)+$/", True),
        ("/.*/", "http://a/b/", False),
        ("http://a/*/end", "http://a/x/y/end", True),
        ("http://a/*/end", "http://a/x/y/end/", False),
        ("*", "http://a/", True),
        ("x**y", "http://a/xzy", True),
    ],
)
async def test_an_address_is_waited_for_by_its_pieces(wanted, address, met):
    assert bool(url_matcher(url_pattern(wanted))(address)) is met


@pytest.mark.parametrize("wanted", ["*a*a*a*a*b", "http://*a*a*a*b", "/(a+)+$/", "a*b", "http://a/*a*b"])
async def test_no_pattern_keeps_the_hub_busy(wanted):
    began = time.process_time()
    with contextlib.suppress(BrowserError):
        url_matcher(url_pattern(wanted))("http://a/" + "a" * 2000 + "!")
    assert time.process_time() - began < 1.0


async def test_a_line_is_one_short_line():
    assert cut("a\n b\t c") == "a b c"
    assert len(cut("x" * 500)) == 120 and cut("x" * 500).endswith("…")


async def test_a_browser_that_dies_costs_the_commands_under_way_only(hub, broker, session, site):
    tab = await good(broker, session, "tabs.open", url=f"{site}/two")
    work = asyncio.create_task(broker.dispatch(session, "tab.evaluate", {"js": "new Promise(() => {})"}, 30))
    await asyncio.sleep(0)  # the command is on its way once the loop has run
    process = hub.link.process
    assert process is not None
    began = time.monotonic()
    await until(lambda: hub.live_page(tab["id"]) is not None)
    os.kill(process.pid, signal.SIGKILL)
    result = await work
    assert time.monotonic() - began < 15, "it does not wait for its deadline"
    assert not result["ok"] and result["error"]["retryable"], result
    again = await good(broker, session, "tab.evaluate", 60.0, js="document.title")
    assert again == "Two"
    assert [each["id"] for each in await good(broker, session, "tabs.list")] == [tab["id"]]
