"""How one cell of Python runs in a kernel: compiled, run, its last value shown, its failure told.

A cell is an ordinary module body. Its last expression is its value. `await` may stand anywhere:
what is not awaitable is simply given back, so that calls work with and without it. Nothing here
knows sockets or signals.
"""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import os
import sys
import traceback
from collections.abc import Coroutine
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

from windowseat.errors import BrowserError

SETTLE: Final = "__windowseat_settle__"
VALUE: Final = "__windowseat_value__"
VALUE_LIMIT: Final = 100_000
PRETTY_LIMIT: Final = 20_000
WIDTH: Final = 100
CELLS_KEPT: Final = 50

_OURS: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep  # noqa: PTH120 - pathlib costs 10 ms


@dataclass
class Failure:
    """Why a cell failed: a code of C3, one sentence, and what a person who programs wants to read."""

    code: str
    message: str
    retryable: bool
    trace: str
    outcome: str | None = None


class _Settled(ast.NodeTransformer):
    """Puts `SETTLE` between each `await` and what it awaits."""

    def visit_Await(self, node: ast.Await) -> ast.AST:
        """Rewrite one `await`."""
        self.generic_visit(node)
        name = ast.copy_location(ast.Name(SETTLE, ast.Load()), node.value)
        node.value = ast.copy_location(ast.Call(name, [node.value], []), node.value)
        return node


async def settle(value: Any) -> Any:
    """Await what can be awaited, and give anything else back."""
    return await value if inspect.isawaitable(value) else value


def run_cell(code: str, number: int, namespace: dict[str, Any]) -> Any:
    """Run a cell in `namespace` and return the value of its last expression, or None.

    Raises whatever the code raises, `SyntaxError` for code that cannot be compiled.
    """
    compiled = _compiled(code, number)
    namespace[SETTLE] = settle
    namespace.pop(VALUE, None)
    _run(compiled, namespace)
    return namespace.pop(VALUE, None)


def shown(value: Any) -> str:
    """How a last value is printed: its `repr`, laid out over lines when it is a long container."""
    text = repr(value)
    if not isinstance(value, (dict, list, tuple, set, frozenset)) or not WIDTH < len(text) < PRETTY_LIMIT:
        return text
    import pprint

    return pprint.pformat(value, width=WIDTH, compact=True, sort_dicts=False)


def as_json(value: Any) -> Any:
    """Return a last value as plain JSON where it is some and not too large, else None."""
    if type(value) not in (dict, list, tuple, str, int, float, bool):
        return None
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()  # a lone surrogate is no JSON to others
        return json.loads(text) if len(text) <= VALUE_LIMIT else None
    except (TypeError, ValueError, RecursionError):
        return None


def failure_of(error: BaseException) -> Failure:
    """Tell a cell's exception: the trace holds the cell's own lines, none of Windowseat's."""
    trace = _trace(error)
    if isinstance(error, BrowserError):
        return Failure(error.code, _clean(error.message), error.retryable, trace, error.outcome)
    if isinstance(error, SystemExit):
        return Failure("execution-failed", "exit() ended the cell; the kernel goes on.", False, trace)
    if isinstance(error, MemoryError):
        return Failure(
            "execution-failed", "The cell needed more memory than it may use (1 GiB).", False, trace
        )
    said = _clean(str(error))
    name = type(error).__name__
    return Failure("execution-failed", f"{name}: {said}" if said else name, False, trace)


def forget_half_imports() -> None:
    """Drop modules without their package: an interrupted import leaves them, and the next one would break."""
    for name in list(sys.modules):
        if name.partition(".")[0] not in sys.modules:
            del sys.modules[name]


def _clean(text: str) -> str:
    """A message that can be sent: not endless, no lone surrogates."""
    return text[:2000].encode("utf-8", "backslashreplace").decode()


def _compiled(code: str, number: int) -> CodeType:
    """Compile a cell, its last expression kept under `VALUE`."""
    filename = f"<cell {number}>"
    linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
    linecache.cache.pop(f"<cell {number - CELLS_KEPT}>", None)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = compile(code, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    tree = _Settled().visit(tree)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name(VALUE, ast.Store())], last.value), last)
    compiled: CodeType = compile(ast.fix_missing_locations(tree), filename, "exec", flags, dont_inherit=True)
    return compiled


def _run(code: CodeType, namespace: dict[str, Any]) -> None:
    work = eval(code, namespace)  # noqa: S307 - running code is what a kernel is for
    if code.co_flags & inspect.CO_COROUTINE:
        _drive(work, "asyncio" in sys.modules or "asyncio" in code.co_names)


def _drive(work: Coroutine[Any, Any, Any], needs_loop: bool) -> None:
    """Run a cell that awaits. A loop is made only where something of asyncio is about: it costs 50 ms."""
    if needs_loop:
        _on_loop(work)
        return
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("this awaits something that needs an event loop; import asyncio first")


def _on_loop(work: Coroutine[Any, Any, Any]) -> None:
    """Run a cell on the kernel's own loop; whatever it left running there ends with it."""
    import asyncio

    loop = _loop()
    asyncio.set_event_loop(loop)
    try:
        # An interrupt comes out of the loop itself and leaves the cell's own task waiting.
        loop.run_until_complete(loop.create_task(work))
    finally:
        # What went on would print into a later cell.
        if left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


def _loop() -> Any:
    """The kernel's loop, kept from cell to cell so that what was made on it stays of use."""
    import asyncio

    if _LOOP.get("loop") is None or _LOOP["loop"].is_closed():
        _LOOP["loop"] = asyncio.new_event_loop()
    return _LOOP["loop"]


_LOOP: Final[dict[str, Any]] = {}


def _trace(error: BaseException) -> str:
    """The traceback without Windowseat's own frames."""
    told = traceback.TracebackException.from_exception(error, limit=-50, capture_locals=False)
    each: traceback.TracebackException | None = told
    for _ in range(20):  # causes can be linked into a ring
        if each is None:
            break
        frames = [frame for frame in each.stack if not frame.filename.startswith(_OURS)]
        if isinstance(error, KeyboardInterrupt):  # where in a library it was caught helps nobody
            frames = [frame for frame in frames if frame.filename.startswith("<cell ")]
        each.stack = traceback.StackSummary.from_list(frames)
        each = each.__cause__ or each.__context__
    lines = list(told.format())
    if isinstance(error, BrowserError):
        lines[-1] = f"BrowserError {error.code}: {error.message}\n"
    return "".join(lines)
