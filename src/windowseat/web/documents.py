"""How tabs, sessions, people and closed tabs look in JSON: one shape per thing (contract C11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from windowseat.hub.clock import boot_id, boot_now
from windowseat.hub.people import Person
from windowseat.hub.store import ClosedTab
from windowseat.hub.tab import Tab
from windowseat.rules.clock import BootTime
from windowseat.web.services import Services


def tab_document(services: Services, tab: Tab, memory: int | None = None) -> dict[str, Any]:
    """A tab as `windowseat tabs --json` and the hub's API show it. `memory` in bytes, if known."""
    found: dict[str, Any] = {
        "id": tab.id,
        "target": tab.target,
        "url": tab.url,
        "title": tab.title,
        "session": tab.session,
        "opener": tab.opener,
        "held_by": [],
        "agents": agents_of(services, tab),
        "viewers": [person.name for person in services.views.viewers(tab.id)],
        "asleep": tab.asleep,
        "closes_at": None,
        "memory": memory,
    }
    if tab.closes_at is not None:
        found["closes_at"] = BootTime(boot_id(), tab.closes_at).as_dict()
        found["closes_in_s"] = closes_in(tab)
    return found


def closes_in(tab: Tab) -> float | None:
    """Seconds that a closing tab's Undo still lasts; None for a tab that is open."""
    if tab.closes_at is None:
        return None
    return max(0.0, round(tab.closes_at - boot_now().at, 1))


def agents_of(services: Services, tab: Tab) -> list[str]:
    """Names of the sessions whose agent is alive in this tab."""
    return [tab.session] if tab.session is not None and services.kernels.alive(tab.session) else []


def session_documents(services: Services, now: float) -> list[dict[str, Any]]:
    """The `sessions` of C11, those with tabs first, then by last use. `now`: wall-clock seconds."""
    counts = _tabs_by_session(services.hub.tabs.values())
    used = {session.name: session.used_at for session in services.hub.sessions()}
    found = [
        {
            "name": name,
            "tabs": counts.get(name, 0),
            "alive": services.kernels.alive(name),
            "last_used_s": round(max(0.0, now - used[name]), 1) if name in used else None,
        }
        for name in used.keys() | counts.keys()
    ]
    return sorted(found, key=lambda one: (one["tabs"] == 0, one["last_used_s"] or 0.0, one["name"]))


def closed_documents(closed: Sequence[ClosedTab], at_most: int = 100) -> list[dict[str, Any]]:
    """Tabs that may be reopened, the latest first. `closed_at`: wall-clock seconds."""
    return [
        {
            "id": tab.id,
            "url": tab.url,
            "title": tab.title,
            "session": tab.session,
            "closed_at": tab.closed_at,
        }
        for tab in closed[:at_most]
    ]


def person_document(person: Person) -> dict[str, Any]:
    """A person as every page shows them."""
    return {"id": person.id, "name": person.name, "color": person.color}


def _tabs_by_session(tabs: Iterable[Tab]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for tab in tabs:
        if tab.session is not None:
            counts[tab.session] = counts.get(tab.session, 0) + 1
    return counts
