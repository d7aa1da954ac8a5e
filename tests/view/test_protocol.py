"""The view's messages: closed, bounded, and nothing but dataclasses or a sentence comes of any text."""

from __future__ import annotations

import contextlib
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windowseat.view import protocol
from windowseat.view.cast import JPEG, Picture
from windowseat.view.messages import (
    ChooserAnswer,
    Hello,
    ImeCommit,
    ImeMessage,
    KeyMessage,
    MouseMessage,
    TouchFinger,
    TouchMessage,
    acts,
)
from windowseat.view.protocol import MalformedError, parse


def said(**message: object) -> object:
    return parse(json.dumps(message))


def test_messages_as_the_protocol_has_them():
    assert said(t="hello", token="x", w=900.6, h=50, dpr=2, touch=True) == Hello(
        901, 100, 2.0, True, True, "x"
    )
    assert said(t="mouse", k="move", x=1, y=2.5, b=-1, bs=1, c=0, m=8) == MouseMessage(
        "move", 1, 2.5, -1, 1, 0, 8
    )
    assert said(t="key", k="down", key="ř", code="Digit5", loc=0, m=0, rep=False, text="ř") == KeyMessage(
        "down", "ř", "Digit5", 0, 0, False, "ř"
    )
    assert said(t="ime", text="かん", **{"from": 1, "to": 2}) == ImeMessage("かん", 1, 2)
    assert said(t="ime", commit="") == ImeCommit("")
    assert said(t="touch", k="end", p=[{"id": 3, "x": 1, "y": 2}], m=0) == TouchMessage(
        "end", (TouchFinger(3, 1, 2),), 0
    )
    assert said(t="chooser", id="f1", uploads=["a", "b"]) == ChooserAnswer("f1", ("a", "b"))
    assert said(t="chooser", id="f1", cancel=True) == ChooserAnswer("f1", cancel=True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"t": "mouse", "k": "move", "x": True, "y": 1},
        {"t": "mouse", "k": "move", "x": 1e9, "y": 1},
        {"t": "mouse", "k": "jump", "x": 1, "y": 1},
        {"t": "mouse", "k": "move", "y": 1},
        {"t": "mouse", "k": "down", "x": 1, "y": 1, "b": 5},
        {"t": "key", "k": "down", "key": "a", "m": 16},
        {"t": "key", "k": "down", "key": "a", "text": "x" * 17},
        {"t": "wake", "extra": 1},
        {"t": "ime", "commit": "x", "text": "y"},
        {"t": "touch", "k": "start", "p": [{"id": 1, "x": 1}]},
        {"t": "touch", "k": "start", "p": [{"id": n, "x": 1, "y": 1} for n in range(17)]},
        {"t": "chooser", "id": "f1", "uploads": ["a"], "cancel": True},
        {"t": "chooser", "id": "f1", "cancel": False},
        {"t": "nav", "k": "away"},
        {"t": "hello", "w": "9", "h": 9},
        {"t": "ack", "n": 0},
        {"t": "ack", "n": 1.5},
        {"t": ["ack"]},
        {},
        [],
        "text",
        None,
    ],
)
def test_what_the_protocol_does_not_know_is_refused_with_a_sentence(wrong: object):
    with pytest.raises(MalformedError, match=r"\w"):
        parse(json.dumps(wrong))


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_no_text_does_anything_but_parse_or_be_refused(raw: str | bytes):
    with contextlib.suppress(MalformedError):
        parse(raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.sampled_from(sorted(protocol._KINDS)),
    st.dictionaries(st.sampled_from(["k", "x", "y", "w", "h", "id", "n", "p", "text", "on", "m"]), JSON),
)
def test_no_field_of_any_type_escapes_the_checks(kind: str, fields: dict[str, object]):
    with contextlib.suppress(MalformedError):
        parse(json.dumps({"t": kind, **fields}))


def test_who_acts():
    assert acts(said(t="mouse", k="down", x=1, y=1))
    assert not acts(said(t="mouse", k="move", x=1, y=1))
    assert not acts(said(t="mouse", k="up", x=1, y=1))
    assert acts(said(t="touch", k="start", p=[], m=0))
    assert not acts(said(t="touch", k="move", p=[], m=0))
    assert acts(said(t="cut"))
    assert not acts(said(t="copy"))


def test_a_picture_as_a_binary_frame():
    picture = Picture(JPEG, True, False, b"\xff\xd8data", 1280, 800, 0.0)
    framed = protocol.frame(picture, 7, 2**32 + 5)
    assert struct.unpack("<BBHIHHI", framed[:16]) == (1, 1, 0, 7, 1280, 800, 5)
    assert framed[16:] == b"\xff\xd8data"


def test_a_lone_surrogate_of_a_page_can_be_told():
    told = protocol.encode({"t": "tab", "tab": {"title": "a\ud800b", "list": ["\udfff"]}})
    assert json.loads(told)["tab"]["title"] == "a\ufffdb"
