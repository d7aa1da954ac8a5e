"""Figures of tabs: how quickly one opens, and what a hundred of them cost the hub while nothing happens.

    ./run bench tabs [--json] [--tabs 100] [--settle 180] [--window 30]

The peer for opening is a bare `Target.createTarget` with `newWindow` on a Chromium of its own, with as
many windows open, in the same run. The hub's cost is its own process: resident memory, and processor
time over a window in which nobody asks it anything; once with all tabs awake and settled, once asleep.
"""

from __future__ import annotations

import argparse
import asyncio
import http.server
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from windowseat.chromium.connection import Connection
from windowseat.chromium.find import find_chromium
from windowseat.chromium.flags import launch_environment, launch_flags, options_for_this_machine
from windowseat.chromium.spawn import spawn_on_pipe
from windowseat.cli.client import HubClient
from windowseat.hub.home import find_home

OPENINGS = 15
Row = dict[str, Any]


def row(
    name: str, ours: float, unit: str, goal: str, holds: bool, peer: tuple[str, float] | None = None
) -> Row:
    """One line of the table."""
    return {
        "name": name,
        "ours": round(ours, 3),
        "peer": None if peer is None else round(peer[1], 3),
        "peer_name": None if peer is None else peer[0],
        "unit": unit,
        "ratio": None if peer is None else round(ours / peer[1], 3),
        "goal": goal,
        "holds": holds,
    }


@contextmanager
def site() -> Iterator[str]:
    """A small page on loopback, another one at each address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"<!doctype html><title>Page {self.path[1:]}</title><p>{'word ' * 200}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing of it belongs on the terminal."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def hub() -> Iterator[tuple[HubClient, psutil.Process]]:
    """A hub in a home of its own: its API and its process."""
    with tempfile.TemporaryDirectory(prefix="windowseat-bench-", ignore_cleanup_errors=True) as home:
        environ = {**os.environ, "WINDOWSEAT_HOME": home}
        command = [sys.executable, "-m", "windowseat"]
        up = subprocess.run(
            [*command, "up", "--detach", "--port", "0", "--json"],
            env=environ,
            capture_output=True,
            check=True,
        )
        try:
            yield HubClient(find_home(environ)), psutil.Process(json.loads(up.stdout)["hub"]["pid"])
        finally:
            subprocess.run([*command, "down"], env=environ, capture_output=True, check=False)


def median_opening(client: HubClient, base: str) -> float:
    """Milliseconds from the request to its answer, the spare window being there."""
    times = []
    for number in range(OPENINGS):
        time.sleep(1.0)  # a spare window is made in the meantime
        began = time.perf_counter()
        client.request("POST", "/hub/v1/tabs", {"url": f"{base}/o{number}"})
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


async def median_bare(base: str, windows: int) -> float:
    """Milliseconds of a bare createTarget with as many windows open."""
    found = find_chromium(os.environ)
    with tempfile.TemporaryDirectory(prefix="windowseat-bench-", ignore_cleanup_errors=True) as folder:
        options = options_for_this_machine(Path(folder) / "profile", found.major)
        spawned = spawn_on_pipe(
            [found.path, *(flag.text for flag in launch_flags(options))],
            launch_environment(os.environ),
            output=os.open(os.devnull, os.O_WRONLY),
        )
        connection = Connection(spawned.read_fd, spawned.write_fd)
        connection.start()
        try:
            for number in range(windows):
                await connection.root.call(
                    "Target.createTarget", {"url": f"{base}/w{number}", "newWindow": True}, timeout=60
                )
            times = []
            for number in range(OPENINGS):
                await asyncio.sleep(1.0)
                began = time.perf_counter()
                await connection.root.call(
                    "Target.createTarget", {"url": f"{base}/o{number}", "newWindow": True}, timeout=60
                )
                times.append((time.perf_counter() - began) * 1000)
            return statistics.median(times)
        finally:
            connection.close()
            os.killpg(spawned.pid, signal.SIGKILL)


def share_of_a_core(process: psutil.Process, seconds: float) -> float:
    """Percent of one core that the process used over the next `seconds`.

    From the scheduler's own account (`schedstat`, nanoseconds): the usual one looks a hundred times a
    second, and counts a process that wakes in step with it many times over.
    """
    before, began = _run_seconds(process.pid), time.monotonic()
    time.sleep(seconds)
    return (_run_seconds(process.pid) - before) / (time.monotonic() - began) * 100


def _run_seconds(pid: int) -> float:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def measure(tabs: int, settle: float, window: float) -> list[Row]:
    """All rows."""
    rows: list[Row] = []
    with site() as base, hub() as (client, process):
        opened = [client.request("POST", "/hub/v1/tabs", {"url": f"{base}/{n}"})["id"] for n in range(10)]
        ours = median_opening(client, base)
        bare = asyncio.run(median_bare(base, 10))
        rows.append(
            row(
                "opening a tab, 10 open",
                ours,
                "ms",
                "at most 0.5 of the peer",
                ours <= bare / 2,
                ("Target.createTarget with newWindow", bare),
            )
        )
        while len(opened) + OPENINGS < tabs:
            opened.append(
                client.request("POST", "/hub/v1/tabs", {"url": f"{base}/{len(opened)}"}, timeout=60)["id"]
            )
        count = len(client.request("GET", "/hub/v1/tabs")["tabs"])
        time.sleep(settle)
        memory = process.memory_info().rss / 1024**2
        rows.append(row(f"hub's memory, {count} tabs", memory, "MB", "at most 150", memory <= 150))
        share = share_of_a_core(process, window)
        rows.append(
            row(f"hub, {count} tabs settled {settle:.0f} s", share, "% of a core", "at most 1", share <= 1)
        )
        for tab in client.request("GET", "/hub/v1/tabs")["tabs"]:
            client.request("POST", f"/hub/v1/tabs/{tab['id']}/sleep", timeout=60)
        time.sleep(10)
        share = share_of_a_core(process, window)
        rows.append(row(f"hub, {count} tabs asleep", share, "% of a core", "at most 1", share <= 1))
    return rows


def main() -> int:
    """Print the table, or one JSON document; 0 if every row holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tabs", type=int, default=100)
    parser.add_argument("--settle", type=float, default=180.0)
    parser.add_argument("--window", type=float, default=30.0)
    args = parser.parse_args()
    rows = measure(args.tabs, args.settle, args.window)
    if args.json:
        print(json.dumps({"rows": rows}))
    else:
        for each in rows:
            peer = (
                "" if each["peer"] is None else f"  {each['peer_name']} {each['peer']}  ratio {each['ratio']}"
            )
            mark = "ok  " if each["holds"] else "FAIL"
            print(f"{mark} {each['name']}: {each['ours']} {each['unit']} ({each['goal']}){peer}")
    return 0 if all(each["holds"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
