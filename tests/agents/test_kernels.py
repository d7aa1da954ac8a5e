"""Kernels for real: processes, the ladder, what is lost and what is kept. Only the broker is a double."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from support.agents import Recording, png, until
from windowseat.agents import kernels as kernels_module
from windowseat.agents.kernel_process import KernelProcess
from windowseat.agents.kernels import Kernels
from windowseat.errors import BrowserError

STUBBORN = """
import time
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""


@pytest.fixture
async def broker():
    return Recording()


@pytest.fixture
async def kernels(broker, tmp_path):
    made = Kernels(broker, tmp_path, True)
    await made.start()
    yield made
    await made.aclose()


async def run(kernels, code, timeout=10.0, session="s"):
    return await kernels.execute(session, code, timeout)


async def test_variables_stay_and_the_last_expression_is_shown(kernels):
    first = await run(kernels, "def double(x):\n    return 2 * x\nnumbers = [double(3), 'é\\n']\nnumbers")
    assert (first.ok, first.text, first.value) == (True, "[6, 'é\\n']\n", [6, "é\n"])
    second = await run(kernels, "print('printed')\nnumbers[0] + 1")
    assert (second.text, second.value, second.error, second.state_lost) == ("printed\n7\n", 7, None, False)
    assert (await run(kernels, "numbers = 5")).text == ""
    assert (await run(kernels, "None")).text == ""
    assert (await run(kernels, "")).ok


async def test_what_is_no_json_is_shown_and_has_no_value(kernels):
    for code in ("object()", "float('nan')", "{1, 2}", "a = []; a.append(a); a"):
        answer = await run(kernels, code)
        assert answer.ok and answer.text and answer.value is None, code
    assert (await run(kernels, "'\\ud800'")).text == "'\\ud800'\n"
    assert (await run(kernels, "print('\\ud800')")).text == "\\ud800\n"
    assert (await run(kernels, "list(range(60))")).text.count("\n") > 2, "a long list is laid out over lines"


async def test_await_is_harmless_and_real_awaits_work(kernels, broker):
    answer = await run(
        kernels, "x = await tab.click('@e3')\nasync def f():\n    return await tab.stop()\nawait f()"
    )
    assert answer.ok, answer.text
    assert [op for _, op, _, _ in broker.asked] == ["tab.click", "tab.stop"]
    assert answer.value == {"seen": {}}
    slept = await run(
        kernels, "import asyncio\nawait asyncio.gather(asyncio.sleep(0.01, 1), asyncio.sleep(0, 2))"
    )
    assert slept.value == [1, 2]
    assert (await run(kernels, "asyncio.run(asyncio.sleep(0, 'own loop'))")).value == "own loop"
    assert (await run(kernels, "await asyncio.sleep(0, 'kernel loop')")).value == "kernel loop"


async def test_calls_reach_the_broker_for_the_session_with_the_time_that_is_left(kernels, broker):
    await kernels.execute("mine", "tab.type('label=Name', 'Ada', submit=True)", 7)
    session, op, args, timeout = broker.asked[0]
    assert (session, op) == ("mine", "tab.type")
    assert args == {"target": "label=Name", "text": "Ada", "submit": True}
    assert timeout is not None and 5 < timeout < 7


async def test_tabs_snapshots_and_pictures_have_types_of_their_own(kernels, broker):
    data = {"id": "t1", "url": "http://a/", "title": "A", "current": True}
    broker.answers["tabs.list"] = [data, data | {"id": "t2", "current": False}]
    broker.answers["tabs.open"] = data | {"id": "t2"}
    broker.answers["tab.snapshot"] = {"text": '- button "Go" @e1', "id": "s1", "url": "http://a/", "refs": 1}
    answer = await run(
        kernels,
        "one, two = browser.tabs()\nother = browser.open('http://a/')\nother.click('@e1')\n"
        "browser.select(two)\ns = tab.snapshot()\nassert '@e1' in s and s.refs == 1 and other == two\n"
        "print(tab.id, other.title)\ns",
    )
    assert answer.text == 't1 A\n[(no title)] http://a/ (snapshot s1)\n- button "Go" @e1\n', answer.text
    asked = [(op, args) for _, op, args, _ in broker.asked]
    assert ("tab.click", {"target": "@e1", "tab": "t2"}) in asked
    assert ("tabs.select", {"tab": "t2"}) in asked
    await run(kernels, "two.sleep(); browser.restore('t9')")
    assert [(op, args) for _, op, args, _ in broker.asked][-2:] == [
        ("tab.sleep", {"tab": "t2"}),
        ("tab.restore", {"tab": "t9"}),
    ]


