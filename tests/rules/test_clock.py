from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windowseat.rules.clock import BootTime, is_later, may_drop, read_boot_time

NOW = "boot-now"
boots = st.sampled_from([NOW, "boot-1", "boot-2"])
seconds = st.integers(0, 5).map(float)
moments = st.builds(BootTime, boots, seconds)


def test_within_one_boot_later_is_strict():
    assert is_later(BootTime(NOW, 2.0), BootTime(NOW, 1.0), current_boot=NOW)
    assert not is_later(BootTime(NOW, 1.0), BootTime(NOW, 1.0), current_boot=NOW)
    assert not is_later(BootTime(NOW, 1.0), BootTime(NOW, 2.0), current_boot=NOW)


def test_any_other_boot_is_earlier_whatever_its_seconds():
    assert is_later(BootTime(NOW, 0.0), BootTime("old", 9e9), current_boot=NOW)
    assert not is_later(BootTime("old", 9e9), BootTime(NOW, 0.0), current_boot=NOW)


def test_two_earlier_boots_have_no_order():
    assert not is_later(BootTime("a", 5.0), BootTime("b", 1.0), current_boot=NOW)
    assert not is_later(BootTime("b", 1.0), BootTime("a", 5.0), current_boot=NOW)


@given(moments, moments)
def test_later_is_never_mutual(one, other):
    assert not (is_later(one, other, current_boot=NOW) and is_later(other, one, current_boot=NOW))


@given(moments, moments, moments)
def test_later_is_transitive(first, second, third):
    if is_later(first, second, current_boot=NOW) and is_later(second, third, current_boot=NOW):
        assert is_later(first, third, current_boot=NOW)


@given(taken=moments, recorded=moments)
def test_a_list_drops_only_what_it_must_have_seen(taken, recorded):
    expected = taken.boot == NOW and (recorded.boot != NOW or taken.at > recorded.at)
    assert may_drop(taken, recorded, current_boot=NOW) == expected


def test_a_record_without_a_time_counts_as_of_an_earlier_boot():
    assert may_drop(BootTime(NOW, 0.0), None, current_boot=NOW)
    assert not may_drop(BootTime("old", 9.0), None, current_boot=NOW)


@pytest.mark.parametrize(("at", "rounded"), [(1.001, 1.01), (1.0, 1.01), (1.009, 1.01), (0.0, 0.01)])
def test_a_record_is_rounded_up_to_the_next_step(at, rounded):
    assert BootTime(NOW, at).rounded_up(0.01) == BootTime(NOW, pytest.approx(rounded))


@given(st.floats(0, 1e7), st.sampled_from([0.01, 1.0]))
def test_rounding_up_never_goes_back(at, step):
    assert BootTime(NOW, at).rounded_up(step).at >= at


def test_what_was_written_reads_back():
    moment = BootTime(NOW, 12.5)
    assert read_boot_time(moment.as_dict()) == moment
    assert moment.plus(2) == BootTime(NOW, 14.5)


@pytest.mark.parametrize(
    "found",
    [None, [], "x", {}, {"boot": NOW}, {"at": 1}, {"boot": "", "at": 1}, {"boot": 1, "at": 1},
     {"boot": NOW, "at": "1"}, {"boot": NOW, "at": True}, {"boot": NOW, "at": float("nan")},
     {"boot": NOW, "at": float("inf")}],
)  # fmt: skip
def test_what_is_no_moment_reads_as_none(found):
    assert read_boot_time(found) is None
