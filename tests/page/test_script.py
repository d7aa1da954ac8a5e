"""The committed page script is the one that its sources give."""

from __future__ import annotations

import hashlib
import re

from windowseat.page.world import SCRIPT_PATH


def test_the_bundle_was_made_from_the_present_sources() -> None:
    fingerprint = hashlib.sha256()
    for source in sorted(SCRIPT_PATH.parent.glob("*.js")):
        if source != SCRIPT_PATH:
            fingerprint.update(source.read_bytes())
    stated = re.search(r"^// Sources: ([0-9a-f]{64})$", SCRIPT_PATH.read_text(), re.MULTILINE)
    assert stated, "run node scripts/page-script/bundle.mjs"
    assert stated[1] == fingerprint.hexdigest(), "out of date: run node scripts/page-script/bundle.mjs"


def test_the_library_in_the_bundle_has_its_licence_beside_it() -> None:
    assert "MIT" in (SCRIPT_PATH.parent / "page_script.licences.txt").read_text()
    assert len(SCRIPT_PATH.read_bytes()) < 50_000
