"""`windowseat down`: ends the hub, also one that no longer answers."""

from __future__ import annotations

import os
import select
import signal
from typing import Final

from windowseat.cli.call import Call
from windowseat.cli.say import say, show, show_json
from windowseat.errors import Refusal
from windowseat.hub.lock import holder_of

# The hub closes Chromium's windows, and Chromium writes its profile, before the hub ends.
# Each step: seconds to wait for the end, and what is sent when it has not come.
_STEPS: Final = ((20.0, signal.SIGTERM), (10.0, signal.SIGKILL), (5.0, None))


def down(call: Call) -> int:
    """End the hub, wait until it has ended, and say so."""
    keep = bool(call.args.keep_browser)
    try:
        status = call.hub.running()
        if status is None:
            raise Refusal("not-running", "Windowseat is not running; there is nothing to end.", "")
        pid = int(status["hub"]["pid"])
        call.hub.request("POST", "/hub/v1/down", {"keep_browser": keep})
    except Refusal as refusal:
        stuck = holder_of(call.home.hub_lock)
        if refusal.code != "hub-failed" or not stuck:
            raise
        say(f"The hub (process {stuck}) does not answer; ending it.")
        pid = stuck
    _wait_end(pid)
    if call.json:
        show_json({"ended": True, "kept_browser": keep})
    else:
        show("Windowseat is down. The browser goes on." if keep else "Windowseat is down.")
    return 0


def _wait_end(pid: int) -> None:
    """Wait for the process, and insist in steps.

    Raises:
        Refusal: "hub-failed", it is there after all of them.
    """
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        for limit, insist in _STEPS:
            if select.select([handle], [], [], limit)[0]:
                return
            if insist is not None:
                signal.pidfd_send_signal(handle, insist)
    except ProcessLookupError:
        return
    finally:
        os.close(handle)
    raise Refusal("hub-failed", f"The hub (process {pid}) does not end.", f"Look at it: ps -fp {pid}")
