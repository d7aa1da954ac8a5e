from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from windowseat.cli.parser import make_parser

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_command_line_is_the_parsers():
    spec = importlib.util.spec_from_file_location("cli_docs", ROOT / "scripts/cli_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert written == module.cli_page(), "run: .venv/bin/python scripts/cli_docs.py > docs/cli.md"


def test_every_command_of_the_readme_is_one():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    known = {*make_parser().format_help().split(), "test", "check", "bench"}
    named = set(re.findall(r"`?\./run ([a-z]+)", text))
    assert named <= known
    assert {"up", "demo", "test", "check", "bench"} <= named


def test_every_link_of_the_documentation_leads_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_index_has_every_page():
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "README.md" or f"({name})" in index, name


def test_decisions_are_numbered_without_gaps():
    pages = sorted((ROOT / "docs/decisions").glob("*.md"))
    for number, page in enumerate(pages, 1):
        assert page.name.startswith(f"{number:04}-"), page.name
        title = page.read_text(encoding="utf-8").partition("\n")[0]
        assert title.startswith(f"# {number:04}: "), page.name
        assert f"[{title[2:6]} {title[8:]}](" in (ROOT / "docs/README.md").read_text(encoding="utf-8")


def test_no_lock_names_a_place_to_download_from():
    for lock in [*ROOT.glob("requirements*.txt"), ROOT / "package-lock.json"]:
        assert "://" not in lock.read_text(encoding="utf-8"), lock.name


def test_every_locked_package_has_a_hash():
    for lock in ROOT.glob("requirements*.txt"):
        text = lock.read_text(encoding="utf-8")
        entries = re.findall(r"(?mi)^([a-z0-9._-]+)==\S+ (.)\n((?:    --hash=\S+.*\n?)*)", text)
        assert len(entries) == text.count("=="), lock.name
        assert entries, lock.name
        assert all(hashes for _name, _more, hashes in entries), lock.name


def test_every_folder_with_code_is_a_package_that_says_what_it_is():
    for folder in {path.parent for path in (ROOT / "src/windowseat").rglob("*.py")}:
        first = (folder / "__init__.py").read_text(encoding="utf-8")
        assert first.startswith('"""'), folder
