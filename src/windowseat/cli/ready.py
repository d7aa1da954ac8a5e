"""Prints the path of the Chromium that would be used: `./run` asks before it starts or installs one."""

from __future__ import annotations

import os
import sys

from windowseat.chromium.find import find_chromium
from windowseat.cli.say import say_refusal
from windowseat.errors import Refusal


def main() -> int:
    """Return 0 with the path on stdout, or the refusal's exit code with its sentence on stderr."""
    try:
        print(find_chromium(os.environ).path)
    except Refusal as refusal:
        say_refusal(refusal)
        return refusal.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
