"""Who may come in: codes, cookies, secrets, view tokens and view credentials (contract C7).

A person enters once with a code that the command line prints. From then on two things speak for
them: a cookie, which reaches every port of `localhost` and therefore gives static pages only, and
a secret in the origin's localStorage, which goes with every call. A view's token opens one tab for
one person and is traded for a credential that a reload can use again.

Everything that admits is 256 random bits and is kept as its SHA-256, so that the file alone lets
nobody in. Codes, people and credentials survive a restart of the hub; view tokens, which live for
a minute, are kept in memory. This module knows nothing of HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import sqlite3
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from windowseat.hub.people import Person
from windowseat.web.admission_store import AdmissionStore

CODE_SECONDS: Final = 300
TOKEN_SECONDS: Final = 60
COOKIE_SECONDS: Final = 90 * 24 * 3600
COLORS: Final = ("blue", "green", "orange", "pink", "teal", "red", "slate", "violet")
NAME_LENGTH: Final = 40

# A code cannot be guessed; the limit keeps a program that tries from keeping the disk busy.
_WRONG_A_MINUTE: Final = 10
_TOKENS_AT_MOST: Final = 1000
_LONGEST_PROOF: Final = 200


@dataclass(frozen=True)
class Entered:
    """What a person gets for a code: `cookie_value` and `secret` are shown this once only."""

    cookie_name: str
    cookie_value: str
    secret: str
    person: Person


@dataclass(frozen=True)
class Admitted:
    """One person on the list of admissions. Times are wall-clock seconds."""

    person: Person
    since: float
    until: float


class NotAdmittedError(Exception):
    """A code was refused. `code`: "unknown-code" or "too-many-attempts"; `message`: a sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class _Token:
    tab: str
    person: str
    until: float


