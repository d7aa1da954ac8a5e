"""The two web origins, and where a request may come from (contract C7).

Pure: decides from headers, opens nothing. On loopback the name in Host counts and not its port,
because an SSH forward changes the port; behind a gateway Host and Origin are the configured ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

Kind = Literal["launchpad", "view"]

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Origins:
    """Where the two origins are.

    Attributes:
        launchpad_port, view_port: the loopback ports they listen on.
        public_url, view_url: both https origins behind a gateway, or both None for loopback.
        framers: origins that may frame the view (`frame-ancestors`), none by default.

    Raises:
        ValueError: only one of the URLs is set, one is not https, or both are the same origin.
    """

    launchpad_port: int
    view_port: int
    public_url: str | None = None
    view_url: str | None = None
    framers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.public_url is None) != (self.view_url is None):
            raise ValueError("--public-url and --view-url must be given together")
        if self.public_url is None or self.view_url is None:
            return
        for url in (self.public_url, self.view_url):
            parts = urlsplit(url)
            if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
                raise ValueError(f"{url!r} must be an https origin, for example https://seat.example.org")
        if _origin_of(self.public_url) == _origin_of(self.view_url):
            raise ValueError("--public-url and --view-url must be two different origins")

    @property
    def loopback(self) -> bool:
        """Whether both origins are on the loopback, over plain http."""
        return self.public_url is None

    def configured(self, kind: Kind) -> str | None:
        """The https origin of `kind` behind a gateway, without a slash at its end."""
        url = self.public_url if kind == "launchpad" else self.view_url
        return _origin_of(url) if url is not None else None

    def accepts_host(self, kind: Kind, host: str) -> bool:
        """Whether a Host header names this origin."""
        configured = self.configured(kind)
        if configured is not None:
            return _origin_of(f"https://{host}") == configured
        return is_loopback_host(host)

    def origin_of_host(self, kind: Kind, host: str) -> str:
        """The Origin that a page of this origin sends, seen from an accepted Host header."""
        return self.configured(kind) or f"http://{host.lower()}"

    def launchpad_base(self) -> str:
        """The Launchpad's address for somebody on this machine (what `windowseat url` prints)."""
        return self.configured("launchpad") or f"http://localhost:{self.launchpad_port}"

    def view_base(self) -> str:
        """The view origin's address for somebody on this machine."""
        return self.configured("view") or f"http://localhost:{self.view_port}"

    def other_base(self, to: Kind, host: str) -> str:
        """The address of one origin for somebody who sees the other one as `host`.

        On loopback the name stays as the person typed it, and the ports keep their distance:
        who forwards 9717 to the Launchpad's 7717 has 9718 for the view's 7718.
        """
        configured = self.configured(to)
        if configured is not None:
            return configured
        name, port = split_host(host)
        distance = self.view_port - self.launchpad_port
        there = port + (distance if to == "view" else -distance)
        if not 0 < there < 65536:
            there = self.view_port if to == "view" else self.launchpad_port
        return f"http://{name}:{there}"


def is_loopback_host(host: str) -> bool:
    """Whether a Host header names the loopback by a name no DNS server can give away."""
    try:
        name, _ = split_host(host)
    except ValueError:
        return False
    return name in LOOPBACK_NAMES


def split_host(host: str) -> tuple[str, int]:
    """Name (lower case, IPv6 in brackets) and port of a Host header; the port is 80 if it has none.

    Raises:
        ValueError: it is not a Host header.
    """
    name, colon, port = host.lower().rpartition(":")
    if not colon or (host.endswith("]")):
        name, port = host.lower(), "80"
    if not port.isascii() or not port.isdigit() or len(port) > 5 or not 0 < int(port) < 65536:
        raise ValueError(f"{host!r} has no valid port")
    if not name or any(letter in name for letter in "/@?#\\ "):
        raise ValueError(f"{host!r} is not a host")
    return name, int(port)


def _origin_of(url: str) -> str | None:
    """Scheme, host and, unless it is the scheme's own, port; None when the address is malformed."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname or "@" in parts.netloc or parts.path.strip("/"):
        return None
    own = {"http": 80, "https": 443}.get(parts.scheme)
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}" + (f":{port}" if port not in (None, own) else "")
