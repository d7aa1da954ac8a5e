"""A store that cannot be written any more (a full disk) while the hub runs: nothing is lost."""

from __future__ import annotations

import pytest

from support.chromium import serve_pages
from support.hub import running_hub, wait_until
from windowseat.errors import BrowserError


async def test_a_full_disk_refuses_operations_and_loses_no_tab() -> None:
    with serve_pages({"/": "<title>Hello</title>", "/b": "<title>B</title>"}) as site:
        base = str(site).rstrip("/")
        async with running_hub() as running:
            hub = running.hub
            tab = await hub.open(f"{base}/")
            await wait_until(lambda: hub.tabs[tab.id].title == "Hello", "the page")
            pages = running._store._db.execute("PRAGMA page_count").fetchone()[0]
            running._store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            running._store._db.execute("PRAGMA query_only = ON")  # as SQLite does when the disk is full
            assert pages > 0
            for operation in (hub.open(f"{base}/b"), hub.sleep(tab.id), hub.close(tab.id)):
                with pytest.raises(BrowserError) as refused:
                    await operation
                assert refused.value.code == "execution-failed"
                assert "nothing was changed" in refused.value.message
            page = await hub.page(tab.id)
            await page.session.call("Runtime.evaluate", {"expression": "open('/b'); 1", "userGesture": True})
            await wait_until(lambda: len(hub.tabs) == 2, "the pop-up has an id all the same")
            running._store._db.execute("PRAGMA query_only = OFF")
            third = await hub.open(f"{base}/b")
            await running.leave()
            hub = await running.start()
            assert len(hub.tabs) == 3
            assert third.id in hub.tabs
