"""The MCP server over stdio: one tool, `execute`, carried to the hub (contract C10).

A bridge, in a process of its own that the agent's client starts. `initialize` and `tools/list` are
answered without a hub; the first call starts one if none runs. Everything heavy is imported inside
`main`, because the command line imports this module's name only.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from windowseat import __version__
from windowseat.agents import hub_line, pictures
from windowseat.agents.mcp_text import DESCRIPTION, INPUT_SCHEMA, INSTRUCTIONS, answer_text
from windowseat.errors import BrowserError, Refusal
from windowseat.hub.home import Home, find_home
from windowseat.rules.names import session_of_mcp
from windowseat.rules.operations import nearest

if TYPE_CHECKING:
    from mcp_types import CallToolResult

DEFAULT_TIMEOUT: Final = 50.0
TIMEOUT_LIMIT: Final = 600.0
# Clients cut a call at 60 s unless progress comes; C10 wants a sign every 10 s.
PROGRESS_EVERY: Final = 5.0
START_LIMIT: Final = 90.0

Execute = Callable[[str, str, float], Awaitable[dict[str, Any]]]


def main() -> int:
    """Serve one agent on stdin and stdout until it goes; returns the exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve())
    return 0


async def _serve() -> None:
    from mcp.server.stdio import stdio_server

    server = make_server(Bridge(os.environ))
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


class Bridge:
    """Carries cells of one connection to the hub, and starts the hub if there is none."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._connection = secrets.token_hex(8)
        self._starting = asyncio.Lock()

    def session(self, client: str, meta: Mapping[str, Any] | None) -> str:
        """The session of a call (C1). Raises `Refusal` for a bad name in the environment."""
        return session_of_mcp(self._environ, client, meta, self._connection)

    async def execute(self, session: str, code: str, timeout_s: float) -> dict[str, Any]:
        """Run a cell, and return its answer; never raises but when cancelled."""
        try:
            home = find_home(self._environ)
            try:
                return await hub_line.execute(home.hub_socket, session, code, timeout_s)
            except hub_line.HubAwayError:
                await self._start_hub(home)
            home = find_home(self._environ)  # the start may have made the folder that is looked for first
            return await hub_line.execute(home.hub_socket, session, code, timeout_s)
        except BrowserError as error:
            return {"ok": False, "error": error.as_dict()}
        except Refusal as refusal:
            return _refused(f"{refusal.message} {refusal.next_step}")
        except hub_line.HubAwayError:
            return _refused("Windowseat was started, and is gone already. `windowseat doctor` says more.")

    async def _start_hub(self, home: Home) -> None:
        """Start a hub in the background; of several calls at once one starts it.

        Raises:
            BrowserError: `host-unavailable`, with what `windowseat up` said.
        """
        async with self._starting:
            if await _answers(home):
                return
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "windowseat", "up", "--detach", "--json",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(self._environ),
            )  # fmt: skip
            try:
                async with asyncio.timeout(START_LIMIT):
                    out, err = await process.communicate()
            except TimeoutError:
                raise BrowserError(
                    "host-unavailable", f"Windowseat did not start within {START_LIMIT:g} s."
                ) from None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            if process.returncode:
                raise BrowserError("host-unavailable", _start_failure(out, err))


async def _answers(home: Home) -> bool:
    """Whether a hub listens."""
    try:
        async with asyncio.timeout(5.0):
            _, writer = await asyncio.open_unix_connection(str(home.hub_socket))
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def _start_failure(out: bytes, err: bytes) -> str:
    """The reason in words why `up` failed: what it said to people, else to programs."""
    said = err.decode("utf-8", "replace").strip()
    if not said:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            said = str(json.loads(out)["error"]["message"])
    return f"Windowseat could not be started. {said[-1500:] or 'It said nothing.'}"


def _refused(message: str) -> dict[str, Any]:
    return {"ok": False, "error": BrowserError("host-unavailable", message).as_dict()}


def make_server(bridge: Bridge) -> Any:
    """Return the SDK's server with the one tool."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    tool = types.Tool(
        name="execute",
        title="Run Python in your browser's kernel",
        description=DESCRIPTION,
        input_schema=INPUT_SCHEMA,
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
        ),
    )

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            code, timeout_s = checked(params.name, params.arguments or {})
            session = bridge.session(_client(context), _meta(context))
        except BrowserError as error:
            return _content({"error": error.as_dict()})
        except Refusal as refusal:
            told = BrowserError("invalid-args", f"{refusal.message} {refusal.next_step}")
            return _content({"error": told.as_dict()})
        progress = asyncio.ensure_future(_report(context.session, timeout_s))
        try:
            return _content(await bridge.execute(session, code, timeout_s))
        finally:
            progress.cancel()

    return Server(
        "windowseat",
        version=__version__,
        title="Windowseat",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def checked(name: str, arguments: Mapping[str, Any]) -> tuple[str, float]:
    """Return code and timeout of a call.

    Raises:
        BrowserError: `invalid-args`, with a sentence that says what would be right.
    """
    if name != "execute":
        raise BrowserError("invalid-args", f"There is no tool {name[:80]!r}; there is execute.")
    for each in arguments:
        if each not in INPUT_SCHEMA["properties"]:
            near = nearest(each, INPUT_SCHEMA["properties"])
            hint = f"did you mean {near}?" if near else "it takes code and timeout_s."
            raise BrowserError("invalid-args", f"execute has no argument {each[:80]!r}; {hint}")
    code, timeout_s = arguments.get("code"), arguments.get("timeout_s", DEFAULT_TIMEOUT)
    if not isinstance(code, str):
        raise BrowserError("invalid-args", "execute needs code, as text.")
    number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
    if not number or not 1 <= timeout_s <= TIMEOUT_LIMIT:
        raise BrowserError("invalid-args", f"timeout_s must be a number from 1 to {TIMEOUT_LIMIT:g}.")
    return code, float(timeout_s)


def _client(context: Any) -> str:
    """The client's own name, "" where it did not say one."""
    params = context.session.client_params
    return str(params.client_info.name) if params is not None else ""


def _meta(context: Any) -> Mapping[str, Any] | None:
    found = (context.params or {}).get("_meta")
    return found if isinstance(found, Mapping) else None


async def _report(session: Any, timeout_s: float) -> None:
    """Tell the client every few seconds that the call is alive; one that did not ask hears nothing."""
    elapsed = 0.0
    while True:
        await asyncio.sleep(PROGRESS_EVERY)
        elapsed += PROGRESS_EVERY
        await session.report_progress(elapsed, None, f"running for {elapsed:g} s (at most {timeout_s:g})")


def _content(result: Mapping[str, Any]) -> CallToolResult:
    """A cell's answer as MCP content: text, then its pictures."""
    import mcp_types as types

    content: list[Any] = [types.TextContent(text=answer_text(result, secrets.token_hex(4)))]
    for path in list(result.get("images") or [])[: pictures.PER_CELL]:
        picture = _picture(Path(path))
        if picture is not None:
            content.append(types.ImageContent(data=picture[1], mime_type=picture[0]))
    return types.CallToolResult(content=content, is_error=not result.get("ok", False))


def _picture(path: Path) -> tuple[str, str] | None:
    """The MIME type and base64 of a picture that the hub wrote, or None when it is no picture any more."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            data = file.read(pictures.BYTES_LIMIT + 1)
    except OSError:
        return None
    found = pictures.describe(data)
    if found is None or len(data) > pictures.BYTES_LIMIT or max(found[1:]) > pictures.SIDE_LIMIT:
        return None
    return found[0], base64.b64encode(data).decode()
