"""Which operations are there, what do they take, and what do they answer? (contract C3)

The one registry, as plain data: the broker, the kernels' `browser` and `tab`, the wire models
(`rules.wire`), help texts and docs/reference/operations.md are all made from it. It imports no
pydantic, because the command line and the kernels read it too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

ArgType = Literal["text", "integer", "boolean", "choice", "choices", "point"]

DEFAULT_TIMEOUT: Final = 15.0
ACTION_TIMEOUT: Final = 10.0
WAIT_LIMIT_MS: Final = 600_000
TEXT_LIMIT: Final = 1_000_000
ADDRESS_LIMIT: Final = 65_536
IMAGE_SIDE: Final = 1568


@dataclass(frozen=True)
class Arg:
    """One argument of an operation.

    Attributes:
        type: "text", "integer", "boolean", "choice" (one of `choices`), "choices" (a list of them)
            or "point" (a list of two numbers, CSS pixels).
        doc: what it means, one line.
        low, high: bounds of an integer, or of a text's length.
        default: None means that the operation decides.
    """

    name: str
    type: ArgType
    doc: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked of the browser.

    Attributes:
        name: for example "tab.click".
        doc: what it does, one or two sentences.
        args: in the order in which code gives them by position.
        answers: what stands in `data`, one line.
        changes: whether it may change a tab or the list of tabs; False means it only reads.
        page_text: whether its data carries text that a page chose.
        timeout: seconds, where the caller says nothing.
        one_of: arguments of which exactly one must be given.
        call: how Python code in a kernel writes it.
    """

    name: str
    doc: str
    args: tuple[Arg, ...]
    answers: str
    changes: bool
    call: str
    page_text: bool = True
    timeout: float = DEFAULT_TIMEOUT
    one_of: tuple[str, ...] = ()

    @property
    def arg_names(self) -> tuple[str, ...]:
        """The names of its arguments, in order."""
        return tuple(arg.name for arg in self.args)


TAB: Final = Arg("tab", "text", "tab id; missing means the session's current tab", high=64)
THAT_TAB: Final = Arg("tab", "text", "tab id", required=True, high=64)
TARGET: Final = Arg(
    "target",
    "text",
    'a ref of a snapshot (@e12), a CSS selector, text=…, role=button[name="…"] or label=…; '
    "it must match exactly one element",
    required=True,
    low=1,
    high=2000,
)
WAIT_UNTIL: Final = ("load", "domcontentloaded", "commit", "none")
MODIFIERS: Final = ("Alt", "Control", "Meta", "Shift")
TAB_DATA: Final = "the tab: `id`, `url`, `title`, `loading`, `asleep`, `opener`, `current`"
HISTORY_DATA: Final = "`url`, `title`"
CHANGED_DATA: Final = (
    "the element in words (`clicked` or `typed`) and what changed: `navigated`, `opened`, `download`, "
    "`chooser`, `dialog`, `value`, `checked`, `expanded`, `closed`, each only where it did"
)