async def test_pictures_are_attached(kernels, broker):
    picture = png(30, 20)
    broker.answers["tab.screenshot"] = {"mime_type": "image/png", "data": base64.b64encode(picture).decode()}
    answer = await run(kernels, "p = tab.screenshot()\nshow(p)\np.save('kept.png')\nshow('kept.png')\np")
    assert answer.text == f"<screenshot 30x20 image/png, {len(picture)} bytes>\n"
    assert [path.read_bytes() for path in answer.images] == [picture] * 3
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in answer.images)
    five = await run(kernels, "for _ in range(5): show(p)")
    assert (five.error or {})["code"] == "invalid-args" and len(five.images) == 4
    for code in ("show(b'no picture')", "show(17)", f"show({png(2000, 1)!r})"):
        assert ((await run(kernels, code)).error or {})["code"] == "invalid-args", code


async def test_failures_say_where_and_keep_their_code(kernels, broker):
    broker.answers["tab.click"] = BrowserError("timeout", "It is covered.", outcome="unknown")
    answer = await run(kernels, "x = 1\ntab.click('@e1')")
    assert answer.error == {
        "code": "timeout",
        "message": "It is covered.",
        "retryable": True,
        "outcome": "unknown",
    }
    assert 'File "<cell 1>", line 2' in answer.text and "windowseat/" not in answer.text
    caught = await run(
        kernels, "try:\n    tab.click('@e1')\nexcept BrowserError as e:\n    print(e.code, e.retryable)"
    )
    assert caught.ok and caught.text == "timeout True\n"
    assert "ZeroDivisionError" in (await run(kernels, "1/0")).text
    assert (await run(kernels, "def f(:")).error["code"] == "execution-failed"
    assert (await run(kernels, "exit()")).ok is False
    assert (await run(kernels, "x")).value == 1


async def test_a_wrong_name_is_answered_with_the_right_one(kernels, broker):
    assert "did you mean tab.click?" in (await run(kernels, "tab.clik('x')")).error["message"]
    assert "did you mean count?" in (await run(kernels, "tab.click('x', cuont=2)")).error["message"]
    assert "target" in (await run(kernels, "tab.click('a','b',1,[],[1,2],'f')")).error["message"]
    assert "twice" in (await run(kernels, "tab.click('x', target='y')")).error["message"]
    assert "did you mean" in (await run(kernels, "browser.help('snapshto')")).error["message"]
    assert broker.asked == []


async def test_help_covers_every_operation(kernels):
    from windowseat.rules.operations import OPERATIONS

    overview = (await run(kernels, "browser.help()")).text
    for operation in OPERATIONS.values():
        name = operation.call.partition("(")[0]
        assert name in overview
        assert operation.doc in (await run(kernels, f"browser.help({name!r})")).text
        assert (await run(kernels, f"callable({name})")).value is True
    assert "stale-ref" in (await run(kernels, "browser.help('errors')")).text


async def test_long_output_is_cut_in_the_middle_and_whole_in_a_file(kernels, tmp_path):
    answer = await run(kernels, "for i in range(5000): print(f'line {i}')")
    assert answer.text.startswith("line 0\nline 1\n") and answer.text.endswith("line 4998\nline 4999\n")
    assert len(answer.text) < 10_300 and "characters left out" in answer.text
    assert "output/cell-1.txt" in answer.text
    whole = (tmp_path / "s" / "output" / "cell-1.txt").read_text()
    assert whole.splitlines() == [f"line {i}" for i in range(5000)]
    assert (await run(kernels, "len(open('output/cell-1.txt').read())")).value == len(whole)
    at_once = await run(kernels, "print('a' * 30_000 + 'z')")
    assert at_once.text.startswith("aaaa") and at_once.text.endswith("az\n") and len(at_once.text) < 10_300
    just = await run(kernels, "print('b' * 9999)")
    assert just.text == "b" * 9999 + "\n"


