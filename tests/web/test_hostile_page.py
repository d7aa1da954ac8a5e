"""A hostile page in the owned browser tries every route of a real hub, and gets nothing.

The worst case on purpose: a person is signed in to the Launchpad in that same browser, so their
cookie goes along with what the page sends from another port of localhost; and a DNS name of the
attacker's resolves to the loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.commands import windowseat
from windowseat.chromium.find import find_chromium

HOSTILE = Path(__file__).with_name("hostile.html")


class Attacker(http.server.BaseHTTPRequestHandler):
    page = ""
    reports: queue.Queue[Any]

    def do_GET(self) -> None:
        body = self.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.reports.put(json.loads(self.rfile.read(length)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def attacker() -> Iterator[tuple[type[Attacker], int]]:
    handler = type("Handler", (Attacker,), {"reports": queue.Queue()})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield handler, server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def chromium(tmp_path: Path) -> Path:
    """Chromium with a DNS of the attacker's making."""
    wrapper = tmp_path / "chromium"
    rules = "MAP evil.test 127.0.0.1"
    real = find_chromium(os.environ).path
    wrapper.write_text(
        f'#!/bin/sh\nexec "{real}" "$@" --disable-popup-blocking "--host-resolver-rules={rules}"\n'
    )
    wrapper.chmod(0o755)
    return wrapper


async def test_a_hostile_page_gets_nothing(tmp_path: Path, chromium: Path):
    home = tmp_path / "home"
    with attacker() as (server, port):
        up = windowseat(home, "up", "--detach", "--port", "0", "--json", WINDOWSEAT_CHROMIUM=str(chromium))
        assert up.code == 0, up.err
        try:
            status = up.document
            opened = windowseat(home, "open", status["url"], "--session", "secret-session", "--json").document
            await signed_in(home)
            # From another port of localhost (the same site, so cookies go along), and from a name
            # of the attacker's own that leads to the loopback.
            for host, targets in (
                ("localhost", ("localhost", "127.0.0.1")),
                ("evil.test", ("evil.test", "localhost")),
            ):
                server.page = hostile_page(status, opened["id"], home, targets)
                address = f"http://{host}:{port}/"
                hostile = windowseat(home, "open", address, "--session", "hostile", "--json").document
                report = await asyncio.to_thread(server.reports.get, True, 120)
                assert report["got"] == []
                assert report["cookie"] == ""
                assert report["tried"] > 300
                windowseat(home, "close", hostile["id"])
            tabs = windowseat(home, "tabs", "--json").document["tabs"]
            addresses = [tab["url"] for tab in tabs if tab["session"] != "hostile"]
            assert not [address for address in addresses if "taken" in address]
            assert opened["id"] in [tab["id"] for tab in tabs if tab["closes_at"] is None]
        finally:
            assert windowseat(home, "down").code == 0


async def signed_in(home: Path) -> None:
    """Wait until the browser's own page has used the code up: the Launchpad's title comes then."""
    async with asyncio.timeout(20):
        while True:
            tabs = windowseat(home, "tabs", "--json").document["tabs"]
            if any(tab["url"].endswith("/") and tab["title"] == "Windowseat" for tab in tabs):
                return
            await asyncio.sleep(0.1)


def hostile_page(status: dict[str, Any], tab: str, home: Path, hosts: tuple[str, ...]) -> str:
    ports = [status[name].rsplit(":", 1)[1] for name in ("launchpad", "view")]
    bases = [f"http://{host}:{port}" for host in hosts for port in ports]
    api, hub = "/api/v1", "/hub/v1"
    paths = [
        ("GET", "/"),
        ("GET", "/enter"),
        ("GET", "/health"),
        ("GET", "/static/launchpad/main.js"),
        ("GET", "/static/tokens.css"),
        ("GET", "/enter/icon.svg"),
        ("GET", f"{api}/state"),
        ("GET", f"{api}/me"),
        ("POST", f"{api}/enter"),
        ("POST", f"{api}/tabs"),
        ("POST", f"{api}/tabs/{tab}/view"),
        ("POST", f"{api}/tabs/{tab}/sleep"),
        ("DELETE", f"{api}/tabs/{tab}"),
        ("GET", f"{hub}/status"),
        ("GET", f"{hub}/tabs"),
        ("GET", f"{hub}/events"),
        ("POST", f"{hub}/tabs"),
        ("POST", f"{hub}/admissions"),
        ("POST", f"{hub}/down"),
        ("DELETE", f"{hub}/tabs/{tab}"),
        ("GET", f"/t/{tab}"),
        ("POST", "/enter"),
        ("POST", f"/t/{tab}/upload"),
    ]
    [token] = [path.read_text() for path in home.rglob("*token*") if path.is_file()][:1]
    return (
        HOSTILE.read_text()
        .replace("ROUTES", json.dumps(paths))
        .replace("BASES", json.dumps(bases))
        .replace("SOCKETS", json.dumps([f"{api}/live", f"/t/{tab}/socket", "/wire"]))
        .replace("TOKEN", token)
    )
