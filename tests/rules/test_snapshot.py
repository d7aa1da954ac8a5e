"""The outline's text: one line per node, capped, and what changed between two of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from windowseat.rules.snapshot import changes, quote, render

Tree = list[Any]


def text(*nodes: Any) -> str:
    return render(list(nodes)).text


def test_a_node_has_role_name_ref_and_states() -> None:
    assert text(["button", "Save", 12, ["disabled"], []]) == '- button "Save" @e12 [disabled]'


def test_children_are_indented_below_their_parent() -> None:
    tree = ["main", "", 0, [], [["heading", "News", 0, ["level=1"], []], "Hello"]]
    assert text(tree) == '- main\n  - heading "News" [level=1]\n  - text: Hello'


def test_a_node_with_text_alone_takes_one_line() -> None:
    assert text(["paragraph", "", 0, [], ["Hello world"]]) == "- paragraph: Hello world"
    assert text(["listitem", "", 0, [], ["One"]]) == "- listitem: One"


def test_wrappers_of_one_node_disappear_but_named_ones_stay() -> None:
    link = ["link", "Docs", 3, [], []]
    assert text(["listitem", "", 0, [], [link]]) == '- link "Docs" @e3'
    assert text(["group", "Size", 0, [], [link]]) == '- group "Size"\n  - link "Docs" @e3'
    assert text(["listitem", "", 0, [], []]) == ""


def test_a_row_of_text_is_one_line_and_its_controls_follow() -> None:
    cells = [["cell", "", 0, [], ["Eve"]], ["cell", "", 0, [], ["42"]]]
    assert text(["row", "", 0, [], cells]) == "- row: Eve | 42"
    button = ["cell", "", 0, [], [["button", "Delete", 5, [], []]]]
    assert text(["row", "", 0, [], [*cells, button]]) == '- row: Eve | 42\n  - button "Delete" @e5'


def test_an_empty_cell_keeps_its_column() -> None:
    cells = [["cell", "", 0, [], ["a"]], ["cell", "", 0, [], []], ["cell", "", 0, [], ["c"]]]
    assert text(["row", "", 0, [], cells]) == "- row: a |  | c"


def test_rowgroups_add_no_level() -> None:
    row = ["row", "", 0, [], [["cell", "", 0, [], ["x"]]]]
    assert text(["table", "", 0, [], [["rowgroup", "", 0, [], [row]]]]) == "- table\n  - row: x"


def test_names_and_values_are_quoted_and_capped() -> None:
    line = text(["textbox", 'Say "hi"\n' + "n" * 300, 1, ["value=" + "v" * 300], []])
    assert "\n" not in line
    assert r"Say \"hi\"\n" in line
    assert "n" * 300 not in line
    assert "…" in line
    assert "v" * 199 + "…" in line
    assert "v" * 200 not in line


def test_a_lone_surrogate_does_not_reach_the_text() -> None:
    text(["button", "a\ud800b", 1, [], ["\ud800"]]).encode("utf-8")


def test_options_stand_on_one_line() -> None:
    tree = ["combobox", "Land", 4, ["value=CZ"], [["options", "", 0, [], ["DE", "CZ"]]]]
    assert text(tree) == '- combobox "Land" @e4 [value="CZ"]\n  - options: DE | CZ'


def test_the_whole_is_cut_at_a_line_before_the_limit() -> None:
    rendered = render([["paragraph", "", 0, [], [f"line {n:04}"]] for n in range(1000)], limit=1000)
    assert rendered.cut
    assert len(rendered.text) <= 1000
    assert rendered.lines[-1].startswith("- paragraph: line ")
    assert not render(["x"], limit=1000).cut


def test_changes_name_what_went_and_came_under_its_parents() -> None:
    before = ["- main", "  - form", '    - button "Save" @e1', "- contentinfo"]
    after = ["- main", "  - form", '    - button "Saved" @e1', "  - alert: Done", "- contentinfo"]
    assert changes(before, after) == [
        "  - main",
        "    - form",
        '-     - button "Save" @e1',
        '+     - button "Saved" @e1',
        "+   - alert: Done",
    ]
    assert changes(after, after) == []


def test_changes_of_huge_outlines_stay_quick_and_complete() -> None:
    before = [f"- text: {n}" for n in range(4000)]
    after = [f"- text: {n}" for n in range(3999, -1, -2)] + ["- text: new"]
    found = changes(before, after)
    assert "+ - text: new" in found
    assert "- - text: 0" in found


def test_quote_keeps_letters_of_all_languages() -> None:
    assert quote("Žluťoučký 🐎") == '"Žluťoučký 🐎"'


lines = st.lists(st.sampled_from(["- a", "  - b", "  - c", "    - d", "- e"]), max_size=12)


@given(lines, lines)
def test_changes_account_for_every_line(before: list[str], after: list[str]) -> None:
    found = changes(before, after)
    gone = sorted(line[2:] for line in found if line.startswith("- "))
    came = sorted(line[2:] for line in found if line.startswith("+ "))
    assert sorted([*before, *came]) == sorted([*after, *gone])
    assert bool(found) == (before != after)
