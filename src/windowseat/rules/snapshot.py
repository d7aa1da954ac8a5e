"""A page's outline as text: the rendering that agents read (contract C3.1). Pure.

The page script returns a compact tree; here it becomes one line per node, indented, with refs on
what can be acted on, capped, and compared with an earlier one.

A node of the tree is a text, or `[role, name, ref, states, children]`: `ref` 0 is none, `states` are words or
`level=2`, `value=…`; `children` are nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

NAME_LIMIT: Final = 200
WHOLE_LIMIT: Final = 40_000
COMPARE_LIMIT: Final = 1_000_000  # pairs of lines; to match up more of them would take too long

# These say nothing without a name and with a single node in them.
_WRAPPERS: Final = frozenset(
    ["listitem", "paragraph", "group", "cell", "gridcell", "rowheader", "columnheader"]
)
_CELLS: Final = frozenset(["cell", "gridcell", "columnheader", "rowheader"])

Node = str | list[Any]


@dataclass(frozen=True)
class Rendered:
    """An outline as lines, without line ends.

    Attributes:
        lines: at most `WHOLE_LIMIT` characters together.
        cut: whether lines were left out.
    """

    lines: tuple[str, ...]
    cut: bool

    @property
    def text(self) -> str:
        """The whole as one text."""
        return "\n".join(self.lines)


def render(tree: Sequence[Node], *, limit: int = WHOLE_LIMIT) -> Rendered:
    """Render a tree of the page script; stops before the line that would pass `limit` characters."""
    lines: list[str] = []
    size = 0
    for line in _lines(tree, 0):
        size += len(line) + 1
        if size > limit:
            return Rendered(tuple(lines), True)
        lines.append(line)
    return Rendered(tuple(lines), False)


def cap(text: str, limit: int = NAME_LIMIT) -> str:
    """Cut a name or value to `limit` characters, with an ellipsis as the last one."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quote(text: str) -> str:
    """A name in double quotes, on one line; lone surrogates replaced."""
    return json.dumps(cap(_clean(text)), ensure_ascii=False)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _lines(nodes: Sequence[Node], depth: int) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield f"{'  ' * depth}- text: {_clean(node)}"
        else:
            yield from _node_lines(node, depth)


def _node_lines(node: list[Any], depth: int) -> Iterator[str]:
    role, name, ref, states, children = node
    indent = "  " * depth
    if role == "rowgroup" and not name and not ref:
        yield from _lines(children, depth)
        return
    if role == "options":
        yield f"{indent}- options: {' | '.join(_clean(option) for option in children)}"
        return
    if role in _WRAPPERS and not name and not ref and len(children) == 1 and not isinstance(children[0], str):
        yield from _lines(children, depth)
        return
    head = f"{indent}- {role}"
    if name:
        head += f" {quote(name)}"
    if ref:
        head += f" @e{ref}"
    if states:
        head += f" [{', '.join(_state(state) for state in states)}]"
    if role == "row":
        text, children = _row(children)
        if text:
            head += f": {text}"
    elif len(children) == 1 and isinstance(children[0], str):
        head += f": {_clean(children[0])}"
        children = []
    # A wrapper that holds nothing tells nothing.
    if children or role not in _WRAPPERS or not head.endswith(role):
        yield head
    yield from _lines(children, depth + 1)


def _row(children: Sequence[Node]) -> tuple[str, list[Node]]:
    """The cells that hold only text, on the row's own line, and what is left to tell below it."""
    texts: list[str] = []
    rest: list[Node] = []
    for child in children:
        if isinstance(child, str):
            texts.append(_clean(child))
            continue
        role, name, ref, states, inside = child
        plain = role in _CELLS and not ref and not states and all(isinstance(part, str) for part in inside)
        if plain:
            texts.append(_clean(" ".join(inside)) or _clean(name))
        elif role in _CELLS and not ref and not states and not name:
            rest.extend(inside)
        else:
            rest.append(child)
    return " | ".join(texts).strip(), rest


def _state(state: str) -> str:
    if state.startswith("value="):
        return f"value={quote(state[6:])}"
    return _clean(state)


def changes(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """What is different between two outlines.

    Returns:
        Lines that went, with `- ` in front, and lines that came, with `+ `, each group under the
        unchanged lines that enclose it (two spaces in front); empty when nothing changed.
    """
    first = _common(before, after)
    last = _common(before[first:][::-1], after[first:][::-1])
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if len(old) * len(new) > COMPARE_LIMIT:
        return _changes_by_lines(old, new)
    found: list[str] = []
    shown: set[int] = set()
    for kind, a1, a2, b1, b2 in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        depth = _depth((new[b1:b2] or old[a1:a2])[0])
        for parent in _parents(after, first + b1, depth):
            if parent not in shown:
                shown.add(parent)
                found.append("  " + after[parent])
        found.extend("- " + line for line in old[a1:a2])
        found.extend("+ " + line for line in new[b1:b2])
        shown.update(range(first + b1, first + b2))
    return found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines at the start are the same."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count


def _changes_by_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    old, new = set(before), set(after)
    gone = ["- " + line for line in before if line not in new]
    return gone + ["+ " + line for line in after if line not in old]


def _parents(lines: Sequence[str], at: int, depth: int) -> list[int]:
    """Indices of the lines that enclose a line of this depth which stands at `at`, outermost first."""
    found: list[int] = []
    for index in range(at - 1, -1, -1):
        if depth == 0:
            break
        if _depth(lines[index]) < depth:
            depth = _depth(lines[index])
            found.append(index)
    return found[::-1]


def _depth(line: str) -> int:
    return (len(line) - len(line.lstrip(" "))) // 2
