"""Sentences that tell an agent what to do name only operations that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import windowseat
from windowseat.rules.operations import OPERATIONS

NAMED = re.compile(r"(?<![\w.])(tabs?\.[a-z_]+)\b(?!\.)")
ROOMS = ("page", "hub", "agents")
# Names of files and of our own attributes; nobody takes them for an operation.
NOT_OPERATIONS = {"tab.py", "tabs.json"}


def test_messages_name_only_operations_that_there_are():
    unknown = []
    for room in ROOMS:
        for file in sorted((Path(windowseat.__file__).parent / room).rglob("*.py")):
            for text in sentences(ast.parse(file.read_text("utf-8"))):
                for name in NAMED.findall(text):
                    if name not in OPERATIONS and name not in NOT_OPERATIONS:
                        unknown.append(f"{file.name}: {name} in {text[:80]!r}")
    assert unknown == []


def sentences(tree: ast.AST) -> list[str]:
    """The texts of the arguments of every `BrowserError(...)`."""
    return [
        part.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "BrowserError"
        for argument in call.args
        for part in ast.walk(argument)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
