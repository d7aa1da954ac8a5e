"""The view's figures: how much of what Chromium shows reaches a viewer, how late, and over a slow line.

    ./run bench view [--json] [--seconds 6]

A page in constant motion at 1280x800, a real hub process, and clients that only acknowledge: a
second Chromium as the viewer would starve the encoder on a small machine. What Chromium produced is counted
on the hub's own pipe, before the hub does anything with it. Input is timed by the page's own clock.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from _seat import Client, Seat, pages, seat, slow_line, viewer

from windowseat.chromium.connection import CdpSession, Connection
from windowseat.chromium.find import find_chromium
from windowseat.chromium.flags import launch_environment, launch_flags, options_for_this_machine
from windowseat.chromium.spawn import spawn_on_pipe

LINE = 1_000_000  # bits per second
PRESSES = 150
SETTLES = 3.0  # seconds in which a hub that has just started is still busy with itself
MOTION = """<!doctype html><meta charset=utf-8><body style="margin:0;font:16px sans-serif"><div id=d></div>
<script>
let n = 0;
const words = 'In the beginning there was a window, and a seat beside it, and somebody in it. '.repeat(75);
(function step() { d.textContent = ++n + ' ' + words.slice(n % 80); requestAnimationFrame(step) })();
</script>"""
PRESSED = """<!doctype html><meta charset=utf-8><body style="margin:0;height:800px"><h1>Press</h1><script>
const times = [];
addEventListener('mousedown', () => times.push(performance.timeOrigin + performance.now()));
addEventListener('keydown', (e) => { if (e.key === 'Escape')
  fetch('/times', { method: 'POST', body: JSON.stringify(times.splice(0)) }) });
