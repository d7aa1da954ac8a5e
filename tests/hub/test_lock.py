from __future__ import annotations

import os
import signal
import subprocess
import sys

from windowseat.hub.lock import holder_of, try_lock

HOLD = """
import sys
from pathlib import Path
from windowseat.hub.lock import try_lock
lock = try_lock(Path(sys.argv[1]))
print("held" if lock else "refused", flush=True)
sys.stdin.read()
"""


def hold(path):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", HOLD, str(path)], env=env, **pipes)


def test_one_holder_at_a_time_and_its_pid(tmp_path):
    path = tmp_path / "lock"
    lock = try_lock(path)
    assert lock is not None
    assert holder_of(path) == os.getpid()
    assert try_lock(path) is None
    lock.release()
    lock.release()
    assert holder_of(path) is None
    again = try_lock(path)
    assert again is not None
    again.release()


def test_asking_takes_nothing(tmp_path):
    path = tmp_path / "lock"
    assert holder_of(path) is None
    assert not path.exists()
    lock = try_lock(path)
    assert lock is not None
    assert [holder_of(path) for _ in range(3)] == [os.getpid()] * 3
    lock.release()


def test_a_killed_holder_lets_go(tmp_path):
    path = tmp_path / "lock"
    process = hold(path)
    try:
        assert process.stdout.readline() == "held\n"
        assert holder_of(path) == process.pid
        assert try_lock(path) is None
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)
        assert holder_of(path) is None
        lock = try_lock(path)
        assert lock is not None
        lock.release()
    finally:
        process.kill()
        process.communicate()
