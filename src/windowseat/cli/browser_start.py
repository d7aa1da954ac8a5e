"""What the keeper must know to start the browser, made from what a person asked for."""

from __future__ import annotations

import os

from windowseat.chromium.display import choose_display
from windowseat.chromium.find import Found
from windowseat.chromium.flags import LaunchOptions, options_for_this_machine, warnings_for
from windowseat.chromium.keeper_client import KeeperOptions
from windowseat.cli.options import HubOptions
from windowseat.cli.say import say
from windowseat.hub.home import Home


def keeper_options(home: Home, options: HubOptions, found: Found) -> KeeperOptions:
    """The keeper's options; with `--headed` on the display that is there or on an Xvfb of its own.

    Raises:
        Refusal: "not-possible-here" when `--headed` finds neither.
    """
    return KeeperOptions.of(
        found,
        _launch(home, options, found),
        os.environ,
        lock=home.keeper_lock,
        log_folder=home.log_folder,
        display=choose_display(os.environ) if options.headed else None,
    )


def say_warnings(home: Home, options: HubOptions, found: Found) -> None:
    """Say on stderr what a person should know before the browser starts."""
    for warning in warnings_for(_launch(home, options, found)):
        say(warning)


def _launch(home: Home, options: HubOptions, found: Found) -> LaunchOptions:
    return options_for_this_machine(home.profile, found.major, headed=options.headed)
