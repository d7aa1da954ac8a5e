"""The checks of `doctor` that need no hub. Each looks at one thing and says what to do about it."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from windowseat.cli.call import Call
from windowseat.errors import Refusal
from windowseat.hub.lock import holder_of

_MIB: Final = 1024 * 1024
# Chromium's renderers crash on pages with many pictures when their shared memory is smaller.
_ENOUGH_SHARED_MEMORY: Final = 512 * _MIB
_ENOUGH_DISK: Final = 1024 * _MIB
_LEAST_CHROMIUM: Final = 130


class Check(NamedTuple):
    """One line of `doctor`. `state` is "ok", "warn" or "fail"; `next` may be empty."""

    name: str
    state: str
    message: str
    next: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As C11 has it."""
        return self._asdict()


def python(_call: Call) -> Sequence[Check]:
    """The interpreter."""
    return [Check("python", "ok", f"Python {platform.python_version()} at {sys.executable}")]


def chromium(_call: Call) -> Sequence[Check]:
    """The browser that would be started."""
    from windowseat.chromium.find import find_chromium

    try:
        found = find_chromium(os.environ)
    except Refusal as refusal:
        return [Check("chromium", "fail", refusal.message, refusal.next_step)]
    text = f"{found.version} ({found.kind}) at {found.path}"
    if found.major < _LEAST_CHROMIUM:
        return [Check("chromium", "warn", f"{text} is old; some things will be missing.", "Update it.")]
    return [Check("chromium", "ok", text)]


def home(call: Call) -> Sequence[Check]:
    """The folders: there and ours, or can be made."""
    here = call.home
    if not here.state.exists():
        nearest = next(each for each in here.state.parents if each.exists())
        if not os.access(nearest, os.W_OK):
            message = f"{here.state} cannot be made: {nearest} cannot be written."
            return [Check("home", "fail", message, "Set WINDOWSEAT_HOME to a folder of yours.")]
        return [Check("home", "ok", f"{here.state} will be made at the first start")]
    here.prepare()
    return [Check("home", "ok", f"state {here.state}, runtime {here.runtime}, profile {here.profile}")]


def disk(call: Call) -> Sequence[Check]:
    """Room for the profile."""
    folder = next(each for each in (call.home.profile, *call.home.profile.parents) if each.exists())
    free = shutil.disk_usage(folder).free
    text = f"{free // _MIB:,} MiB are free for the profile"
    if free < _ENOUGH_DISK:
        return [Check("disk", "warn", text, f"Free some space on the disk of {folder}.")]
    return [Check("disk", "ok", text)]


def locks(call: Call) -> Sequence[Check]:
    """Whether a hub holds the lock, and whether its socket answers."""
    holder, there = holder_of(call.home.hub_lock), call.home.hub_socket.exists()
    if holder is None and there:
        message = "The last hub ended without taking its socket away; the next start does that."
        return [Check("locks", "ok", message)]
    if holder is None:
        return [Check("locks", "ok", "no hub runs in this home")]
    try:
        running = call.hub.running()
    except Refusal as refusal:
        return [Check("locks", "fail", f"Hub {holder}: {refusal.message}", "windowseat down")]
    if running is None:
        message = f"Process {holder} holds the hub's lock but nobody listens on its socket."
        return [Check("locks", "warn", message, "If it is not just starting: windowseat down")]
    return [Check("locks", "ok", f"the hub is process {holder}")]


def ports(call: Call) -> Sequence[Check]:
    """The default ports, while no hub has them."""
    from windowseat.cli.options import DEFAULT_PORT, HubOptions

    if holder_of(call.home.hub_lock) is not None:
        return []
    wanted = HubOptions(port=DEFAULT_PORT)
    busy = [port for port in (wanted.port, wanted.wanted_view_port) if _is_busy(port)]
    if busy:
        text = "Another program listens on port " + " and ".join(map(str, busy))
        return [Check("ports", "warn", text, "Choose another: windowseat up --port P")]
    return [Check("ports", "ok", f"{wanted.port} and {wanted.wanted_view_port} are free")]


def shared_memory(_call: Call) -> Sequence[Check]:
    """/dev/shm, where Chromium's processes share pictures."""
    try:
        size = shutil.disk_usage("/dev/shm").total
    except OSError:
        return [Check("shared memory", "warn", "There is no /dev/shm; files are used instead: slower.")]
    if size < _ENOUGH_SHARED_MEMORY:
        text = f"/dev/shm has only {size // _MIB} MiB; files are used instead: slower"
        return [Check("shared memory", "warn", text, "In Docker: --shm-size=1g")]
    return [Check("shared memory", "ok", f"{size // _MIB:,} MiB")]


def sandbox(_call: Call) -> Sequence[Check]:
    """Whether Chromium can keep its sandbox."""
    if os.getuid() == 0:
        text = "As root Chromium runs without its sandbox: a page that breaks out has the whole machine."
        return [Check("sandbox", "warn", text, "Run Windowseat as a user of its own where you can.")]
    if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        text = "AppArmor restricts user namespaces; a Chromium without a profile there cannot start."
        return [Check("sandbox", "warn", text, "Use the distribution's Chromium or Chrome.")]
    if _reads("/proc/sys/user/max_user_namespaces") == "0":
        text = "User namespaces are off, so Chromium needs its setuid helper."
        return [Check("sandbox", "warn", text, "Debian: apt-get install chromium-sandbox")]
    return [Check("sandbox", "ok", "user namespaces are there")]


def display(_call: Call) -> Sequence[Check]:
    """Where `up --headed` would show its windows."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        if shown := os.environ.get(name):
            return [Check("display", "ok", f"--headed uses {name}={shown}")]
    if found := shutil.which("Xvfb"):
        return [Check("display", "ok", f"no display; --headed uses an Xvfb of its own ({found})")]
    return [Check("display", "ok", "none, so --headed does not work here", "For it: apt-get install xvfb")]


def background(_call: Call) -> Sequence[Check]:
    """Where `up --detach` would put the hub."""
    from windowseat.cli.detach import refuse_in_sandbox, user_systemd_there

    try:
        refuse_in_sandbox()
    except Refusal as refusal:
        return [Check("background", "warn", refusal.message, refusal.next_step)]
    if user_systemd_there():
        return [Check("background", "ok", "up --detach uses your systemd")]
    return [Check("background", "ok", "up --detach uses a process in a session of its own")]


CHECKS: Final[Sequence[Callable[[Call], Sequence[Check]]]] = (
    python, chromium, home, disk, locks, ports, shared_memory, sandbox, display, background,
)  # fmt: skip


def _is_busy(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as attempt:
        # As servers do: a connection that just ended does not keep the port.
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def _reads(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except OSError:
        return ""
