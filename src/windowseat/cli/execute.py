"""`windowseat exec` and `windowseat mcp`: agents' ways in by the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from windowseat.cli.call import Call
from windowseat.cli.say import say, show, show_json
from windowseat.errors import Refusal

_SILENCE_LIMIT = 30.0
_WANTED = "Name a file with Python code, in UTF-8."


def execute(call: Call) -> int:
    """Run code in the session's kernel; 0 only if it ran to its end."""
    body = {"code": _code(call), "timeout_s": call.args.timeout}
    path = f"/hub/v1/sessions/{call.session}/execute"
    # The hub gives a sign of life while the cell waits for its turn and runs, so only silence has a limit.
    *_, last = [{}, *call.hub.lines("POST", path, body, timeout=_SILENCE_LIMIT)]
    if "result" not in last:
        raise Refusal(
            "hub-failed", "The hub ended while the code ran.", "`windowseat status` says if it is back."
        )
    result: dict[str, Any] = last["result"]
    if call.json:
        show_json(result)
    else:
        _show(result)
    return 0 if result["ok"] else 1


def mcp(_call: Call) -> int:
    """Serve MCP on stdin and stdout until the agent goes."""
    from windowseat.agents.mcp_server import main

    return main()


def _code(call: Call) -> str:
    given, file = call.args.code, call.args.file
    if (given is None) == (file is None):
        raise Refusal(
            "bad-usage", "Give the code in one way.", "windowseat exec -e CODE, or a FILE, or - for stdin"
        )
    if given is not None:
        return str(given)
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise Refusal("bad-usage", f"{file} cannot be read: {error.strerror}.", _WANTED) from None
    except UnicodeDecodeError:
        raise Refusal("bad-usage", f"{file} is not UTF-8 text.", _WANTED) from None


def _show(result: dict[str, Any]) -> None:
    if text := result.get("text"):
        show(text.rstrip("\n"))
    for image in result.get("images") or []:
        say(f"image: {image}")
    error = result.get("error")
    if error and not _is_said(str(error["message"]), str(text or "")):
        say(f"windowseat: {error['message']}")
    if result.get("state_lost"):
        say("The session's names are lost: its kernel was ended.")


def _is_said(message: str, text: str) -> bool:
    """Whether the traceback, the end of `text`, says it; a syntax error's message adds the place."""
    last = text.rstrip().rpartition("\n")[2]
    return message in text or (bool(last) and message.startswith(last))
