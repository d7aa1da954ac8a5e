"""A viewer's hands over a scripted page: order, and what gives way when the page does not answer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from windowseat.errors import BrowserError
from windowseat.page.input import PageInput
from windowseat.view.flow import UNDER_WAY_AT_MOST, Flow
from windowseat.view.hands import Hands
from windowseat.view.messages import Copy, KeyMessage, MouseMessage, WheelMessage


class Page:
    """A session that answers only when told to."""

    closed = False

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any], asyncio.Future[dict[str, Any]]]] = []

    def send(self, method: str, params: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        self.sent.append((method, params, asyncio.get_running_loop().create_future()))
        return self.sent[-1][2]

    def on(self, method: str, listener: Any) -> Any:
        return lambda: None

    async def answer(self) -> None:
        """Answer everything that was sent."""
        for _, _, future in self.sent:
            if not future.done():
                future.set_result({})
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def seen(self) -> list[tuple[Any, ...]]:
        found = []
        for method, params, _ in self.sent:
            if method == "Input.dispatchMouseEvent":
                found.append((params["type"], params["x"], params.get("deltaY")))
            elif method == "Input.dispatchKeyEvent":
                found.append((params["type"], params["key"]))
        return found


@pytest.fixture
async def page() -> Page:
    return Page()


def hands_on(page: Page, *, dialog: bool = False) -> tuple[Hands, list[dict[str, Any]]]:
    state = SimpleNamespace(dialog=object() if dialog else None, crashed=False, gone=False)
    told: list[dict[str, Any]] = []
    raw = PageInput(page)  # type: ignore[arg-type]
    return Hands(state, raw, Flow(), lambda work: work.close(), told.append), told  # type: ignore[arg-type]


def move(x: float) -> MouseMessage:
    return MouseMessage("move", x, 0)


async def test_moves_give_way_and_the_newest_is_sent_when_there_is_room(page: Page):
    hands, _ = hands_on(page)
    for x in range(10):
        hands.handle(move(x))
    assert page.seen() == [("mouseMoved", 0, None), ("mouseMoved", 1, None)]
    await page.answer()
    assert page.seen()[2:] == [("mouseMoved", 9, None)]


async def test_a_press_finds_the_pointer_where_it_was_last(page: Page):
    hands, _ = hands_on(page)
    for x in range(5):
        hands.handle(move(x))
    hands.handle(MouseMessage("down", 4, 0, 0, 1))
    assert [entry[:2] for entry in page.seen()[2:]] == [("mouseMoved", 4), ("mousePressed", 4)]


async def test_turns_of_the_wheel_add_up_and_stay_in_order(page: Page):
    hands, _ = hands_on(page)
    for _ in range(10):
        hands.handle(WheelMessage(5, 5, 0, 10))
    assert [entry[2] for entry in page.seen()] == [10] * 4
    hands.handle(KeyMessage("down", "a", "KeyA"))
    assert page.seen()[4:] == [("mouseWheel", 5, 60), ("rawKeyDown", "a")]
    hands.handle(WheelMessage(5, 5, 0, 7))
    await page.answer()
    assert page.seen()[-1] == ("mouseWheel", 5, 7)


async def test_a_turn_of_no_distance_does_nothing(page: Page):
    hands, _ = hands_on(page)
    hands.handle(WheelMessage(5, 5, 0, 0))
    assert not page.sent


async def test_a_page_that_answers_nothing_is_not_fed_for_ever(page: Page):
    hands, _ = hands_on(page)
    errors = []
    for _ in range(UNDER_WAY_AT_MOST + 50):
        try:
            hands.handle(KeyMessage("down", "a", "KeyA"))
        except BrowserError as error:
            errors.append(error.code)
    assert len(page.sent) == UNDER_WAY_AT_MOST
    assert errors == ["timeout"]
    await page.answer()
    hands.handle(KeyMessage("up", "a", "KeyA"))
    assert len(page.sent) == UNDER_WAY_AT_MOST + 1


async def test_a_page_with_a_dialog_takes_no_input_and_a_copy_is_answered(page: Page):
    hands, told = hands_on(page, dialog=True)
    hands.handle(MouseMessage("down", 1, 1, 0, 1))
    hands.handle(Copy())
    assert not page.sent
    assert told == [{"t": "clip", "text": "", "cut": False}]


async def test_what_is_forgotten_makes_room(page: Page):
    hands, _ = hands_on(page)
    for x in range(5):
        hands.handle(move(x))
    hands._flow.forget()
    hands.handle(move(9))
    assert page.seen()[-1] == ("mouseMoved", 9, None)
    await page.answer()  # late answers of the former document change no count
    assert hands._flow.moves.count == 0
