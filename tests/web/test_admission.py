"""Admission: what lets whom in, for how long, and what the file gives away."""

from __future__ import annotations

import hashlib
import sqlite3
import stat
from pathlib import Path

import pytest

from windowseat.errors import Refusal
from windowseat.web.admission import COLORS, COOKIE_SECONDS, Admission, Entered, NotAdmittedError


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def admission(tmp_path: Path, clock: Clock):
    made = Admission(tmp_path / "a.db", "0123-home", clock, login="ana")
    yield made
    made.close()


def enter(admission: Admission, name: str | None = None) -> Entered:
    return admission.enter(admission.new_code(name))


def cookies(entered: Entered) -> dict[str, str]:
    return {entered.cookie_name: entered.cookie_value}


def test_a_code_admits_once(admission):
    code = admission.new_code()
    assert admission.enter(code).person.name == "ana"
    with pytest.raises(NotAdmittedError) as refused:
        admission.enter(code)
    assert refused.value.code == "unknown-code"


def test_a_code_ends_after_five_minutes(admission, clock):
    code = admission.new_code()
    clock.now += 300.5
    with pytest.raises(NotAdmittedError):
        admission.enter(code)


def test_wrong_codes_are_limited_and_a_right_one_still_admits(admission, clock):
    code = admission.new_code()
    seen = []
    for number in range(12):
        with pytest.raises(NotAdmittedError) as refused:
            admission.enter(f"wrong{number}")
        seen.append(refused.value.code)
    assert seen == ["unknown-code"] * 10 + ["too-many-attempts"] * 2
    assert admission.enter(code).person
    clock.now += 61
    with pytest.raises(NotAdmittedError) as refused:
        admission.enter("wrong again")
    assert refused.value.code == "unknown-code"


def test_a_call_needs_cookie_and_secret_of_the_same_person(admission):
    ana, ben = enter(admission), enter(admission)
    assert admission.person_of(cookies(ana), ana.secret) == ana.person
    assert admission.person_of(cookies(ana), None) is None
    assert admission.person_of(cookies(ana), ben.secret) is None
    assert admission.person_of({}, ana.secret) is None
    assert admission.person_of({"other": ana.cookie_value}, ana.secret) is None
    assert admission.person_of(cookies(ana), ana.cookie_value) is None
    assert admission.cookie_holder(cookies(ana)) == ana.person


@pytest.mark.parametrize("odd", ["", "x" * 100_000, "\ud800", "ž", "\0"])
def test_odd_proofs_admit_nobody(admission, odd):
    ana = enter(admission)
    assert admission.person_of(cookies(ana), odd) is None
    assert admission.cookie_holder({ana.cookie_name: odd}) is None
    assert admission.view_person(odd, "t1") is None
    assert admission.trade_view_token(odd, "t1") is None
    with pytest.raises(NotAdmittedError):
        admission.enter(odd)


def test_entering_again_keeps_the_person_and_replaces_the_proofs(admission):
    ana = enter(admission)
    again = admission.enter(admission.new_code(), known=ana.person)
    assert again.person == ana.person
    assert admission.person_of(cookies(ana), ana.secret) is None
    assert admission.person_of(cookies(again), again.secret) == ana.person
    assert len(admission.list()) == 1


def test_names_and_colours(admission):
    people = [enter(admission, name).person for name in (None, None, "Petra", " x\ny\t" + "z" * 60)]
    assert [person.name for person in people] == ["ana", "Guest 2", "Petra", "x y " + "z" * 36]
    for _ in range(4):
        people.append(enter(admission).person)
    assert sorted(person.color for person in people) == sorted(COLORS)
    assert admission.rename(people[1].id, "  Ben  ").name == "Ben"
    with pytest.raises(ValueError, match="letter"):
        admission.rename(people[1].id, " \n ")


def test_a_view_token_serves_one_tab_once_for_a_minute(admission, clock):
    ana = enter(admission).person
    token = admission.view_token("t1", ana)
    credential, person = admission.trade_view_token(token, "t1")
    assert person == ana
    assert admission.trade_view_token(token, "t1") is None
    assert admission.view_person(credential, "t1") == ana
    assert admission.view_person(credential, "t2") is None
    wrong_tab = admission.view_token("t1", ana)
    assert admission.trade_view_token(wrong_tab, "t2") is None
    assert admission.trade_view_token(wrong_tab, "t1") is None
    late = admission.view_token("t1", ana)
    clock.now += 60.5
    assert admission.trade_view_token(late, "t1") is None


