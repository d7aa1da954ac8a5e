"""Arguments on the wire: closed models, and sentences that say what would be right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windowseat.errors import BrowserError
from windowseat.rules.operations import OPERATIONS
from windowseat.rules.wire import arguments_model, check_args, operation_named

GOOD = {
    "tabs.list": {},
    "tabs.open": {"url": "http://a/", "background": True},
    "tabs.select": {"tab": "t1"},
    "tab.navigate": {"url": "http://a/", "wait": "commit"},
    "tab.snapshot": {"max_refs": 5, "within": "@e1", "since": "s1", "interactive": True},
    "tab.click": {
        "target": "@e1",
        "button": "right",
        "count": 2,
        "modifiers": ["Shift"],
        "position": [1, 2.5],
    },
    "tab.type": {"target": "#a", "text": "", "mode": "append", "submit": True, "tab": "t1"},
    "tab.wait": {"text": "Saved", "timeout_ms": 1},
    "tab.screenshot": {"full_page": True, "format": "webp", "max_side": 100},
    "tab.evaluate": {"js": "1", "world": "isolated"},
    "tab.sleep": {"tab": "t1"},
    "tab.restore": {"tab": "t1"},
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_good_arguments_pass_with_their_defaults(name):
    checked = check_args(name, GOOD.get(name, {}))
    assert set(checked) == set(OPERATIONS[name].arg_names)
    for key, value in GOOD.get(name, {}).items():
        assert checked[key] == value
    for arg in OPERATIONS[name].args:
        if arg.name not in GOOD.get(name, {}):
            assert checked[arg.name] == arg.default


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("tab.clik", {}, "did you mean tab.click?"),
        ("snapshot", {}, "did you mean tab.snapshot?"),
        ("tab.click", {"tagret": "@e1"}, "did you mean target? It takes tab, target"),
        ("tab.click", {"target": "x", "zzz": 1}, "no argument 'zzz'. It takes"),
        ("tab.click", {}, "tab.click needs 'target'"),
        ("tab.click", {"target": ""}, "'target' must be text of 1 to 2000 characters, not ''"),
        ("tab.click", {"target": None}, "'target' must be text"),
        ("tab.click", {"target": "x", "count": 4}, "'count' must be a whole number from 1 to 3, not 4"),
        ("tab.click", {"target": "x", "count": True}, "'count' must be a whole number"),
        ("tab.click", {"target": "x", "count": "2"}, "'count' must be a whole number from 1 to 3, not '2'"),
        ("tab.click", {"target": "x", "count": 1.5}, "whole number"),
        ("tab.click", {"target": "x", "button": "midle"}, "one of left, middle, right"),
        ("tab.click", {"target": "x", "modifiers": ["Ctrl"]}, "a list of Alt, Control, Meta, Shift"),
        ("tab.click", {"target": "x", "modifiers": ["Shift"] * 5}, "a list of"),
        ("tab.click", {"target": "x", "position": [1]}, "a list of two numbers"),
        ("tab.click", {"target": "x", "position": [1, float("nan")]}, "a list of two numbers"),
        ("tab.click", {"target": "x", "position": {"x": 1}}, "a list of two numbers"),
        ("tab.type", {"target": "x", "text": "\ud800"}, "'text' must be text"),
        ("tab.type", {"target": "x", "text": "y" * 1_000_001}, "at most 1000000 characters"),
        ("tab.wait", {}, "exactly one of text, gone, selector, url, load, js; given: none"),
        ("tab.wait", {"text": "a", "js": "b"}, "given: text and js"),
        ("tab.wait", {"text": "a", "timeout": 5}, "did you mean timeout_ms?"),
        ("tab.wait", {"text": "a", "timeout_ms": 600_001}, "from 1 to 600000"),
        ("tab.sleep", {}, "needs 'tab'"),
        ("tabs.list", {"all": "yes"}, "true or false"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(name, args, words):
    with pytest.raises(BrowserError) as caught:
        check_args(name, args)
    assert caught.value.code == "invalid-args" and not caught.value.retryable
    assert words in caught.value.message
    assert len(caught.value.message) < 600


def test_names_that_are_no_text():
    with pytest.raises(BrowserError, match="names must be text"):
        check_args("tab.stop", {1: 2})  # type: ignore[dict-item]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
argument_names = sorted({name for operation in OPERATIONS.values() for name in operation.arg_names})


@given(
    st.sampled_from(sorted(OPERATIONS)),
    st.dictionaries(st.sampled_from(argument_names) | st.text(max_size=8), anything, max_size=4),
)
def test_whatever_comes_is_taken_whole_or_refused_as_invalid(name, args):
    try:
        checked = check_args(name, args)
    except BrowserError as error:
        assert error.code == "invalid-args" and error.message
    else:
        assert set(args) <= set(checked)


def test_models_are_made_once_and_closed():
    assert arguments_model("tab.click") is arguments_model("tab.click")
    schema = arguments_model("tab.click").model_json_schema()
    assert schema["additionalProperties"] is False and schema["required"] == ["target"]
    assert operation_named("tab.stop").name == "tab.stop"
