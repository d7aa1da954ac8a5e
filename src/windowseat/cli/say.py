"""How the command line speaks: facts on stdout, messages on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any, Final

from windowseat.errors import Refusal

# A command in a sentence. The product's name in prose has a capital letter, and a folder is no command.
_COMMAND: Final = re.compile(r"(?<![\w/.-])windowseat (?=[a-z-])")
_called = "windowseat"


def called_as(name: str) -> None:
    """Name the command in messages as the person called it: `./run` in a checkout."""
    global _called
    _called = name or "windowseat"


def in_their_words(text: str) -> str:
    """A sentence of ours, its commands such that they can be typed."""
    return _COMMAND.sub(lambda _: f"{_called} ", text)


def say(text: str) -> None:
    """A message for the person; programs do not read it."""
    print(in_their_words(text), file=sys.stderr, flush=True)


def say_refusal(refusal: Refusal) -> None:
    """What is wrong, and the next step on a line of its own."""
    say(f"windowseat: {refusal.message}")
    if refusal.next_step:
        say(f"  {refusal.next_step}")


def show(text: str = "") -> None:
    """A line of what was asked for."""
    print(text, flush=True)


def show_json(document: Any) -> None:
    """The one JSON document of a command with `--json` (contract C11)."""
    print(json.dumps(document), flush=True)


def on_terminal() -> bool:
    """Whether a person reads the messages as they come."""
    return sys.stderr.isatty()


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, width: int) -> None:
    """Columns as wide as they must be; the last one takes the rest of `width` and is cut there."""
    lines = [list(headings), *([_plain(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(headings))]
    for line in lines:
        cells = [cell.ljust(widths[place]) for place, cell in enumerate(line)]
        whole = "  ".join(cells).rstrip()
        print(whole if len(whole) <= width else whole[: max(width - 1, 0)] + "…")


def _plain(text: str) -> str:
    # A page chooses its title: control characters in it must not reach the terminal.
    return "".join(each if each.isprintable() else " " for each in text)
