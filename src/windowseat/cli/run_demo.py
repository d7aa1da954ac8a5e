"""`windowseat demo`: starts Windowseat if it does not run, then hands over to the demo."""

from __future__ import annotations

from windowseat.cli.call import Call


def demo(call: Call) -> int:
    """Run the demo in the running hub."""
    from windowseat.cli.demo import run_demo

    return run_demo(call.args, call.hub)
