"""The entry of the command line: parse, call the command's handler, turn failures into exit codes."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from windowseat.cli.call import Call
from windowseat.cli.parser import make_parser, parse
from windowseat.cli.say import called_as, say, say_refusal, show_json
from windowseat.errors import BrowserError, Refusal

FAILED: Final = 1
# What a shell says of a program that SIGINT ended.
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _print_anything()
    # `./run` tells how it was called; nothing that is started from here shall think the same.
    called_as(os.environ.pop("WINDOWSEAT_CALLED_AS", ""))
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        args = parse(words)
    except Refusal as refusal:
        _show_error("--json" in words, refusal.code, refusal.message, retryable=False)
        say_refusal(refusal)
        return refusal.exit_code
    if args.command is None:
        make_parser().print_help(sys.stderr)
        return 2
    return _run(Call(args))


def _run(call: Call) -> int:
    try:
        return _handler(call.args.handler)(call)
    except Refusal as refusal:
        _show_error(call.json, refusal.code, refusal.message, retryable=False)
        say_refusal(refusal)
        return refusal.exit_code
    except BrowserError as error:
        _show_error(call.json, error.code, error.message, retryable=error.retryable)
        say(f"windowseat: {error.message}")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has enough (`| head`); the interpreter must not complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _print_anything() -> None:
    # A page chooses its title, and a locale may know few letters: neither may break a command.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _handler(name: str) -> Callable[[Call], int]:
    module, _, function = name.partition(":")
    found: Callable[[Call], int] = getattr(importlib.import_module(module), function)
    return found


def _show_error(as_json: bool, code: str, message: str, *, retryable: bool) -> None:
    if as_json:
        show_json({"error": {"code": code, "message": message, "retryable": retryable}})


if __name__ == "__main__":
    sys.exit(main())
