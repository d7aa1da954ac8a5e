"""NUL framing of DevTools messages on a pipe: bytes in, whole messages out."""

from __future__ import annotations


class FrameTooLarge(Exception):
    """The peer sent a message over the bound; the stream cannot be followed any more."""


class NulFramer:
    """Cuts a byte stream at NULs.

    A stream may be joined in the middle of a message (a hub takes over a pipe that another
    drained): the caller must tolerate a first message that is only the tail of one.
    """

    def __init__(self, *, limit: int) -> None:
        """`limit`: the most bytes one message may have."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def receive_data(self, data: bytes) -> list[bytes]:
        """Return the messages that `data` completes, without their NULs; empty ones are left out.

        Raises:
            FrameTooLarge: a message passed the limit.
        """
        *ends, rest = data.split(b"\0")
        messages: list[bytes] = []
        for end in ends:
            whole = b"".join([*self._parts, end]) if self._parts else end
            self._parts.clear()
            self._size = 0
            if whole:
                messages.append(whole)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > self._limit:
                raise FrameTooLarge(f"a message passed {self._limit} bytes")
        return messages
