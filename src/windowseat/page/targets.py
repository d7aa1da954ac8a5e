"""Finding the one element that a target means, in whichever frame it is, and where it is on the page.

A target is a ref (`@e12`), a CSS selector, `text=…`, `role=button[name="…"]` or `label=…`. The page
script finds it among everything in its reach; frames of another origin are asked one by one.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any, Final

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession
from windowseat.errors import BrowserError
from windowseat.page.page import Page
from windowseat.page.world import CALL_SCRIPT, Context, DocumentGoneError, ScriptError, value_of

TARGET_LIMIT: Final = 2_000
POLL: Final = 0.1
_REF: Final = re.compile(r"^@?e(\d{1,15})$")
_THROUGH: Final = "function(x, y){ return globalThis.windowseatScript.through(this, x, y) }"


@dataclass(frozen=True)
class Place:
    """The frame in which a target is. `target` is how the page script knows it.

    `context` is set for a ref: it holds in that one document only.
    """

    session: CdpSession
    frame: str
    target: str
    context: Context | None = None


def checked(target: str) -> str:
    """Return the target in the script's spelling (`e12` becomes `@e12`); raises `invalid-args`."""
    text = target.strip()
    if not text or len(text) > TARGET_LIMIT:
        raise BrowserError(
            "invalid-args", "target must be a ref (@e12), a CSS selector, text=…, role=… or label=…."
        )
    match = _REF.match(text)
    return f"@e{int(match[1])}" if match else text


async def place_of(page: Page, target: str, timeout: float) -> Place:
    """The frame that has this target; waits for it within `timeout` seconds where there are several frames.

    Raises:
        BrowserError: `stale-ref`; `not-found` and `invalid-args` (with the count) where several
            frames were searched. With one frame the page script answers those itself.
    """
    text = checked(target)
    match = _REF.match(text)
    if match:
        return _place_of_ref(page, int(match[1]), text)
    others = page.frames.all()
    if not others:
        return Place(page.session, page.main_frame, text)
    end = asyncio.get_running_loop().time() + timeout
    while True:
        counts = await _counts(page, text, end - asyncio.get_running_loop().time())
        total = sum(count for _place, count in counts)
        if total == 1:
            return next(place for place, count in counts if count)
        if total > 1:
            raise BrowserError(
                "invalid-args", f"{text} matches {total} elements; name one, for example by its ref."
            )
        if asyncio.get_running_loop().time() + POLL >= end:
            raise BrowserError("not-found", f"Nothing in the page matches {text}.")
        await asyncio.sleep(POLL)


def _place_of_ref(page: Page, number: int, text: str) -> Place:
    found = page.refs.find(number)
    context = page.worlds.current(found[0]) if found else None
    if found is None or context is None or context.number != found[1]:
        raise BrowserError("stale-ref", f"{text} is not in the page any more; take a new snapshot.")
    return Place(context.session, context.frame, text, context)


async def _counts(page: Page, target: str, timeout: float) -> list[tuple[Place, int]]:
    places = [Place(page.session, page.main_frame, target)]
    places += [Place(session, frame, target) for frame, session in page.frames.all().items()]
    limit = min(max(timeout, 0.05), 2.0)
    answers = await asyncio.gather(
        *(page.worlds.script(place.session, place.frame, "count", [target], limit) for place in places),
        return_exceptions=True,
    )
    found: list[tuple[Place, int]] = []
    partly: list[tuple[Place, int]] = []
    for place, answer in zip(places, answers, strict=True):
        if isinstance(answer, BaseException):
            if isinstance(answer, BrowserError) and answer.code != "timeout":
                raise answer
            if not isinstance(answer, (BrowserError, CdpError, CdpGone, DocumentGoneError, ScriptError)):
                raise answer
            continue  # a frame that loads or hangs has nothing to act on now
        if "problem" in answer:
            raise BrowserError(answer["problem"], answer["message"])
        (partly if answer.get("partly") else found).append((place, int(answer["count"] or 0)))
    # What says exactly the words, in whatever frame, is meant rather than what contains them.
    return found if any(count for _place, count in found) else found + partly


async def ask(page: Page, place: Place, name: str, args: list[Any], timeout: float) -> dict[str, Any]:
    """Call a function of the page script about the target of a place.

    Raises:
        BrowserError: the problem that it answered.
        DocumentGoneError: the document went meanwhile.
    """
    if place.context is not None:
        try:
            answer = await page.worlds.script_in(place.context, name, [place.target, *args], timeout)
        except CdpError as error:
            raise BrowserError(
                "stale-ref", f"{place.target} went with its document; take a new snapshot.", outcome="unknown"
            ) from error
    else:
        answer = await page.worlds.script(place.session, place.frame, name, [place.target, *args], timeout)
    if "problem" in answer:
        raise BrowserError(answer["problem"], answer["message"])
    return dict(answer)


async def frame_of_element(
    page: Page, session: CdpSession, frame: str, name: str, args: list[Any], timeout: float
) -> str | None:
    """The id of the frame in the frame element that a function of the page script returns."""
    context = page.worlds.current(frame)
    if context is None:
        return None
    call = {
        "functionDeclaration": CALL_SCRIPT,
        "executionContextId": context.id,
        "arguments": [{"value": value} for value in [name, *args]],
    }
    answer = await page.settle(session.send("Runtime.callFunctionOn", call), timeout, "a frame")
    handle = answer.get("result", {}).get("objectId")
    if handle is None:
        return None
    described = await page.settle(session.send("DOM.describeNode", {"objectId": handle}), timeout, "a frame")
    if not session.closed:
        session.send("Runtime.releaseObject", {"objectId": handle})
    inner = described["node"].get("frameId")
    return str(inner) if inner is not None else None


async def on_page(
    page: Page, frame: str, x: float, y: float, timeout: float
) -> tuple[float, float, str | None]:
    """A point of a frame's viewport as a point of the page's, and what covers a frame on the way.

    Raises:
        CdpError, BrowserError: a frame went meanwhile, or does not answer.
    """
    covered: str | None = None
    parent = page.frames.parent_of(frame)
    while frame != page.main_frame and parent is not None:
        session = page.frames.session_of_frame(parent)
        context = await page.worlds.context(session, parent, timeout)
        # The script must be there: the frame element is asked through it.
        await page.worlds.script_in(context, "count", ["html"], timeout)
        owner = await page.settle(session.send("DOM.getFrameOwner", {"frameId": frame}), timeout, "a frame")
        where = {"backendNodeId": owner["backendNodeId"], "executionContextId": context.id}
        found = await page.settle(session.send("DOM.resolveNode", where), timeout, "a frame")
        call = {
            "objectId": found["object"]["objectId"],
            "functionDeclaration": _THROUGH,
            "arguments": [{"value": x}, {"value": y}],
            "returnByValue": True,
        }
        point = value_of(await page.settle(session.send("Runtime.callFunctionOn", call), timeout, "a frame"))
        x, y, covered = point["x"], point["y"], covered or point["covered"]
        frame, parent = parent, page.frames.parent_of(parent)
    return x, y, covered
