"""What an address may be, and what a person meant by the words they typed into an address bar.

Pure. `check_agent_url` is for programs: exact addresses of allowed schemes only. `address_of` is
for people: host names, ports, IPs, international names, paths, or words to search for.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import quote, urlsplit

from windowseat.errors import BrowserError

URL_LIMIT: Final = 2 * 1024 * 1024  # Chromium opens nothing longer
TYPED_LIMIT: Final = 8192
SEARCH: Final = "https://duckduckgo.com/?q={words}"

_SCHEME: Final = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$", re.DOTALL)
_PORT: Final = re.compile(r"^\d{1,5}(?:[/?#].*)?$", re.DOTALL)
_HOST: Final = re.compile(
    r"^(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#:@\[\]\\]+)(?::(?P<port>\d{1,5}))?(?P<rest>[/?#].*)?$", re.DOTALL
)
_LABEL: Final = re.compile(r"^(?!-)[\w-]{1,63}(?<!-)$")
_LOCAL_SUFFIXES: Final = (".localhost", ".local", ".internal", ".test", ".lan", ".home")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f]")


def check_agent_url(url: str) -> str:
    """Return the address if a session may open it: http, https, about:blank, blob:.

    Raises:
        BrowserError: `not-allowed` for other schemes, `invalid-args` for what is no address.
    """
    text = url.strip()
    if not text or len(text) > URL_LIMIT or _CONTROLS.search(text):
        raise BrowserError("invalid-args", "url must be one whole address, such as https://example.com/.")
    match = _SCHEME.match(text)
    if match is None:
        raise BrowserError(
            "invalid-args", f"{_short(text)!r} has no scheme; write https:// or http:// in front."
        )
    scheme, rest = match[1].lower(), match[2]
    if scheme in ("http", "https"):
        return _web_address(text, rest)
    if scheme == "about" and re.fullmatch(r"blank(?:[?#].*)?", rest, re.IGNORECASE):
        return text
    if scheme == "blob" and re.match(r"(?:https?://|null/)", rest, re.IGNORECASE):
        return text
    if _PORT.match(rest) and scheme not in _REFUSED:
        raise BrowserError("invalid-args", f"{_short(text)!r} has no scheme; write http:// in front.")
    raise BrowserError(
        "not-allowed",
        f"Addresses of the scheme {scheme}: may not be opened; use http:, https:, about:blank or blob:.",
    )


def address_of(typed: str, search: str = SEARCH) -> str:
    """The address that a person means by what they typed.

    Args:
        typed: the text of an address bar.
        search: where words are searched; `{words}` is replaced by them, percent-encoded.

    Returns:
        An address of the schemes http, https, about:blank, blob.

    Raises:
        BrowserError: `invalid-args` when nothing was typed; `not-allowed` for a scheme such as
            javascript:, file: or chrome:.
    """
    text = _CONTROLS.sub("", typed).strip()
    if not text:
        raise BrowserError("invalid-args", "Type an address or words to search for.")
    if len(text) > TYPED_LIMIT and not text.lower().startswith(("http:", "https:", "blob:")):
        raise BrowserError("invalid-args", "That is too long for an address.")
    match = _SCHEME.match(text)
    if match is not None and not _looks_like_host_and_port(match[1], match[2]):
        return _with_scheme(text, match[1].lower(), match[2], search)
    if text.startswith("//"):
        return check_agent_url("https:" + text)
    found = _as_host(text)
    return found if found is not None else _search(text, search)


def _with_scheme(text: str, scheme: str, rest: str, search: str) -> str:
    if scheme in ("http", "https"):
        # "http:example.com" is what people type; browsers open it too.
        return check_agent_url(f"{scheme}://{rest.lstrip('/')}".replace(" ", "%20"))
    if scheme in ("about", "blob"):
        return check_agent_url(text)
    # "note: buy milk" and "c++: what is it" are words. A scheme's rest never starts with a space.
    if rest.startswith(" ") or (" " in text and scheme not in _REFUSED and not rest.startswith("//")):
        return _search(text, search)
    return check_agent_url(text)


_REFUSED: Final = frozenset(
    [
        "javascript",
        "data",
        "file",
        "filesystem",
        "chrome",
        "chrome-extension",
        "chrome-untrusted",
        "devtools",
        "view-source",
        "vbscript",
    ]
)


def _web_address(text: str, rest: str) -> str:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not rest.startswith("//") or not host:
        raise BrowserError("invalid-args", f"{_short(text)!r} names no host.")
    if port is not None and not 0 <= port <= 65535:
        raise BrowserError("invalid-args", f"{_short(text)!r} has an impossible port.")
    return text


def _looks_like_host_and_port(scheme: str, rest: str) -> bool:
    # "localhost:3000" parses as a scheme too; digits up to a slash make it a port.
    return bool(_PORT.match(rest)) and scheme.lower() not in _REFUSED


def _as_host(text: str) -> str | None:
    match = _HOST.match(text)
    if match is None:
        return None  # user@host too: an e-mail address, so words
    host, port, rest = match["host"], match["port"], match["rest"] or ""
    if port is not None and int(port) > 65535:
        return None
    kind = _kind_of_host(host, has_port=port is not None, has_path=bool(rest) and " " not in rest)
    if kind is None:
        return None
    where = host + (f":{port}" if port is not None else "")
    return f"{kind}://{where}{rest.replace(' ', '%20') or '/'}"


def _kind_of_host(host: str, *, has_port: bool, has_path: bool) -> str | None:
    """The scheme to try for this host, or None when it is no host but a word."""
    if host.startswith("["):
        return "http" if _is_ip(host[1:-1]) else None
    lower = host.lower().rstrip(".")
    if _is_ip(lower):
        return "http"  # machines on the own network rarely have a certificate for their number
    labels = lower.split(".")
    if not all(_LABEL.match(label) for label in labels):
        return None
    if lower == "localhost" or lower.endswith(_LOCAL_SUFFIXES):
        return "http"
    if len(labels) == 1:
        return "http" if has_port or (has_path and lower.isascii()) else None
    if labels[-1].isdigit():
        return None  # "3.14", "1.2.3": a number
    return "https" if not has_port else "http"


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _search(text: str, search: str) -> str:
    return search.replace("{words}", quote(text, safe="", errors="replace"))


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"
