"""The guard and the routes behind it, over real sockets: who gets which status, and no fact."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from support.web_services import Running, running_web
from windowseat.web.guard import security_headers
from windowseat.web.origins import Origins, split_host

FACTS = ("Secret plans", "intranet.example", "fix-checkout", "Petra", "devbox", "t1secret")


@pytest.fixture
async def web(tmp_path: Path):
    async with running_web(tmp_path) as running:
        running.hub.add("t1secret", "Secret plans", "https://intranet.example/plans", session="fix-checkout")
        yield running


def routes() -> list[tuple[str, str]]:
    """Method and path of every route of the Launchpad's origin, and some that do not exist."""
    api = "/api/v1"
    tab = f"{api}/tabs/t1secret"
    return [
        ("GET", "/"),
        ("GET", "/enter"),
        ("GET", "/health"),
        ("GET", "/static/launchpad/main.js"),
        ("GET", "/static/none.js"),
        ("GET", "/static/../admission.py"),
        ("GET", "/static/%2e%2e/admission.py"),
        ("POST", f"{api}/enter"),
        ("GET", f"{api}/state"),
        ("POST", f"{api}/tabs"),
        ("DELETE", tab),
        *(("POST", f"{tab}/{verb}") for verb in ("restore", "sleep", "wake", "view")),
        ("GET", f"{api}/closed"),
        ("GET", f"{api}/me"),
        ("POST", f"{api}/me"),
        ("GET", f"{api}/none"),
        ("GET", "/hub/v1/status"),
        ("GET", "/hub/v1/tabs"),
        ("POST", "/hub/v1/admissions"),
        ("GET", "/hub/v1/events"),
        ("GET", "/hub/none"),
        ("GET", "/openapi.json"),
        ("GET", "/t/t1secret"),
    ]


OPEN = {"/", "/enter", "/health"}


async def test_without_admission_nothing_tells_a_fact(web: Running):
    async with httpx.AsyncClient(base_url=web.base) as nobody:
        for method, path in routes():
            answer = await nobody.request(
                method, path, json={"code": "wrong", "text": "x"} if method == "POST" else None
            )
            expected = {200} if path in OPEN else {401, 403, 404, 400}
            assert answer.status_code in expected, (method, path, answer.status_code)
            assert not [fact for fact in FACTS if fact in answer.text], (method, path)
    assert web.hub.asked == []


async def test_a_stolen_cookie_alone_tells_no_fact(web: Running):
    entered = web.enter("Petra")
    for secret in (None, "wrong", entered.cookie_value):
        headers = {} if secret is None else {"X-Windowseat-Secret": secret}
        thief = httpx.AsyncClient(
            base_url=web.base, cookies={entered.cookie_name: entered.cookie_value}, headers=headers
        )
        async with thief:
            for method, path in routes():
                answer = await thief.request(method, path, json={"name": "x"} if method == "POST" else None)
                if path.startswith(("/api/", "/hub/")) and path != "/api/v1/enter":
                    assert answer.status_code in (401, 403), (method, path, answer.status_code)
                assert not [fact for fact in FACTS if fact in answer.text], (method, path)
    assert web.hub.asked == []


async def test_a_stolen_cookie_opens_no_socket(web: Running):
    entered = web.enter()
    cookie = {"Cookie": f"{entered.cookie_name}={entered.cookie_value}"}
    address = f"ws://{web.host}/api/v1/live"
    with pytest.raises(InvalidStatus) as refused:
        async with connect(address, origin=web.base):
            pass
    assert refused.value.response.status_code == 403
    for hello in ({"t": "hello"}, {"t": "hello", "secret": "wrong"}, {"t": "watch", "tabs": []}, []):
        async with connect(address, origin=web.base, additional_headers=cookie) as socket:
            await socket.send(json.dumps(hello))
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(socket.recv(), 5)
            assert socket.close_code in (4401, 4400)


