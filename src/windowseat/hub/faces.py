"""What a tab shows: address, title, icon. Cut to bounds, saved at most once a second, counted as history.

Addresses come from the browser's targets, titles and icons from the bridge extension and from the
page itself, icons as data: addresses only: whoever is shown a tab asks nothing of its site. Nothing
here needs `Runtime.enable`, which pages can notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from typing import Final

from windowseat.hub.store import Store
from windowseat.hub.tab import Tab
from windowseat.rules.ids import BLANK

MOST_URL: Final = 2048
MOST_TITLE: Final = 256
MOST_ICON: Final = 32 * 1024
SAVE_AFTER: Final = 1.0
OURS: Final = f"{BLANK}#windowseat-"


class Faces:
    """Writes what tabs show into `tabs` and the store; `changed(id)` tells others."""

    def __init__(self, store: Store, tabs: dict[str, Tab], changed: Callable[[str], None]) -> None:
        self._store = store
        self._tabs = tabs
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._unsaved: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None

    def show(
        self, id: str, *, url: str | None = None, title: str | None = None, icon: str | None = None
    ) -> None:
        """Take what is not None; nothing happens where nothing differs."""
        tab = self._tabs.get(id)
        if tab is None:
            return
        before = (tab.url, tab.title, tab.icon)
        if url is not None:
            self._show_url(tab, url)
        if title is not None:
            tab.title = cut(title, MOST_TITLE)
        if icon is not None:
            tab.icon = icon if icon.startswith("data:image/") and len(icon) <= MOST_ICON else ""
        if (tab.url, tab.title, tab.icon) == before:
            return
        if tab.url == before[0] and tab.title != before[1]:
            self._store.save_visit_title(tab.url, tab.title)
        self._unsaved.add(id)
        if self._timer is None:
            self._timer = self._loop.call_later(SAVE_AFTER, self._save_all)
        self._changed(id)

    def flush(self, id: str) -> None:
        """Save one tab's face now, before it is closed or put to sleep."""
        if id in self._unsaved and (tab := self._tabs.get(id)) is not None:
            with contextlib.suppress(sqlite3.Error):
                self._store.save_face(id, tab.url, tab.title, tab.icon)
        self._unsaved.discard(id)

    def close(self) -> None:
        """Save everything and stop."""
        if self._timer is not None:
            self._timer.cancel()
        self._save_all()

    def _show_url(self, tab: Tab, url: str) -> None:
        url = cut(url, MOST_URL) or BLANK
        if url.startswith(OURS):
            # Our own blank page, on its way to the tab's address: that one is shown already.
            return
        if url == tab.url:
            return
        if not _same_site(tab.url, url):
            # Within a site the icon stays until another is told: else each step would blink.
            tab.icon = ""
        tab.url = url
        if url.startswith(("http://", "https://")):
            self._store.save_visit(url, tab.title)

    def _save_all(self) -> None:
        self._timer = None
        try:
            with self._store.together():
                for id in self._unsaved:
                    if (tab := self._tabs.get(id)) is not None:
                        self._store.save_face(id, tab.url, tab.title, tab.icon)
        except sqlite3.Error:
            return  # kept for the next change; `Targets` reports a store that cannot be written
        self._unsaved.clear()


def _same_site(one: str, other: str) -> bool:
    """Whether two addresses have scheme, host and port in common."""
    return one.split("/", 3)[:3] == other.split("/", 3)[:3]


def cut(text: str, most: int) -> str:
    """At most `most` characters, lone surrogates replaced (a page can make its address 1.5 MB long)."""
    return text[:most].encode("utf-8", "replace").decode()
