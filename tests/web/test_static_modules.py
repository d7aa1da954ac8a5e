"""The pages' modules: a page names all that it will load, so that a long line is crossed once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from windowseat.web.static_files import STATIC

IMPORT = re.compile(r"""^(?:import|export)\b[^;]*?"(\.{1,2}/[^"]+)";""", re.MULTILINE)
PRELOAD = re.compile(r'<link rel="modulepreload" href="/static/([^"]+)">')


def imported(module: Path, found: set[Path]) -> set[Path]:
    for name in IMPORT.findall(module.read_text()):
        other = (module.parent / name).resolve()
        if other not in found:
            found.add(other)
            imported(other, found)
    return found


@pytest.mark.parametrize("name", ["launchpad", "view"])
def test_a_page_preloads_what_its_modules_import(name: str) -> None:
    preloaded = PRELOAD.findall((STATIC / name / "index.html").read_text())
    wanted = imported((STATIC / name / "main.js").resolve(), set())
    assert len(wanted) > 10
    assert sorted(preloaded) == sorted(str(path.relative_to(STATIC.resolve())) for path in wanted)
