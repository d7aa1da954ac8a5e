"""Running our own functions in a page without a trace that the page could see.

Each frame has an isolated world named `windowseat`: the page's DOM with prototypes and globals of
our own. It is made by `Page.createIsolatedWorld` and reached by its context id, so `Runtime.enable`,
which pages can notice, is never sent. A context dies with its document; a call that found it dead
before it ran is repeated once on the new one.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpSession

WORLD_NAME: Final = "windowseat"
# Where callers' own JavaScript runs: what it changes there, our functions must not meet.
CALLERS_WORLD: Final = "windowseat-caller"
SCRIPT_PATH: Final = Path(__file__).parent / "script" / "page_script.bundle.js"
# Answered by `CALL_SCRIPT` where the script is not there: a world made anew by the browser.
MISSING: Final = "windowseat:missing"
CALL_SCRIPT: Final = (
    "function(name, ...args){ const script = globalThis.windowseatScript;"
    f" return script ? script[name](...args) : {MISSING!r} }}"
)
ATTEMPTS: Final = 3
_NOT_RUN: Final = ("Cannot find context", "uniqueContextId not found")
_CUT_OFF: Final = (
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "Promise was collected",
    "Cannot find default execution context",
)

Settle = Callable[..., Awaitable[dict[str, Any]]]


class DocumentGoneError(Exception):
    """The document went while our function ran in it; whether it had an effect is unknown."""


class ScriptError(Exception):
    """The function threw. `message` is the thrown error's text, `line` counts from 1 or is None."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass
class Context:
    """Our world in one document of one frame. `number` is new for each, over the page's life."""

    session: CdpSession
    frame: str
    id: int
    number: int
    scripted: bool = False


class Worlds:
    """The isolated worlds of one page's frames, made on first use.

    `settle(future, timeout, what)` is the page's bounded wait: it raises `BrowserError` when time
    runs out, a dialog opens or the page ends, and `CdpError` as it came.
    """

    def __init__(self, settle: Settle, name: str = WORLD_NAME) -> None:
        self._settle = settle
        self._name = name
        self._contexts: dict[str, Context] = {}
        self._count = 0
        self._left = 0  # documents that went

    def forget(self, frame: str) -> None:
        """The frame shows another document, or is gone."""
        self._contexts.pop(frame, None)
        self._left += 1

    def forget_all(self) -> None:
        """The main frame shows another document, or its process ended."""
        self._contexts.clear()
        self._left += 1

    def current(self, frame: str) -> Context | None:
        """The world of the frame's present document, if one has been made."""
        return self._contexts.get(frame)

    async def context(self, session: CdpSession, frame: str, timeout: float) -> Context:
        """The frame's world in its present document; made when there is none.

        Raises:
            CdpError: the frame does not exist (any more).
            BrowserError: see `settle`.
        """
        known = self._contexts.get(frame)
        if known is not None and known.session is session:
            return known
        params = {"frameId": frame, "worldName": self._name}
        for _ in range(ATTEMPTS):
            left = self._left
            sent = session.send("Page.createIsolatedWorld", params)
            answer = await self._settle(sent, timeout, "the page")
            if left == self._left:
                break  # else a document went meanwhile, and this world may be the one of a document that went
        self._count += 1
        made = Context(session, frame, int(answer["executionContextId"]), self._count)
        self._contexts[frame] = made
        return made

    async def call(
        self, session: CdpSession, frame: str, function: str, args: list[Any], timeout: float
    ) -> Any:
        """Call a JavaScript function with JSON arguments; returns its JSON result, promises awaited.

        Raises:
            ScriptError: it threw.
            DocumentGoneError: the document went while it ran.
            BrowserError: see `settle`.
        """
        for attempt in (1, 2):
            try:
                context = await self.context(session, frame, timeout)
                return await self.call_in(context, function, args, timeout)
            except CdpError as error:
                if attempt == 2 or not is_dead_context(error):
                    raise _left(error) from error
                self.forget(frame)
        raise AssertionError("unreachable")

    async def script(
        self, session: CdpSession, frame: str, name: str, args: list[Any], timeout: float
    ) -> Any:
        """Call a function of the page script (put there on first use); as `call` otherwise."""
        for attempt in (1, 2):
            try:
                context = await self.context(session, frame, timeout)
                return await self.script_in(context, name, args, timeout)
            except CdpError as error:
                if attempt == 2 or not is_dead_context(error):
                    raise _left(error) from error
                self.forget(frame)
        raise AssertionError("unreachable")

    async def script_in(self, context: Context, name: str, args: list[Any], timeout: float) -> Any:
        """Call a function of the page script in this very document; raises `CdpError` as it came."""
        if not context.scripted:
            await self._put_script(context, timeout)
        answer = await self.call_in(context, CALL_SCRIPT, [name, *args], timeout)
        if answer == MISSING:
            # The id stood for another context: the document went and its event is still to come.
            raise CdpError("Runtime.callFunctionOn", 0, "Cannot find context: the script is not there")
        return answer

    async def call_in(self, context: Context, function: str, args: list[Any], timeout: float) -> Any:
        """Call a function in this very document; raises `CdpError` as it came."""
        params = {
            "functionDeclaration": function,
            "executionContextId": context.id,
            "arguments": [{"value": value} for value in args],
            "returnByValue": True,
            "awaitPromise": True,
        }
        future = context.session.send("Runtime.callFunctionOn", params)
        return value_of(await self._settle(future, timeout, "the page", frame=context.frame))

    async def _put_script(self, context: Context, timeout: float) -> None:
        params = {"expression": _script_text(), "contextId": context.id, "returnByValue": True}
        value_of(await self._settle(context.session.send("Runtime.evaluate", params), timeout, "the page"))
        context.scripted = True


def value_of(answer: dict[str, Any]) -> Any:
    """The JSON value of a `Runtime.evaluate` or `callFunctionOn` answer; undefined is None.

    Raises:
        ScriptError: the code threw.
    """
    details = answer.get("exceptionDetails")
    if details is not None:
        raise _thrown(details)
    result = answer.get("result", {})
    if "value" in result:
        return result["value"]
    special = result.get("unserializableValue")
    if special is None:
        return None
    # NaN, the infinities and -0 have no JSON; a BigInt keeps its digits as text.
    return special[:-1] if special.endswith("n") else (0 if special == "-0" else None)


def is_dead_context(error: CdpError) -> bool:
    """Whether the context was dead before anything ran in it."""
    return any(sign in error.message for sign in _NOT_RUN)


def document_went(error: CdpError) -> bool:
    """Whether the document went before or while something ran in it."""
    return is_dead_context(error) or any(sign in error.message for sign in _CUT_OFF)


def _left(error: CdpError) -> Exception:
    return DocumentGoneError(error.message) if document_went(error) else error


def _thrown(details: dict[str, Any]) -> ScriptError:
    exception = details.get("exception") or {}
    text = exception.get("description") or exception.get("value") or details.get("text") or "an error"
    # The description carries the stack; agents need the sentence and the line.
    first = str(text).split("\n    at ", 1)[0][:2000]
    return ScriptError(first, _line_of(details, str(text)))


def _line_of(details: dict[str, Any], text: str) -> int | None:
    """The line in the caller's own code, counted from 1."""
    stack = re.search(r"\n    at [^\n]*?:(\d+):\d+\)?", text)
    if stack is not None:
        return int(stack[1])
    line = details.get("lineNumber")
    return int(line) + 1 if line is not None else None


_script: str | None = None


def _script_text() -> str:
    global _script
    if _script is None:
        _script = SCRIPT_PATH.read_text(encoding="utf-8")
    return _script
