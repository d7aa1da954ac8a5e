"""The registry: closed, whole, and light to load; its reference page is current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from windowseat.agents.reference import operations_reference
from windowseat.rules import operations
from windowseat.rules.operations import OPERATIONS, nearest, signature, type_words, unknown_operation

ROOT = Path(__file__).parent.parent.parent
SLICE = {
    "tabs.list", "tabs.open", "tabs.select", "tab.close", "tab.navigate", "tab.back", "tab.forward",
    "tab.reload", "tab.stop", "tab.snapshot", "tab.click", "tab.type", "tab.wait", "tab.screenshot",
    "tab.evaluate", "tab.sleep", "tab.restore",
}  # fmt: skip
READING = {"tabs.list", "tabs.select", "tab.snapshot", "tab.wait", "tab.screenshot"}


def test_the_operations_are_those_of_the_contract():
    assert set(OPERATIONS) == SLICE
    assert {name for name, operation in OPERATIONS.items() if not operation.changes} == READING


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_told_whole(name):
    operation = OPERATIONS[name]
    assert operation.doc.endswith(".") and operation.answers
    assert len(set(operation.arg_names)) == len(operation.args)
    assert set(operation.one_of) <= set(operation.arg_names)
    assert 0 < operation.timeout <= 60
    owner, _, method = operation.call.partition("(")[0].partition(".")
    assert owner in ("browser", "tab") and method.isidentifier()
    for arg in operation.args:
        assert arg.doc and type_words(arg)
        assert not (arg.required and arg.default is not None)
        assert arg.type != "integer" or (arg.low is not None and arg.high is not None)
        assert arg.type != "text" or arg.high is not None, f"{name}: {arg.name} has no bound"
        if arg.type == "choice":
            assert arg.choices and arg.default in (None, *arg.choices)


def test_no_two_operations_share_a_call():
    calls = [operation.call.partition("(")[0] for operation in OPERATIONS.values()]
    assert len(set(calls)) == len(calls)


def test_the_nearest_name():
    assert nearest("tab.clik", OPERATIONS) == "tab.click"
    assert nearest("click", OPERATIONS) == "tab.click"
    assert nearest("list", OPERATIONS) == "tabs.list"
    assert nearest("zzzzzz", OPERATIONS) is None
    assert nearest("", OPERATIONS) is None
    assert "did you mean tab.click?" in unknown_operation("tab.clikc")
    assert "tab.wait" in unknown_operation("zzzz")
    assert len(unknown_operation("z" * 10_000)) < 600


def test_signatures_leave_out_the_tab_of_a_tab():
    assert signature(OPERATIONS["tab.type"]) == "target, text, mode='replace', submit=False"
    assert signature(OPERATIONS["tabs.select"]) == "tab"


def test_it_loads_nothing_heavy():
    program = (
        "import sys; import windowseat.rules.operations, windowseat.rules.wire;"
        "print(sorted({'pydantic', 'asyncio', 'json', 'inspect'} & set(sys.modules)))"
    )
    source = str(Path(operations.__file__).parent.parent.parent)
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() in ("[]", "['inspect']"), "dataclasses may load inspect, nothing else may come"


def test_the_reference_page_is_current():
    page = ROOT / "docs" / "reference" / "operations.md"
    assert page.read_text(encoding="utf-8") == operations_reference(), (
        "run scripts/write_operations_reference.py"
    )
