"""One viewer's outgoing side: what is replaced, what is left out, and when the socket ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from support.chromium import wait_until
from support.view_hub import ANA, PersonsBrowser
from windowseat.view import viewer as viewer_module
from windowseat.view.cast import JPEG, PNG, Picture
from windowseat.view.messages import Ack, Hello, Message, Pong
from windowseat.view.protocol import MalformedError
from windowseat.view.viewer import TRY_LATER, Viewer, Visit


def picture(size: int, *, sharp: bool = False) -> Picture:
    return Picture(PNG if sharp else JPEG, sharp, False, b"x" * size, 800, 600, 0.0)


class Gate(PersonsBrowser):
    """A line that passes nothing on until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open = asyncio.Event()

    async def send(self, data: str | bytes) -> None:
        await self.open.wait()
        await super().send(data)


@pytest.fixture
async def gate() -> Gate:
    return Gate()


@pytest.fixture
async def viewer(gate: Gate) -> AsyncIterator[Viewer]:
    visit = Visit(ANA, Hello(800, 600), "c", "http://localhost", lambda tab: tab)
    made = Viewer(gate, visit)

    def handle(message: Message) -> None:
        if isinstance(message, Ack):
            made.acknowledged(message.n)
        elif isinstance(message, Pong):
            made.ponged()

    task = asyncio.create_task(made.run(handle))
    await asyncio.sleep(0)
    yield made
    gate.leave()
    gate.open.set()
    await asyncio.wait_for(task, 5)


async def test_a_newer_message_of_a_kind_replaces_the_older_and_others_keep_their_order(
    viewer: Viewer, gate: Gate
):
    viewer.tell({"t": "dialog", "id": "d0"})
    for n in range(50):
        viewer.tell({"t": "cursor", "cursor": f"c{n}"})
        viewer.tell({"t": "pointer", "viewer": "v9", "x": n, "y": 0, "k": "move"})
        viewer.tell({"t": "agent", "session": "s", "line": str(n)})
    gate.open.set()
    await wait_until(lambda: len(gate.all("agent")) == 50)
    assert [message["line"] for message in gate.all("agent")] == [str(n) for n in range(50)]
    assert [message["cursor"] for message in gate.all("cursor")][-1] == "c49"
    assert len(gate.all("cursor")) <= 2
    assert gate.all("pointer")[-1]["x"] == 49


async def test_a_box_that_overflows_closes_the_socket(viewer: Viewer, gate: Gate):
    for n in range(viewer_module.TEXTS_AT_MOST + 2):
        viewer.tell({"t": "agent", "session": "s", "line": str(n)})
    gate.open.set()
    await wait_until(lambda: gate.closed == TRY_LATER)


async def test_only_the_latest_picture_waits(viewer: Viewer, gate: Gate):
    for size in range(1, 30):
        viewer.offer(picture(size))
    gate.open.set()
    await wait_until(lambda: gate.frames and len(gate.frames[-1].data) == 29)
    assert len(gate.frames) <= 3


async def test_pictures_that_come_at_once_are_both_sent_where_there_is_room(viewer: Viewer, gate: Gate):
    gate.open.set()
    viewer.offer(picture(1))
    viewer.offer(picture(2))
    await wait_until(lambda: len(gate.frames) == 2)
    assert [len(frame.data) for frame in gate.frames] == [1, 2]


async def test_acknowledging_what_is_still_to_be_sent_makes_no_room(viewer: Viewer, gate: Gate):
    for size in range(1, 4):
        viewer.offer(picture(size))
    await asyncio.sleep(0)
    for n in range(2, 20):
        with pytest.raises(MalformedError):
            viewer.acknowledged(n)
    assert len(viewer._owed) <= 2


async def test_a_sharp_picture_too_big_for_the_line_is_left_out(viewer: Viewer, gate: Gate):
    gate.open.set()
    gate.acks = False
    viewer.offer(picture(1000))
    await wait_until(lambda: gate.frames)
    now = viewer._loop.time
    # 1,000 bytes were acknowledged after some ms at most; say that it took a second.
    viewer._pace = viewer._pace.__class__(next_n=2, under_way=((1, now() - 1.0),))
    viewer.acknowledged(1)
    viewer.offer(picture(5_000, sharp=True))
    viewer.offer(picture(2_000, sharp=True))
    await wait_until(lambda: len(gate.frames) == 2)
    assert len(gate.frames[-1].data) == 2_000


async def test_who_answers_no_ping_is_let_go(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(viewer_module, "PING_EVERY", 0.05)
    monkeypatch.setattr(viewer_module, "SILENT_AT_MOST", 0.15)
    browser = PersonsBrowser(pongs=False)
    made = Viewer(browser, Visit(ANA, Hello(800, 600), "c", "", lambda tab: tab))
    await asyncio.wait_for(made.run(lambda message: None), 5)
    assert not made.answers
    assert browser.closed is not None