</script>"""
Row = dict[str, Any]


def row(name: str, ours: float, peer: float | None, peer_name: str, unit: str, goal: str, holds: bool) -> Row:
    """One line of the table."""
    ratio = None if not peer else round(ours / peer, 3)
    return {
        "name": name, "ours": round(ours, 3), "peer": None if peer is None else round(peer, 3),
        "peer_name": peer_name, "unit": unit, "ratio": ratio, "goal": goal, "holds": holds,
    }  # fmt: skip


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("The measurement waited in vain; is the machine overloaded?")
        await asyncio.sleep(0.02)


async def watch(client: Client, seconds: float) -> tuple[float, float]:
    """Let a viewer watch for a while; returns from when to when."""
    await until(lambda: client.count > 10)
    start = time.monotonic()
    await asyncio.sleep(seconds)
    return start, time.monotonic()


# -- pictures ------------------------------------------------------------------------------


async def frames_and_delay(place: Seat, tab: str, seconds: float) -> tuple[list[Row], float]:
    """How many of the frames arrive, and how much after the pipe brought them (that apart too)."""
    async with viewer(await place.view(tab)) as client:
        start, end = await watch(client, seconds)
        await asyncio.sleep(0.3)
    produced, added = delays(place, client, start, end)
    share = 100 * len(added) / max(1, produced)
    delay = statistics.median(added)
    rows = [
        row("frames that reach a viewer", len(added) / (end - start), produced / (end - start),
            "frames Chromium wrote to the pipe", "frames/s", "at least 95 %", share >= 95),
        row("added between pipe and viewer, median", delay, 0.0, "a loop on the pipe itself", "ms",
            "at most 5 ms", delay <= 5),
    ]  # fmt: skip
    return rows, delay


async def over_a_slow_line(place: Seat, tab: str, seconds: float, alone_ms: float) -> list[Row]:
    """A viewer at 1 Mbit/s beside a quick one: how old is what they see, what does it cost the other?"""
    address = await place.view(tab)
    port = urlsplit(address).port
    assert port is not None
    async with slow_line(port, LINE) as slow_port, viewer(address, port=slow_port) as slow:
        await until(lambda: slow.count >= 3)
        async with viewer(await place.view(tab)) as quick:
            start, end = await watch(quick, max(seconds, 8))
        beside = ages(place, slow, start, end)
        produced, added = delays(place, quick, start, end)
        # Alone, all viewers of the tab are slow, so its pictures become coarser.
        await asyncio.sleep(max(seconds, 8))
        left_alone = time.monotonic()
        await asyncio.sleep(max(seconds, 8))
        lonely = ages(place, slow, left_alone, time.monotonic())
    old, line = (statistics.median(column) for column in zip(*beside, strict=True))
    times = statistics.median(one / by_line for one, by_line in beside)
    old_alone = statistics.median(one for one, _ in lonely)
    return [
        row("frames that reach a quick viewer beside a slow one", len(added) / (end - start),
            produced / (end - start), "frames Chromium wrote to the pipe", "frames/s", "at least 95 %",
            len(added) >= 0.95 * produced),
        row("added for a quick viewer beside a slow one, median", statistics.median(added), alone_ms,
            "for the same viewer alone", "ms", "at most 2 ms more",
            statistics.median(added) <= alone_ms + 2),
        row("age of a picture at 1 Mbit/s beside a quick viewer, median", old, line,
            "the line's own time for one picture", "ms", "at most 1.5 times", times <= 1.5),
        row("age of a picture at 1 Mbit/s alone, median", old_alone, old, "beside a quick viewer", "ms",
            "at most 600 ms", old_alone <= 600),
    ]  # fmt: skip


def delays(place: Seat, client: Client, start: float, end: float) -> tuple[int, list[float]]:
    """How many frames the pipe brought, and for each that reached the client how much later, in ms."""
    read: dict[tuple[str, int], float] = {}
    for at, check, size in place.read_frames():
        read.setdefault((check, size), at)  # a repeated frame is the same picture
    came = {picture.name: picture.at for picture in reversed(client.pictures)}
    within = {name: at for name, at in read.items() if start <= at < end}
    return len(within), [(came[name] - at) * 1000 for name, at in within.items() if name in came]


def ages(place: Seat, client: Client, start: float, end: float) -> list[tuple[float, float]]:
    """For each picture that came: how old it was, and how long the slow line takes for it, in ms."""
    read: dict[tuple[str, int], float] = {}
    for at, check, size in place.read_frames():
        read.setdefault((check, size), at)
    return [
        ((came.at - read[came.name]) * 1000, len(came.data) * 8000 / LINE)
        for came in client.pictures
        if start <= came.at < end and came.name in read
    ]


# -- input ---------------------------------------------------------------------------------


async def input_delay(place: Seat, base: str, times: asyncio.Queue[list[float]]) -> Row:
    """From sending a press to the page's event: through the view, and by a raw command on a pipe."""
    tab = await place.open(f"{base}/pressed")
    ours: list[float] = []
    raw: list[float] = []
    async with viewer(await place.view(tab)) as client, raw_page(f"{base}/pressed") as session:
        await until(lambda: client.count >= 1)
        for _ in range(3):  # in turns, so that a busy moment falls on both
            ours += await press(
                PRESSES // 3, times, lambda x: press_in_view(client, x), lambda: escape_in_view(client)
            )
            raw += await press(
                PRESSES // 3, times, lambda x: press_raw(session, x), lambda: escape_raw(session)
            )
    mine, theirs = statistics.median(ours), statistics.median(raw)
    return row("input from the view to the page's event, median", mine, theirs, "a raw Input command", "ms",
               "at most 3 ms more", mine - theirs <= 3)  # fmt: skip


async def press(
    count: int, times: asyncio.Queue[list[float]], down: Callable[[int], Any], finish: Callable[[], Any]
) -> list[float]:
    """Press so often; returns the delays in ms."""
    sent = []
    for number in range(count):
        sent.append(time.time() * 1000)
        await down(100 + number % 50)
        await asyncio.sleep(0.03)
    await finish()
    seen = await asyncio.wait_for(times.get(), 20)
    if len(seen) != count:
        raise SystemExit(f"{count} presses were sent, {len(seen)} arrived.")
    return [arrived - left for arrived, left in zip(seen, sent, strict=True)]


