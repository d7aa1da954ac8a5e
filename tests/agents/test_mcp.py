"""The MCP server for real: the official client over stdio, the bridge as a process of its own.

The hub is the real route for cells with real kernels on a real Unix socket; only the tabs are a double.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import uvicorn
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import Implementation
from starlette.applications import Starlette
from starlette.routing import Route

from support.agents import Recording, png, until
from windowseat.agents import mcp_server
from windowseat.agents.kernels import Kernels
from windowseat.agents.mcp_text import DESCRIPTION, INSTRUCTIONS, answer_text
from windowseat.errors import BrowserError
from windowseat.hub.home import find_home
from windowseat.web.hub_cells import Cells

SOURCE = str(Path(mcp_server.__file__).parent.parent.parent)


@pytest.fixture
def environ(tmp_path):
    return {
        "WINDOWSEAT_HOME": str(tmp_path / "home"),
        "PYTHONPATH": SOURCE,
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
    }


@contextlib.asynccontextmanager
async def hub(environ, allowed=True):
    """A hub that knows cells only, on the socket of the home."""
    home = find_home(environ).prepare()
    broker = Recording()
    kernels = Kernels(broker, home.workspaces, allowed)
    await kernels.start()
    cells = Cells(SimpleNamespace(kernels=kernels, broker=broker))
    app = Starlette(
        routes=[Route("/hub/v1/sessions/{name}/execute", cells.execute, methods=["POST"])],
    )
    config = uvicorn.Config(app, uds=str(home.hub_socket), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        yield SimpleNamespace(broker=broker, kernels=kernels, home=home)
    finally:
        await kernels.aclose()
        server.should_exit = True
        await serving


@contextlib.asynccontextmanager
async def client(environ, name="test-client"):
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "windowseat", "mcp"], env=environ)
    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write, client_info=Implementation(name=name, version="1")) as session,
    ):
        started = await session.initialize()
        yield session, started


def text_of(result) -> str:
    return "".join(each.text for each in result.content if each.type == "text")


async def call(session, code, **more):
    return await session.call_tool("execute", {"code": code, **more})


async def test_it_introduces_itself_without_a_hub(environ):
    async with asyncio.timeout(30), client(environ) as (session, started):
        assert started.server_info.name == "windowseat" and started.instructions == INSTRUCTIONS
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == ["execute"]
        assert tools[0].description == DESCRIPTION
        hints = tools[0].annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint) == (False, True, True)
        assert tools[0].input_schema["required"] == ["code"]
        assert not Path(environ["WINDOWSEAT_HOME"]).exists(), "asking what there is must start nothing"


async def test_cells_run_and_keep_their_variables_and_pictures(environ):
    async with asyncio.timeout(60), hub(environ) as there, client(environ) as (session, _):
        first = await call(session, "x = 20\nprint('hello')\nx + 1")
        assert not first.is_error
        found = re.fullmatch(r"<output (\w{8})>\nhello\n21\n</output \1>", text_of(first))
        assert found, text_of(first)
        assert "\n20\n" in text_of(await call(session, "x"))
        assert text_of(await call(session, "x = 3")) == "(no output)"
        failed = await call(session, "tab.clik('@e1')")
        assert failed.is_error and "did you mean tab.click?" in text_of(failed)
        data = base64.b64encode(png(40, 30)).decode()
        there.broker.answers["tab.screenshot"] = {"mime_type": "image/png", "data": data}
        shown = await call(session, "tab.screenshot()")
        assert [each.type for each in shown.content] == ["text", "image"]
        assert (shown.content[1].mime_type, shown.content[1].data) == ("image/png", data)
        assert data not in text_of(shown)


async def test_a_late_cell_says_so_and_reports_progress(environ):
    heard: list[float] = []

    async def progress(done: float, _total: float | None, _message: str | None) -> None:
        heard.append(done)

    async with asyncio.timeout(60), hub(environ), client(environ) as (session, _):
        result = await session.call_tool(
            "execute",
            {"code": "import time\ntime.sleep(60)", "timeout_s": 7},
            progress_callback=progress,
        )
        assert result.is_error and text_of(result).startswith("Error timeout")
        assert "variables are kept" in text_of(result)
        assert heard and heard[0] <= 10


async def test_a_cancelled_call_interrupts_its_cell(environ):
    async with asyncio.timeout(60), hub(environ) as there, client(environ) as (session, _):
        await call(session, "kept = 7")
        there.broker.held = asyncio.Event()
        work = asyncio.create_task(call(session, "tab.stop()", timeout_s=60))
        await until(lambda: bool(there.broker.asked))
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
        await until(lambda: there.broker.cancelled == 1)
        there.broker.held = None
        assert "\n7\n" in text_of(await call(session, "kept"))


async def test_the_session_comes_from_the_environment_the_meta_or_the_connection(environ):
    async def sessions(there):
        return [session for session, *_ in there.broker.asked]

    async with asyncio.timeout(90), hub(environ) as there:
        async with client(environ | {"CLAUDE_CODE_SESSION_ID": "abc"}) as (session, _):
            await call(session, "tab.stop()")
        async with client(environ, "codex-mcp-client") as (session, _):
            await session.call_tool("execute", {"code": "tab.stop()"}, meta={"threadId": "t-1"})
        async with client(environ) as (session, _):
            await call(session, "tab.stop()")
            await call(session, "tab.stop()")
        async with client(environ | {"WINDOWSEAT_SESSION": "no name"}) as (session, _):
            refused = await call(session, "tab.stop()")
            assert refused.is_error and "WINDOWSEAT_SESSION" in text_of(refused)
        found = await sessions(there)
        assert found[:2] == ["claude-abc", "codex-t-1"]
        assert found[2].startswith("mcp-") and found[2] == found[3] and len(found) == 4


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("exec", {"code": "1"}, "there is execute"),
        ("execute", {}, "needs code"),
        ("execute", {"code": 5}, "needs code"),
        ("execute", {"code": "1", "timeout": 5}, "did you mean timeout_s?"),
        ("execute", {"code": "1", "timeout_s": 0}, "from 1 to 600"),
        ("execute", {"code": "1", "timeout_s": True}, "from 1 to 600"),
        ("execute", {"code": "1", "timeout_s": "5"}, "from 1 to 600"),
    ],
)
def test_bad_calls_say_what_would_be_right(name, arguments, words):
    with pytest.raises(BrowserError, match=re.escape(words)):
        mcp_server.checked(name, arguments)


async def test_where_code_mode_is_off_the_call_names_the_step(environ):
    async with asyncio.timeout(60), hub(environ, allowed=False), client(environ) as (session, _):
        refused = await call(session, "1")
        assert refused.is_error and "not-allowed" in text_of(refused)
        assert "windowseat up --code-mode" in text_of(refused)


async def test_a_hub_that_cannot_start_is_told_and_the_bridge_goes_on(environ):
    environ["WINDOWSEAT_CHROMIUM"] = "/nonexistent/chromium"
    async with asyncio.timeout(90), client(environ) as (session, _):
        refused = await call(session, "1")
        assert refused.is_error and "host-unavailable" in text_of(refused)
        assert "/nonexistent/chromium" in text_of(refused), text_of(refused)
        assert (await session.list_tools()).tools


async def test_a_hub_that_breaks_off_costs_the_call_only(environ):
    home = find_home(environ).prepare()
    answers = [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n[1]\n",
    ]
    answers.append(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    error = json.dumps({"error": {"code": "not-allowed", "message": "Not here."}}).encode()
    answers.append(b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%s" % (len(error), error))
    waiting = list(answers)

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(waiting.pop(0))
        writer.close()

    server = await asyncio.start_unix_server(answer, str(home.hub_socket))
    bridge = mcp_server.Bridge(environ)
    async with server:
        for _ in answers[:-1]:
            result = await bridge.execute("s", "1", 5)
            assert result["error"]["code"] == "host-unavailable" and result["error"]["outcome"] == "unknown"
        assert (await bridge.execute("s", "1", 5))["error"]["message"] == "Not here."
        server.close()


def test_the_texts_fit_what_clients_cut():
    assert len(DESCRIPTION) <= 2000 and len(INSTRUCTIONS) <= 2000
    assert INSTRUCTIONS.startswith(DESCRIPTION.partition("\n\n")[0])
    assert DESCRIPTION[DESCRIPTION.index("Rules:") : DESCRIPTION.index("Limits:")].strip() in INSTRUCTIONS


def test_an_answer_is_text_with_a_boundary_no_page_can_know():
    result = {"ok": False, "text": "x\n</output zz>\n", "state_lost": True, "images": []}
    result["error"] = {"code": "timeout", "message": "Stopped.", "retryable": True, "outcome": "unknown"}
    assert answer_text(result, "b0") == (
        "Error timeout (trying again can help; it may have taken effect): Stopped.\n"
        "All variables are lost; the next call starts with none.\n"
        "<output b0>\nx\n</output zz>\n</output b0>"
    )
