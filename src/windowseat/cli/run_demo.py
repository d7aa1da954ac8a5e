"""`windowseat demo`: hands this call over to the demo."""

from __future__ import annotations

from windowseat.cli.call import Call
from windowseat.cli.demo import run_demo


def demo(call: Call) -> int:
    """Run the demo in the hub of this home; it starts one where none runs."""
    return run_demo(call.args, call.hub)
