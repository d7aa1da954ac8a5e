"""How a tab looks in the view's messages (the TAB of docs/protocols/view.md)."""

from __future__ import annotations

from typing import Any, Final

from windowseat.hub.clock import boot_now
from windowseat.hub.tab import Tab
from windowseat.page.page import Page

ICON_AT_MOST: Final = 64 * 1024


def tab_document(tab: Tab, page: Page | None) -> dict[str, Any]:
    """The TAB object. What only a live page knows is false without one."""
    found: dict[str, Any] = {
        "id": tab.id,
        "url": tab.url,
        "title": tab.title,
        # The view's content policy shows no picture from elsewhere.
        "icon": tab.icon if tab.icon.startswith("data:") and len(tab.icon) <= ICON_AT_MOST else "",
        "session": tab.session,
        "loading": page is not None and page.loading,
        "can_back": page is not None and page.can_back,
        "can_forward": page is not None and page.can_forward,
        "asleep": tab.asleep,
    }
    if tab.closes_at is not None:
        found["closes_in_s"] = max(0.0, round(tab.closes_at - boot_now().at, 1))
    return found
