"""What code in a kernel sees of the browser: `browser`, `tab`, snapshots, pictures, help.

Every method is made from the registry (`rules.operations`); nothing here knows an operation by
name but to give its answer a useful type.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

from windowseat.agents.help import help_text
from windowseat.agents.pictures import describe
from windowseat.errors import BrowserError
from windowseat.rules.operations import OPERATIONS, Operation, nearest, signature, unknown_argument

Invoke = Callable[[str, dict[str, Any]], Any]


class Snapshot(str):
    """A page snapshot as text: a line with title and address, the outline, and a hint where there is more.

    `id`, `url`, `title`, `refs` (their count), `truncated` and `outline` (the text alone) stand beside it.
    """

    __slots__ = ("id", "outline", "refs", "title", "truncated", "url")

    def __new__(cls, data: dict[str, Any]) -> Snapshot:
        """Take the answer of `tab.snapshot`."""
        title, url, outline = data.get("title") or "(no title)", data.get("url"), data.get("text", "")
        hint = f"\n[{data['hint']}]" if data.get("hint") else ""
        made = super().__new__(cls, f"[{title}] {url} (snapshot {data.get('id')})\n{outline}{hint}")
        for name, value in {**data, "outline": outline}.items():
            if name in cls.__slots__:
                setattr(made, name, value)
        return made

    def __repr__(self) -> str:
        return str.__str__(self)


class Screenshot:
    """A picture of a page: `mime_type`, `data` (bytes), `width`, `height`; `save(path)` writes it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data: bytes = base64.b64decode(data["data"])
        self.mime_type: str = data["mime_type"]
        _, self.width, self.height = describe(self.data) or ("", 0, 0)

    def save(self, path: str) -> str:
        """Write the picture to a file; answers its path."""
        with open(path, "wb") as file:  # noqa: PTH123 - pathlib costs a kernel 10 ms
            file.write(self.data)
        return str(path)

    def __repr__(self) -> str:
        return f"<screenshot {self.width}x{self.height} {self.mime_type}, {len(self.data):,} bytes>"


class _Remote:
    """What `browser` and `tab` share: they call operations, and say what they have."""

    _owner = ""
    _invoke: Invoke

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [each for each in dir(type(self)) if not each.startswith("_")]
        near = nearest(name, known)
        hint = f"did you mean {self._owner}.{near}?" if near else f"it has {', '.join(known)}."
        raise AttributeError(f"{self._owner} has no {name}; {hint}")


class Tab(_Remote):
    """One of the session's tabs; `tab` itself is always the current one."""

    _owner = "tab"

    def __init__(self, invoke: Invoke, data: dict[str, Any] | None = None) -> None:
        self._invoke = invoke
        self._data = data

    @property
    def id(self) -> str:
        """The tab's id, also when it has ended."""
        return str(self._data["id"] if self._data else self._now()["id"])

    @property
    def url(self) -> str:
        """Its address now."""
        return str(self._now()["url"])

    @property
    def title(self) -> str:
        """Its title now."""
        return str(self._now()["title"])

    def _now(self) -> dict[str, Any]:
        """The tab as the hub lists it at this moment."""
        for each in self._invoke("tabs.list", {}):
            if each["id"] == self._data["id"] if self._data else each["current"]:
                found: dict[str, Any] = each
                return found
        if self._data is None:
            raise BrowserError("no-such-tab", "The session has no current tab; browser.open(url) opens one.")
        raise BrowserError("no-such-tab", f"The tab {self._data['id']!r} has ended.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tab) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        if self._data is None:
            return "<the current tab>"
        mark = " (current)" if self._data.get("current") else ""
        return f"<tab {self._data['id']} {self._data['title']!r} {self._data['url']}{mark}>"


class Browser(_Remote):
    """The session's browser: its tabs, and help."""

    _owner = "browser"

    def __init__(self, invoke: Invoke) -> None:
        self._invoke = invoke

    def help(self, topic: str = "") -> _Help:
        """Explain how the browser is used; `browser.help("click")` explains one operation or topic."""
        return _Help(help_text(topic))


class _Help(str):
    """Text that shows itself as it is, also as a last value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__str__(self)


def make_facade(invoke: Invoke) -> tuple[Browser, Tab]:
    """Return `browser` and `tab`, speaking through `invoke(op, args) -> data` (raises `BrowserError`)."""
    return Browser(invoke), Tab(invoke)


def _method(operation: Operation, owner: type[_Remote]) -> Callable[..., Any]:
    """One operation as a method; a Tab gives its own id, so `tab` is no argument of it there."""
    of_tab = owner is Tab
    names = [name for name in operation.arg_names if not (of_tab and name == "tab")]

    def method(self: Any, *given: Any, **named: Any) -> Any:
        args = _bound(operation, names, given, named)
        if of_tab and self._data is not None:
            args["tab"] = self._data["id"]
        elif of_tab and _needs_tab(operation):
            args["tab"] = self.id
        return _wrapped(operation, self._invoke(operation.name, args), self._invoke)

    method.__name__ = operation.call.partition("(")[0].partition(".")[2]
    method.__qualname__ = f"{owner.__name__}.{method.__name__}"
    method.__doc__ = f"{method.__name__}({signature(operation)}): {operation.doc}"
    return method


def _needs_tab(operation: Operation) -> bool:
    return any(arg.name == "tab" and arg.required for arg in operation.args)


def _bound(
    operation: Operation, names: list[str], given: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """Put positional and named arguments under the registry's names."""
    if len(given) > len(names):
        takes = ", ".join(names) or "none"
        raise BrowserError("invalid-args", f"{operation.name} takes {takes}; {len(given)} were given.")
    args: dict[str, Any] = dict(zip(names, given, strict=False))
    for name, value in named.items():
        if name in args:
            raise BrowserError("invalid-args", f"{operation.name}: {name!r} is given twice.")
        if name not in names:
            raise BrowserError("invalid-args", unknown_argument(operation, name))
        args[name] = value
    return {name: _plain(value) for name, value in args.items() if value is not None}


def _plain(value: Any) -> Any:
    return value.id if isinstance(value, Tab) else list(value) if isinstance(value, tuple) else value


def _wrapped(operation: Operation, data: Any, invoke: Invoke) -> Any:
    """An answer as the type that is of use: tabs, snapshots and pictures; else as it came."""
    if operation.name == "tab.snapshot":
        return Snapshot(data)
    if operation.name == "tab.screenshot":
        return Screenshot(data)
    if operation.name == "tabs.list":
        return [Tab(invoke, each) for each in data]
    if operation.answers == _TAB_ANSWER:
        return Tab(invoke, data)
    return data


_TAB_ANSWER: Final = OPERATIONS["tabs.open"].answers

for _operation in OPERATIONS.values():
    _owner, _, _name = _operation.call.partition("(")[0].partition(".")
    _class = Tab if _owner == "tab" else Browser
    setattr(_class, _name, _method(_operation, _class))
