"""Are these the arguments that an operation takes? Closed pydantic models made from the registry.

Models are built when first needed: pydantic costs 0.2 s of import, and a command line that asks
nothing of it must not pay. What is wrong comes back as one sentence with the nearest valid name.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from windowseat.errors import BrowserError
from windowseat.rules.operations import (
    OPERATIONS,
    Arg,
    Operation,
    type_words,
    unknown_argument,
    unknown_operation,
)


def operation_named(name: str) -> Operation:
    """Return the operation `name`.

    Raises:
        BrowserError: `invalid-args`, there is none; the sentence names the nearest one.
    """
    found = OPERATIONS.get(name)
    if found is None:
        raise BrowserError("invalid-args", unknown_operation(name))
    return found


def check_args(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of operation `name` as they count, with defaults where nothing was given.

    Raises:
        BrowserError: `invalid-args`, with a sentence that says what is wrong and what would be right.
    """
    from pydantic import ValidationError

    operation = operation_named(name)
    try:
        model = arguments_model(name)(**args)
    except ValidationError as error:
        raise BrowserError("invalid-args", _sentence(operation, error.errors())) from None
    except TypeError:  # a name that is no text
        raise BrowserError("invalid-args", f"{name}: argument names must be text.") from None
    found: dict[str, Any] = model.model_dump()
    given = [key for key in operation.one_of if found[key] is not None]
    if operation.one_of and len(given) != 1:
        said = " and ".join(given) if given else "none"
        raise BrowserError(
            "invalid-args", f"{name} takes exactly one of {', '.join(operation.one_of)}; given: {said}."
        )
    return found


@functools.cache
def arguments_model(name: str) -> Any:
    """Return the pydantic model of an operation's arguments: closed, strict, with bounds."""
    from pydantic import ConfigDict, create_model

    operation = operation_named(name)
    fields: dict[str, Any] = {arg.name: _field(arg) for arg in operation.args}
    title = "".join(part.capitalize() for part in name.replace(".", "_").split("_")) + "Args"
    return create_model(title, __config__=ConfigDict(extra="forbid", strict=True), **fields)


def _field(arg: Arg) -> tuple[Any, Any]:
    from pydantic import Field

    default = ... if arg.required else arg.default
    kind = _kind(arg)
    if arg.default is None and not arg.required:
        kind = kind | None
    return kind, Field(default, description=arg.doc)


def _kind(arg: Arg) -> Any:
    from typing import Annotated, Literal

    from pydantic import Field, StringConstraints

    literal: Any = Literal  # the type checker cannot know choices that stand in data
    annotated: Any = Annotated
    match arg.type:
        case "text":
            return annotated[str, StringConstraints(min_length=arg.low, max_length=arg.high)]
        case "integer":
            return annotated[int, Field(ge=arg.low, le=arg.high)]
        case "boolean":
            return bool
        case "choice":
            return literal[arg.choices]
        case "choices":
            return annotated[list[literal[arg.choices]], Field(max_length=len(arg.choices))]
        case "point":
            coordinate: Any = annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
            return annotated[list[coordinate], Field(min_length=2, max_length=2)]


def _sentence(operation: Operation, errors: list[Any]) -> str:
    """The first thing that is wrong, as one sentence; a wrong name before a missing or a wrong value."""
    errors.sort(key=lambda error: {"extra_forbidden": 0, "missing": 1}.get(error["type"], 2))
    first = errors[0]
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return unknown_argument(operation, name)
    arg = next(arg for arg in operation.args if arg.name == name)
    if first["type"] == "missing":
        return f"{operation.name} needs {name!r}: {arg.doc}."
    said = repr(first.get("input"))
    said = said if len(said) <= 60 else said[:57] + "…"
    return f"{operation.name}: {name!r} must be {type_words(arg)}, not {said}."
