"""The demo: its shop, and its scripted agent in a real browser with somebody who corrects the town."""

from __future__ import annotations

import argparse
import http.client
import os
import threading
from urllib.parse import urlencode, urlsplit

import pytest

from support.commands import windowseat
from windowseat.cli import demo
from windowseat.cli.client import HubClient
from windowseat.cli.demo import MISSPELLED, SESSION, Agent, run_demo
from windowseat.cli.demo_server import ORDERS_KEPT, ShopServer, demo_site
from windowseat.errors import Refusal
from windowseat.hub.home import find_home

ORDER = {"name": "<b>Ada</b>", "street": "Lane 1", "town": "Praha", "delivery": "courier", "packets": "3"}


def ask(url: str, method: str, path: str, body: str | None = None, length: str | None = None):
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=10)
    headers = {} if length is None else {"Content-Length": length}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), text


def test_the_shop_takes_an_order_and_shows_it():
    with demo_site() as url:
        for path, kind in [("/", "text/html"), ("/shop.css", "text/css"), ("/form.js", "text/javascript")]:
            status, headers, text = ask(url, "GET", path)
            assert status == 200 and headers["Content-Type"].startswith(kind) and text
        status, headers, _ = ask(url, "POST", "/order", urlencode(ORDER))
        assert status == 303
        status, _, page = ask(url, "GET", headers["Location"])
        assert status == 200 and "&lt;b&gt;Ada&lt;/b&gt;" in page and "by courier" in page
        assert "{{" not in page and "<b>" not in page


@pytest.mark.parametrize(
    ("method", "path", "length"),
    [
        ("GET", "/order/99", None),
        ("GET", "/../demo.py", None),
        ("GET", "/form.html", None),
        ("POST", "/", "0"),
        ("POST", "/order", "999999999"),
        ("POST", "/order", "-1"),
    ],
)
def test_the_shop_refuses_the_rest(method, path, length):
    with demo_site() as url:
        assert ask(url, method, path, None, length)[0] in (400, 404)


def test_the_shop_keeps_only_so_many_orders():
    shop = ShopServer()
    try:
        numbers = [shop.take({"name": str(n)}) for n in range(ORDERS_KEPT + 5)]
        assert len(shop.orders) == ORDERS_KEPT and list(shop.orders)[-1] == numbers[-1]
    finally:
        shop.server_close()


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A running Windowseat with code mode, as a person starts it."""
    home = tmp_path_factory.mktemp("demo")
    started = windowseat(home, "up", "--detach", "--port", "0", "--code-mode", timeout=90)
    assert started.code == 0, started.err
    yield HubClient(find_home(os.environ | {"WINDOWSEAT_HOME": str(home)}))
    windowseat(home, "down")


class Person(threading.Thread):
    """Corrects the town once the agent has asked; what it sees first is kept."""

    def __init__(self, hub: HubClient) -> None:
        super().__init__(daemon=True)
        self._hub = hub
        self.asked = threading.Event()
        self.saw: dict[str, object] = {}

    def operate(self, op: str, **args: object) -> dict[str, object]:
        path = f"/hub/v1/sessions/{SESSION}/operations/{op}"
        found: dict[str, object] = self._hub.request("POST", path, {"args": args})
        return found

    def run(self) -> None:
        assert self.asked.wait(60)
        js = "[document.querySelector('#town').value, document.querySelector('#note').textContent,"
        js += " document.querySelector('#send').disabled, document.querySelector('#name').value]"
        self.saw = self.operate("tab.evaluate", js=js)
        self.operate("tab.type", target="#town", text="Brno")


def test_a_person_corrects_the_town_and_the_agent_goes_on(hub):
    lines: list[str] = []
    person = Person(hub)

    def tell(line: str) -> None:
        lines.append(line)
        if "Your turn" in line:
            person.asked.set()

    person.start()
    with demo_site() as url:
        Agent(hub, url, pace=0.02, patience=60, tell=tell).work()
    person.join(30)
    town, note, disabled, name = person.saw["data"]
    assert (town, disabled, name) == (MISSPELLED, True, "Ada Lovelace") and "correct it" in note
    assert any("you wrote “Brno”" in line for line in lines)
    assert "Thank you, Ada Lovelace" in lines[-1] and "Analytical Lane 12, Brno" in lines[-1]
    assert "by courier" in lines[-1]


def test_without_a_person_the_agent_corrects_itself(hub):
    lines: list[str] = []
    with demo_site() as url:
        Agent(hub, url, pace=0.02, patience=0.5, tell=lines.append).work()
    assert any("corrects it itself" in line for line in lines) and "Prague" in lines[-1]


def test_the_command_prints_a_link_and_opens_nothing_when_told_so(hub, monkeypatch, capsys):
    monkeypatch.setattr(demo.Agent, "__init__", _quick(demo.Agent.__init__))
    assert run_demo(argparse.Namespace(no_open=True), hub) == 0
    said = capsys.readouterr().out
    assert "/enter#" in said.splitlines()[0] and "Thank you" in said
    assert not (hub.home.runtime / "demo-link.html").exists()


def _quick(init):
    def quick(self, hub, url, **_):
        init(self, hub, url, pace=0.02, patience=0.5)

    return quick


def test_a_hub_without_code_mode_is_named_with_the_step(tmp_path, monkeypatch):
    home = find_home({"WINDOWSEAT_HOME": str(tmp_path), "HOME": str(tmp_path)})
    client = HubClient(home)
    monkeypatch.setattr(client, "running", lambda: {"code_mode": False})
    with pytest.raises(Refusal) as caught:
        run_demo(argparse.Namespace(no_open=True), client)
    assert "up --code-mode" in caught.value.next_step
