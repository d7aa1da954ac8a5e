"""Where Windowseat keeps its things (contract C4, Home): the order of places, decided without I/O.

Every client of a hub must find the same home, also one whose environment was cleared. So the
caller reads what can be read (environment, the pointer, which folders exist) and this module
chooses. `hub.home` does the reading and makes the folders.
"""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import isabs, join, normpath
from typing import NamedTuple

# Linux ends a socket's path at 108 bytes; some room is left for a suffix of the socket's user.
SOCKET_PATH_LIMIT = 100

# The longest socket name that stands in the sockets' folder.
_LONGEST_SOCKET_NAME = "keeper.sock"


class Places(NamedTuple):
    """The folders of one home, absolute.

    Attributes:
        runtime: what lives as long as the hub: locks, sockets, the tab list.
        state: what outlives logout and reboot: store, holder files, logs, workspaces.
        profile: Chromium's profile, with the sign-ins.
        config: the person's settings.
        sockets: `runtime`, or a short folder where a socket's path would not fit.
    """

    runtime: str
    state: str
    profile: str
    config: str
    sockets: str


def state_folder(environ: Mapping[str, str], home_folder: str) -> str:
    """The state folder: the one place that must be known before the pointer in it can be read."""
    if own := environ.get("WINDOWSEAT_HOME"):
        return join(own, "state")
    return join(_xdg(environ, "XDG_STATE_HOME", join(home_folder, ".local/state")), "windowseat")


def choose_places(
    environ: Mapping[str, str],
    *,
    home_folder: str,
    uid: int,
    pointer: str | None,
    run_user_exists: bool,
) -> Places:
    """The places of the home that these facts name.

    Args:
        environ: the process's environment; `WINDOWSEAT_HOME`, where set, is absolute here.
        home_folder: the user's home folder by the user database if `HOME` is not set.
        uid: the user's id.
        pointer: the runtime folder that the state folder's pointer names, None without a usable one.
        run_user_exists: whether `/run/user/<uid>` is there and ours.
    """
    state = state_folder(environ, home_folder)
    if own := environ.get("WINDOWSEAT_HOME"):
        runtime, profile, config = join(own, "run"), join(own, "profile"), join(own, "config")
    else:
        runtime = _runtime_folder(environ, state, uid=uid, pointer=pointer, run_user_exists=run_user_exists)
        profile = join(
            _xdg(environ, "XDG_DATA_HOME", join(home_folder, ".local/share")), "windowseat/profile"
        )
        config = join(_xdg(environ, "XDG_CONFIG_HOME", join(home_folder, ".config")), "windowseat")
    return Places(runtime, state, profile, config, sockets_folder(runtime, uid))


def sockets_folder(runtime: str, uid: int) -> str:
    """`runtime`, or a folder with a short name made from it where a socket's path would not fit."""
    if len(join(runtime, _LONGEST_SOCKET_NAME).encode()) <= SOCKET_PATH_LIMIT:
        return runtime
    import hashlib  # seldom needed, and slow to load

    digest = hashlib.sha256(normpath(runtime).encode()).hexdigest()[:12]
    return f"/tmp/windowseat-{uid}/{digest}"


def _runtime_folder(
    environ: Mapping[str, str], state: str, *, uid: int, pointer: str | None, run_user_exists: bool
) -> str:
    if pointer is not None and isabs(pointer):
        return pointer
    if given := _xdg(environ, "XDG_RUNTIME_DIR", ""):
        return join(given, "windowseat")
    if run_user_exists:
        return f"/run/user/{uid}/windowseat"
    return join(state, "run")


def _xdg(environ: Mapping[str, str], name: str, otherwise: str) -> str:
    # The XDG rules: a relative path there is invalid and counts as not set.
    given = environ.get(name, "")
    return given if isabs(given) else otherwise
