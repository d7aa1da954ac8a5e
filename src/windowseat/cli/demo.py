"""`windowseat demo`: a scripted agent fills a form in its own tab, and waits for a person to correct it.

No model takes part: the agent is a list of cells, run through the same `execute` as any agent's. It
works slowly enough to be watched. The site it works on is part of the package and is served on
loopback for as long as the demo runs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from windowseat.cli.client import HubClient
from windowseat.cli.demo_server import demo_site
from windowseat.cli.options import HubOptions
from windowseat.cli.say import in_their_words, say, show
from windowseat.errors import BrowserError, Refusal

SESSION: Final = "demo"
SILENCE_LIMIT: Final = 30.0
# How long the agent waits for a person before it goes on alone, in all and per cell.
PATIENCE: Final = 600.0
SLICE: Final = 60.0

SET_UP: Final = """
import time

def slowly(target, text):
    'Types word by word, so that a person can follow.'
    tab.type(target, '')
    for number, word in enumerate(text.split(' ')):
        tab.type(target, word if number == 0 else ' ' + word, mode='append')
        time.sleep({pace} * 0.6)
    time.sleep({pace})

tab = browser.open({url!r})
time.sleep({pace} * 2)
print(tab.snapshot())
"""

FILL: Final = (
    ("writes the name", "slowly('label=Name', 'Ada Lovelace')"),
    ("writes the street", "slowly('label=Street and number', 'Analytical Lane 12')"),
    ("writes the town, and misspells it", "slowly('label=Town', 'Pargue')"),
    (
        "chooses the delivery",
        # Not by a click: that opens the browser's own list, which would swallow what a person types.
        "tab.evaluate('''() => { const box = document.querySelector('#delivery'); box.focus();\n"
        "  box.value = 'courier'; box.dispatchEvent(new Event('change', {bubbles: true})); }''')\n"
        "time.sleep({pace})",
    ),
    ("orders three packets", "slowly('label=Packets', '3')"),
)
MISSPELLED: Final = "Pargue"
TOWN_KNOWN: Final = "document.querySelector('#town').dataset.known === 'true'"
ASK: Final = """
import json
note = 'I cannot spell this town. Please correct it here: click into the field and type.'
tab.evaluate(f'window.demo.ask({json.dumps(note)})')
"""
WAIT: Final = (
    "try:\n    tab.wait(js={known!r}, timeout_ms={milliseconds})\n    corrected = True\n"
    "except BrowserError as error:\n    if error.code != 'timeout': raise\n    corrected = False\ncorrected"
)
TOWN: Final = "tab.evaluate(\"document.querySelector('#town').value\")"
SEND: Final = """
time.sleep({pace} * 2)
tab.click('role=button[name="Send the order"]')
tab.wait(text='Thank you', timeout_ms=15000)
tab.wait(load='load')
print(tab.snapshot())
"""


def run_demo(args: argparse.Namespace, hub: HubClient) -> int:
    """Run the demo; starts Windowseat with code mode allowed where it does not run.

    Args:
        args: `no_open`: only print the link.
        hub: the hub of this home.

    Raises:
        Refusal: Windowseat cannot start, or runs without code mode.
        BrowserError: the agent could not do its work.
    """
    started = _hub_with_code_mode(hub)
    try:
        with demo_site() as url:
            _show_way_in(hub, no_open=bool(args.no_open))
            Agent(hub, url).work()
            _linger()
    finally:
        # Also after Ctrl+C: what runs on, and may run code, is never left unsaid.
        if started:
            say("Windowseat goes on in the background, with code mode allowed; `windowseat down` ends it.")
    return 0


class Agent:
    """The scripted agent.

    Args:
        hub: where its cells run.
        url: the form's address.
        pace: seconds of a short pause; 1 is good to watch.
        patience: seconds to wait for a person.
        tell: gets one line for each thing it does.
    """

    def __init__(
        self,
        hub: HubClient,
        url: str,
        *,
        pace: float = 1.0,
        patience: float = PATIENCE,
        tell: Callable[[str], None] = show,
    ) -> None:
        self._hub = hub
        self._url = url
        self._pace = pace
        self._patience = patience
        self._tell = tell
        self._last = ""

    def work(self) -> None:
        """Fill the form, have a person correct the town, send it, and say what came of it."""
        self._do("opens its tab and looks at it", SET_UP.format(url=self._url, pace=self._pace))
        for line, code in FILL:
            self._do(line, code.replace("{pace}", str(self._pace)))
        self._do(f"sees that “{MISSPELLED}” is wrong, and asks you", ASK)
        self._tell(
            "\n  >>> Your turn. Open the tab “Tea by post” on the Launchpad, click into Town and\n"
            "      correct it: Prague, for example. The agent waits and goes on by itself.\n"
        )
        if self._wait_for_person():
            self._do(
                f"sees that you wrote “{self._cell(TOWN)['value']}”, and sends the form", self._sending()
            )
        else:
            self._do("waited long enough: corrects it itself", "slowly('label=Town', 'Prague')")
            self._do("sends the form", self._sending())
        self._tell("The agent read this page at the end:\n" + self._last.rstrip("\n"))

    def _sending(self) -> str:
        return SEND.format(pace=self._pace)

    def _wait_for_person(self) -> bool:
        """Wait in slices, so that each cell stays short, until the town is right or patience ends."""
        end = time.monotonic() + self._patience
        while (left := end - time.monotonic()) > 0:
            milliseconds = int(min(SLICE, left) * 1000) or 1
            code = WAIT.format(known=TOWN_KNOWN, milliseconds=milliseconds)
            if self._cell(code, timeout=SLICE + 20)["value"]:
                return True
        return False

    def _do(self, line: str, code: str) -> None:
        self._tell(f"The agent {line}.")
        self._last = str(self._cell(code).get("text") or "")

    def _cell(self, code: str, timeout: float = 90.0) -> dict[str, Any]:
        """Run one cell and return its answer.

        Raises:
            BrowserError: what made it fail.
            Refusal: the hub broke off.
        """
        body = {"code": code, "timeout_s": timeout}
        path = f"/hub/v1/sessions/{SESSION}/execute"
        *_, last = [{}, *self._hub.lines("POST", path, body, timeout=SILENCE_LIMIT)]
        if "result" not in last:
            raise Refusal(
                "hub-failed", "The hub ended during the demo.", "`windowseat status` says if it is back."
            )
        result: dict[str, Any] = last["result"]
        if not result["ok"]:
            error = result["error"]
            raise BrowserError(error["code"], f"The demo's agent failed: {error['message']}")
        return result


def _hub_with_code_mode(hub: HubClient) -> bool:
    """Make sure that a hub runs with code mode; True where it was started for the demo.

    Raises:
        Refusal: it runs without code mode, or cannot be started.
    """
    from windowseat.cli.detach import start_detached
    from windowseat.cli.starting import start_lock

    hub.home.prepare()
    with start_lock(hub.home):
        status = hub.running()
        if status is None:
            say("Starting Windowseat, with code mode allowed for the demo's agent …")
            start_detached(hub.home, HubOptions(code_mode=True))
            return True
    if not status.get("code_mode"):
        raise Refusal(
            "not-possible-here",
            "Windowseat runs without code mode, and the demo's agent is code.",
            "Allow it: windowseat down, then windowseat up --code-mode (or let the demo start Windowseat).",
        )
    return False


def _show_way_in(hub: HubClient, *, no_open: bool) -> None:
    """Print the Launchpad's link, and open it where a person's browser is."""
    from windowseat.cli.up import forward_hint

    url = hub.request("POST", "/hub/v1/admissions", {})["url"]
    show(f"Launchpad  {url}")
    show(in_their_words("           (works once, for 5 minutes; `windowseat url` prints another)"))
    status = hub.request("GET", "/hub/v1/status")
    if hint := forward_hint(status, os.environ.get("SSH_CONNECTION")):
        show(hint)
    show()
    if not no_open and _person_has_a_browser():
        _open_in_browser(url, hub.home.runtime / "demo-link.html")


def _person_has_a_browser() -> bool:
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open_in_browser(url: str, page: Path) -> None:
    """Open a link without its code in any program's arguments: a page of our own leads there."""
    import webbrowser

    from windowseat.hub.home import write_whole

    text = f'<!doctype html><meta http-equiv="refresh" content="0; url={url}"><title>Windowseat</title>'
    write_whole(page, text.encode())
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(page.as_uri())


def _linger() -> None:
    """Keep the site there until the person has seen enough; without a terminal nobody waits."""
    if not sys.stdin.isatty():
        return
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        input("\nPress Enter to end the demo. ")
