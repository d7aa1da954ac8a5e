"""Prints docs/cli.md, made from the parser of the command line; a test holds the file to it.

.venv/bin/python scripts/cli_docs.py > docs/cli.md
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from windowseat.cli.parser import commands_of, make_parser
from windowseat.errors import REFUSALS

_HEAD = """\
# Command line

<!-- Made by scripts/cli_docs.py from src/windowseat/cli/parser.py: change that, not this. -->

In a checkout `./run` stands for `windowseat`: `./run tabs --json`. Facts go to stdout, messages to
stderr. With `--json` stdout has one JSON document, also for an error: `{"error":{"code","message",
"retryable"}}`. [What each prints](protocols/json.md).
"""


def cli_page() -> str:
    """The whole page."""
    parser = make_parser()
    parts = [_HEAD]
    parts += ["\n".join(_command(name, command)) for name, command in commands_of(parser).items()]
    parts.append("\n".join(_exit_codes()))
    return "\n".join(parts)


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    shown = [
        each
        for each in parser._actions
        if each.help != argparse.SUPPRESS and not isinstance(each, argparse._HelpAction)
    ]
    usage = " ".join([f"windowseat {name}", *(_in_usage(each) for each in shown)])
    yield from (f"## {name}", "", f"    {usage}", "", parser.description or "", "")
    for each in shown:
        yield f"- `{_names(each)}`: {each.help or _PLAIN.get(each.dest, each.dest)}"
    if shown:
        yield ""
    if parser.epilog:
        yield from _examples(parser.epilog)


_PLAIN = {"url": "an address, as in an address bar", "tab": "an id, as `windowseat tabs` lists them"}


def _examples(epilog: str) -> Iterator[str]:
    for paragraph in epilog.rstrip("\n").split("\n\n"):
        lines = paragraph.split("\n")
        yield from (f"  {line}" if line.startswith("  ") else line for line in lines)
        yield ""


def _in_usage(action: argparse.Action) -> str:
    name = _names(action)
    if action.option_strings or action.nargs == "?":
        return f"[{name}]"
    return f"{name}..." if action.nargs == "+" else name


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return str(action.metavar or action.dest)
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return action.option_strings[0] + value


def _exit_codes() -> Iterator[str]:
    yield from (
        "## Exit codes",
        "",
        "| code | meaning |",
        "|---|---|",
        "| 0 | it worked |",
        "| 1 | it did not |",
    )
    for code, number in REFUSALS.items():
        yield f"| {number} | {code} |"
    yield ""


if __name__ == "__main__":
    print(cli_page(), end="")
