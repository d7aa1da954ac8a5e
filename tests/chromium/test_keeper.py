"""The keeper with a real Chromium: whoever is killed, the rest recovers and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from support.chromium import evaluate, open_page, running_chromium, serve_pages, wait_until
from support.keeper import SOURCES, KeeperHome, keeper_home, lives, lone_hub
from windowseat.chromium.connection import Connection
from windowseat.chromium.keeper_client import Browser, KeeperClient, keeper_status, stop_keeper
from windowseat.errors import Refusal


@pytest.fixture
async def home() -> AsyncIterator[KeeperHome]:
    async with keeper_home() as made:
        yield made


@pytest.fixture
def base() -> Iterator[str]:
    with serve_pages({"/": "<title>page</title>"}) as address:
        yield address


def connected(browser: Browser) -> Connection:
    connection = Connection(browser.read_fd, browser.write_fd)
    connection.start()
    return connection


async def answers(connection: Connection) -> bool:
    return "product" in await connection.root.call("Browser.getVersion")


def listening_ports(pids: set[int]) -> list[str]:
    """The TCP sockets on which any of the processes listens."""
    sockets = set()
    for pid in pids:
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(os.readlink(fd))
            except OSError:
                continue
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found.append(words[1])
    return found


# -- one hub ---------------------------------------------------------------------------------


async def test_it_starts_small_private_and_without_a_port(home: KeeperHome, base: str) -> None:
    client = await home.connect()
    connection = connected(client.browser)
    await open_page(connection, base + "/")
    assert stat.S_IMODE(home.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.profile.stat().st_mode) == 0o700
    assert stat.S_IMODE((home.folder / "chromium.log").stat().st_mode) == 0o600
    processes = set(home.processes())
    assert client.browser.pid in processes and len(processes) > 3
    assert listening_ports(processes | {client.pid}) == []
    assert os.getsid(client.pid) == client.pid != os.getsid(0)
    status = Path(f"/proc/{client.pid}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0])
    assert resident < 24 * 1024
    assert "secret" not in Path(f"/proc/{client.pid}/cmdline").read_text()
    os.kill(client.pid, signal.SIGHUP)
    os.kill(client.pid, signal.SIGINT)
    assert await keeper_status(home.socket) == {
        "t": "status",
        "pid": client.pid,
        "hub": os.getpid(),
        "browser": client.browser.pid,
        "instance": client.browser.instance,
    }
    await client.stop()
    connection.close()
    await home.wait_nothing_left()
    assert not home.socket.exists()
    assert await keeper_status(home.socket) is None


def test_the_keeper_loads_only_what_it_needs() -> None:
    code = (
        "import sys, windowseat.chromium.keeper;"
        "print([m for m in ('asyncio','orjson','pathlib','subprocess','logging') if m in sys.modules])"
    )
    environ = {**os.environ, "PYTHONPATH": SOURCES}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=environ, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


async def test_a_hub_that_leaves_well_hands_on_at_once(home: KeeperHome, base: str) -> None:
    client = await home.connect()
    first = client.browser
    connection = connected(first)
    page = await open_page(connection, base + "/")
    await evaluate(page, "window.mark = 5")
    connection.close()
    client.close()
    again = await asyncio.wait_for(home.connect(), 3)
    assert (again.browser.instance, again.browser.pid) == (first.instance, first.pid)
    connection = connected(again.browser)
    infos = (await connection.root.call("Target.getTargets"))["targetInfos"]
    target = next(info["targetId"] for info in infos if info["url"] == base + "/")
    page = await connection.root.attach(target)
    assert await evaluate(page, "window.mark") == 5
    connection.close()
    again.close()


async def test_a_second_hub_is_refused_with_the_firsts_pid(home: KeeperHome) -> None:
    async with lone_hub(home) as first:
        with pytest.raises(Refusal) as refused:
            await home.connect()
        assert refused.value.code == "already-running"
        assert str(first.pid) in refused.value.message


async def test_two_hubs_at_the_same_moment_give_one(home: KeeperHome) -> None:
    async with lone_hub(home) as first, lone_hub(home) as second:
        told = [first.told, second.told]
    assert sorted(answer.get("refused", "") for answer in told) == ["", "already-running"]


# -- hubs that end ---------------------------------------------------------------------------


async def test_a_killed_hub_loses_no_page_though_the_pipe_floods(home: KeeperHome, base: str) -> None:
    async with lone_hub(home) as first:
        await first.do("open", base + "/")
        await first.do("evaluate", base + "/", "window.mark = 1")
        await first.do("flood", base + "/")
        await first.do("half a command")
    # Nobody reads now but the keeper; a pipe that is not drained would stop the page's messages.
    began = asyncio.get_running_loop().time()
    client = await home.connect()
    assert asyncio.get_running_loop().time() - began < 2
    assert client.browser.instance == first.told["instance"]
    assert client.browser.former_roots == (first.told["root"],)
    connection = connected(client.browser)
    for former in client.browser.former_roots:
        await connection.root.call("Target.detachFromTarget", {"sessionId": former})
    infos = (await connection.root.call("Target.getTargets"))["targetInfos"]
    target = next(info["targetId"] for info in infos if info["url"] == base + "/")
    page = await connection.root.attach(target)
    assert await evaluate(page, "window.mark") == 1
    connection.close()
    client.close()


async def test_pages_go_on_while_no_hub_is_there(home: KeeperHome, base: str) -> None:
    async with lone_hub(home) as first:
        await first.do("open", base + "/")
        await first.do("flood", base + "/")
        # Counts whole messages that went out: a full pipe would block the browser's input and output.
        await first.do("evaluate", base + "/", "(window.n = 0, void setInterval(() => window.n++, 10))")
    client = await home.connect()
    connection = connected(client.browser)
    infos = (await connection.root.call("Target.getTargets"))["targetInfos"]
    page = await connection.root.attach(next(i["targetId"] for i in infos if i["url"] == base + "/"))
    await wait_until(lambda: evaluate(page, "window.n > 50"))
    connection.close()
    client.close()


async def test_a_hub_that_drops_its_socket_but_lives_is_ended(home: KeeperHome) -> None:
    async with lone_hub(home) as first:
        await first.do("drop the socket")
        began = asyncio.get_running_loop().time()
        client = await home.connect()
        waited = asyncio.get_running_loop().time() - began
        assert await first.wait_ended() == -signal.SIGKILL
        assert 4 < waited < 8
    connection = connected(client.browser)
    assert client.browser.instance == first.told["instance"]
    assert await answers(connection)
    connection.close()
    client.close()


# -- Chromium ends ---------------------------------------------------------------------------


async def test_a_killed_chromium_comes_back_as_another_instance(home: KeeperHome) -> None:
    client = await home.connect()
    first, connection = client.browser, connected(client.browser)
    os.kill(first.pid, signal.SIGKILL)
    await asyncio.wait_for(connection.wait_closed(), 5)
    second = await asyncio.wait_for(client.next_browser(), 10)
    assert second.instance != first.instance and second.pid != first.pid
    assert client.browser is second and second.former_roots == ()
    again = connected(second)
    assert await answers(again)
    again.close()
    client.close()
    await wait_until(lambda: not lives(first.pid))


async def test_a_hub_that_lost_only_its_side_gets_the_same_browser(home: KeeperHome) -> None:
    client = await home.connect()
    first = client.browser
    connected(first).close()
    second = await asyncio.wait_for(client.next_browser(), 10)
    assert second.instance == first.instance
    connection = connected(second)
    assert await answers(connection)
    connection.close()
    client.close()


async def test_a_chromium_that_closes_its_pipe_but_lives_is_ended(home: KeeperHome) -> None:
    program = home.folder / "chromium"
    # Answers the keeper's first message, then closes the pipe and stays.
    program.write_text("#!/bin/sh\nhead -c1 <&3 >/dev/null; printf '{}\\0' >&4; exec 3<&- 4>&-; sleep 600\n")
    program.chmod(0o755)
    client = await home.connect(argv=[str(program)])
    first = client.browser
    for fd in (first.read_fd, first.write_fd):
        os.close(fd)
    second = await asyncio.wait_for(client.next_browser(), 15)
    assert second.instance != first.instance
    for fd in (second.read_fd, second.write_fd):
        os.close(fd)
    await client.stop()
    await home.wait_nothing_left()


@pytest.mark.parametrize("body", ["echo 'it broke: no such thing' >&2; exit 7", "kill -SEGV $$"])
async def test_a_chromium_that_ends_at_once_is_explained(home: KeeperHome, body: str) -> None:
    program = home.folder / "chromium"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    with pytest.raises(Refusal) as refused:
        await home.connect(argv=[str(program)])
    assert refused.value.code == "browser-failed"
    assert ("it broke: no such thing" if "broke" in body else "SIGSEGV") in refused.value.message
    assert "chromium.log" in refused.value.next_step
    assert home.keeper_log().count("has started") == 3
    await home.wait_nothing_left()
    assert await keeper_status(home.socket) is None


async def test_a_chromium_that_is_not_there_is_explained(home: KeeperHome) -> None:
    with pytest.raises(Refusal) as refused:
        await home.connect(argv=[str(home.folder / "nothing")])
    assert refused.value.code == "browser-failed" and "nothing" in refused.value.message
    await wait_until(lambda: not home.socket.exists())


# -- the keeper ends -------------------------------------------------------------------------


async def test_a_killed_keeper_is_replaced_and_given_the_browser(home: KeeperHome, base: str) -> None:
    client = await home.connect()
    connection = connected(client.browser)
    first, keeper = client.browser, client.pid
    page = await open_page(connection, base + "/")
    await evaluate(page, "window.mark = 3")
    client.remember_roots(["a-root"])
    os.kill(keeper, signal.SIGKILL)
    await asyncio.wait_for(client.wait_lost(), 5)
    await asyncio.wait_for(client.adopt_again(), 10)
    assert client.pid != keeper
    assert await evaluate(page, "window.mark") == 3
    status = await keeper_status(home.socket)
    assert status is not None and status["browser"] == first.pid and status["instance"] == first.instance
    # And it keeps it as its own: over the hub's leaving, and over Chromium's end.
    connection.close()
    client.close()
    again = await home.connect()
    assert again.browser.instance == first.instance and again.browser.former_roots == ("a-root",)
    connection = connected(again.browser)
    os.kill(first.pid, signal.SIGKILL)
    await connection.wait_closed()
    assert (await asyncio.wait_for(again.next_browser(), 10)).instance != first.instance
    await again.stop()
    await home.wait_nothing_left()


async def test_keeper_and_chromium_killed_together(home: KeeperHome) -> None:
    client = await home.connect()
    connection = connected(client.browser)
    first = client.browser
    os.kill(client.pid, signal.SIGKILL)
    os.kill(first.pid, signal.SIGKILL)
    await connection.wait_closed()
    following = asyncio.ensure_future(client.next_browser())
    await client.wait_lost()
    await asyncio.wait_for(client.adopt_again(), 10)
    second = await asyncio.wait_for(following, 10)
    assert second.instance != first.instance
    connection = connected(second)
    assert await answers(connection)
    connection.close()
    await client.stop()
    await home.wait_nothing_left()


async def test_keeper_and_hub_killed_together_leave_no_process(home: KeeperHome, base: str) -> None:
    async with lone_hub(home) as hub:
        await hub.do("open", base + "/")
        assert len(home.processes()) > 3
        os.kill(hub.told["keeper"], signal.SIGKILL)
        await hub.kill()
    await home.wait_nothing_left()
    # The stale socket and the profile's stale lock do not stop the next start.
    assert home.socket.exists()
    client = await home.connect()
    connection = connected(client.browser)
    assert await answers(connection)
    connection.close()
    client.close()


async def test_a_keeper_killed_without_a_hub_leaves_no_process(home: KeeperHome) -> None:
    client = await home.connect()
    connected(client.browser).close()
    client.close()
    os.kill(client.pid, signal.SIGKILL)
    await home.wait_nothing_left()


async def test_a_terminated_keeper_ends_its_chromium(home: KeeperHome) -> None:
    client = await home.connect()
    connection = connected(client.browser)
    os.kill(client.pid, signal.SIGTERM)
    await asyncio.wait_for(client.wait_lost(), 10)
    connection.close()
    client.close()
    await home.wait_nothing_left()


async def test_stop_without_being_the_hub(home: KeeperHome) -> None:
    assert not await stop_keeper(home.socket)
    async with lone_hub(home):
        pass
    assert await stop_keeper(home.socket)
    await home.wait_nothing_left()


async def test_a_chromium_that_does_not_want_to_end_is_killed(home: KeeperHome) -> None:
    program = home.folder / "chromium"
    program.write_text(
        "#!/bin/sh\ntrap '' TERM\nhead -c1 <&3 >/dev/null; printf '{}\\0' >&4\nwhile :; do sleep 1; done\n"
    )
    program.chmod(0o755)
    client = await home.connect(argv=[str(program)])
    began = asyncio.get_running_loop().time()
    await client.stop()
    assert 4 < asyncio.get_running_loop().time() - began < 8
    await home.wait_nothing_left()


# -- what stands in the way ------------------------------------------------------------------


async def test_a_second_keeper_refuses(home: KeeperHome) -> None:
    client = await home.connect()
    connected(client.browser).close()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "windowseat.chromium.keeper",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": SOURCES},
    )
    out, err = await process.communicate(home.options().as_json(home.socket, adopts=False))
    assert process.returncode == 4
    assert b"already-running" in out and str(client.pid).encode() in err
    assert (await keeper_status(home.socket) or {})["pid"] == client.pid
    client.close()


async def test_a_profile_in_use_is_refused(home: KeeperHome) -> None:
    async with running_chromium(profile=home.profile) as other:
        with pytest.raises(Refusal) as refused:
            await home.connect()
        assert refused.value.code == "profile-in-use"
        assert str(other.pid) in refused.value.message
        assert await answers(other)
        await wait_until(lambda: not home.socket.exists())


async def test_a_home_that_cannot_be_used_is_explained(home: KeeperHome) -> None:
    home.socket = home.folder / ("long" * 30)
    with pytest.raises(Refusal) as too_long:
        await home.connect()
    assert too_long.value.code == "home-unusable"
    home.socket, home.lock = home.folder / "k.sock", home.folder / "missing" / "lock"
    with pytest.raises(Refusal) as missing:
        await home.connect()
    assert missing.value.code == "keeper-failed" and "missing" in missing.value.message


async def test_strangers_and_nonsense_do_not_disturb_it(home: KeeperHome) -> None:
    client = await home.connect()
    connection = connected(client.browser)
    for nonsense in (b"nonsense\n", b"[]\n", b'{"t":1}\n', b'{"t":"adopt","fds":2}\n', b"x" * 2_000_000):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.settimeout(5)
            stranger.connect(str(home.socket))
            try:
                stranger.sendall(nonsense)
                stranger.shutdown(socket.SHUT_WR)
                assert await asyncio.to_thread(stranger.recv, 100) == b""
            except ConnectionError:
                pass
    assert await answers(connection)
    assert (await keeper_status(home.socket) or {})["hub"] == os.getpid()
    connection.close()
    client.close()


# -- headed ----------------------------------------------------------------------------------


async def test_a_display_of_its_own_ends_with_its_browser(home: KeeperHome, base: str) -> None:
    client: KeeperClient = await home.connect(headed=True, display="own")
    connection = connected(client.browser)
    page = await open_page(connection, base + "/")
    assert await evaluate(page, "[screen.width, screen.height]") == [1920, 1080]

    def displays() -> list[int]:
        return [pid for pid, text in home.processes().items() if "Xvfb" in text]

    (display,) = displays()
    cookie = home.lock.with_name(home.lock.name + ".xauth")
    assert stat.S_IMODE(cookie.stat().st_mode) == 0o600
    number = Path(f"/proc/{client.browser.pid}/environ").read_bytes().split(b"DISPLAY=:")[1].split(b"\0")[0]
    assert not _may_connect(int(number)), "without the cookie nobody may look at the windows"
    os.kill(display, signal.SIGKILL)
    await asyncio.wait_for(connection.wait_closed(), 10)
    second = await asyncio.wait_for(client.next_browser(), 15)
    connection = connected(second)
    assert await answers(connection)
    # Nobody is left to end it: it ends with its browser.
    os.kill(client.pid, signal.SIGKILL)
    connection.close()
    client.close()
    await home.wait_nothing_left()


def _may_connect(number: int) -> bool:
    """Whether the X server admits a client without a cookie (its answer begins with 1)."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(f"/tmp/.X11-unix/X{number}")
        client.sendall(b"l\0\x0b\0\0\0\0\0\0\0\0\0")
        return client.recv(1) == b"\x01"