async def test_an_endless_loop_is_interrupted_and_its_variables_stay(kernels):
    await run(kernels, "import asyncio\nkept = 7")
    for code in (
        "while True: pass",
        "import time\nprint('begun')\ntime.sleep(60)",
        "await asyncio.sleep(60)",
    ):
        began = time.monotonic()
        answer = await run(kernels, code, 0.5)
        assert 0.5 <= time.monotonic() - began < 2.5
        assert answer.error["code"] == "timeout" and "kept" in answer.error["message"]
        assert not answer.ok and not answer.state_lost
    again = await run(kernels, "kept")
    assert again.value == 7
    assert (await run(kernels, "await asyncio.sleep(0, 'fine')")).value == "fine"


async def test_an_interrupted_import_can_be_repeated(kernels, tmp_path):
    await run(kernels, "1")
    package = tmp_path / "s" / "slow"
    package.mkdir()
    (package / "part.py").write_text("__all__ = ['x']\nx = 1\n")
    (package / "__init__.py").write_text(
        "from .part import *\nimport os, time\n"
        "if not os.path.exists('quick'): time.sleep(60)\nfound = part.x\n"
    )
    assert (await run(kernels, "import slow", 0.5)).error["code"] == "timeout"
    (tmp_path / "s" / "quick").touch()
    assert (await run(kernels, "import slow\nslow.found")).value == 1


async def test_what_swallows_the_interrupt_is_killed_and_says_that_state_is_lost(kernels):
    await run(kernels, "kept = 7")
    code = "print('before')\n" + STUBBORN
    began = time.monotonic()
    answer = await run(kernels, code, 0.5)
    assert 2.5 <= time.monotonic() - began < 6
    assert answer.error["code"] == "timeout" and "killed" in answer.error["message"]
    assert answer.state_lost and answer.text == "before", "what it printed is not lost with it"
    after = await run(kernels, "'kept' in globals()")
    assert after.ok and after.value is False


async def test_ignoring_the_signal_does_not_help(kernels):
    answer = await run(
        kernels, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", 0.3
    )
    assert answer.state_lost
    again = await run(kernels, "while True: pass", 0.3)
    assert not again.state_lost


async def test_a_kernel_that_dies_costs_its_cell_only(kernels):
    for code, words in (("import os; print('x'); os._exit(3)", "exit code 3"),
                        ("import os; os.kill(os.getpid(), 9)", "SIGKILL")):  # fmt: skip
        answer = await run(kernels, code)
        assert answer.state_lost and words in answer.error["message"]
        assert answer.error["code"] == "execution-failed"
        assert (await run(kernels, "1 + 1")).value == 2


async def test_a_kernel_killed_between_cells_is_told_with_the_next(kernels):
    pid = (await run(kernels, "import os; os.getpid()")).value
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not kernels.alive("s"))
    answer = await run(kernels, "1 + 1")
    assert answer.ok and answer.state_lost and "variables are lost" in answer.text and answer.value == 2


async def test_too_much_memory_is_an_error_and_not_the_end(kernels):
    await run(kernels, "kept = 7")
    answer = await run(kernels, "block = b'x' * (2 << 30)")
    assert answer.error["code"] == "execution-failed" and "memory" in answer.error["message"]
    assert (await run(kernels, "kept")).value == 7


async def test_two_cells_at_once_run_one_after_the_other_and_keep_their_output(kernels):
    slow = "import time\nfor i in range(5):\n    print('slow', i); time.sleep(0.02)\nlog = ['slow']"
    first, second = await asyncio.gather(
        run(kernels, slow), run(kernels, "log.append('quick'); print('quick'); log")
    )
    assert first.text == "".join(f"slow {i}\n" for i in range(5))
    assert second.text == "quick\n['slow', 'quick']\n"


