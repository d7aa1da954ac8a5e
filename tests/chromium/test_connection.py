"""The pipe as calls and events, against a browser that the test plays itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from support.chromium import wait_until
from windowseat.chromium import connection as connection_module
from windowseat.chromium.connection import CdpError, CdpGone, CdpTimeout, Connection


class PlayedBrowser:
    """The other ends of a connection's pipe."""

    def __init__(self) -> None:
        self.read_fd, their_write = os.pipe()
        their_read, self.write_fd = os.pipe()
        os.set_blocking(self.read_fd, False)
        self.connection = Connection(their_read, their_write)
        self._data = b""

    def say(self, *messages: Any) -> None:
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps(message).encode()
            os.write(self.write_fd, raw + b"\0")

    async def heard(self) -> dict[str, Any]:
        """The next command, in the order they were written."""

        def whole() -> bool:
            with contextlib.suppress(BlockingIOError):
                self._data += os.read(self.read_fd, 1 << 20)
            self._data = self._data.lstrip(b"\0")
            return b"\0" in self._data

        await wait_until(whole)
        raw, _, self._data = self._data.partition(b"\0")
        found: dict[str, Any] = json.loads(raw)
        return found

    async def answer(self, result: dict[str, Any]) -> dict[str, Any]:
        command = await self.heard()
        self.say({"id": command["id"], "result": result})
        return command

    def hang_up(self) -> None:
        os.close(self.write_fd)
        self.write_fd = -1

    def close(self) -> None:
        if self.write_fd >= 0:
            self.hang_up()
        os.close(self.read_fd)
        self.connection.close()


@pytest.fixture
async def browser() -> AsyncIterator[PlayedBrowser]:
    played = PlayedBrowser()
    played.connection.start()
    yield played
    played.close()


async def test_the_first_byte_ends_a_former_hubs_half_command(browser: PlayedBrowser) -> None:
    assert os.read(browser.read_fd, 10) == b"\0"


async def test_answers_find_their_calls_in_any_order(browser: PlayedBrowser) -> None:
    first = browser.connection.root.send("A.one", {"x": 1})
    second = browser.connection.root.send("A.two")
    one, two = await browser.heard(), await browser.heard()
    assert (one["method"], one["params"], two["method"]) == ("A.one", {"x": 1}, "A.two")
    browser.say({"id": two["id"], "result": {"n": 2}}, {"id": one["id"], "result": {"n": 1}})
    assert await first == {"n": 1} and await second == {"n": 2}


async def test_an_error_has_method_code_and_words(browser: PlayedBrowser) -> None:
    call = asyncio.ensure_future(browser.connection.root.call("A.wrong"))
    command = await browser.heard()
    browser.say({"id": command["id"], "error": {"code": -32601, "message": "no such method"}})
    with pytest.raises(CdpError) as failed:
        await call
    assert (failed.value.method, failed.value.code) == ("A.wrong", -32601)


async def test_a_call_has_a_deadline_and_a_late_answer_harms_nothing(browser: PlayedBrowser) -> None:
    with pytest.raises(CdpTimeout):
        await browser.connection.root.call("A.slow", timeout=0.05)
    command = await browser.heard()
    browser.say({"id": command["id"], "result": {}})
    call = asyncio.ensure_future(browser.connection.root.call("A.next"))
    await browser.answer({"fine": True})
    assert await call == {"fine": True}


async def test_a_cancelled_call_is_forgotten(browser: PlayedBrowser) -> None:
    call = asyncio.ensure_future(browser.connection.root.call("A.slow"))
    command = await browser.heard()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await wait_until(lambda: not browser.connection._pending)
    browser.say({"id": command["id"], "result": {}})


async def attached(browser: PlayedBrowser) -> Any:
    call = asyncio.ensure_future(browser.connection.attach_root())
    await browser.answer({"sessionId": "S"})
    return await call


