"""A person who was let in, as every place shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    """`id` is random and stable for one admission; `color` is one of the interface's eight names."""

    id: str
    name: str
    color: str
