"""What lies under a pointer: the cursor's shape and the address of a link."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from windowseat.page.page import Page

SCRIPT_PATH: Final = Path(__file__).parent / "pointing.js"
TIMEOUT: Final = 1.0


@dataclass(frozen=True)
class Pointed:
    """`cursor` is a CSS keyword, `link` the address of the link there or "" (at most 2,048 characters)."""

    cursor: str = "default"
    link: str = ""


async def look(page: Page, x: float, y: float, *, timeout: float = TIMEOUT) -> Pointed:
    """What lies at a point of the viewport, in CSS pixels.

    Raises:
        BrowserError: as `Page.evaluate_isolated`.
    """
    found = await page.evaluate_isolated(_script(), x, y, timeout=timeout)
    return Pointed(str(found["cursor"]), str(found["link"]))


@functools.cache
def _script() -> str:
    return SCRIPT_PATH.read_text(encoding="utf-8")