async def test_sessions_share_nothing(kernels):
    await run(kernels, "secret = 1; open('file.txt', 'w').write('x')", session="one")
    answer = await run(
        kernels, "import os\n('secret' in globals(), os.path.exists('file.txt'))", session="two"
    )
    assert answer.text == "(False, False)\n"
    slow = asyncio.create_task(run(kernels, "import time; time.sleep(3)", 1.0, session="one"))
    assert (await run(kernels, "2 + 2", session="two")).value == 4
    assert not slow.done(), "a session does not wait for another's cell"
    assert (await slow).error["code"] == "timeout"


async def test_a_thread_left_running_writes_into_no_later_cell(kernels):
    code = (
        "import threading, time\ngo = threading.Event()\ndone = threading.Event()\n"
        "def late():\n    go.wait(10); print('from the earlier cell'); done.set()\n"
        "def soon():\n    print('in time')\n"
        "t = threading.Thread(target=soon); t.start(); t.join()\n"
        "threading.Thread(target=late, daemon=True).start()"
    )
    assert (await run(kernels, code)).text == "in time\n"
    answer = await run(kernels, "go.set(); done.wait(10); print('mine')")
    assert answer.text.splitlines()[0] == "mine" and "earlier" not in answer.text


async def test_a_task_left_running_ends_with_its_cell(kernels):
    code = (
        "import asyncio\nasync def late():\n    try:\n        await asyncio.sleep(0.05); print('late')\n"
        "    finally:\n        print('ended')\ntask = asyncio.create_task(late())\nawait asyncio.sleep(0)"
    )
    assert (await run(kernels, code)).text == "ended\n"
    assert (await run(kernels, "await asyncio.sleep(0.1)\ntask.cancelled()")).text == "True\n"


async def test_cells_under_way_are_told_when_windowseat_ends(broker, tmp_path):
    made = Kernels(broker, tmp_path, True)
    await made.start()
    cell = asyncio.create_task(made.execute("s", "while True: pass", 60))
    await until(lambda: "s" in made._stops)
    await made.aclose()
    with pytest.raises(BrowserError) as caught:
        await cell
    assert caught.value.code == "host-unavailable"


async def test_threads_cannot_call_the_browser(kernels, broker):
    code = (
        "import concurrent.futures as f\nwith f.ThreadPoolExecutor(1) as pool:\n"
        "    error = pool.submit(tab.stop).exception()\nerror.code"
    )
    assert (await run(kernels, code)).value == "unsupported"
    assert broker.asked == []


async def test_an_operation_that_waits_ends_inside_its_cell_first(kernels, broker):
    broker.held = asyncio.Event()
    answer = await run(
        kernels, "try:\n    tab.stop()\nexcept BrowserError as e:\n    print('caught', e.code)", 1.0
    )
    assert answer.ok and answer.text == "caught timeout\n"


async def test_cancelling_interrupts_the_cell_and_its_operation(kernels, broker):
    await run(kernels, "kept = 7")
    broker.held = asyncio.Event()
    cell = asyncio.create_task(run(kernels, "tab.stop()"))
    await until(lambda: bool(broker.asked))
    cell.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await cell
    await until(lambda: broker.cancelled == 1)
    broker.held = None
    # The late reply of the first question is not taken for the second's.
    broker.answers["tab.stop"] = "second"
    answer = await run(kernels, "(kept, tab.stop())[1]")
    assert answer.value == "second" and not answer.state_lost


async def test_an_answer_that_is_too_long_or_an_argument_that_is_no_json_is_an_error(kernels, broker):
    broker.answers["tab.evaluate"] = "x" * (50 << 20)
    assert "ask for less" in (await run(kernels, "tab.evaluate('1')")).error["message"]
    assert (await run(kernels, "tab.type('#a', object())")).error["code"] == "invalid-args"
    assert (await run(kernels, "tab.type('#a', {1, 2})")).error["code"] == "invalid-args"
    assert (await run(kernels, "1")).value == 1


async def test_reset_forgets_everything_also_in_the_middle_of_a_cell(kernels):
    await run(kernels, "kept = 7")
    cell = asyncio.create_task(run(kernels, "while True: pass"))
    await until(lambda: "s" in kernels._stops)
    await kernels.reset("s")
    assert (await cell).error["code"] == "cancelled"
    assert (await run(kernels, "'kept' in globals()")).value is False
    await kernels.reset("never-was")