class Admission:
    """The one place that decides who somebody is.

    Args:
        path: the SQLite file; made 0600 when missing.
        instance: the home's id; part of the cookies' names, so that two hubs on one machine do
            not sign each other's people out.
        clock: wall-clock seconds.
        login: name of the first person who comes without one.

    Raises:
        Refusal: "store-damaged", "disk-full" or "home-unusable", when the file cannot be used.
    """

    def __init__(
        self,
        path: Path,
        instance: str,
        clock: Callable[[], float] = time.time,
        login: str = "You",
    ) -> None:
        tag = re.sub(r"[^A-Za-z0-9]", "", instance)[:16] or "home"
        self.cookie_name = f"windowseat-{tag}"
        self.view_cookie_name = f"windowseat-view-{tag}"
        self._clock = clock
        self._login = clean_name(login) or "You"
        self._store = AdmissionStore(path)
        self._tokens: OrderedDict[bytes, _Token] = OrderedDict()
        self._wrong: deque[float] = deque(maxlen=_WRONG_A_MINUTE)
        self._listeners: list[Callable[[str], None]] = []
        self._store.forget_expired(self._clock())

    def new_code(self, name: str | None = None) -> str:
        """A code for one person, good once and for five minutes. `name`: how they will be shown."""
        code = _random()
        self._store.forget_expired(self._clock())
        self._store.add_code(_digest(code), clean_name(name or ""), self._clock() + CODE_SECONDS)
        return code

    def enter(self, code: str, known: Person | None = None) -> Entered:
        """Use a code up.

        Args:
            known: who this browser already is; they keep their name and get a new cookie and secret.

        Raises:
            NotAdmittedError: the code is wrong, used or too old, or there were too many wrong ones.
                A right code is never refused, so nobody can lock a person out.
        """
        name = self._store.take_code(_digest(code), self._clock()) if _plausible(code) else None
        if name is None:
            self._count_wrong()
            raise NotAdmittedError(
                "unknown-code",
                "This link was used already or is older than 5 minutes. `windowseat url` prints another.",
            )
        person = known if known is not None else self._new_person(name)
        cookie, secret = _random(), _random()
        now = self._clock()
        self._store.put_person(person, _digest(cookie), _digest(secret), now, now + COOKIE_SECONDS)
        return Entered(self.cookie_name, cookie, secret, person)

    def cookie_holder(self, cookies: Mapping[str, str]) -> Person | None:
        """Who the cookie names. Enough for static pages, for nothing that tells a fact."""
        now = self._clock()
        found = self._by_cookie(cookies)
        if found is not None:
            return found[0]
        value = cookies.get(self.view_cookie_name, "")
        return self._store.view_cookie_person(_digest(value), now) if _plausible(value) else None

    def person_of(self, cookies: Mapping[str, str], secret: str | None) -> Person | None:
        """Who makes this call: the cookie and the secret that came with it must belong together."""
        if not secret or not _plausible(secret):
            return None
        found = self._by_cookie(cookies)
        if found is None:
            return None
        person, expected = found
        return person if hmac.compare_digest(expected, _digest(secret)) else None

    def person(self, person_id: str) -> Person | None:
        """The person with this id, while they are admitted."""
        return self._store.person(person_id, self._clock())

    def view_token(self, tab_id: str, person: Person) -> str:
        """A token for the fragment of a view's address: this tab, this person, once, 60 seconds."""
        now = self._clock()
        for old in [key for key, token in self._tokens.items() if token.until < now]:
            del self._tokens[old]
        while len(self._tokens) >= _TOKENS_AT_MOST:
            self._tokens.popitem(last=False)
        token = _random()
        self._tokens[_digest(token)] = _Token(tab_id, person.id, now + TOKEN_SECONDS)
        return token

    def trade_view_token(self, token: str, tab_id: str) -> tuple[str, Person] | None:
        """Use a token up; answers a credential for that tab, and the person. A wrong tab costs it too."""
        if not _plausible(token):
            return None
        found = self._tokens.pop(_digest(token), None)
        if found is None or found.until < self._clock() or found.tab != tab_id:
            return None
        person = self.person(found.person)
        if person is None:
            return None
        credential = _random()
        self._store.add_credential(_digest(credential), tab_id, person.id, self._clock())
        return credential, person

    def view_person(self, credential: str, tab_id: str) -> Person | None:
        """Who a view credential speaks for in this tab."""
        if not _plausible(credential):
            return None
        return self._store.credential_person(_digest(credential), tab_id, self._clock())

    def view_cookie(self, person: Person) -> tuple[str, str]:
        """Name and value of a cookie of the view origin's own: its static files, nothing else."""
        value = _random()
        now = self._clock()
        self._store.add_view_cookie(_digest(value), person.id, now, now + COOKIE_SECONDS)
        return self.view_cookie_name, value

    def rename(self, person_id: str, name: str) -> Person | None:
        """Give a person another name, cut to 40 characters; None when they are not admitted.

        Raises:
            ValueError: nothing is left of the name.
        """
        wanted = clean_name(name)
        if not wanted:
            raise ValueError("a name needs at least one letter")
        self._store.rename(person_id, wanted)
        return self.person(person_id)

    def revoke(self, person_id: str) -> bool:
        """End a person's admission: cookie, secret, tokens and credentials. Whether there was one."""
        for key in [key for key, token in self._tokens.items() if token.person == person_id]:
            del self._tokens[key]
        was_there = self._store.remove_person(person_id)
        if was_there:
            for listener in list(self._listeners):
                listener(person_id)
        return was_there

    def listen(self, revoked: Callable[[str], None]) -> Callable[[], None]:
        """Call `revoked(person_id)` at each revocation, so that live sockets end; answers `stop`."""
        self._listeners.append(revoked)

        def stop() -> None:
            if revoked in self._listeners:
                self._listeners.remove(revoked)

        return stop

    def list(self) -> list[Admitted]:
        """Everybody who is admitted, the oldest first."""
        return [Admitted(*row) for row in self._store.people(self._clock())]

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _by_cookie(self, cookies: Mapping[str, str]) -> tuple[Person, bytes] | None:
        value = cookies.get(self.cookie_name, "")
        if not _plausible(value):
            return None
        return self._store.cookie_person(_digest(value), self._clock())

    def _new_person(self, name: str) -> Person:
        taken = [admitted.person for admitted in self.list()]
        if not name:
            name = self._login if not taken else f"Guest {len(taken) + 1}"
        used = [person.color for person in taken]
        color = min(COLORS, key=lambda one: (used.count(one), COLORS.index(one)))
        return Person(secrets.token_hex(8), name, color)

    def _count_wrong(self) -> None:
        now = self._clock()
        full = len(self._wrong) == _WRONG_A_MINUTE and now - self._wrong[0] < 60
        if full:
            raise NotAdmittedError("too-many-attempts", "Too many wrong links in a minute. Wait a minute.")
        self._wrong.append(now)


def clean_name(name: str) -> str:
    """A name as it may be shown: one line, no control characters, at most 40 characters."""
    kept = "".join(letter if letter.isprintable() else " " for letter in name)
    return " ".join(kept.split())[:NAME_LENGTH].strip()


def _random() -> str:
    return secrets.token_urlsafe(32)


def _digest(proof: str) -> bytes:
    # One round is enough: the input is 256 random bits, not something a person chose.
    return hashlib.sha256(proof.encode("utf-8", "surrogatepass")).digest()


def _plausible(proof: str) -> bool:
    return 0 < len(proof) <= _LONGEST_PROOF


StoreError = sqlite3.Error
"""What any method may raise when the disk fails (for example full): the caller answers 503."""
