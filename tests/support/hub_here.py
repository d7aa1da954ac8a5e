"""A real hub in the test's own process: its home in a folder, its keeper and Chromium as always."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import windowseat
from windowseat.chromium.find import find_chromium
from windowseat.chromium.keeper_client import KeeperClient
from windowseat.cli.browser_start import keeper_options
from windowseat.cli.options import HubOptions
from windowseat.hub.home import find_home
from windowseat.hub.hub import Hub
from windowseat.hub.store import Store

EXTENSION = Path(windowseat.__file__).parent / "extension"


@asynccontextmanager
async def hub_here(folder: Path) -> AsyncIterator[Hub]:
    """Start a hub with an empty home in `folder`; ends it, its keeper and its Chromium."""
    home = find_home({"WINDOWSEAT_HOME": str(folder), "HOME": str(folder)}).prepare()
    options = keeper_options(home, HubOptions(), find_chromium({}))
    keeper = await KeeperClient.connect_or_start(home.keeper_socket, options)
    store = Store(home.store)
    hub = Hub(home, store, keeper, extension=EXTENSION)
    try:
        await hub.start(30.0)
        yield hub
    finally:
        await hub.quit_browser()
        await hub.aclose()
        await keeper.stop()
        store.close()
