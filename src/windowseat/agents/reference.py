"""The page docs/reference/operations.md, made from the registry; a test holds the two together."""

from __future__ import annotations

from windowseat.errors import CODES
from windowseat.rules.operations import OPERATIONS, Arg, Operation, type_words


def operations_reference() -> str:
    """Return the whole page as Markdown."""
    parts = [
        "# Operations",
        "",
        "Made from `rules/operations.py` by `scripts/write_operations_reference.py`; do not edit by hand.",
        "",
        "An operation acts in the tabs of one session. `tab` is a tab's id; where it is missing, the",
        "session's current tab is meant. Code in a kernel writes an operation as its example shows; programs",
        "send its name and its arguments to `POST /hub/v1/sessions/<name>/operations/<operation>`.",
        "",
    ]
    for operation in OPERATIONS.values():
        parts += _operation(operation)
    parts += ["## Error codes", "", "| code | trying again can help |", "|---|---|"]
    parts += [f"| `{code}` | {'yes' if retryable else 'no'} |" for code, retryable in CODES.items()]
    parts += [
        "",
        'An error with `"outcome": "unknown"` may have taken effect before it was lost.',
        "",
    ]
    return "\n".join(parts)


def _operation(operation: Operation) -> list[str]:
    kind = "May change something" if operation.changes else "Only reads"
    text = "; its answer may hold text that a page chose" if operation.page_text else ""
    lines = [f"## `{operation.name}`", "", operation.doc, "", f"In code: `{operation.call}`", ""]
    if operation.args:
        lines += ["| argument | type | | meaning |", "|---|---|---|---|"]
        lines += [_arg(arg) for arg in operation.args]
        lines.append("")
    if operation.one_of:
        lines += [f"Exactly one of {', '.join(f'`{name}`' for name in operation.one_of)}.", ""]
    lines += [f"Answers {operation.answers}.", "", f"{kind}{text}. {operation.timeout:g} s.", ""]
    return lines


def _arg(arg: Arg) -> str:
    needed = "needed" if arg.required else "" if arg.default is None else f"else `{_default(arg)}`"
    return f"| `{arg.name}` | {type_words(arg)} | {needed} | {arg.doc} |".replace("|  |", "| |")


def _default(arg: Arg) -> str:
    return str(arg.default).lower() if isinstance(arg.default, bool) else str(arg.default)
