"""The keeper's rules: which process has the pipe, and when Chromium starts and ends.

Synchronous, standard library only. Docs: docs/decisions/0001-keeper.md.
"""

# pathlib would be a tenth of the keeper's memory.
# ruff: noqa: PTH108, PTH116

from __future__ import annotations

import contextlib
import os
import socket
import time

from windowseat.chromium.keeper_hub import Hub
from windowseat.chromium.keeper_loop import KeeperLoop
from windowseat.chromium.keeper_wire import Message, Wire, WireClosed
from windowseat.chromium.kept_browser import Backoff, KeptBrowser, LaunchPlan, bound_log, reason_from
from windowseat.errors import Refusal

HUB_END_WITHIN = 5.0
CHROMIUM_END_WITHIN = 5.0
ADOPT_WITHIN = 10.0
SAME_AGAIN_AFTER = 2.0
SAME_AGAIN_TIMES = 3
LOG_CHECK_EVERY = 30.0
CLIENTS_LIMIT = 16
ANSWER_WITHIN = 30.0
FAULTS_LIMIT = 100


class Keeper:
    """The keeper's one state: a browser or none, a hub or none, those who wait, and timers.

    The pipe is read here only while no hub has it: from the former hub's end until the next one
    gets it. So no two readers ever share it.
    """

    def __init__(
        self, plan: LaunchPlan, listener: socket.socket, socket_path: str, log: str, *, adopts: bool
    ) -> None:
        """`adopts`: a hub will give its running browser; Chromium is started only if it does not."""
        self._plan = plan
        self._log = log
        self._listener = listener
        self._socket_path = socket_path
        self._browser: KeptBrowser | None = None
        self._hub: Hub | None = None
        self._leaving: Hub | None = None
        self._waiting: Wire | None = None
        self._clients: dict[int, Wire] = {}
        self._loop = KeeperLoop()
        self._backoff = Backoff()
        self._failure: Refusal | None = None
        self._had_browser = False
        self._answered = False
        self._log_start = 0
        self._same_again = 0
        self._stopping = False
        self._exit: int | None = None
        self._loop.watch(listener.fileno(), self._accept)
        self._loop.on_terminate(self.end_browser)
        self._loop.ring("logs", LOG_CHECK_EVERY, self._check_logs)
        self._loop.ring("start", ADOPT_WITHIN if adopts else 0.0, self._start)

    def run(self) -> int:
        """Serve until told to stop; returns the exit code."""
        faults = 0
        while self._exit is None:
            try:
                self._loop.turn()
            except Exception as fault:
                # Ending here would end the browser with every page in it.
                faults += 1
                say(f"a fault of the keeper: {fault!r}")
                if faults > FAULTS_LIMIT:
                    raise
        return self._exit

    # -- the browser -----------------------------------------------------------------------

    def _start(self) -> None:
        self._log_start = _size_of(self._plan.log)
        try:
            browser = KeptBrowser.start(self._plan)
        except Refusal as refusal:
            say(f"{refusal.message} {refusal.next_step}")
            self._fail(refusal, self._backoff.ended(0.0))
            return
        say(f"Chromium {browser.pid} has started as {browser.instance}")
        self._browser = browser
        self._answered = False
        self._loop.watch(browser.pidfd, self._browser_ended)
        # An empty message: whatever comes back says that DevTools serves the pipe. A hub must not
        # be given a Chromium that ends before it can do anything.
        with contextlib.suppress(OSError):  # it has ended already: its pidfd tells
            os.write(browser.write_fd, b"\0")
        self._loop.watch(browser.read_fd, self._first_answer)
        self._loop.ring("kill", ANSWER_WITHIN, browser.kill)

    def _first_answer(self) -> None:
        browser = self._browser
        if browser is None or not browser.drain():
            return self._discard()
        self._answered = self._had_browser = True
        self._failure = None
        self._same_again = 0
        self._loop.cancel("kill")
        self._loop.unwatch(browser.read_fd)
        if self._hub is not None:
            return self._hand_over()
        return self._drain()

    def _browser_ended(self) -> None:
        browser, self._browser = self._browser, None
        if browser is None:
            return
        self._loop.unwatch(browser.pidfd)
        self._loop.unwatch(browser.read_fd)
        for name in ("kill", "same again"):
            self._loop.cancel(name)
        uptime = browser.uptime
        how = browser.bury()
        say(f"Chromium {browser.pid} {how} after {uptime:.0f} s")
        if self._stopping:
            self._finish()
            return
        pause = self._backoff.ended(uptime if self._answered else 0.0)
        self._tell({"t": "lost", "instance": browser.instance, "how": how, "again_in_s": pause})
        if self._backoff.hopeless:
            reason = reason_from(self._plan.log, self._log_start)
            self._fail(
                Refusal(
                    "browser-failed",
                    f"Chromium ({self._plan.argv[0]}) {how} at once, again and again: "
                    f"{reason or 'it said nothing'}",
                    f"Its log: {self._plan.log}",
                ),
                pause,
            )
        else:
            self._loop.ring("start", pause, self._start)

    def _fail(self, refusal: Refusal, pause: float) -> None:
        """Tell why there is no browser. One that never came ends the keeper; else it tries on."""
        self._failure = refusal
        self._tell(failure_message(refusal))
        if self._had_browser:
            self._loop.ring("start", pause, self._start)
        else:
            # Whoever started this keeper gets the reason, also if it connects only now.
            self._loop.ring("give up", ADOPT_WITHIN if self._hub is None else 0.0, self._finish)

    def _drain(self) -> None:
        browser = self._browser
        if browser is not None and self._answered:
            self._loop.watch(browser.read_fd, self._discard)

    def _discard(self) -> None:
        browser = self._browser
        if browser is not None and not browser.drain():
            # The pipe has ended: nobody can reach this Chromium any more.
            self._loop.unwatch(browser.read_fd)
            self._loop.ring("kill", CHROMIUM_END_WITHIN, browser.kill)

    # -- the hub ---------------------------------------------------------------------------

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:  # it has gone again
            return
        wire = Wire(sock)
        pid, uid = wire.peer()
        if uid != os.geteuid() or pid <= 0 or len(self._clients) >= CLIENTS_LIMIT:
            wire.close()
            return
        self._clients[wire.fileno()] = wire
        self._loop.watch(wire.fileno(), lambda: self._read(wire))

    def _read(self, wire: Wire) -> None:
        try:
            for message, fds in wire.receive():
                self._receive(wire, message, fds)
        except (WireClosed, TypeError, ValueError):  # gone, or it does not keep to the format
            self._dropped(wire)

    def _receive(self, wire: Wire, message: Message, fds: list[int]) -> None:
        kind = message["t"]
        is_hub = self._hub is not None and self._hub.wire is wire
        if kind == "adopt" and is_hub and len(fds) == 2 and self._browser is None:
            self._adopt(message, fds)
            return
        for fd in fds:
            os.close(fd)
        if kind == "hello":
            self._hello(wire)
        elif kind == "status":
            wire.send(self._status())
        elif kind == "stop":
            self.end_browser()
        elif is_hub and kind == "roots" and self._browser is not None:
            self._browser.roots = [str(one) for one in message.get("ids", ())][:64]
        elif is_hub and kind == "next":
            self._next(str(message.get("instance", "")))
        elif is_hub and kind == "bye":
            # This hub promises that it has stopped using the pipe: no need to wait for its end.
            self._hub_left(kill=False)

    def _hello(self, wire: Wire) -> None:
        if self._hub is not None:
            wire.send({"t": "refused", "pid": self._hub.pid})
        elif self._waiting is not None:
            wire.send({"t": "refused", "pid": self._waiting.peer()[0]})
        elif self._leaving is not None:
            self._waiting = wire  # until the former hub's process has ended
        else:
            self._welcome(wire)

    def _welcome(self, wire: Wire) -> None:
        try:
            self._hub = Hub(wire, wire.peer()[0])
        except OSError:  # it has ended meanwhile
            self._forget(wire)
            return
        self._loop.cancel("give up")
        try:
            wire.send({"t": "welcome", "pid": os.getpid()})
            if self._failure is not None:
                wire.send(failure_message(self._failure))
                if not self._had_browser:
                    self._loop.ring("give up", 0.0, self._finish)
        except WireClosed:
            self._dropped(wire)
            return
        if self._browser is not None:
            self._hand_over()

    def _hand_over(self) -> None:
        browser, hub = self._browser, self._hub
        if browser is None or hub is None or not self._answered:
            return
        self._loop.unwatch(browser.read_fd)
        message = {
            "t": "browser",
            "pid": browser.pid,
            "instance": browser.instance,
            "roots": browser.roots,
        }
        try:
            hub.wire.send(message, [browser.read_fd, browser.write_fd])
        except WireClosed:
            self._dropped(hub.wire)

    def _next(self, instance: str) -> None:
        """The hub has lost the pipe of that instance and waits for another browser."""
        browser = self._browser
        if browser is None or browser.instance != instance:
            return  # the next one comes by itself
        # Mostly the process ends in a moment. If it lives on, only the hub's side was lost.
        self._loop.ring("same again", SAME_AGAIN_AFTER, self._same_browser_again)

    def _same_browser_again(self) -> None:
        browser = self._browser
        if browser is None:
            return
        self._same_again += 1
        if browser.hung_up() or self._same_again > SAME_AGAIN_TIMES:
            say(f"Chromium {browser.pid} cannot be reached any more; it is ended")
            browser.kill()
        else:
            self._hand_over()

    def _adopt(self, message: Message, fds: list[int]) -> None:
        try:
            pid, instance = int(message["pid"]), str(message["instance"])
            browser = KeptBrowser.adopt(pid, instance, [str(one) for one in message.get("roots", ())], fds)
        except (OSError, KeyError, ValueError):
            for fd in fds:
                os.close(fd)
            self._loop.ring("start", 0.0, self._start)
            return
        say(f"Chromium {browser.pid}, {browser.instance}, is taken over from hub {message.get('hub')}")
        self._loop.cancel("start")
        self._log_start = _size_of(self._plan.log)
        self._answered = self._had_browser = True
        self._browser = browser
        self._loop.watch(browser.pidfd, self._browser_ended)
        self._tell({"t": "adopted"})

    # -- leaving ---------------------------------------------------------------------------

    def _dropped(self, wire: Wire) -> None:
        if self._hub is not None and self._hub.wire is wire:
            self._hub_left(kill=True)
        else:
            self._forget(wire)

    def _hub_left(self, *, kill: bool) -> None:
        """The hub's socket is gone. While its process lives it may still read the pipe."""
        hub, self._hub = self._hub, None
        if hub is None:
            return
        self._forget(hub.wire)
        self._loop.cancel("same again")
        self._leaving = hub
        if not kill or hub.has_ended():
            self._hub_ended()
            return
        say(f"hub {hub.pid} has dropped its socket; its process is waited for")
        self._loop.watch(hub.pidfd, self._hub_ended)
        self._loop.ring("end hub", HUB_END_WITHIN, hub.kill)

    def _hub_ended(self) -> None:
        hub, self._leaving = self._leaving, None
        if hub is not None:
            self._loop.unwatch(hub.pidfd)
            os.close(hub.pidfd)
        self._loop.cancel("end hub")
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._welcome(waiting)
        if self._hub is None:
            self._drain()

    def _forget(self, wire: Wire) -> None:
        if self._waiting is wire:
            self._waiting = None
        self._loop.unwatch(wire.fileno())
        self._clients.pop(wire.fileno(), None)
        wire.close()

    def end_browser(self) -> None:
        """End Chromium and then the keeper: SIGTERM, and SIGKILL of the group after 5 s."""
        say("the browser and the keeper are ended")
        self._stopping = True
        self._loop.cancel("start")
        browser = self._browser
        if browser is None:
            self._finish()
            return
        browser.terminate()
        self._loop.ring("kill", CHROMIUM_END_WITHIN, browser.kill)

    def _finish(self) -> None:
        for wire in list(self._clients.values()):
            with contextlib.suppress(WireClosed):
                wire.send({"t": "stopped"})
            wire.close()
        self._listener.close()
        with contextlib.suppress(OSError):
            os.unlink(self._socket_path)
        self._exit = 0 if self._failure is None else 12

    # -- helpers ---------------------------------------------------------------------------

    def _status(self) -> Message:
        browser, hub = self._browser, self._hub
        return {
            "t": "status",
            "pid": os.getpid(),
            "hub": None if hub is None else hub.pid,
            "browser": None if browser is None else browser.pid,
            "instance": None if browser is None else browser.instance,
        }

    def _tell(self, message: Message) -> None:
        if self._hub is not None:
            try:
                self._hub.wire.send(message)
            except WireClosed:
                self._dropped(self._hub.wire)

    def _check_logs(self) -> None:
        bound_log(self._plan.log)
        bound_log(self._log)
        self._loop.ring("logs", LOG_CHECK_EVERY, self._check_logs)


def say(text: str) -> None:
    """One line into the keeper's log, which is its stderr."""
    # A full disk takes the log, not the browser.
    with contextlib.suppress(OSError):
        os.write(2, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode())


def failure_message(refusal: Refusal) -> Message:
    """The message that tells a hub why there is no browser."""
    return {
        "t": "failed",
        "code": refusal.code,
        "message": refusal.message,
        "next_step": refusal.next_step,
    }


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
