"""Evaluating a caller's JavaScript in a page, the way a console would, within its time.

An expression, statements (the last value counts), top-level `await` and `return`, or a function
(called without arguments) all work. What comes back is JSON.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from windowseat.chromium.connection import CdpError, CdpGone
from windowseat.errors import BrowserError
from windowseat.page.world import value_of

if TYPE_CHECKING:
    from windowseat.page.page import Page

GROUP: Final = "windowseat-evaluate"
# Resolves a promise, calls a function, and turns the rest into JSON by value.
FINISH: Final = "function(){ return typeof this === 'function' ? this() : this }"


async def evaluate_in_page(page: Page, js: str, timeout: float, context: int | None = None) -> Any:
    """Evaluate in the page's own world, or in the world `context`; returns the JSON value.

    Code that loops for ever is ended by the browser at its time, so the page stays usable.

    Raises:
        ScriptError: it threw, or did not parse.
        CdpError, BrowserError: see `Page.settle`.
    """
    answer = await _evaluate(page, js, timeout, context)
    if _is_illegal_return(answer):
        answer = await _evaluate(page, f"(async () => {{\n{js}\n}})()", timeout, context)
    result = answer.get("result", {})
    handle = result.get("objectId")
    if answer.get("exceptionDetails") is not None or handle is None:
        return value_of(answer)
    call = {
        "objectId": handle,
        "functionDeclaration": FINISH,
        "returnByValue": True,
        "awaitPromise": True,
        "userGesture": True,
    }
    try:
        future = page.session.send("Runtime.callFunctionOn", call)
        return value_of(await _finished(page, future, timeout))
    finally:
        if not page.session.closed:
            page.session.send("Runtime.releaseObjectGroup", {"objectGroup": GROUP})


async def _evaluate(page: Page, js: str, timeout: float, context: int | None) -> dict[str, Any]:
    params: dict[str, Any] = {
        "expression": js,
        "objectGroup": GROUP,
        "replMode": True,
        "awaitPromise": True,
        "userGesture": True,
        # Slightly before our own limit, so that the browser's own word on it comes back.
        "timeout": max(1, int(timeout * 1000) - 50),
    }
    if context is not None:
        params["contextId"] = context
    if page.session.closed:
        raise CdpGone("the page is gone")
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        return await _finished(page, page.session.send("Runtime.evaluate", params), timeout)
    except CdpError as error:
        if clock() - began < params["timeout"] / 1000:
            raise
        # How Chromium says that it ended the code at its time.
        message = f"The JavaScript ran longer than {timeout:.3g} s and was ended."
        raise BrowserError("timeout", message, outcome="unknown") from error


async def _finished(page: Page, future: asyncio.Future[dict[str, Any]], timeout: float) -> dict[str, Any]:
    return await page.settle(future, timeout, "the JavaScript to finish", frame=page.main_frame)


def _is_illegal_return(answer: dict[str, Any]) -> bool:
    details = answer.get("exceptionDetails")
    if details is None:
        return False
    return "Illegal return statement" in str((details.get("exception") or {}).get("description", ""))
