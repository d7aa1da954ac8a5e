"""The hub's questions to the browser, against a pipe that the test plays itself."""

from __future__ import annotations

import asyncio
import json
import os

from windowseat.chromium.connection import Connection
from windowseat.hub.link import page_targets


async def test_a_target_that_ended_right_behind_the_answer_is_not_told_as_there():
    commands, their_write = os.pipe()
    their_read, answers = os.pipe()
    connection = Connection(their_read, their_write)
    connection.start()
    try:
        asking = asyncio.ensure_future(page_targets(connection.root))
        raw = b""
        while not (raw := raw.lstrip(b"\0")).endswith(b"\0"):  # a lone NUL may come first
            raw += await asyncio.to_thread(os.read, commands, 65536)
        answer = {
            "id": json.loads(raw[:-1])["id"],
            "result": {"targetInfos": [{"targetId": "STAYS"}, {"targetId": "ENDED"}]},
        }
        ended = {"method": "Target.targetDestroyed", "params": {"targetId": "ENDED"}}
        # One write, so that both are read before anybody who waits goes on.
        os.write(answers, json.dumps(answer).encode() + b"\0" + json.dumps(ended).encode() + b"\0")
        assert [info["targetId"] for info in await asyncio.wait_for(asking, 5)] == ["STAYS"]
    finally:
        os.close(answers)
        os.close(commands)
        connection.close()
