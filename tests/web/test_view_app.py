"""The view's origin on real sockets: who may see the page, open the socket, send a file."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets

from support.chromium import wait_until
from support.web_services import ScriptedHub
from windowseat.cli.serving import listen, serve
from windowseat.errors import BrowserError
from windowseat.hub.people import Person
from windowseat.view.service import ViewService
from windowseat.web import view_app as view_app_module
from windowseat.web.admission import Admission
from windowseat.web.guard import Guard
from windowseat.web.origins import Origins
from windowseat.web.services import Services
from windowseat.web.view_app import view_app


class SleepyHub(ScriptedHub):
    """Tabs without pages: enough for everything before the first picture."""

    connected = False

    def live_page(self, id: str) -> None:
        return None

    async def page(self, id: str) -> Any:
        raise BrowserError("host-unavailable", "No browser in this test.")

    async def set_size(self, id: str, width: int, height: int) -> tuple[int, int]:
        raise BrowserError("host-unavailable", "No browser in this test.")

    def page_size(self, id: str) -> tuple[int, int]:
        return 1280, 800


@dataclass
class Place:
    hub: SleepyHub
    views: ViewService
    admission: Admission
    person: Person
    cookies: dict[str, str]
    port: int
    folder: Path

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    def client(self, *, admitted: bool = True) -> httpx.AsyncClient:
        cookies = self.cookies if admitted else {}
        return httpx.AsyncClient(base_url=self.origin, cookies=cookies, headers={"Origin": self.origin})

    @contextlib.asynccontextmanager
    async def socket(self, tab: str = "t1", *, origin: str | None = None) -> AsyncIterator[Any]:
        where = f"ws://localhost:{self.port}/t/{tab}/socket"
        async with websockets.connect(
            where, origin=websockets.Origin(origin or self.origin), proxy=None, max_size=None
        ) as socket:
            yield socket

    async def say_hello(self, socket: Any, **proof: str) -> dict[str, Any]:
        await socket.send(json.dumps({"t": "hello", "w": 800, "h": 600, "dpr": 1, "touch": False, **proof}))
        return json.loads(await asyncio.wait_for(socket.recv(), 10))


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    hub = SleepyHub()
    hub.add("t1", "One")
    hub.add("t2", "Two")
    admission = Admission(tmp_path / "admissions.db", "home", login="Ana")
    views = ViewService(hub, tmp_path / "uploads")
    listening = listen(0, "--view-port")
    origins = Origins(1, listening.port)
    unused: Any = None
    services = Services(
        hub=hub, views=views, admission=admission, origins=origins, kernels=unused, broker=unused,
        status=unused, doctor=unused, down=unused, browser_pid=unused, token="", machine="",
    )  # fmt: skip
    served = await serve(Guard(view_app(services, views), origins, "view"), listening.sockets)
    entered = admission.enter(admission.new_code())
    cookies = {entered.cookie_name: entered.cookie_value}
    try:
        yield Place(hub, views, admission, entered.person, cookies, listening.port, tmp_path)
    finally:
        await views.aclose()
        await served.aclose()
        listening.close()
        admission.close()


async def test_pages_and_files_need_the_cookie_and_tell_nothing_else(place: Place):
    async with place.client(admitted=False) as stranger:
        for path in ("/t/t1", "/t/nothing"):
            answer = await stranger.get(path)
            assert "One" not in answer.text
            assert "/static/view/main.js" not in answer.text
        assert (await stranger.get("/static/view/main.js")).status_code == 401
        assert (await stranger.get("/health")).text == "ok\n"
    async with place.client() as ana:
        answer = await ana.get("/t/t1")
        assert "/static/view/main.js" in answer.text
        assert "One" not in answer.text
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert (await ana.get("/static/view/main.js")).status_code == 200
        assert (await ana.get("/t/t1/socket")).status_code == 404
        assert (await ana.get("/")).status_code == 303


async def test_a_token_opens_its_tab_once_and_its_credential_again(place: Place):
    token = place.admission.view_token("t1", place.person)
    async with place.socket() as socket:
        welcome = await place.say_hello(socket, token=token)
        assert (welcome["t"], welcome["name"], welcome["tab"]["title"]) == ("welcome", "Ana", "One")
        assert [person.name for person in place.views.viewers("t1")] == ["Ana"]
    await wait_until(lambda: not place.views.viewers("t1"))
    async with place.socket() as socket:
        assert (await place.say_hello(socket, token=token))["t"] == "denied"
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd.code == 4401
    async with place.socket() as socket:
        again = await place.say_hello(socket, credential=welcome["credential"])
        assert again["credential"] == welcome["credential"]
    async with place.socket("t2") as socket:
        denied = await place.say_hello(socket, credential=welcome["credential"])
        assert denied["t"] == "denied"
        assert "Two" not in json.dumps(denied)


async def test_a_socket_of_another_origin_or_without_a_proof_gets_nothing(place: Place):
    with pytest.raises(websockets.InvalidStatus) as refused:
        async with place.socket(origin="http://localhost:1"):
            pass
    assert refused.value.response.status_code == 403
    async with place.socket() as socket:
        assert (await place.say_hello(socket))["t"] == "denied"
    async with place.socket() as socket:
        await socket.send('{"t":"wake"}')
        assert json.loads(await socket.recv())["t"] == "denied"


async def test_who_says_nothing_is_sent_away(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(view_app_module, "HELLO_WITHIN", 0.1)
    async with place.socket() as socket:
        assert json.loads(await asyncio.wait_for(socket.recv(), 10))["t"] == "denied"


async def test_a_tab_that_is_not_there_says_so(place: Place):
    async with place.socket("gone") as socket:
        denied = await place.say_hello(socket, token=place.admission.view_token("gone", place.person))
        assert "does not exist" in denied["reason"]


async def test_a_tab_that_ended_can_be_restored_from_a_page_that_is_loaded_again(place: Place):
    async with place.socket() as socket:
        welcome = await place.say_hello(socket, token=place.admission.view_token("t1", place.person))
    place.hub.end("t1")
    async with place.socket() as socket:
        again = await place.say_hello(socket, credential=welcome["credential"])
        assert again["tab"]["title"] == "One"

        async def until(kind: str) -> dict[str, Any]:
            while True:
                message = json.loads(await asyncio.wait_for(socket.recv(), 10))
                if message["t"] == kind:
                    return message

        assert await until("ended") == {"t": "ended", "reason": "closed", "restorable": True}
        await socket.send('{"t":"restore"}')
        assert (await until("tab"))["tab"]["id"] == "t1"
        assert ("restore", "t1") in place.hub.asked


async def test_a_revoked_person_is_sent_away_at_once(place: Place):
    async with place.socket() as socket:
        await place.say_hello(socket, token=place.admission.view_token("t1", place.person))
        place.admission.revoke(place.person.id)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            while True:
                await asyncio.wait_for(socket.recv(), 10)
        assert closed.value.rcvd.code == 4401


async def test_uploads_need_the_tabs_credential_and_lie_on_disk_for_us_alone(place: Place):
    traded = place.admission.trade_view_token(place.admission.view_token("t1", place.person), "t1")
    assert traded is not None
    headers = {"X-Windowseat-View": traded[0], "X-Windowseat-Name": "p%C5%99%C3%ADloha%2F..%2Fx.txt"}
    async with place.client() as ana:
        body = b"0123456789" * 400_000
        answer = await ana.post("/t/t1/upload", headers=headers, content=body)
        found = answer.json()
        assert found["size"] == len(body)
        path = Path(place.views.uploads.paths("t1", (found["upload"],))[0])
        assert path.name == "příloha_.._x.txt"
        assert path.read_bytes() == body
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.parent.parent.stat().st_mode & 0o777 == 0o700
        assert (await ana.post("/t/t2/upload", headers=headers, content=b"x")).status_code == 401
        assert (await ana.post("/t/t1/upload", content=b"x")).status_code == 401
        with pytest.raises(BrowserError, match="did not arrive"):
            place.views.uploads.paths("t2", (found["upload"],))
    place.hub.end("t1")
    assert not path.exists()


async def test_a_message_over_a_mebibyte_closes_the_socket(place: Place):
    async with place.socket() as socket:
        await place.say_hello(socket, token=place.admission.view_token("t1", place.person))
        await socket.send(json.dumps({"t": "paste", "text": "x" * (1024 * 1024)}))
        with pytest.raises(websockets.ConnectionClosed) as closed:
            while True:
                await asyncio.wait_for(socket.recv(), 10)
        assert closed.value.rcvd.code == 1009
