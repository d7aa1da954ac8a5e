"""The hub's API over its Unix socket and over the loopback port: shapes, refusals, streams, gates."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from pathlib import Path

import httpx
import pytest

from support.web_services import TOKEN, Running, running_web
from windowseat.web.hub_gate import make_token
from windowseat.web.peers import peer_of

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def web(tmp_path: Path):
    async with running_web(tmp_path) as running:
        yield running


async def test_tabs_have_the_shape_of_the_contract(web: Running):
    web.hub.add("t1", "Cart", "https://shop.example/", session="fix")
    web.hub.add("t2", "Mine", "https://mine.example/", opener="t1")
    web.hub.memory_of = {"t1": 96_000_000}
    web.kernels.living.add("fix")
    web.views.looking["t2"] = [web.enter("Petra").person]
    async with web.programs() as hub:
        found = (await hub.get("/tabs")).json()["tabs"]
        assert found[0] == {
            "id": "t1",
            "target": "Tt1",
            "url": "https://shop.example/",
            "title": "Cart",
            "session": "fix",
            "opener": None,
            "held_by": [],
            "agents": ["fix"],
            "viewers": [],
            "asleep": False,
            "closes_at": None,
            "memory": 96_000_000,
        }
        assert (found[1]["opener"], found[1]["viewers"], found[1]["memory"]) == ("t1", ["Petra"], None)
        assert [tab["id"] for tab in (await hub.get("/tabs", params={"session": "fix"})).json()["tabs"]] == [
            "t1"
        ]
        assert (await hub.get("/tabs", params={"session": "no name!"})).status_code == 400


async def test_a_tab_s_life(web: Running):
    async with web.programs() as hub:
        opened = await hub.post("/tabs", json={"url": "shop.example", "session": None})
        assert opened.status_code == 201
        id = opened.json()["id"]
        assert web.hub.asked[-1][:2] == ("open", "https://shop.example/")
        closing = (await hub.delete(f"/tabs/{id}")).json()
        assert 7 < closing["closes_in_s"] <= 8
        assert set(closing["closes_at"]) == {"boot", "at"}
        assert (await hub.post(f"/tabs/{id}/restore")).json()["closes_at"] is None
        assert (await hub.post(f"/tabs/{id}/sleep")).json()["asleep"] is True
        assert (await hub.post(f"/tabs/{id}/wake")).json()["asleep"] is False
        web.hub.end(id)
        assert [tab["id"] for tab in (await hub.get("/closed")).json()["closed"]] == [id]
        assert (await hub.post(f"/tabs/{id}/restore")).json()["id"] == id


@pytest.mark.parametrize(
    ("url", "session", "status"),
    [
        ("https://shop.example/", "fix", 201),
        ("file:///etc/passwd", "fix", 403),
        ("javascript:alert(1)", "fix", 403),
        ("shop.example", "fix", 400),
        ("", None, 400),
        (7, None, 400),
        ("https://shop.example/", "not a name", 400),
    ],
)
async def test_what_may_be_opened(web: Running, url, session, status):
    async with web.programs() as hub:
        answer = await hub.post("/tabs", json={"url": url, "session": session})
        assert answer.status_code == status
        if status >= 400:
            error = answer.json()["error"]
            assert set(error) == {"code", "message", "retryable"}
            assert web.hub.asked == []


async def test_failures_have_one_shape(web: Running):
    async with web.programs() as hub:
        for method, path, content, status, code in [
            ("DELETE", "/tabs/none", b"", 404, "no-such-tab"),
            ("GET", "/nothing", b"", 404, "not-found"),
            ("PUT", "/tabs", b"", 405, "unsupported"),
            ("POST", "/tabs", b"{not json", 400, "invalid-args"),
            ("POST", "/tabs", b"[]", 400, "invalid-args"),
            ("POST", "/sessions/bad name/window", b"", 400, "invalid-args"),
            ("POST", "/sessions/s/execute", b"{}", 400, "invalid-args"),
            ("POST", "/sessions/s/execute", b'{"code":"1","timeout_s":601}', 400, "invalid-args"),
            ("POST", "/sessions/s/execute", b'{"code":"1","timeout_s":true}', 400, "invalid-args"),
            ("POST", "/sessions/s/operations/none", b"{}", 400, "invalid-args"),
            ("POST", "/sessions/s/operations/tabs.list", b'{"args":[]}', 400, "invalid-args"),
            ("POST", "/admissions", b'{"name":7}', 400, "invalid-args"),
            ("DELETE", "/admissions/none", b"", 404, "not-found"),
            ("POST", "/down", b'{"keep_browser":"yes"}', 400, "invalid-args"),
        ]:
            answer = await hub.request(method, path, content=content)
            assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), path


async def test_what_is_not_understood_is_refused(web: Running):
    async with web.programs() as hub:
        for path, body in {
            "/tabs": {"url": "about:blank", "strip": "desk"},
            "/admissions": {"nane": "Petra"},
            "/down": {"keep-browser": True},
            "/sessions/fix/execute": {"code": "1", "timeout": 5},
            "/sessions/fix/operations/tabs.list": {"arg": {}},
        }.items():
            refused = await hub.post(path, json=body)
            assert refused.status_code == 400, path
            assert refused.json()["error"]["code"] == "invalid-args"
            assert list(body)[-1] in refused.json()["error"]["message"]
        assert not web.hub.tabs
        for method, path, said in (("GET", "/nothing", "nothing at"), ("PUT", "/tabs", "this method")):
            assert said in (await hub.request(method, path)).json()["error"]["message"]


async def test_admissions_and_revocation(web: Running):
    async with web.programs() as hub:
        made = (await hub.post("/admissions", json={"name": "Petra"})).json()
        assert made["expires_s"] == 300
        base, _, code = made["url"].partition("/enter#")
        assert base == web.base
        async with httpx.AsyncClient(base_url=web.base) as petra:
            secret = (await petra.post("/api/v1/enter", json={"code": code})).json()["secret"]
            headers = {"X-Windowseat-Secret": secret}
            assert (await petra.get("/api/v1/me", headers=headers)).json()["name"] == "Petra"
            [admitted] = (await hub.get("/admissions")).json()["admissions"]
            assert admitted["name"] == "Petra"
            assert (await hub.delete(f"/admissions/{admitted['id']}")).status_code == 200
            assert (await petra.get("/api/v1/me", headers=headers)).status_code == 401


async def test_a_session_s_window_is_one_and_new_ones_are_limited(web: Running):
    async with web.programs() as hub:
        first = (await hub.post("/sessions/fix/window")).json()
        assert (await hub.post("/sessions/fix/window")).json()["id"] == first["id"]
        statuses = [(await hub.post(f"/sessions/s{number}/window")).status_code for number in range(21)]
        assert statuses == [200] * 19 + [503] * 2
        # One that is there costs nothing.
        assert (await hub.post("/sessions/fix/window")).status_code == 200
        sessions = (await hub.get("/sessions")).json()["sessions"]
        assert set(sessions[0]) == {"name", "tabs", "alive", "last_used_s"}
        assert len(sessions) == 20


async def test_execute(web: Running):
    async with web.programs() as hub:
        done = (await hub.post("/sessions/fix/execute", json={"code": "1+1", "timeout_s": 3})).json()
        assert done == {"ok": True, "text": "fix:1+1:3", "images": []}
        refused = await hub.post("/sessions/fix/execute", json={"code": "refused"})
        assert refused.status_code == 200
        assert refused.json()["error"]["code"] == "not-allowed"
        lines = await hub.post(
            "/sessions/fix/execute", json={"code": "2"}, headers={"Accept": "application/x-ndjson"}
        )
        assert [json.loads(line) for line in lines.text.splitlines()] == [
            {"result": {"ok": True, "text": "fix:2:50", "images": []}}
        ]
        assert (await hub.post("/sessions/fix/reset")).json() == {"session": "fix"}
        listed = await hub.post(
            "/sessions/fix/operations/tabs.list", json={"args": {"all": True}, "timeout_s": 2}
        )
        assert listed.json() == {"ok": True, "data": ["fix", {"all": True}, 2.0]}


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
async def test_a_caller_who_goes_away_cancels_its_cell(web: Running, accept: str):
    async with web.programs() as hub:
        call = asyncio.create_task(
            hub.post("/sessions/fix/execute", json={"code": "long"}, headers={"Accept": accept}, timeout=30)
        )
        await asyncio.wait_for(web.kernels.started.wait(), 5)
        call.cancel()
        await asyncio.wait_for(web.kernels.cancelled.wait(), 5)


async def test_events_are_told_and_resumed(web: Running):
    async with web.programs() as hub:
        seen: list[tuple[str, str]] = []

        async def read(headers: dict[str, str], until: int) -> str:
            seen.clear()
            last = ""
            async with hub.stream("GET", "/events", headers=headers, timeout=10) as stream:
                connected.set()
                async for line in stream.aiter_lines():
                    if line.startswith("id: "):
                        last = line[4:]
                    if line.startswith("event: "):
                        seen.append((line[7:], last))
                    if len(seen) == until and line.startswith("data: "):
                        return last
            return last

        connected = asyncio.Event()
        reading = asyncio.create_task(read({}, 2))
        await asyncio.wait_for(connected.wait(), 5)
        web.hub.add("t1", "One")
        web.hub.change("t1", title="Other")
        last = await asyncio.wait_for(reading, 5)
        assert [name for name, _ in seen] == ["tab-opened", "tabs-changed"]
        web.hub.end("t1")
        await asyncio.wait_for(read({"Last-Event-ID": last}, 1), 5)
        assert [name for name, _ in seen] == ["tab-ended"]
        # More than is kept, and another run of the hub: the reader must read the lists anew.
        for number in range(600):
            web.hub.add(f"x{number}", "x")
        await asyncio.wait_for(read({"Last-Event-ID": last}, 1), 5)
        assert seen[0][0] == "reset"
        await asyncio.wait_for(read({"Last-Event-ID": "ffffffff-3"}, 1), 5)
        assert seen[0][0] == "reset"


async def test_status_overview_doctor_and_down(web: Running):
    web.hub.add("t1", "One", asleep=True)
    async with web.programs() as hub:
        assert (await hub.get("/status")).json()["running"] is True
        overview = (await hub.get("/overview")).json()
        assert (overview["tabs"], overview["asleep"]) == (1, 1)
        memory = overview["memory"]
        assert memory["browser"] + memory["rest"] + memory["free"] == memory["total"] > 0
        assert (await hub.get("/doctor")).json()["checks"][0]["state"] == "ok"
        await hub.post("/down", json={"keep_browser": True})
    assert web.downs == [True]


async def test_pages_are_refused_on_every_way(web: Running):
    odd = [
        {"Origin": web.base},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Mode": "navigate"},
        {"Host": "evil.example"},
    ]
    async with web.programs() as socket, httpx.AsyncClient(base_url=web.base, headers=BEARER) as port:
        for headers in odd:
            assert (await socket.get("/status", headers=headers)).status_code == 403, headers
            assert (await port.get("/hub/v1/status", headers=headers)).status_code == 403, headers


async def test_the_port_needs_the_bearer(web: Running):
    async with httpx.AsyncClient(base_url=web.base) as client:
        assert (await client.get("/hub/v1/status", headers=BEARER)).status_code == 200
        for wrong in ({}, {"Authorization": TOKEN}, {"Authorization": "Bearer x"}, {"Authorization": ""}):
            assert (await client.get("/hub/v1/status", headers=wrong)).status_code == 401
        for both in ("localhost", "[::1]", "127.0.0.1"):
            answer = await client.get(f"http://{both}:{web.port}/hub/v1/status", headers=BEARER)
            assert answer.status_code == 200, both


ASKS = """
import encodings.idna, os, sys, urllib.request, urllib.error
if len(sys.argv) > 3:  # here rather than at its start: others may not run this Python
    os.setuid(int(sys.argv[3]))
sys.stdin.readline()
request = urllib.request.Request(sys.argv[1], headers={"Authorization": sys.argv[2]})
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


async def ask_from_a_process(web: Running, prepare, *more: str) -> str:
    """The status that another process gets; `prepare(pid)` runs before it asks."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ASKS, f"{web.base}/hub/v1/status", f"Bearer {TOKEN}",
        *more, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    prepare(process.pid)
    output, _ = await asyncio.wait_for(process.communicate(b"go\n"), 20)
    return output.decode().strip()


async def test_the_owned_browser_s_processes_are_refused(web: Running):
    assert await ask_from_a_process(web, lambda _: None) == "200"
    assert await ask_from_a_process(web, lambda pid: web.browser.append(pid)) == "403"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can ask as somebody else")
async def test_other_users_are_refused(web: Running):
    assert await ask_from_a_process(web, lambda _: None, "65534") == "403"


def test_a_connection_that_is_not_there_has_no_peer():
    assert peer_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None
    assert peer_of(("::1", 1), ("::1", 2)) is None


def test_the_token_file_is_private_and_new_each_time(tmp_path: Path):
    path = tmp_path / "token"
    first, second = make_token(path), make_token(path)
    assert first != second
    assert path.read_text() == second
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
