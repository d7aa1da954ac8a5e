"""A viewer's pace: latest wins, at most two under way, and nothing owed is forgotten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windowseat.rules.pacing import (
    MOST,
    SLOW_LAG,
    STEPS,
    Acked,
    Hidden,
    Offered,
    Pace,
    Shown,
    fineness,
    lag_of,
    step,
)

moves = st.lists(
    st.tuples(
        st.sampled_from(["offer", "offer", "ack-first", "ack-last", "ack-old", "hide", "show"]),
        st.sampled_from([0.0, 0.01, 0.1, 0.3, 2.0]),
    ),
    max_size=80,
)


@given(moves)
def test_the_latest_picture_is_owed_until_it_is_sent_and_never_more_than_two_are_under_way(story):
    pace, now, offered, sent_at_offer, shown = Pace(), 0.0, 0, 0, True
    out: list[int] = []
    last_sent = 0
    for move, pause in story:
        now += pause
        before = pace
        flying = [n for n, _ in pace.under_way]
        match move:
            case "offer":
                offered += 1
                pace, n = step(pace, Offered(), now)
            case "ack-first" | "ack-last" if flying:
                pace, n = step(pace, Acked(flying[0 if move == "ack-first" else -1]), now)
                assert len(pace.under_way) < len(flying) or n is not None
            case "ack-old" if last_sent and 1 not in flying:
                pace, n = step(pace, Acked(1), now)
                assert pace == before or n is not None
            case "hide":
                shown = False
                pace, n = step(pace, Hidden(), now)
            case "show":
                shown = True
                pace, n = step(pace, Shown(), now)
            case _:
                continue
        if n is not None:
            assert shown
            assert n == last_sent + 1
            last_sent = n
            out.append(n)
            sent_at_offer = offered
        assert len(pace.under_way) <= MOST
        # The latest is either sent, or owed; it waits only for room or for somebody to look.
        assert pace.waiting or sent_at_offer == offered
        if pace.waiting and shown:
            assert len(pace.under_way) >= pace.window
    assert out == list(range(1, last_sent + 1))


def test_what_is_replaced_before_it_is_sent_counts_as_dropped():
    pace = Pace()
    for _ in range(6):
        pace, _n = step(pace, Offered(), 0.0)
    assert [n for n, _ in pace.under_way] == [1, 2]
    assert pace.dropped == 3
    pace, n = step(pace, Acked(2), 0.01)
    assert n == 3
    assert [n for n, _ in pace.under_way] == [3]


def test_a_slow_viewer_has_one_under_way_and_a_quick_one_two_again():
    pace, n = step(Pace(), Offered(), 0.0)
    pace, n = step(pace, Acked(1), 1.0)
    assert (pace.window, pace.lag) == (1, 1.0)
    pace, n = step(pace, Offered(), 1.0)
    assert n == 2
    pace, n = step(pace, Offered(), 1.0)
    assert n is None
    now = 1.0
    for _ in range(30):
        now += 0.01
        pace, _n = step(pace, Acked(pace.next_n - 1), now)
        pace, _n = step(pace, Offered(), now)
    pace, _n = step(pace, Offered(), now)
    assert pace.window == MOST
    assert len(pace.under_way) == MOST


def test_an_overdue_acknowledgement_makes_a_viewer_slow_before_it_comes():
    pace, _n = step(Pace(), Offered(), 0.0)
    later = SLOW_LAG + 0.1
    pace, n = step(pace, Offered(), later)
    assert n is None
    assert lag_of(pace, later) == later


def test_acknowledging_what_was_never_sent_is_refused():
    pace, _n = step(Pace(), Offered(), 0.0)
    for wrong in (0, 2, -1):
        with pytest.raises(ValueError, match="never sent"):
            step(pace, Acked(wrong), 0.0)


def test_a_hidden_viewer_gets_nothing_and_the_latest_once_shown():
    pace, _n = step(Pace(), Hidden(), 0.0)
    for _ in range(3):
        pace, n = step(pace, Offered(), 0.0)
        assert n is None
    assert pace.dropped == 0
    pace, n = step(pace, Shown(), 0.0)
    assert n == 1


def test_pictures_get_coarser_only_when_every_viewer_is_slow():
    assert fineness(0, [2.0, 0.05]) == 0
    assert fineness(0, [2.0, 0.9]) == 1
    assert fineness(0, [None, None]) == 0
    assert fineness(len(STEPS) - 1, [9.0]) == len(STEPS) - 1
    assert fineness(2, [0.05, 3.0]) == 1
    assert fineness(2, [0.3]) == 2
