"""Taking a page snapshot: the outline of a page and of all its frames, with refs (contract C3.1).

The page script walks one document and those it can reach from it; where it meets a frame of another
origin it leaves a number, and the outline of that frame's document is fetched from its own session and put
in its place. One snapshot of a page is taken at a time, because all of them count the same refs.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from windowseat.chromium.connection import CdpError, CdpGone, CdpSession
from windowseat.errors import BrowserError
from windowseat.page.page import Page
from windowseat.page.problems import translated
from windowseat.page.targets import frame_of_element, place_of
from windowseat.page.world import DocumentGoneError, ScriptError
from windowseat.rules.snapshot import WHOLE_LIMIT, changes, render

MAX_REFS: Final = 200
MAX_REFS_LIMIT: Final = 5_000
FRAMES_LIMIT: Final = 40
FRAME_DEPTH: Final = 6
FRAME_WAIT: Final = 2.0  # seconds a frame may keep the rest of the page waiting
KEPT: Final = 6  # earlier outlines per page, for `since`
# The page script stops walking here; its count leaves out indents, so the renderer cuts first.
BUDGET: Final = WHOLE_LIMIT + 4_000

_numbers = itertools.count(1)


@dataclass
class _Taking:
    """One snapshot under way."""

    page: Page
    interactive: bool
    max_refs: int
    end: float
    budget: int = BUDGET
    refs: int = 0
    without_ref: int = 0
    frames: int = 0
    cut: bool = False
    silent: list[str] = field(default_factory=list)

    def left(self) -> float:
        return max(0.05, self.end - asyncio.get_running_loop().time())


async def take(
    page: Page,
    *,
    max_refs: int = MAX_REFS,
    within: str | None = None,
    since: str | None = None,
    interactive: bool = False,
    timeout: float = 10.0,
) -> dict[str, Any]:
    """Take a snapshot.

    Args:
        max_refs: how many elements get a ref; what follows is told without.
        within: a target (ref, selector, ...); only what is in it.
        since: the id of an earlier snapshot; the text then tells only what changed.
        interactive: only what can be acted on.
        timeout: seconds.

    Returns:
        `id`, `url`, `title`, `text`, `refs` (count), `truncated`; `since` where only changes are
        told; `hint` where there is more to know.

    Raises:
        BrowserError: `dialog-open`, `timeout`, `stale-ref`, `not-found`, `invalid-args`,
            `cancelled` (the page went on to another document twice meanwhile).
    """
    if not 0 <= max_refs <= MAX_REFS_LIMIT:
        raise BrowserError("invalid-args", f"max_refs must be between 0 and {MAX_REFS_LIMIT}.")
    page.check_usable()
    end = asyncio.get_running_loop().time() + timeout
    try:
        async with asyncio.timeout_at(end):
            await page.reading.acquire()
    except TimeoutError:
        raise BrowserError("timeout", "Another snapshot of this tab is still being taken.") from None
    try:
        taking = _Taking(page, interactive, max_refs, end)
        with translated():
            try:
                answer = await _whole(taking, within)
            except DocumentGoneError:
                # A page that just navigated is read as it is now.
                taking = _Taking(page, interactive, max_refs, end)
                answer = await _whole(taking, within)
    finally:
        page.reading.release()
    return _told(taking, answer, since)


async def _whole(taking: _Taking, within: str | None) -> dict[str, Any]:
    page = taking.page
    session, frame, target = page.session, page.main_frame, within
    if within is not None:
        place = await place_of(page, within, taking.left())
        session, frame = place.session, place.frame
    return await _document(taking, session, frame, target, 0, taking.left())


async def _document(
    taking: _Taking, session: CdpSession, frame: str, within: str | None, depth: int, timeout: float
) -> dict[str, Any]:
    """The answer of the page script in one frame, with the frames in it put in their places."""
    page = taking.page
    options = {
        "next": page.refs.next,
        "maxRefs": taking.max_refs - taking.refs,
        "interactive": taking.interactive,
        "budget": taking.budget,
        "within": within,
    }
    try:
        raw = await page.worlds.script(session, frame, "snapshot", [options], timeout)
    except BaseException:
        page.refs.lost()  # it may have given numbers out that we never heard of
        raise
    answer: dict[str, Any] = orjson.loads(raw)
    if "problem" in answer:
        raise BrowserError(answer["problem"], answer["message"])
    context = page.worlds.current(frame)
    if context is None:
        page.refs.lost()
        raise DocumentGoneError("the document went while it was read")
    page.refs.given(frame, context.number, answer["next"])
    taking.refs += answer["refs"]
    taking.without_ref += answer["withoutRef"]
    taking.budget = answer["budget"]
    taking.cut = taking.cut or answer["cut"]
    if answer["frames"]:
        for node in list(_frames_in(answer["tree"])):
            node[4] = await _nested(taking, session, frame, node[4], depth)
    return answer


def _frames_in(nodes: list[Any]) -> Any:
    for node in nodes:
        if isinstance(node, list):
            if isinstance(node[4], int):
                yield node
            else:
                yield from _frames_in(node[4])


async def _nested(taking: _Taking, session: CdpSession, frame: str, index: int, depth: int) -> list[Any]:
    """The tree of a frame that the page script could not reach; a frame that fails costs only itself."""
    page = taking.page
    if depth >= FRAME_DEPTH or taking.frames >= FRAMES_LIMIT or taking.budget <= 0:
        taking.cut = True
        return []
    taking.frames += 1
    limit = min(FRAME_WAIT, taking.left())
    try:
        inner = await frame_of_element(page, session, frame, "frame", [index], limit)
        if inner is None:
            return []
        owner = page.frames.session_of(inner, session)
        answer = await _document(taking, owner, inner, None, depth + 1, limit)
    except BrowserError as error:
        if error.code != "timeout" or page.dialog is not None:
            raise
        return ["(this frame does not answer)"]
    except (CdpError, CdpGone, DocumentGoneError, ScriptError):
        return ["(this frame is loading)"]
    return list(answer["tree"])


def _told(taking: _Taking, answer: dict[str, Any], since: str | None) -> dict[str, Any]:
    page = taking.page
    rendered = render(answer["tree"])
    url = page.url if answer["url"].startswith("chrome-error:") else answer["url"]
    number = f"s{next(_numbers)}"
    told: dict[str, Any] = {
        "id": number,
        "url": url,
        "title": answer["title"],
        "text": rendered.text,
        "refs": taking.refs,
        "truncated": rendered.cut or taking.cut or taking.without_ref > 0,
    }
    hints = _hints(taking, answer, cut=rendered.cut or taking.cut)
    if since is not None:
        before = page.outlines.get(since)
        if before is None:
            hints.insert(0, f"{since} is not known any more, so this is the whole outline.")
        else:
            told["since"] = since
            told["text"] = "\n".join(changes(before, rendered.lines)) or "(nothing changed)"
    if hints:
        told["hint"] = " ".join(hints)
    page.outlines[number] = rendered.lines
    while len(page.outlines) > KEPT:
        del page.outlines[next(iter(page.outlines))]
    return told


def _hints(taking: _Taking, answer: dict[str, Any], *, cut: bool) -> list[str]:
    hints: list[str] = []
    if answer["ready"] != "complete" or (taking.page.loading and not taking.page.load.has("load")):
        hints.append("The page is still loading.")
    if cut:
        hints.append("The outline is cut; see the rest with within=<ref or selector>, or interactive=true.")
    elif taking.without_ref:
        hints.append(
            f"{taking.without_ref} more elements can be acted on but got no ref: "
            "raise max_refs or use within."
        )
    return hints
