"""The keeper: a small process that owns Chromium's pipe, so that tabs outlive the hub.

`python -m windowseat.chromium.keeper` reads its options as one JSON object on stdin, answers one
line on stdout (`{"ready":true}` or `{"refused":{code,message,next_step}}`) and then serves a Unix
socket (0600) until it is told to stop. It starts Chromium, hands the pipe to one hub at a time,
drains it while no hub is there, and starts Chromium again when it ends. It knows nothing of tabs.

Synchronous, standard library only: it must stay small and must not break. docs/decisions/0001.
"""

# pathlib would be a tenth of the keeper's memory.
# ruff: noqa: PTH101, PTH108

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
from typing import Any, NoReturn

from windowseat.chromium.keeper_wire import Message
from windowseat.chromium.keeping import CLIENTS_LIMIT, Keeper, failure_message, say
from windowseat.chromium.kept_browser import LaunchPlan, open_log
from windowseat.errors import Refusal


def main() -> int:
    """Read the options, take the lock, answer, serve."""
    options: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.umask(0o077)
    os.chdir("/")
    try:
        lock = _take_lock(options["lock"])
        listener = _listen(options["socket"])
        log = open_log(options["log"])
        _leave_parent(lock)
    except Refusal as refusal:
        _refuse(refusal)
    except OSError as failure:
        _refuse(
            Refusal(
                "keeper-failed",
                f"The keeper cannot use {failure.filename or options['socket']}: {failure.strerror}.",
                "Free some space, correct the folder's owner or mode, or set WINDOWSEAT_HOME.",
            )
        )
    screen = options["own_display"]
    plan = LaunchPlan(
        argv=list(options["argv"]),
        environ=dict(options["environ"]),
        profile=options["profile"],
        own_display=None if screen is None else (int(screen[0]), int(screen[1])),
        authority=options["lock"] + ".xauth",
        log=options["browser_log"],
    )
    keeper = Keeper(plan, listener, options["socket"], options["log"], adopts=bool(options["adopts"]))
    _answer({"ready": True})
    _let_go_of_terminal(log)
    say(f"keeper {os.getpid()} serves {options['socket']}")
    try:
        return keeper.run()
    finally:
        os.close(lock)


def _take_lock(path: str) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(fd, 32, 0).decode(errors="replace").strip()
        os.close(fd)
        raise Refusal(
            "already-running",
            f"Another keeper (process {holder or 'unknown'}) already runs for this home.",
            "`windowseat down` ends it together with its browser.",
        ) from None
    return fd


def _leave_parent(lock: int) -> None:
    """Go on as a child of init, so that a hub need not reap its keeper; the lock is shared by forks."""
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    with contextlib.suppress(OSError):  # the lock holds on a full disk too, only without a name
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)


def _listen(path: str) -> socket.socket:
    # We hold the lock, so a socket that lies there is of a keeper that has ended.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(path)
        os.chmod(path, 0o600)
        listener.listen(CLIENTS_LIMIT)
    except OSError as failure:
        listener.close()
        raise Refusal(
            "keeper-failed",
            f"The keeper's socket {path} cannot be made: {failure.strerror or failure}.",
            "Correct the folder's owner or mode, or set WINDOWSEAT_HOME to another folder.",
        ) from failure
    listener.setblocking(False)
    return listener


def _let_go_of_terminal(log: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(log, 2)
    os.close(null)
    os.close(log)


def _refuse(refusal: Refusal) -> NoReturn:
    message = failure_message(refusal)
    _answer({"refused": {name: message[name] for name in ("code", "message", "next_step")}})
    sys.stderr.write(f"{refusal.message} {refusal.next_step}\n")
    raise SystemExit(refusal.exit_code)


def _answer(answer: Message) -> None:
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