_OPERATIONS: Final = (
    Operation(
        "tabs.list",
        "Lists the session's tabs. Tabs of other sessions and of people are never among them.",
        (Arg("all", "boolean", "also the titles of others' tabs, where settings allow it", default=False),),
        f"a list; each is {TAB_DATA}",
        changes=False,
        call="browser.tabs()",
    ),
    Operation(
        "tabs.open",
        "Opens a tab in the session, in a window of its own, and makes it the current one.",
        (
            Arg("url", "text", "http, https or about:blank", default="about:blank", high=ADDRESS_LIMIT),
            Arg("background", "boolean", "leave the current tab the current one", default=False),
        ),
        TAB_DATA,
        changes=True,
        call='browser.open("https://example.org")',
    ),
    Operation(
        "tabs.select",
        "Makes one of the session's tabs the current one.",
        (THAT_TAB,),
        TAB_DATA,
        changes=False,
        call="browser.select(tab)",
    ),
    Operation(
        "tab.close",
        "Ends the tab for everyone. It can be restored for a day.",
        (TAB,),
        "`id`, `restorable`",
        changes=True,
        call="tab.close()",
        page_text=False,
    ),
    Operation(
        "tab.navigate",
        "Goes to an address and waits for the page.",
        (
            TAB,
            Arg("url", "text", "http, https, about:blank or blob:", required=True, low=1, high=ADDRESS_LIMIT),
            Arg("wait", "choice", "how far to wait", default="load", choices=WAIT_UNTIL),
        ),
        "`url`, `title`, `status` (of the HTTP answer, or null)",
        changes=True,
        call='tab.navigate("https://example.org")',
        timeout=30.0,
    ),
    Operation("tab.back", "Goes one page back.", (TAB,), HISTORY_DATA, changes=True, call="tab.back()"),
    Operation(
        "tab.forward", "Goes one page forward.", (TAB,), HISTORY_DATA, changes=True, call="tab.forward()"
    ),
    Operation("tab.reload", "Loads the page again.", (TAB,), HISTORY_DATA, changes=True, call="tab.reload()"),
    Operation("tab.stop", "Stops loading.", (TAB,), HISTORY_DATA, changes=True, call="tab.stop()"),
    Operation(
        "tab.snapshot",
        "Outlines the page as text: roles and names, with a ref (@e12) on everything that can be acted on. "
        "A ref keeps its number as long as its element lives.",
        (
            TAB,
            Arg("max_refs", "integer", "at most so many refs", default=200, low=1, high=5000),
            Arg("within", "text", "only this part: a ref or a selector", low=1, high=2000),
            Arg("since", "text", "an earlier snapshot's id: only what changed since", low=1, high=64),
            Arg("interactive", "boolean", "only what can be acted on", default=False),
        ),
        "`text`, `id`, `url`, `title`, `refs` (their count), `truncated`; `since`, `hint` where they apply",
        changes=False,
        call="tab.snapshot()",
    ),
    Operation(
        "tab.click",
        "Waits until the element is there, visible, still, enabled and not covered; then clicks it.",
        (
            TAB,
            TARGET,
            Arg("button", "choice", "mouse button", default="left", choices=("left", "middle", "right")),
            Arg("count", "integer", "2 is a double click", default=1, low=1, high=3),
            Arg("modifiers", "choices", "keys held down", choices=MODIFIERS),
            Arg("position", "point", "[x, y] from the element's top left corner, CSS pixels"),
        ),
        CHANGED_DATA,
        changes=True,
        call='tab.click("@e12")',
        timeout=ACTION_TIMEOUT,
    ),
    Operation(
        "tab.type",
        "Focuses a field and writes text into it.",
        (
            TAB,
            TARGET,
            Arg("text", "text", "what to write", required=True, high=TEXT_LIMIT),
            Arg(
                "mode",
                "choice",
                "instead of what is there, or after it",
                default="replace",
                choices=("replace", "append"),
            ),
            Arg("submit", "boolean", "press Enter afterwards", default=False),
        ),
        CHANGED_DATA,
        changes=True,
        call='tab.type("label=Name", "Ada")',
        timeout=ACTION_TIMEOUT,
    ),
    Operation(
        "tab.wait",
        "Waits until something is so. Give exactly one condition.",
        (
            TAB,
            Arg("text", "text", "this text is on the page", low=1, high=2000),
            Arg(
                "gone",
                "text",
                "this text, or what this target means, is not visible any more",
                low=1,
                high=4096,
            ),
            Arg("selector", "text", "something visible matches this target", low=1, high=2000),
            Arg(
                "url",
                "text",
                "the address contains this, with one * for anything in it; a whole address with ://",
                low=1,
                high=2000,
            ),
            Arg("load", "choice", "the page has come so far", choices=("load", "domcontentloaded")),
            Arg("js", "text", "this expression is true in the page", low=1, high=TEXT_LIMIT),
            Arg(
                "timeout_ms", "integer", "how long to wait at most", default=15_000, low=1, high=WAIT_LIMIT_MS
            ),
        ),
        "`met` (the condition), `url`, and `value` for `js`",
        changes=False,
        call='tab.wait(text="Saved")',
        one_of=("text", "gone", "selector", "url", "load", "js"),
    ),
    Operation(
        "tab.screenshot",
        "Takes a picture of what is visible, of the whole page, or of one element.",
        (
            TAB,
            Arg("target", "text", "only this element", low=1, high=2000),
            Arg("full_page", "boolean", "the whole page, not only what is visible", default=False),
            Arg("format", "choice", "picture format", default="png", choices=("png", "jpeg", "webp")),
            Arg("max_side", "integer", "longest side in pixels", default=IMAGE_SIDE, low=16, high=8192),
        ),
        "`mime_type`, `data` (base64), `width`, `height`",
        changes=False,
        call="tab.screenshot()",
    ),
    Operation(
        "tab.evaluate",
        "Evaluates JavaScript in the page, waits for a promise, and answers the value as JSON.",
        (
            TAB,
            Arg(
                "js",
                "text",
                "an expression, statements with return, or a function that is then called",
                required=True,
                low=1,
                high=TEXT_LIMIT,
            ),
            Arg(
                "world",
                "choice",
                "the page's own world, or one apart",
                default="page",
                choices=("page", "isolated"),
            ),
        ),
        "the value",
        changes=True,
        call='tab.evaluate("document.title")',
    ),
    Operation(
        "tab.sleep",
        "Puts the tab away until somebody uses it; it keeps its id.",
        (THAT_TAB,),
        TAB_DATA,
        changes=True,
        call="tab.sleep()",
    ),
    Operation(
        "tab.restore",
        "Brings back a tab of the session that was closed, under its id.",
        (THAT_TAB,),
        TAB_DATA,
        changes=True,
        call="browser.restore(tab)",
        timeout=30.0,
    ),
)