async def press_in_view(client: Client, x: int) -> None:
    """A click, as the view's page sends it."""
    await client.say(t="mouse", k="down", x=x, y=400, b=0, bs=1, c=1, m=0)
    await client.say(t="mouse", k="up", x=x, y=400, b=0, bs=0, c=1, m=0)


async def escape_in_view(client: Client) -> None:
    """The key by which the page tells its times."""
    await client.say(t="key", k="down", key="Escape", code="Escape", loc=0, m=0, rep=False)
    await client.say(t="key", k="up", key="Escape", code="Escape", loc=0, m=0, rep=False)


async def press_raw(session: CdpSession, x: int) -> None:
    """A click by commands that nobody waits for."""
    common = {"x": x, "y": 400, "button": "left", "clickCount": 1}
    session.send("Input.dispatchMouseEvent", {"type": "mousePressed", "buttons": 1, **common})
    session.send("Input.dispatchMouseEvent", {"type": "mouseReleased", "buttons": 0, **common})


async def escape_raw(session: CdpSession) -> None:
    """The same key."""
    session.send(
        "Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Escape", "windowsVirtualKeyCode": 27}
    )


@contextlib.asynccontextmanager
async def raw_page(url: str) -> AsyncIterator[CdpSession]:
    """A page of a Chromium of the benchmark's own, driven on its pipe, its screencast running too."""
    found = find_chromium(os.environ)
    with tempfile.TemporaryDirectory(prefix="windowseat-bench-", ignore_cleanup_errors=True) as folder:
        options = options_for_this_machine(Path(folder) / "profile", found.major)
        with (Path(folder) / "stderr").open("wb") as output:
            spawned = spawn_on_pipe(
                [found.path, *(flag.text for flag in launch_flags(options))],
                launch_environment(os.environ),
                output=output.fileno(),
            )
        connection = Connection(spawned.read_fd, spawned.write_fd)
        try:
            connection.start()
            made = await connection.root.call(
                "Target.createTarget", {"url": url, "newWindow": True}, timeout=30
            )
            session = await connection.root.attach(made["targetId"])
            session.on(
                "Page.screencastFrame",
                lambda p: session.send("Page.screencastFrameAck", {"sessionId": p["sessionId"]}),
            )
            await session.call("Page.enable")
            await session.call(
                "Page.startScreencast", {"format": "jpeg", "quality": 70, "maxFramesInFlight": 3}
            )
            await session.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
            yield session
        finally:
            connection.close()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(spawned.pid, signal.SIGKILL)
            await asyncio.to_thread(os.waitpid, spawned.pid, 0)


# -- all -----------------------------------------------------------------------------------


async def measure(seconds: float) -> list[Row]:
    """Every row."""
    loop = asyncio.get_running_loop()
    times: asyncio.Queue[list[float]] = asyncio.Queue()

    def posted(_path: str, body: bytes) -> None:
        loop.call_soon_threadsafe(times.put_nowait, json.loads(body))

    with pages({"/motion": MOTION, "/pressed": PRESSED}, posted) as base:
        async with seat() as place:
            tab = await place.open(f"{base}/motion")
            await asyncio.sleep(SETTLES)
            rows, alone_ms = await frames_and_delay(place, tab, seconds)
            rows += await over_a_slow_line(place, tab, seconds, alone_ms)
            answer = await place.client.delete(f"/api/v1/tabs/{tab}")
            answer.raise_for_status()
            rows.append(await input_delay(place, base, times))
    return rows


def main() -> int:
    """Measure and print; 0 when every goal is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each watch lasts")
    options = parser.parse_args()
    rows = asyncio.run(measure(options.seconds))
    if options.json:
        print(json.dumps({"rows": rows}))
    else:
        for one in rows:
            peer = "" if one["peer"] is None else f"   {one['peer_name']}: {one['peer']} {one['unit']}"
            mark = "holds" if one["holds"] else "MISSED"
            print(f"{mark:7} {one['name']}: {one['ours']} {one['unit']} ({one['goal']}){peer}")
    return 0 if all(one["holds"] for one in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
