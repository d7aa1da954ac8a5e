"""How hub and kernel speak over their socket pair: a length, then JSON.

A frame is four bytes (big-endian length of the rest) and one JSON object whose `t` says what it is.

Hub to kernel: `adopt` (`workspace`), `run` (`cell`, `code`, `timeout_s`), `reply` (`id`, `result` of C3).
Kernel to hub: `ready`, `op` (`id`, `op`, `args`, `timeout_s`), `done` (`cell`, `ok`, `text`, `value`,
`error`?, `interrupted`?, `images`: [`mime`, `data` in base64]).
"""

from __future__ import annotations

import json
from typing import Any, Final

FRAME_LIMIT: Final = 48 * 1024 * 1024
HEAD: Final = 4


class FrameTooLongError(ValueError):
    """A frame is longer than `FRAME_LIMIT`."""


def pack(message: dict[str, Any]) -> bytes:
    """Return a message as one frame.

    Raises:
        FrameTooLongError: it is longer than the limit.
        TypeError, ValueError: it cannot be written as JSON.
    """
    body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
    if len(body) > FRAME_LIMIT:
        raise FrameTooLongError(f"{len(body)} bytes are more than a frame of {FRAME_LIMIT} may hold")
    return len(body).to_bytes(HEAD, "big") + body


def length_of(head: bytes) -> int:
    """Return how many bytes follow this head.

    Raises:
        FrameTooLongError: more than the limit.
    """
    length = int.from_bytes(head, "big")
    if length > FRAME_LIMIT:
        raise FrameTooLongError(f"a frame of {length} bytes was announced")
    return length


def unpack(body: bytes) -> dict[str, Any]:
    """Return the message in a frame's body.

    Raises:
        ValueError: it is no JSON object.
    """
    try:
        found = json.loads(body)
    except RecursionError:
        raise ValueError("a frame is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("a frame holds no object")  # noqa: TRY004 - one kind of error for a bad peer
    return found
