"""Which frame's document each ref number belongs to.

A ref (`@e12`) names one element of one document. Numbers are given out once per `Page` and never
again; the page script remembers which element has which. Here is kept, as ranges, which document
gave which, so that a ref of a document that went is stale instead of hitting another element.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RANGE_LIMIT: Final = 5_000
LOST_GAP: Final = 20_000  # more than one snapshot can give out


@dataclass
class Range:
    """The numbers `first` to `last` belong to the document of world `context` in `frame`."""

    first: int
    last: int
    frame: str
    context: int


class Refs:
    """The numbers given out in one page."""

    def __init__(self) -> None:
        self.next = 1
        self._ranges: list[Range] = []

    def given(self, frame: str, context: int, next_number: int) -> None:
        """A snapshot of this document gave out the numbers from `self.next` up to `next_number - 1`."""
        if next_number <= self.next:
            return
        last = self._ranges[-1] if self._ranges else None
        if last is not None and last.context == context and last.last + 1 == self.next:
            last.last = next_number - 1
        else:
            self._ranges.append(Range(self.next, next_number - 1, frame, context))
            del self._ranges[:-RANGE_LIMIT]
        self.next = next_number

    def lost(self) -> None:
        """An answer went missing: the numbers it may have given out are never used."""
        self.next += LOST_GAP

    def find(self, number: int) -> tuple[str, int] | None:
        """The frame and world that gave this number; None when its document is gone."""
        for known in reversed(self._ranges):
            if known.first <= number <= known.last:
                return known.frame, known.context
        return None

    def forget(self, frame: str) -> None:
        """This frame's document went."""
        self._ranges = [known for known in self._ranges if known.frame != frame]

    def forget_all(self) -> None:
        """The main document went, and every frame with it."""
        self._ranges = []
