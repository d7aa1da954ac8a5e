"""Viewers over what happens to a tab of a real hub: sleep, Undo, reopening, the browser's death."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.chromium import serve_pages, wait_until
from support.hub_here import hub_here
from support.view_hub import BEN, Looking, value

PAGE = """<!doctype html><meta charset=utf-8><title>Mine</title><body style="margin:0">
<input id=i style="position:absolute;left:0;top:0;width:300px;height:40px">
<a id=a href="/" target=_blank style="position:absolute;left:0;top:100px">another</a>"""


@pytest.fixture
async def looking(tmp_path: Path) -> AsyncIterator[Looking]:
    async with hub_here(tmp_path / "home") as hub:
        found = Looking(hub, tmp_path)  # type: ignore[arg-type]
        try:
            yield found
        finally:
            await found.aclose()


def latest(browser, kind: str, name: str):
    found = browser.all(kind)
    return found[-1].get(name) if found else None


async def test_a_viewer_stays_through_everything_that_happens_to_the_tab(looking: Looking):
    hub = looking.hub
    with serve_pages({"/": PAGE}) as base:
        tab = await hub.open(base + "/")
        ana = await looking.come(tab.id, size=(900, 600))
        await ana.see(1, timeout=20)
        await wait_until(lambda: (ana.frames[-1].width, ana.frames[-1].height) == (900, 600))
        await wait_until(lambda: latest(ana, "tab", "tab") and latest(ana, "tab", "tab")["title"] == "Mine")

        # A page that opens another tab: its address is told, and it is a tab of its own.
        ana.say(t="mouse", k="down", x=20, y=108, b=0, bs=1, c=1, m=0)
        ana.say(t="mouse", k="up", x=20, y=108, b=0, bs=0, c=1, m=0)
        opened = await ana.hear("opened", timeout=20)
        assert opened["tab"]["id"] in hub.tabs
        assert hub.tabs[opened["tab"]["id"]].opener == tab.id

        await hub.sleep(tab.id)
        await wait_until(lambda: latest(ana, "tab", "tab")["asleep"])
        seen = len(ana.frames)
        ana.say(t="wake")
        await ana.see(seen + 1, timeout=20)
        await wait_until(lambda: not latest(ana, "tab", "tab")["asleep"])
        await wait_until(lambda: (ana.frames[-1].width, ana.frames[-1].height) == (900, 600))

        await hub.close(tab.id)
        assert (await ana.hear("ended"))["restorable"] is True
        seen = len(ana.frames)
        ana.say(t="restore")
        await ana.see(seen + 1, timeout=30)
        await wait_until(lambda: latest(ana, "status", "state") == "live")

        # Who comes now works in the same page.
        ben = await looking.come(tab.id, BEN, size=(800, 500))
        ben.say(t="mouse", k="down", x=20, y=20, b=0, bs=1, c=1, m=0)
        ben.say(t="mouse", k="up", x=20, y=20, b=0, bs=0, c=1, m=0)
        ben.say(t="text", text="still here")
        page = await hub.page(tab.id)
        await wait_until(lambda: value(page, "document.getElementById('i').value === 'still here'"))
        assert await value(page, "innerWidth") == 800


async def test_viewers_outlive_the_browser(looking: Looking):
    hub = looking.hub
    with serve_pages({"/": PAGE}) as base:
        tab = await hub.open(base + "/")
        ana = await looking.come(tab.id)
        await ana.see(1, timeout=20)
        process = hub.link.process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        await wait_until(lambda: not hub.connected)
        await wait_until(lambda: hub.connected, timeout=30)
        seen = len(ana.frames)
        # Nobody asks for it: a tab that somebody looks at comes back awake.
        await ana.see(seen + 1, timeout=30)
        assert ana.all("status")[0]["state"] == "waking"
        await wait_until(lambda: latest(ana, "tab", "tab")["title"] == "Mine", timeout=20)