async def test_events_go_to_their_session_until_stopped(browser: PlayedBrowser) -> None:
    session = await attached(browser)
    got: list[Any] = []
    stop = session.on("P.event", got.append)
    session.on("P.event", lambda params: 1 / 0)  # must not take the others with it
    browser.say(
        {"method": "P.event", "params": {"n": 1}, "sessionId": "S"},
        {"method": "P.event", "params": {"n": 2}, "sessionId": "of a former hub"},
        {"method": "P.event", "params": {"n": 3}, "sessionId": "S"},
    )
    await wait_until(lambda: len(got) == 2)
    assert got == [{"n": 1}, {"n": 3}]
    stop()
    browser.say({"method": "P.event", "sessionId": "S"})
    call = asyncio.ensure_future(session.call("P.after"))
    assert (await browser.answer({}))["sessionId"] == "S"
    await call
    assert len(got) == 2


async def test_a_session_that_ends_ends_its_calls_only(browser: PlayedBrowser) -> None:
    root = await attached(browser)
    browser.say({"method": "Target.attachedToTarget", "sessionId": "S", "params": {"sessionId": "P"}})
    page = browser.connection.session("P")
    ended: list[int] = []
    page.on_end(lambda: ended.append(1))
    of_page, of_root = page.send("P.slow"), root.send("R.slow")
    await browser.heard()
    command = await browser.heard()
    browser.say({"method": "Target.detachedFromTarget", "sessionId": "S", "params": {"sessionId": "P"}})
    with pytest.raises(CdpGone):
        await of_page
    browser.say({"id": command["id"], "result": {"fine": True}})
    assert await of_root == {"fine": True}
    assert page.closed and ended == [1] and not root.closed
    with pytest.raises(CdpGone):
        page.send("P.late")
    page.on_end(lambda: ended.append(2))
    assert ended == [1, 2]


async def test_the_pipes_end_ends_everything(browser: PlayedBrowser) -> None:
    session = await attached(browser)
    calls = [browser.connection.root.send("A"), session.send("B")]
    browser.hang_up()
    await asyncio.wait_for(browser.connection.wait_closed(), 5)
    for call in calls:
        with pytest.raises(CdpGone):
            await call
    assert session.closed and browser.connection.root.closed
    with pytest.raises(CdpGone):
        await browser.connection.root.call("A.late")


async def test_nonsense_and_tails_of_messages_are_passed_over(browser: PlayedBrowser) -> None:
    call = asyncio.ensure_future(browser.connection.root.call("A"))
    command = await browser.heard()
    browser.say(b'tail of a message"}}', b"[1]", b"\xff\xfe", {"id": 999, "result": {}})
    browser.say({"id": command["id"], "result": {"fine": True}})
    assert await call == {"fine": True}


async def test_a_lone_surrogate_passes_both_ways(browser: PlayedBrowser) -> None:
    call = asyncio.ensure_future(browser.connection.root.call("A", {"text": "\ud800"}))
    command = await browser.heard()
    assert command["params"]["text"] == "\ud800"
    browser.say(b'{"id":%d,"result":{"title":"\\ud800"}}' % command["id"])
    assert await call == {"title": "\ud800"}


async def test_a_browser_that_reads_slowly_gets_everything_in_order(browser: PlayedBrowser) -> None:
    count, text = 200, "x" * 50_000
    for number in range(count):
        browser.connection.root.send("A", {"n": number, "text": text})
    numbers = [(await browser.heard())["params"]["n"] for _ in range(count)]
    assert numbers == list(range(count))


async def test_a_browser_that_reads_nothing_is_given_up(
    browser: PlayedBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "WRITE_LIMIT", 4 * 1024 * 1024)
    call = asyncio.ensure_future(browser.connection.root.call("A.first"))
    await asyncio.sleep(0)
    with pytest.raises(CdpGone):
        for _ in range(100):
            browser.connection.root.send("A", {"text": "x" * 1_000_000})
    with pytest.raises(CdpGone):
        await call


async def test_an_endless_message_is_given_up(
    browser: PlayedBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser.connection._framer, "_limit", 1000)
    os.write(browser.write_fd, b"x" * 5000)
    await asyncio.wait_for(browser.connection.wait_closed(), 5)