def test_the_view_s_own_cookie_admits_to_static_files_only(admission):
    ana = enter(admission)
    name, value = admission.view_cookie(ana.person)
    assert name != ana.cookie_name
    assert admission.cookie_holder({name: value}) == ana.person
    assert admission.person_of({name: value}, ana.secret) is None
    assert admission.person_of({ana.cookie_name: value}, ana.secret) is None


def test_revoking_ends_everything_of_that_person_only(admission):
    ana, ben = enter(admission), enter(admission)
    name, value = admission.view_cookie(ana.person)
    credential, _ = admission.trade_view_token(admission.view_token("t1", ana.person), "t1")
    token = admission.view_token("t1", ana.person)
    told: list[str] = []
    stop = admission.listen(told.append)
    assert admission.revoke(ana.person.id)
    assert told == [ana.person.id]
    assert admission.person_of(cookies(ana), ana.secret) is None
    assert admission.cookie_holder({name: value}) is None
    assert admission.view_person(credential, "t1") is None
    assert admission.trade_view_token(token, "t1") is None
    assert admission.person_of(cookies(ben), ben.secret) == ben.person
    stop()
    assert not admission.revoke(ana.person.id)
    assert admission.revoke(ben.person.id)
    assert told == [ana.person.id]


def test_admission_ends_after_ninety_days(admission, clock):
    ana = enter(admission)
    credential, _ = admission.trade_view_token(admission.view_token("t1", ana.person), "t1")
    clock.now += COOKIE_SECONDS + 1
    assert admission.person_of(cookies(ana), ana.secret) is None
    assert admission.view_person(credential, "t1") is None
    assert admission.list() == []


def test_everything_but_tokens_survives_the_hub(tmp_path, clock):
    first = Admission(tmp_path / "a.db", "home", clock)
    ana = enter(first)
    code = first.new_code("Petra")
    view_cookie = dict([first.view_cookie(ana.person)])
    credential, _ = first.trade_view_token(first.view_token("t1", ana.person), "t1")
    # No close: that is how a killed hub leaves its file.
    second = Admission(tmp_path / "a.db", "home", clock)
    assert second.person_of(cookies(ana), ana.secret) == ana.person
    assert second.cookie_holder(view_cookie) == ana.person
    assert second.view_person(credential, "t1") == ana.person
    assert second.enter(code).person.name == "Petra"
    first.close()
    second.close()


def test_two_homes_do_not_share_a_cookie_s_name(tmp_path):
    one, other = Admission(tmp_path / "1.db", "abc-1"), Admission(tmp_path / "2.db", "abc-2")
    assert one.cookie_name != other.cookie_name
    assert set(one.cookie_name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    one.close()
    other.close()


def test_the_file_is_private_and_holds_digests_only(admission, tmp_path):
    ana = enter(admission)
    code = admission.new_code()
    credential, _ = admission.trade_view_token(admission.view_token("t1", ana.person), "t1")
    content = b""
    for path in tmp_path.glob("a.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        content += path.read_bytes()
    for proof in (ana.cookie_value, ana.secret, code, credential):
        assert proof.encode() not in content
        assert hashlib.sha256(proof.encode()).digest() in content


def test_a_person_s_credentials_are_bounded(admission, tmp_path):
    ana = enter(admission).person
    first, _ = admission.trade_view_token(admission.view_token("t1", ana), "t1")
    for _ in range(500):
        last, _ = admission.trade_view_token(admission.view_token("t1", ana), "t1")
    assert admission.view_person(first, "t1") is None
    assert admission.view_person(last, "t1") == ana
    rows = sqlite3.connect(tmp_path / "a.db").execute("SELECT count(*) FROM credentials").fetchone()
    assert rows == (500,)


def test_a_damaged_file_is_refused_with_a_next_step(tmp_path):
    path = tmp_path / "a.db"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(Refusal) as refused:
        Admission(path, "home")
    assert refused.value.code == "store-damaged"
    assert "windowseat url" in refused.value.next_step


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(Refusal) as refused:
        Admission(tmp_path / "none" / "a.db", "home")
    assert refused.value.code == "home-unusable"
