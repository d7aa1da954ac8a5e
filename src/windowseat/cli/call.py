"""One call of the command line: its arguments, its home and its hub."""

from __future__ import annotations

import argparse
import os
import sys
from functools import cached_property

from windowseat.cli.client import HubClient
from windowseat.hub.home import Home, find_home


class Call:
    """What a command's handler is given. Home and hub are looked for when first asked for."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args

    @property
    def json(self) -> bool:
        """Whether the answer is one JSON document."""
        return bool(getattr(self.args, "json", False))

    @cached_property
    def home(self) -> Home:
        """The home that the environment leads to."""
        return find_home(os.environ)

    @cached_property
    def hub(self) -> HubClient:
        """The hub of that home."""
        return HubClient(self.home)

    @cached_property
    def session(self) -> str:
        """The session of this command (contract C1)."""
        from windowseat.rules.names import session_of

        return session_of(os.environ, os.path.realpath(os.getcwd()), self.args.session)  # noqa: PTH109

    @cached_property
    def width(self) -> int:
        """Columns of the terminal; unlimited where the output goes elsewhere."""
        if not sys.stdout.isatty():
            return sys.maxsize
        return os.get_terminal_size(sys.stdout.fileno()).columns
