"""A tab's number in the browser, where the bridge does not answer at first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from windowseat.hub import arrivals
from windowseat.hub.arrivals import Arrivals
from windowseat.rules.ids import Described, Entry, Numbered


class BusyLink:
    """A bridge that misses the first questions."""

    bridge: Any = object()

    def __init__(self, misses: int) -> None:
        self.misses = misses
        self.asked = 0

    async def describe(self, target: str) -> Described:
        self.asked += 1
        return Described() if self.asked <= self.misses else Described(tab_id=7)


def arrivals_of(link: BusyLink, entries: dict[str, Entry], told: list[Any]) -> Arrivals:
    targets: Any = SimpleNamespace(ids=SimpleNamespace(entries=entries), ask=told.append)
    unused: Any = None
    asking: Any = link
    return Arrivals(targets, asking, unused, unused, unused)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "NUMBER_PAUSES", (0.0, 0.0, 0.0))


async def test_a_busy_bridge_is_asked_again_for_a_tab_s_number() -> None:
    told: list[Any] = []
    await arrivals_of(BusyLink(2), {"a": Entry("a", target="T")}, told).number("a", "T")
    assert told == [Numbered("a", "T", 7)]


async def test_a_tab_that_moved_on_or_a_bridge_that_never_answers_is_let_be() -> None:
    told: list[Any] = []
    gone = BusyLink(2)
    await arrivals_of(gone, {"a": Entry("a", target="OTHER")}, told).number("a", "T")
    assert gone.asked == 1
    never = BusyLink(99)
    await arrivals_of(never, {"a": Entry("a", target="T")}, told).number("a", "T")
    assert (never.asked, told) == (4, [])
