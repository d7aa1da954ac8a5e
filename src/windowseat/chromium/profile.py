"""Is a profile folder free for a new Chromium?

Chromium marks a profile with the symbolic link `SingletonLock`, "HOST-PID". A second Chromium on
the same profile would only hand its arguments to the first and end, so this is asked before.
Standard library only: the keeper imports it.
"""

# pathlib would be a tenth of the keeper's memory.
# ruff: noqa: PTH103, PTH108, PTH115, PTH118, PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import socket

from windowseat.errors import Refusal

_MARKS = ("SingletonLock", "SingletonSocket", "SingletonCookie")


def user_of(profile: str) -> tuple[str, int] | None:
    """Host and pid that the profile's lock names, or None when there is no lock."""
    try:
        mark = os.readlink(os.path.join(profile, "SingletonLock"))
    except OSError:
        return None
    host, _, pid = mark.rpartition("-")
    return (host, int(pid)) if pid.isdigit() else None


def make_free(profile: str) -> None:
    """Make the folder (0700) if it is missing, and remove the lock of a Chromium that has ended.

    Raises:
        Refusal: "profile-in-use", with who uses it; "home-unusable" when it cannot be written.
    """
    try:
        os.makedirs(profile, mode=0o700, exist_ok=True)
    except OSError as failure:
        raise Refusal(
            "home-unusable",
            f"The browser's profile folder {profile} cannot be used: {failure.strerror}.",
            "Correct its owner or mode, or set WINDOWSEAT_HOME to another folder.",
        ) from failure
    user = user_of(profile)
    if user is None:
        return
    host, pid = user
    if host != socket.gethostname():
        raise Refusal(
            "profile-in-use",
            f"The profile {profile} is in use by a Chromium on {host} (process {pid}).",
            f"End it there. If it has ended, remove {profile}/SingletonLock.",
        )
    if _is_browser(pid, profile):
        raise Refusal(
            "profile-in-use",
            f"The profile {profile} is in use by another Chromium (process {pid}).",
            f"End it (kill {pid}), or set WINDOWSEAT_HOME to another folder.",
        )
    for name in _MARKS:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(profile, name))


def _is_browser(pid: int, profile: str) -> bool:
    """Whether the process lives and has this profile, not one that got the number later."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            if file.read().rpartition(b") ")[2][:1] in (b"Z", b"X"):
                return False
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            # Chromium joins its arguments by spaces when it sets its title.
            if profile in file.read().decode(errors="replace"):
                return True
        inside = os.path.realpath(profile) + "/"
        return any(_leads_to(f"/proc/{pid}/fd/{fd}", inside) for fd in os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:
        return True  # of another user: it lives, and what it does is not ours to read


def _leads_to(link: str, inside: str) -> bool:
    try:
        return os.readlink(link).startswith(inside)
    except OSError:
        return False
