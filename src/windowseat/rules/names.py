"""Which session does a thread, a command or an MCP call belong to? (contract C1)

`session_name` makes a name of a prefix and a thread's id: the same id always gives the same name
and two ids never share one. `session_of` and `session_of_mcp` choose among what a program was
given and what its environment says. The same `session_name` stands in JavaScript in
`web/static/session_name.js`; one test holds both against the same cases.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from windowseat.errors import Refusal

PREFIX_LIMIT: Final = 16
NAME_LIMIT: Final = 64
# A rewritten name: what is left of prefix and id (31), a hyphen, half of a SHA-256 (32).
KEPT_LENGTH: Final = 31
DIGEST_LENGTH: Final = 32

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CLEAN_ID = re.compile(r"[A-Za-z0-9_-]+")
_PREFIX = re.compile(r"[A-Za-z0-9_-]{0,16}")
_LOOKS_REWRITTEN = re.compile(r"-[0-9a-f]{32}\Z")
_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]")

# C1's order after `--session`: variables that name a session outright, then those that hold a
# client's own thread id, with the prefix of that client.
NAMING_VARIABLES: Final = ("WINDOWSEAT_SESSION", "AGENT_BROWSER_SESSION")
THREAD_VARIABLES: Final = (
    ("CODEX_THREAD_ID", "codex-"),
    ("CLAUDE_CODE_SESSION_ID", "claude-"),
    ("AGENT_SESSION_ID", "goose-"),
)
META_KEYS: Final = ("threadId", "sessionID")


def is_session_name(name: str) -> bool:
    """Whether `name` lies in the grammar of session names: 1 to 64 of `A-Z a-z 0-9 _ -`."""
    return _NAME.fullmatch(name) is not None


def session_name(prefix: str, thread_id: str) -> str:
    """Return the session of the thread `thread_id` of the app whose prefix is `prefix`.

    Raises:
        ValueError: the prefix is longer than 16 characters or leaves the grammar.
    """
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"{prefix!r} is no session prefix: at most 16 characters of A-Z a-z 0-9 _ -")
    if (
        _CLEAN_ID.fullmatch(thread_id)
        and len(prefix) + len(thread_id) <= NAME_LIMIT
        # A clean id must not pose as the rewritten name of another one.
        and not _LOOKS_REWRITTEN.search(thread_id)
    ):
        return prefix + thread_id
    units = thread_id.encode("utf-16-le", "surrogatepass")
    kept = "".join(_grammar_unit(units[at : at + 2]) for at in range(0, len(units), 2))
    whole = units.decode("utf-16-le", "replace")  # a lone surrogate counts as U+FFFD
    digest = hashlib.sha256(whole.encode()).hexdigest()[:DIGEST_LENGTH]
    return f"{(prefix + kept)[:KEPT_LENGTH]}-{digest}"


def session_of(environ: Mapping[str, str], cwd_realpath: str, given: str | None = None) -> str:
    """Return the session of a command: what was given, else what its environment says, else its folder's.

    Args:
        environ: the command's environment variables; an empty value counts as not set.
        cwd_realpath: real path of its working directory.
        given: the value of `--session`, taken as it is.

    Raises:
        Refusal: `bad-usage`, a name that was given or set leaves the grammar.
    """
    if given is not None:
        return _checked(given, "--session")
    found = session_of_environment(environ)
    return found if found is not None else session_name("dir-", cwd_realpath)


def session_of_mcp(
    environ: Mapping[str, str], client: str, meta: Mapping[str, object] | None, connection: str
) -> str:
    """Return the session of an MCP call over stdio.

    Args:
        environ: the bridge's environment.
        client: the MCP client's own name, as it introduced itself; it gives the prefix.
        meta: the call's `_meta`, where it had one.
        connection: a random id of this connection: the session of calls that name none.

    Raises:
        Refusal: `bad-usage`, a name set in the environment leaves the grammar.
    """
    found = session_of_environment(environ)
    if found is not None:
        return found
    for key in META_KEYS:
        thread = (meta or {}).get(key)
        if isinstance(thread, str) and thread:
            return session_name(client_prefix(client), thread)
    return session_name("mcp-", connection)


def session_of_environment(environ: Mapping[str, str]) -> str | None:
    """Return the session that environment variables name, first of C1's order, or None.

    Raises:
        Refusal: `bad-usage`, a variable that names a session outright leaves the grammar.
    """
    for variable in NAMING_VARIABLES:
        if environ.get(variable):
            return _checked(environ[variable], variable)
    for variable, prefix in THREAD_VARIABLES:
        if environ.get(variable):
            return session_name(prefix, environ[variable])
    return None


def client_prefix(client: str) -> str:
    """Return the session prefix of an MCP client by its name, for example `codex-` for "codex-mcp-client"."""
    lowered = client.lower()
    for known in ("codex", "claude", "goose"):
        if known in lowered:
            return f"{known}-"
    clean = _OUTSIDE.sub("-", lowered).strip("-")[: PREFIX_LIMIT - 1]
    return f"{clean or 'mcp'}-"


def _grammar_unit(unit: bytes) -> str:
    """One UTF-16 code unit as it stands in a rewritten name."""
    character = chr(int.from_bytes(unit, "little"))
    return "-" if _OUTSIDE.fullmatch(character) else character


def _checked(name: str, source: str) -> str:
    if not is_session_name(name):
        raise Refusal(
            "bad-usage",
            f"{source} says {name[:80]!r}, which is no session name.",
            "A session name has 1 to 64 characters of A-Z a-z 0-9 _ and -.",
        )
    return name
