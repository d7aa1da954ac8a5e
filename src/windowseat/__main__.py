"""`python -m windowseat` is the same as `windowseat`."""

from __future__ import annotations

import sys

from windowseat.cli.main import main

sys.exit(main())