async def test_a_child_process_has_no_voice(kernels, broker):
    code = (
        "import os\npid = os.fork()\nif pid == 0:\n"
        "    try:\n        tab.stop()\n    finally:\n        os._exit(0)\n"
        "os.waitpid(pid, 0)\nprint('parent goes on')"
    )
    answer = await run(kernels, code)
    assert answer.text == "parent goes on\n" and broker.asked == []


async def test_the_process_is_bounded_and_alone(kernels, tmp_path, monkeypatch):
    answer = await run(
        kernels,
        "import os, resource, sys\nprint(sorted(os.environ), os.getcwd(), sys.stdin)\n"
        "[resource.getrlimit(resource.RLIMIT_AS)[0], os.read(0, 10) == b'', os.getsid(0) == os.getpid(),"
        " sorted(m for m in ('asyncio', 'pydantic', 'starlette', 'pathlib') if m in sys.modules)]",
    )
    assert answer.value == [1 << 30, True, True, []], answer.text
    assert str(tmp_path / "s") in answer.text and "LC_CTYPE" not in answer.text
    assert "WINDOWSEAT" not in answer.text and "HOME" in answer.text
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o700


async def test_kernels_end_with_their_owner(broker, tmp_path):
    made = Kernels(broker, tmp_path, True)
    await made.start()
    pid = (await made.execute("s", "import os; os.getpid()", 10)).value
    assert Path(f"/proc/{pid}").exists()
    await made.aclose()
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(BrowserError):
        await made.execute("s", "1", 10)


HUB_TO_KILL = """
import asyncio, sys
from pathlib import Path
from windowseat.agents.kernel_process import KernelProcess
from windowseat.agents.kernels import Kernels

async def main():
    kernels = Kernels(None, Path(sys.argv[1]), True)
    await kernels.start()
    answer = await kernels.execute("s", "import os; os.getpid()", 10)
    print(answer.value, flush=True)
    await kernels.execute("s", sys.argv[2], 600)

asyncio.run(main())
"""


async def test_kernels_end_when_the_hub_is_killed(tmp_path):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    hub = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HUB_TO_KILL, str(tmp_path), STUBBORN, stdout=asyncio.subprocess.PIPE, env=env
    )
    assert hub.stdout is not None
    pid = int(await asyncio.wait_for(hub.stdout.readline(), 20))
    assert Path(f"/proc/{pid}").exists()
    hub.kill()
    await hub.wait()
    await until(lambda: not Path(f"/proc/{pid}").exists())


async def test_where_code_mode_is_off_the_step_is_named(broker, tmp_path):
    made = Kernels(broker, tmp_path, False)
    await made.start()
    with pytest.raises(BrowserError, match="up --code-mode") as caught:
        await made.execute("s", "1", 10)
    assert caught.value.code == "not-allowed"
    assert list(tmp_path.iterdir()) == []
    await made.aclose()


@pytest.mark.parametrize(
    ("session", "code", "timeout"),
    [
        ("a b", "1", 5),
        ("..", "1", 5),
        ("s", "x" * 1_000_001, 5),
        ("s", "1", 0),
        ("s", "1", 601),
        ("s", "1", float("nan")),
    ],
)
async def test_bad_calls_are_refused(kernels, session, code, timeout):
    with pytest.raises(BrowserError) as caught:
        await kernels.execute(session, code, timeout)
    assert caught.value.code == "invalid-args"


async def test_only_so_many_cells_may_wait(kernels):
    running = [asyncio.create_task(run(kernels, "import time; time.sleep(0.05)")) for _ in range(9)]
    await until(lambda: kernels._waiting.get("s", 0) == 8)
    with pytest.raises(BrowserError, match="wait already"):
        await run(kernels, "1")
    assert all(answer.ok for answer in await asyncio.gather(*running))


