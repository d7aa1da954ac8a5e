"""What the running hub can tell `doctor` about itself, its browser and its keeper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpTimeout
from windowseat.cli.checks import Check
from windowseat.cli.options import HubOptions
from windowseat.hub.hub import Hub

# What the bridge extension serves, and what happens where a browser refuses it.
OFFERS: Final = {
    "memory": "memory per tab is not shown",
    "sleep": "a sleeping tab's page is closed and comes back at its address, without its history",
    "reopening": "a closed tab comes back at its address, without its history",
    "map": "a tab that Chromium itself put to sleep counts as new",
    "events": "titles and icons are read from the page only",
}


async def hub_checks(hub: Hub, options: HubOptions) -> Sequence[dict[str, Any]]:
    """The checks, each `{"name","state","message","next"}` (contract C11)."""
    found = [await _browser(hub), *_bridge(hub), _tab_list(hub), _code_mode(options)]
    return [check.as_dict() for check in found]


async def _browser(hub: Hub) -> Check:
    root, process = hub.link.root, hub.link.process
    if root is None or process is None:
        return Check(
            "browser",
            "fail",
            "The browser is not there; the keeper is starting it again.",
            "Wait half a minute. If it does not come back, look into the log: windowseat status --json",
        )
    try:
        version = await root.call("Browser.getVersion", timeout=5.0)
    except (CdpError, CdpGone, CdpTimeout) as failure:
        return Check(
            "browser", "fail", f"The browser does not answer: {failure}.", "windowseat down, then up"
        )
    return Check("browser", "ok", f"{version['product']} answers on its pipe (process {process.pid}).", "")


def _bridge(hub: Hub) -> list[Check]:
    bridge = hub.link.bridge
    if bridge is None:
        lost = "; ".join(OFFERS.values())
        return [
            Check(
                "bridge",
                "warn",
                f"This browser refuses the bridge extension, so: {lost}.",
                "Use Chromium or Chrome for Testing: WINDOWSEAT_CHROMIUM=/path/to/chromium windowseat up",
            )
        ]
    missing = [why for offer, why in OFFERS.items() if not bridge.offers.get(offer)]
    if missing:
        return [Check("bridge", "warn", f"In this browser {'; '.join(missing)}.", "Use a newer Chromium.")]
    return [Check("bridge", "ok", f"The bridge extension offers {', '.join(OFFERS)}.", "")]


def _tab_list(hub: Hub) -> Check:
    if hub.list_failure is not None:
        return Check(
            "tab list",
            "fail",
            f"The tab list cannot be written: {hub.list_failure}.",
            "Free some space there; it is written again by itself.",
        )
    return Check("tab list", "ok", f"{len(hub.tabs)} tabs are listed.", "")


def _code_mode(options: HubOptions) -> Check:
    if options.code_mode:
        return Check(
            "code mode",
            "warn",
            "Code mode is on and not confined in this version: agents' code runs with your rights.",
            "Leave it on only for agents that you trust with a shell of yours.",
        )
    return Check("code mode", "ok", "Code mode is off.", "windowseat up --code-mode allows it")
