"""Writes docs/reference/operations.md from the registry. `--check` only says whether it is current."""

from __future__ import annotations

import sys
from pathlib import Path

from windowseat.agents.reference import operations_reference

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "operations.md"


def main() -> int:
    """Write the page, or compare it."""
    wanted = operations_reference()
    if "--check" in sys.argv[1:]:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == wanted
        if not current:
            print(f"{PAGE} is not current: run {sys.argv[0]}", file=sys.stderr)
        return 0 if current else 1
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
