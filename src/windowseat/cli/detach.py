"""Starts a hub in the background: as a unit of the user's systemd where there is one, else as a
process in a session of its own. Never asks anything.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from windowseat.cli.options import HubOptions
from windowseat.cli.starting import NewsOfStart, open_start_log, start_log
from windowseat.errors import Refusal
from windowseat.hub.home import Home

_SYSTEMD_LIMIT: Final = 15.0

# What a hub needs of the environment of whoever started it; systemd's own lacks them.
_PASSED_ON: Final = (
    "HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "LANGUAGE", "TZ", "PYTHONPATH",
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "PULSE_SERVER",
    "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
    "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_CACHE_DIR",
    "WINDOWSEAT_HOME", "WINDOWSEAT_CHROMIUM",
)  # fmt: skip

# The kernel's number for the first PID namespace of a machine (PROC_PID_INIT_INO).
_FIRST_PID_NAMESPACE: Final = "pid:[4026531836]"
# What stands as process 1 where an agent runs each command in a namespace that ends with it.
_SANDBOXES: Final = ("bwrap", "codex-linux-san", "firejail", "nsjail", "srt", "unshare", "minijail0")
_CONTAINER_MARKS: Final = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")


def start_detached(home: Home, options: HubOptions) -> dict[str, Any]:
    """Start a hub, wait until it answers, and return what it says (`on_ready`'s document).

    The caller holds the start lock.

    Raises:
        Refusal: the hub's own reason, "hub-failed", or "not-possible-here".
    """
    refuse_in_sandbox()
    news = NewsOfStart(home)
    try:
        command = _command(options, news.path)
        still_there = _through_systemd(home, command) or _in_own_session(home, command)
        return news.wait_ready(still_there)
    finally:
        news.close()


def refuse_in_sandbox(proc: Path = Path("/proc"), marks: tuple[str, ...] = _CONTAINER_MARKS) -> None:
    """Refuse where a process in the background would end with the command that started it.

    That is so in the PID namespace of an agent's sandbox: its first process takes all others with
    it. A container counts as a machine, as it lives on.

    Raises:
        Refusal: "not-possible-here".
    """
    if not ends_with_its_command(proc, marks):
        return
    raise Refusal(
        "not-possible-here",
        "This command runs in a process namespace of its own (a sandbox), where a background process "
        "ends with the command.",
        "Run `windowseat up --detach` outside of the sandbox, for example in a terminal of your own.",
    )


def ends_with_its_command(proc: Path, marks: tuple[str, ...]) -> bool:
    """Whether this process lives in a PID namespace that goes when its first process goes.

    Three signs: the process has a pid in more than one namespace that this /proc can see; process 1
    is a known sandbox's; the namespace is not the machine's first and nothing marks a container.
    """
    try:
        status = (proc / "self/status").read_text(encoding="utf-8", errors="replace")
        first = (proc / "1/comm").read_text(encoding="utf-8", errors="replace").strip()
        namespace = (proc / "self/ns/pid").readlink()
    except OSError:
        # Without a /proc nothing else of Windowseat works either; the start itself will say so.
        return False
    numbers = next((line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")), [])
    if len(numbers) > 1 or first in _SANDBOXES:
        return True
    return str(namespace) != _FIRST_PID_NAMESPACE and not any(Path(mark).exists() for mark in marks)


def _command(options: HubOptions, news: Path) -> list[str]:
    # -P: the folder that an agent happens to stand in must not lend modules to the hub.
    command = [sys.executable, "-P", "-m", "windowseat", "up", "--announce", str(news)]
    command += ["--port", str(options.port), "--view-port", str(options.wanted_view_port)]
    if options.headed:
        command.append("--headed")
    if options.code_mode:
        command.append("--code-mode")
    if options.chromium is not None:
        command += ["--chromium", options.chromium]
    return command


def _in_own_session(home: Home, command: list[str]) -> Callable[[], bool]:
    log = open_start_log(home)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(log)
    return lambda: process.poll() is None


def _through_systemd(home: Home, command: list[str]) -> Callable[[], bool] | None:
    """Start it as a unit of the user's systemd; None where there is none that answers."""
    if not user_systemd_there():
        return None
    os.close(open_start_log(home))
    unit = f"windowseat-{home.id[:8]}-{os.urandom(3).hex()}"
    run = [
        "systemd-run", "--user", "--quiet", "--collect", f"--unit={unit}", "--description=Windowseat",
        "--working-directory=/",
        # The keeper and the browser live in the same unit and must outlive a hub that is killed.
        "--property=KillMode=process",
        f"--property=StandardOutput=append:{start_log(home)}",
        f"--property=StandardError=append:{start_log(home)}",
    ]  # fmt: skip
    run += [f"--setenv={name}={os.environ[name]}" for name in _PASSED_ON if name in os.environ]
    if not _succeeds([*run, "--", *command]):
        return None
    return lambda: _succeeds(["systemctl", "--user", "--quiet", "is-active", unit])


def user_systemd_there() -> bool:
    """Whether this user has a systemd of their own that could take a unit."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return Path(runtime, "systemd/private").exists()


def _succeeds(command: list[str]) -> bool:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SYSTEMD_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