async def test_both_proofs_together_let_in(web: Running):
    async with web.person(web.enter("Petra")) as petra:
        state = (await petra.get("/api/v1/state")).json()
        assert [tab["title"] for tab in state["tabs"]] == ["Secret plans"]
        assert state["you"]["name"] == "Petra"
        assert (
            (await petra.get("/static/launchpad/main.js"))
            .headers["content-type"]
            .startswith("text/javascript")
        )


HOSTS = [
    ("localhost", 200),
    ("LOCALHOST:9717", 200),
    ("127.0.0.1:1", 200),
    ("[::1]:7717", 200),
    ("localhost.", 421),
    ("evil.example", 421),
    ("x.localhost:7717", 421),
    ("127.0.0.2:7717", 421),
    ("localhost.evil.example", 421),
    ("localhost@evil.example", 421),
    ("evil.example#localhost", 421),
    ("localhost:", 421),
    ("localhost:0", 421),
    ("localhost:99999", 421),
    ("0.0.0.0", 421),
    ("2130706433", 421),
    ("", 421),
]


async def test_host(web: Running):
    for host, status in HOSTS:
        # By hand, because a client that knows better would not send some of these.
        answer = await raw(web.port, f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        assert answer.split()[1] == str(status).encode(), host


async def test_two_hosts_are_refused(web: Running):
    answer = await raw(
        web.port, "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert answer.split()[1] in (b"421", b"400")


ORIGINS = (
    "http://evil.example",
    "null",
    "http://localhost:1",
    "https://{host}",
    "http://127.0.0.1:{port}",
    "",
)


async def test_a_wrong_origin_is_403(web: Running):
    async with web.person(web.enter()) as person:
        for origin in ORIGINS:
            headers = {"Origin": origin.format(host=web.host, port=web.port)}
            for method in ("GET", "POST"):
                answer = await person.request(method, "/api/v1/me", headers=headers, json={"name": "x"})
                assert answer.status_code == 403, origin
            assert (await person.get("/health", headers=headers)).status_code == 403, origin
        assert (await person.get("/health", headers={"Origin": web.base})).status_code == 200


async def test_an_origin_follows_the_forwarded_port(web: Running):
    async with httpx.AsyncClient(base_url=web.base) as client:
        headers = {"Host": "localhost:9999", "Origin": "http://localhost:9999"}
        assert (await client.get("/health", headers=headers)).status_code == 200


async def test_a_socket_needs_its_own_origin(web: Running):
    entered = web.enter()
    cookie = {"Cookie": f"{entered.cookie_name}={entered.cookie_value}"}
    for origin in (None, "http://evil.example", "null", "http://localhost:1"):
        with pytest.raises(InvalidStatus) as refused:
            async with connect(f"ws://{web.host}/api/v1/live", origin=origin, additional_headers=cookie):
                pass
        assert refused.value.response.status_code == 403, origin


async def test_a_socket_needs_the_right_host(web: Running):
    with pytest.raises(InvalidStatus) as refused:
        async with connect(
            f"ws://{web.host}/api/v1/live",
            additional_headers={"Host": "evil.example"},
            origin="http://evil.example",
        ):
            pass
    assert refused.value.response.status_code == 421


FROM_OTHER_SITES = [
    ("GET", "/", "navigate", "document", 200),
    ("GET", "/enter", "navigate", "document", 200),
    ("GET", "/", "navigate", "iframe", 403),
    ("GET", "/", "no-cors", "image", 403),
    ("GET", "/", "cors", "empty", 403),
    ("POST", "/", "navigate", "document", 403),
    ("GET", "/health", "navigate", "document", 403),
    ("GET", "/static/tokens.css", "no-cors", "style", 403),
    ("GET", "/api/v1/state", "navigate", "document", 403),
    ("POST", "/api/v1/enter", "navigate", "document", 403),
    ("GET", "/enter/launchpad.js", "no-cors", "script", 403),
]


async def test_other_sites_reach_the_entrances_only(web: Running):
    async with httpx.AsyncClient(base_url=web.base) as client:
        # Another port of localhost is the same site to a browser, and a stranger to us.
        for site in ("cross-site", "same-site"):
            for method, path, mode, dest, status in FROM_OTHER_SITES:
                headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
                answer = await client.request(method, path, headers=headers)
                assert answer.status_code == status, (site, method, path, dest)


async def test_bodies_are_bounded(web: Running):
    async with web.person(web.enter()) as person:
        assert (await person.post("/api/v1/tabs", content=b"x" * 70_000)).status_code == 413

        async def endless():
            for _ in range(20):
                yield b"x" * 10_000

        assert (await person.post("/api/v1/tabs", content=endless())).status_code == 413
        assert (await person.post("/api/v1/tabs", content=b"[" * 60_000)).status_code == 400


async def test_every_answer_carries_the_headers(web: Running):
    expected = security_headers(Origins(1, 2), "launchpad")
    entered = web.enter()
    async with web.person(entered) as person:
        answers = [
            await person.get("/"),
            await person.get("/api/v1/state"),
            await person.get("/none"),
            await person.get("/health", headers={"Origin": "null"}),
            await person.get("/health", headers={"Host": "evil.example"}),
        ]
        for answer in answers:
            for name, value in expected.items():
                if name == "cache-control":
                    assert "no-" in answer.headers[name]
                else:
                    assert answer.headers[name] == value, answer.request.url
            assert "server" not in answer.headers
        policy = expected["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        static = await person.get("/static/tokens.css")
        assert static.headers["cache-control"] == "private, no-cache"
        again = await person.get("/static/tokens.css", headers={"If-None-Match": static.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_the_cookie_is_strict(web: Running):
    code = web.services.admission.new_code()
    async with httpx.AsyncClient(base_url=web.base) as client:
        answer = await client.post("/api/v1/enter", json={"code": code})
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"].lower()
        for part in ("httponly", "samesite=strict", "path=/", "max-age=7776000"):
            assert part in cookie
        assert "domain" not in cookie
        assert (await client.post("/api/v1/enter", json={"code": code})).status_code == 401


def test_behind_a_gateway_only_the_configured_names_count():
    origins = Origins(7717, 7718, "https://seat.example.org", "https://view.example.org:8443/")
    assert origins.accepts_host("launchpad", "seat.example.org")
    assert origins.accepts_host("launchpad", "SEAT.example.org:443")
    assert not origins.accepts_host("launchpad", "localhost:7717")
    assert not origins.accepts_host("view", "seat.example.org")
    assert origins.accepts_host("view", "view.example.org:8443")
    assert not origins.accepts_host("view", "view.example.org")
    assert origins.other_base("view", "seat.example.org") == "https://view.example.org:8443"
    assert origins.origin_of_host("launchpad", "seat.example.org:443") == "https://seat.example.org"


@pytest.mark.parametrize(
    ("public", "view"),
    [
        ("https://a.example", None),
        ("http://a.example", "https://b.example"),
        ("https://a.example", "https://a.example:443"),
        ("https://a.example/path", "https://b.example"),
        ("https://", "https://b.example"),
    ],
)
def test_wrong_gateway_addresses_are_refused(public, view):
    with pytest.raises(ValueError, match=r"https origin|together|two different"):
        Origins(1, 2, public, view)


@pytest.mark.parametrize(
    ("seen", "view"),
    [
        ("localhost:7717", "http://localhost:7718"),
        ("127.0.0.1:9717", "http://127.0.0.1:9718"),
        ("[::1]:7717", "http://[::1]:7718"),
        ("localhost:65535", "http://localhost:7718"),
    ],
)
def test_the_view_is_beside_the_launchpad_as_the_person_sees_it(seen, view):
    assert Origins(7717, 7718).other_base("view", seen) == view


def test_split_host():
    assert split_host("[::1]") == ("[::1]", 80)
    assert split_host("A.example:8080") == ("a.example", 8080)


async def raw(port: int, request: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode())
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    await writer.wait_closed()
    return answer