OPERATIONS: Final[Mapping[str, Operation]] = {operation.name: operation for operation in _OPERATIONS}


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like `word`, or None when none is like it."""
    names = list(known)
    found = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if found:
        return found[0]
    ends = [name for name in names if word and name.rpartition(".")[2] == word]
    return ends[0] if ends else None


def unknown_operation(name: str) -> str:
    """The sentence for an operation that does not exist."""
    near = nearest(name, OPERATIONS)
    hint = f"; did you mean {near}?" if near else f"; there are {', '.join(OPERATIONS)}."
    return f"There is no operation {name[:80]!r}{hint}"


def unknown_argument(operation: Operation, name: str) -> str:
    """The sentence for an argument that an operation does not take."""
    near = nearest(name, operation.arg_names)
    hint = f"; did you mean {near}?" if near else "."
    return f"{operation.name} has no argument {name[:80]!r}{hint} It takes {', '.join(operation.arg_names)}."


def type_words(arg: Arg) -> str:
    """What an argument must be, in words: "a whole number from 1 to 3"."""
    if arg.type == "choice":
        return "one of " + ", ".join(arg.choices)
    if arg.type == "choices":
        return "a list of " + ", ".join(arg.choices)
    if arg.type == "point":
        return "a list of two numbers"
    if arg.type == "boolean":
        return "true or false"
    if arg.type == "integer":
        return f"a whole number from {arg.low} to {arg.high}"
    if arg.low:
        return f"text of {arg.low} to {arg.high} characters"
    return f"text of at most {arg.high} characters"


def signature(operation: Operation) -> str:
    """One line of the arguments as Python code gives them: `target, button="left", count=1`."""
    parts = []
    for arg in operation.args:
        if arg.name == "tab" and operation.call.startswith("tab."):
            continue
        parts.append(arg.name if arg.required else f"{arg.name}={arg.default!r}")
    return ", ".join(parts)
