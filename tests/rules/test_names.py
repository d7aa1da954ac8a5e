"""Session names (C1): the shared cases in both languages, and which source wins."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windowseat.errors import Refusal
from windowseat.rules import names
from windowseat.rules.names import is_session_name, session_name, session_of, session_of_mcp

HERE = Path(__file__).parent
CASES = json.loads((HERE.parent / "cases" / "session_names.json").read_text())["cases"]
MODULE = Path(names.__file__).parent.parent / "web" / "static" / "session_name.js"
# A lone surrogate cannot stand in the shared file: high, low, doubled, before a letter, a true pair.
SURROGATES = ["\ud800", "\udc00", "a\ud83d", "\ud83d\ud83d\ude00", "\ude00\ud83d", "\ud800x", "\ud83d\ude00"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_shared_cases(case):
    assert session_name(case["prefix"], case["id"]) == case["name"]
    assert is_session_name(case["name"])


def test_a_lone_surrogate_counts_as_a_replacement_character():
    assert session_name("t3-", "\ud800")[-32:] == session_name("t3-", "\ufffd")[-32:]
    assert session_name("t3-", "\ud800") == "t3---" + session_name("t3-", "\ufffd")[-32:]
    # A pair in two code points is one character, as in UTF-16, and still two code units.
    assert session_name("t3-", "\ud83d\ude00") == session_name("t3-", "\U0001f600")


@pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")
def test_the_javascript_twin_agrees():
    wanted = [[c["prefix"], c["id"]] for c in CASES] + [["t3-", odd] for odd in SURROGATES]
    program = (
        f"import {{ sessionName }} from {json.dumps(MODULE.as_uri())};"
        "let text = ''; for await (const piece of process.stdin) text += piece;"
        "const found = []; for (const [p, i] of JSON.parse(text)) found.push(await sessionName(p, i));"
        "console.log(JSON.stringify(found));"
    )
    run = subprocess.run(
        ["node", "--no-warnings", "--input-type=module", "-e", program],
        input=json.dumps(wanted),  # ASCII escapes carry the surrogates
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert json.loads(run.stdout) == [session_name(prefix, thread) for prefix, thread in wanted]


@given(st.sampled_from(["", "t3-", "abcdefghijklmno-"]), st.text(), st.text())
def test_two_ids_never_share_a_name(prefix, first, second):
    one, other = session_name(prefix, first), session_name(prefix, second)
    assert is_session_name(one)
    assert (one == other) == (first == second)


@given(st.text())
def test_a_rewritten_name_is_never_the_name_of_an_id_that_looks_like_it(thread):
    name = session_name("t3-", thread)
    assert session_name("t3-", name.removeprefix("t3-")) != name or thread == name.removeprefix("t3-")


def test_a_wrong_prefix_is_refused():
    for prefix in ("seventeen-letters", "a b", "é"):
        with pytest.raises(ValueError, match="prefix"):
            session_name(prefix, "x")


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a\n", "é", "a.b"])
def test_what_is_no_session_name(name):
    assert not is_session_name(name)
    for source in ({}, {"WINDOWSEAT_SESSION": name or " "}, {"AGENT_BROWSER_SESSION": name or " "}):
        with pytest.raises(Refusal) as caught:
            session_of(source, "/srv/shop", None if source else name)
        assert caught.value.code == "bad-usage"


def test_the_first_source_that_is_set_wins():
    environ = {"AGENT_SESSION_ID": "g", "WINDOWSEAT_SESSION": "w", "CODEX_THREAD_ID": "c"}
    environ |= {"CLAUDE_CODE_SESSION_ID": "l", "AGENT_BROWSER_SESSION": "a"}
    order = ["w", "a", "codex-c", "claude-l", "goose-g"]
    variables = ["WINDOWSEAT_SESSION", "AGENT_BROWSER_SESSION", "CODEX_THREAD_ID"]
    variables += ["CLAUDE_CODE_SESSION_ID", "AGENT_SESSION_ID"]
    assert session_of(environ, "/srv/shop", "mine") == "mine"
    for name, variable in zip(order, variables, strict=True):
        assert session_of(environ, "/srv/shop") == name
        environ[variable] = ""  # empty counts as not set
    assert session_of(environ, "/srv/shop") == session_name("dir-", "/srv/shop")


def test_an_mcp_call_without_an_environment_goes_by_its_meta_then_by_its_connection():
    environ = {"CODEX_THREAD_ID": "env"}
    assert session_of_mcp(environ, "codex-mcp-client", {"threadId": "t"}, "c1") == "codex-env"
    assert session_of_mcp({}, "codex-mcp-client", {"threadId": "t"}, "c1") == "codex-t"
    assert session_of_mcp({}, "opencode", {"sessionID": "ses_1"}, "c1") == "opencode-ses_1"
    assert session_of_mcp({}, "Some Editor (beta)!", {"threadId": "t"}, "c1") == "some-editor--be-t"
    assert session_of_mcp({}, "x", {"threadId": 5, "sessionID": ""}, "c1") == "mcp-c1"
    assert session_of_mcp({}, "", None, "c2") == "mcp-c2"
