"""The demo's small shop, served on loopback with the standard library: a form, and the order's page."""

from __future__ import annotations

import html
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qs

FIELDS: Final = ("name", "street", "town", "delivery", "packets")
FORM_LIMIT: Final = 10_000
VALUE_LIMIT: Final = 200
ORDERS_KEPT: Final = 100
KINDS: Final = {"html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript"}
STATIC: Final = {"/": "form.html", "/shop.css": "shop.css", "/form.js": "form.js"}
DELIVERIES: Final = {"post": "by post", "courier": "by courier", "pick-up": "to be picked up"}


class _Shop(http.server.BaseHTTPRequestHandler):
    """One request. Orders live in the server, at most a hundred of them."""

    server: ShopServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """A file of the site, or the page of an order."""
        path = self.path.partition("?")[0]
        if path in STATIC:
            name = STATIC[path]
            self._send(200, _file(name), KINDS[name.rpartition(".")[2]])
        elif path.startswith("/order/") and path.removeprefix("/order/") in self.server.orders:
            number = path.removeprefix("/order/")
            self._send(200, _order_page(number, self.server.orders[number]), KINDS["html"])
        else:
            self._send(404, b"There is no such page.", "text/plain")

    def do_POST(self) -> None:
        """Take an order, and lead to its page."""
        length = self.headers.get("Content-Length", "")
        if self.path != "/order" or not length.isdigit() or int(length) > FORM_LIMIT:
            self.close_connection = True
            self._send(400, b"That is no order.", "text/plain")
            return
        form = parse_qs(self.rfile.read(int(length)).decode("utf-8", "replace"), keep_blank_values=True)
        number = self.server.take({name: form.get(name, [""])[0][:VALUE_LIMIT] for name in FIELDS})
        self.send_response(303)
        self.send_header("Location", f"/order/{number}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the demo."""

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


class ShopServer(http.server.ThreadingHTTPServer):
    """The server, with the orders it took by their number."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Shop)
        self.orders: dict[str, dict[str, str]] = {}
        self._taken = 0
        self._lock = threading.Lock()

    def take(self, order: dict[str, str]) -> str:
        """Keep an order and return its number; the oldest goes when there are too many."""
        with self._lock:
            self._taken += 1
            self.orders[str(self._taken)] = order
            while len(self.orders) > ORDERS_KEPT:
                del self.orders[next(iter(self.orders))]
            return str(self._taken)


@contextmanager
def demo_site() -> Iterator[str]:
    """Serve the shop on a free port of loopback; gives the form's address."""
    server = ShopServer()
    thread = threading.Thread(target=server.serve_forever, name="demo site", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


def _file(name: str) -> bytes:
    return files("windowseat.cli").joinpath("demo_site", name).read_bytes()


def _order_page(number: str, order: dict[str, str]) -> bytes:
    shown = {**order, "delivery": DELIVERIES.get(order["delivery"], order["delivery"]), "number": number}
    page = _file("order.html").decode()
    for name, value in shown.items():
        page = page.replace("{{" + name + "}}", html.escape(value))
    return page.encode()
