"""The view's messages: text in, closed and bounded dataclasses out, and back.

Unknown kinds, unknown fields and values out of range raise `MalformedError`; nothing else can come of
any text. Source: docs/protocols/view.md.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from windowseat.view.cast import Picture
from windowseat.view.messages import (
    Ack,
    ChooserAnswer,
    Copy,
    Cut,
    DeleteMessage,
    DialogAnswer,
    Hello,
    ImeCommit,
    ImeMessage,
    KeyMessage,
    Leave,
    Message,
    MouseMessage,
    Nav,
    PasteMessage,
    Pong,
    Restore,
    Size,
    TextMessage,
    TouchFinger,
    TouchMessage,
    Visible,
    Wake,
    WheelMessage,
)

TEXT_LIMIT: Final = 1024 * 1024
SIDE_AT_LEAST: Final = 100
SIDE_AT_MOST: Final = 4096
TOUCHES_AT_MOST: Final = 16


class MalformedError(Exception):
    """A message that the protocol does not know; the text says what is wrong with it."""


# -- checks of one field: each returns the value to keep, or raises --------------------------

Check = Callable[[Any], Any]


def _number(low: float, high: float) -> Check:
    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise MalformedError("must be a number")
        if not low <= value <= high:
            raise MalformedError(f"must lie between {low:g} and {high:g}")
        return float(value)

    return check


def _whole(low: int, high: int) -> Check:
    def check(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise MalformedError("must be a whole number")
        if not low <= value <= high:
            raise MalformedError(f"must lie between {low} and {high}")
        return value

    return check


def _text(longest: int) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise MalformedError("must be a text")
        if len(value) > longest:
            raise MalformedError(f"may have at most {longest} characters")
        return value

    return check


def _one_of(*allowed: str) -> Check:
    def check(value: Any) -> str:
        if value not in allowed:
            raise MalformedError(f"must be one of {', '.join(allowed)}")
        return str(value)

    return check


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MalformedError("must be true or false")
    return value


def _true(value: Any) -> bool:
    if value is not True:
        raise MalformedError("must be true where it is given")
    return True


def _side(value: Any) -> int:
    # A window dragged very small or over several screens is no mistake of the viewer's.
    sane: float = _number(0, 100_000)(value)
    return round(min(max(sane, SIDE_AT_LEAST), SIDE_AT_MOST))


def _ids(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 100:
        raise MalformedError("must be a list of at most 100 ids")
    return tuple(_text(64)(one) for one in value)


def _fingers(value: Any) -> tuple[TouchFinger, ...]:
    if not isinstance(value, list) or len(value) > TOUCHES_AT_MOST:
        raise MalformedError(f"must be a list of at most {TOUCHES_AT_MOST} points")
    made: list[TouchFinger] = []
    for one in value:
        if not isinstance(one, dict):
            raise MalformedError("must hold objects")
        made.append(_build(TouchFinger, _FINGER, {}, one))
    return tuple(made)


_place = _number(-20_000, 20_000)
_pixels = _number(-100_000, 100_000)
_mask = _whole(0, 15)
_long_text = _text(TEXT_LIMIT)
_id = _text(64)
_ratio = _number(0.1, 16)
_sides: dict[str, Check] = {"w": _side, "h": _side}
_FINGER: Final[dict[str, Check]] = {
    "id": _whole(-(2**31), 2**31), "x": _place, "y": _place,
    "rx?": _number(0, 1000), "ry?": _number(0, 1000), "f?": _number(0, 1),
}  # fmt: skip

# By `t`: the class, and its fields ("?" marks those that may be missing).
_KINDS: Final[dict[str, tuple[type[Any], dict[str, Check]]]] = {
    "hello": (Hello, {**_sides, "dpr?": _ratio, "touch?": _flag, "visible?": _flag,
                      "token?": _text(200), "credential?": _text(200)}),
    "ack": (Ack, {"n": _whole(1, 2**32)}),
    "size": (Size, {**_sides, "dpr?": _ratio}),
    "visible": (Visible, {"on": _flag}),
    "mouse": (MouseMessage, {"k": _one_of("move", "down", "up"), "x": _place, "y": _place,
                             "b?": _whole(-1, 4), "bs?": _whole(0, 31), "c?": _whole(0, 100), "m?": _mask}),
    "wheel": (WheelMessage, {"x": _place, "y": _place, "dx": _pixels, "dy": _pixels, "m?": _mask}),
    "leave": (Leave, {}),
    "key": (KeyMessage, {"k": _one_of("down", "up"), "key": _text(40), "code?": _text(40),
                         "loc?": _whole(0, 3), "m?": _mask, "rep?": _flag, "text?": _text(16)}),
    "text": (TextMessage, {"text": _long_text}),
    "ime": (ImeMessage, {"text": _text(10_000), "from": _whole(0, 10_000), "to": _whole(0, 10_000)}),
    "delete": (DeleteMessage, {"before": _whole(0, 10_000), "after": _whole(0, 10_000)}),
    "touch": (TouchMessage, {"k": _one_of("start", "move", "end", "cancel"), "p": _fingers, "m?": _mask}),
    "paste": (PasteMessage, {"text": _long_text}),
    "copy": (Copy, {}),
    "cut": (Cut, {}),
    "nav": (Nav, {"k": _one_of("back", "forward", "reload", "hard-reload", "stop", "go"),
                  "text?": _text(100_000)}),
    "dialog": (DialogAnswer, {"id": _id, "accept": _flag, "text?": _text(100_000)}),
    "chooser": (ChooserAnswer, {"id": _id, "uploads?": _ids, "cancel?": _true}),
    "wake": (Wake, {}),
    "restore": (Restore, {}),
    "pong": (Pong, {"id": _whole(0, 2**32)}),
}  # fmt: skip
_COMMIT: Final[dict[str, Check]] = {"commit": _text(10_000)}
_RENAMED: Final = {"from": "start", "to": "end"}


def parse(raw: str | bytes) -> Message:
    """The message that a text frame holds.

    Raises:
        MalformedError: it holds none; the text may be shown.
    """
    try:
        read = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise MalformedError("The message is not JSON.") from None
    if not isinstance(read, dict):
        raise MalformedError("The message is not an object.")
    kind = read.pop("t", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise MalformedError(f"There is no message {str(kind)[:40]!r}.")
    cls, fields = _KINDS[kind]
    if kind == "ime" and "commit" in read:
        cls, fields = ImeCommit, _COMMIT
    try:
        message: Message = _build(cls, fields, _RENAMED, read)
    except MalformedError as wrong:
        raise MalformedError(f"{kind}: {wrong}") from None
    if isinstance(message, ChooserAnswer) and message.cancel and message.uploads:
        raise MalformedError("chooser: either uploads or cancel")
    return message


def _build(
    cls: type[Any], fields: Mapping[str, Check], renamed: Mapping[str, str], read: dict[str, Any]
) -> Any:
    values: dict[str, Any] = {}
    for name, check in fields.items():
        bare = name.rstrip("?")
        if bare not in read:
            if bare == name:
                raise MalformedError(f"{bare} is missing")
            continue
        value = read.pop(bare)
        if value is None and bare != name:
            continue
        try:
            values[renamed.get(bare, bare)] = check(value)
        except MalformedError as wrong:
            raise MalformedError(f"{bare} {wrong}") from None
    if read:
        raise MalformedError(f"there is no field {next(iter(read))[:40]!r}")
    return cls(**values)


_HEADER: Final = struct.Struct("<BBHIHHI")


def frame(picture: Picture, n: int, sent_ms: int) -> bytes:
    """A picture as a binary frame, numbered `n`; `sent_ms` is the hub's clock, cut to 32 bits."""
    head = _HEADER.pack(
        picture.kind, int(picture.sharp), 0, n & 0xFFFFFFFF, picture.width & 0xFFFF, picture.height & 0xFFFF,
        sent_ms & 0xFFFFFFFF,
    )  # fmt: skip
    return head + picture.data


def encode(message: Mapping[str, Any]) -> str:
    """A message of the hub's as text; a lone surrogate of a page's becomes a replacement sign."""
    try:
        return orjson.dumps(message).decode()
    except TypeError:
        return orjson.dumps(_mended(message)).decode()


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {key: _mended(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(one) for one in value]
    return value