async def test_there_are_only_so_many_kernels_and_the_longest_unused_ends(kernels, monkeypatch):
    monkeypatch.setattr(kernels_module, "KERNELS_LIMIT", 2)
    for name in ("one", "two", "one", "three"):
        await run(kernels, "kept = 1", session=name)
    assert not kernels.alive("two") and kernels.alive("one") and kernels.alive("three")
    assert "made room" in (await run(kernels, "1", session="two")).text
    assert not (await run(kernels, "1", session="two")).state_lost


async def test_a_kernel_that_nobody_uses_ends_and_one_at_work_does_not(broker, tmp_path, monkeypatch):
    monkeypatch.setattr(kernels_module, "IDLE_LIMIT", 0.3)
    monkeypatch.setattr(kernels_module, "LOOK_EVERY", 0.05)
    made = Kernels(broker, tmp_path, True)
    await made.start()
    try:
        pid = (await made.execute("s", "kept = 1\nimport os; os.getpid()", 10)).value
        assert (await made.execute("s", "import time; time.sleep(1); kept", 10)).value == 1
        await until(lambda: not Path(f"/proc/{pid}").exists())
        again = await made.execute("s", "'kept' in globals()", 10)
        assert again.value is False and again.ok
        assert again.state_lost and "not used for an hour" in again.text
    finally:
        await made.aclose()


async def test_the_spare_makes_the_first_cell_of_a_session_fast(kernels, tmp_path):
    def ready():
        return kernels._spare is not None and kernels._spare.done()

    await until(ready)
    began = time.monotonic()
    other = await KernelProcess.start(tmp_path)
    cold = time.monotonic() - began
    await other.close()
    began = time.monotonic()
    assert (await run(kernels, "1")).ok
    assert time.monotonic() - began < cold / 2
    await until(ready)


NONSENSE = """
import os
for fd in map(int, os.listdir('/proc/self/fd')):
    try:
        if 'socket' in os.readlink(f'/proc/self/fd/{fd}'):
            os.write(fd, b'\\xff' * 64)
    except OSError:
        pass
while True: pass
"""


FORGED = """
import json, os, socket
for fd in map(int, os.listdir('/proc/self/fd')):
    try:
        if 'socket' in os.readlink(f'/proc/self/fd/{fd}'):
            break
    except OSError:
        pass
def forge(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    rest = len(body).to_bytes(4, 'big') + body
    while rest:
        try:
            rest = rest[os.write(fd, rest):]
        except BlockingIOError:
            pass
"""


async def test_a_forged_answer_is_cleaned(kernels):
    await run(kernels, FORGED)
    forged = {
        "t": "done",
        "cell": 2,
        "ok": True,
        "text": "\ud800" * 30_000,
        "value": ["\ud800"],
        "images": [],
    }
    answer = await run(kernels, f"forge({forged!r})\nwhile True: pass", 5)
    answer.text.encode()
    assert answer.ok and len(answer.text) < 200_000 and answer.value is None
    await kernels.reset("s")
    await run(kernels, FORGED)
    for body in (
        b'{"t":"done","cell":%d}',
        b'{"t":"done","cell":%d,"ok":1,"text":"","error":{"code":"no","message":1}}',
    ):
        await run(kernels, FORGED)
        code = "import inspect\nn = int(inspect.currentframe().f_code.co_filename[6:-1])\n"
        answer = await run(kernels, f"{code}forge({body!r} % n)\nwhile True: pass", 5)
        assert answer.state_lost and answer.error["code"] == "execution-failed", body


async def test_a_kernel_that_asks_without_end_and_never_reads_is_ended(kernels, broker):
    broker.answers["tab.evaluate"] = "x" * 5_000_000
    await run(kernels, FORGED)
    ask = {"t": "op", "id": 1, "op": "tab.evaluate", "args": {}, "timeout_s": 5}
    answer = await run(kernels, f"import time\nwhile True:\n    forge({ask!r}); time.sleep(0.01)", 30)
    assert answer.state_lost and "SIGKILL" in answer.error["message"]


async def test_nonsense_from_a_kernel_ends_only_that_kernel(kernels):
    answer = await run(kernels, NONSENSE, 5)
    assert answer.state_lost and answer.error["code"] == "execution-failed"
    assert (await run(kernels, "1 + 1")).value == 2
