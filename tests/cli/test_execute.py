from __future__ import annotations

import pytest

from windowseat.cli.execute import _show

SYNTAX = """  File "<cell 7>", line 1
    def (
        ^
SyntaxError: invalid syntax
"""


@pytest.mark.parametrize(
    ("text", "message", "said"),
    [
        (SYNTAX, "SyntaxError: invalid syntax (<cell 7>, line 1)", ""),
        ("Traceback\nZeroDivisionError: division by zero\n", "ZeroDivisionError: division by zero", ""),
        (
            "Traceback\nKeyboardInterrupt\n",
            "The cell was stopped after 1 s.",
            "The cell was stopped after 1 s.",
        ),
        ("", "Code mode is off.", "Code mode is off."),
    ],
)
def test_what_the_traceback_says_is_not_said_again(capsys, text, message, said):
    error = {"code": "execution-failed", "message": message, "retryable": False}
    _show({"ok": False, "text": text, "error": error, "images": [], "state_lost": False})
    written = capsys.readouterr()
    assert written.out.strip() == text.strip()
    assert written.err == (f"windowseat: {said}\n" if said else "")
