"""Writes `tabs.json` as contract C4 says: fresh, one at a time, stamped before it is taken.

A list is what apps drop their records by, so it must never lack an id that lives: none is taken
before the connection's targets are mapped, none while the browser does not answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson

from windowseat.chromium.connection import CdpError, CdpGone, CdpTimeout
from windowseat.hub.clock import boot_now
from windowseat.hub.home import write_whole
from windowseat.hub.link import BrowserLink, page_targets
from windowseat.hub.targets import Targets
from windowseat.rules import ids
from windowseat.rules.ids import Seen

log = logging.getLogger(__name__)

VERSION: Final = 1
LEAST_GAP: Final = 0.25  # 4 lists a second at most
FACES_GAP: Final = 1.0  # addresses and titles alone: once a second
MOST_GAP: Final = 30.0
ANSWER_WITHIN: Final = 10.0
LIMIT: Final = 1024 * 1024


class TabList:
    """Takes and writes the list whenever something it shows has changed.

    Attributes:
        taken: how many lists were written, for those who wait until one has a tab.
        failure: why the last one could not be written, or None.
    """

    def __init__(
        self,
        path: Path,
        home: str,
        targets: Targets,
        link: BrowserLink,
        rows: Callable[[], list[dict[str, Any]]],
    ) -> None:
        self._path = path
        self._home = home
        self._targets = targets
        self._link = link
        self._rows = rows
        self._loop = asyncio.get_running_loop()
        self._due = asyncio.Event()
        self._wanted_at: float | None = None
        self._written = asyncio.Condition()
        self._busy = False
        self.taken = 0
        self.failure: str | None = None

    def changed(self, *, faces_only: bool = False) -> None:
        """Something changed: `faces_only` where it is but addresses and titles."""
        at = self._loop.time() + (FACES_GAP if faces_only else 0.0)
        if self._wanted_at is None or at < self._wanted_at:
            self._wanted_at = at
            self._due.set()

    async def wait_next(self, timeout: float) -> bool:
        """Return once a list that began after this call is written; False after `timeout` seconds."""
        wanted = self.taken + 2 if self._busy else self.taken + 1
        self.changed()
        try:
            async with asyncio.timeout(timeout), self._written:
                await self._written.wait_for(lambda: self.taken >= wanted)
        except TimeoutError:
            return False
        return True

    async def run(self) -> None:
        """Write lists until cancelled."""
        while True:
            await self._wait_due()
            self._wanted_at = None
            self._busy = True
            try:
                await self._take()
            finally:
                self._busy = False
            await asyncio.sleep(LEAST_GAP)

    async def _wait_due(self) -> None:
        latest = self._loop.time() + MOST_GAP
        while True:
            due = latest if self._wanted_at is None else min(self._wanted_at, latest)
            left = due - self._loop.time()
            if left <= 0:
                return
            self._due.clear()
            try:
                async with asyncio.timeout(left):
                    await self._due.wait()
            except TimeoutError:
                return

    async def _take(self) -> None:
        root = self._link.root
        if root is None or not self._targets.ids.mapped:
            return  # the mapping's own change asks again
        taken = boot_now()
        try:
            infos = await page_targets(root, timeout=ANSWER_WITHIN)
        except CdpTimeout:
            log.warning("no tab list: the browser did not answer within %s s", ANSWER_WITHIN)
            self._targets.feed(ids.Unanswered())
            self.changed()
            return
        except (CdpError, CdpGone):
            return  # the browser ended
        self._targets.feed(ids.Answered())
        for info in infos:
            self._targets.feed(
                ids.TargetSeen(Seen(info["targetId"], info.get("url", ""), info.get("openerId")))
            )
        if not self._targets.ids.may_list():
            return
        content = _encode({"version": VERSION, "home": self._home, "taken": taken.as_dict()}, self._rows())
        try:
            await asyncio.to_thread(write_whole, self._path, content)
        except OSError as failure:
            self.failure = f"{self._path}: {failure.strerror}"
            log.warning("the tab list cannot be written: %s", self.failure)
            return
        self.failure = None
        async with self._written:
            self.taken += 1
            self._written.notify_all()


def _encode(head: dict[str, Any], rows: list[dict[str, Any]]) -> bytes:
    content = orjson.dumps({**head, "tabs": rows})
    if len(content) <= LIMIT:
        return content
    # Fields are left out rather than an id: an id that is missing ends somebody's tab.
    for fields in (("title",), ("title", "url")):
        short = [{k: v for k, v in row.items() if k not in fields} for row in rows]
        content = orjson.dumps({**head, "tabs": short})
        if len(content) <= LIMIT:
            return content
    return content
