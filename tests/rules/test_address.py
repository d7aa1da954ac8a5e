"""What people type becomes the address they mean, and programs open allowed addresses only."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windowseat.errors import BrowserError
from windowseat.rules.address import address_of, check_agent_url

SEARCH = "https://search.test/?q={words}"


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("example.com", "https://example.com/"),
        ("  example.com/a b?c=d#e ", "https://example.com/a%20b?c=d#e"),
        ("EXAMPLE.com", "https://EXAMPLE.com/"),
        ("example.com:8443", "http://example.com:8443/"),
        ("localhost", "http://localhost/"),
        ("localhost:3000", "http://localhost:3000/"),
        ("localhost:3000/path?q=1", "http://localhost:3000/path?q=1"),
        ("app.localhost:8080", "http://app.localhost:8080/"),
        ("devbox:5173", "http://devbox:5173/"),
        ("devbox/status", "http://devbox/status"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("127.0.0.1:7717/x", "http://127.0.0.1:7717/x"),
        ("[::1]:8080/x", "http://[::1]:8080/x"),
        ("[2001:db8::1]", "http://[2001:db8::1]/"),
        ("háčky.cz", "https://háčky.cz/"),
        ("münchen.de/straße", "https://münchen.de/straße"),
        ("日本語.jp", "https://日本語.jp/"),
        ("https://example.com/x?y#z", "https://example.com/x?y#z"),
        ("http:example.com", "http://example.com"),
        ("HTTPS://Example.com", "https://Example.com"),
        ("//example.com/x", "https://example.com/x"),
        ("about:blank", "about:blank"),
        ("blob:https://example.com/1-2", "blob:https://example.com/1-2"),
        ("exam\nple.com", "https://example.com/"),
    ],
)
def test_an_address_is_opened_as_typed(typed: str, address: str) -> None:
    assert address_of(typed, SEARCH) == address


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("weather", "weather"),
        ("how to boil an egg", "how%20to%20boil%20an%20egg"),
        ("what is c++?", "what%20is%20c%2B%2B%3F"),
        ("3.14", "3.14"),
        ("1.2.3", "1.2.3"),
        ("note: buy milk", "note%3A%20buy%20milk"),
        ("me@example.com", "me%40example.com"),
        ("příliš žluťoučký kůň", "p%C5%99%C3%ADli%C5%A1%20%C5%BElu%C5%A5ou%C4%8Dk%C3%BD%20k%C5%AF%C5%88"),
        ("ano/ne jasně", "ano%2Fne%20jasn%C4%9B"),
        ("example..com", "example..com"),
        ("-bad-.com", "-bad-.com"),
        ("localhost:99999", "localhost%3A99999"),
        ("[::zz]", "%5B%3A%3Azz%5D"),
    ],
)
def test_words_are_searched_for(typed: str, words: str) -> None:
    assert address_of(typed, SEARCH) == f"https://search.test/?q={words}"


@pytest.mark.parametrize(
    "typed",
    [
        "javascript:alert(1)",
        " JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "javascript:1",
        "javascript:8080/x",
        "data:text/html,<b>x",
        "file:///etc/passwd",
        "view-source:https://example.com",
        "chrome://settings",
        "chrome-extension://abc/x.html",
        "devtools://devtools/bundled/inspector.html",
        "about:config",
        "blob:file:///x",
        "mailto:me@example.com",
    ],
)
def test_other_schemes_are_refused_to_people_and_programs(typed: str) -> None:
    with pytest.raises(BrowserError) as person:
        address_of(typed, SEARCH)
    assert person.value.code == "not-allowed"
    with pytest.raises(BrowserError) as program:
        check_agent_url(typed)
    assert program.value.code in ("not-allowed", "invalid-args")


@pytest.mark.parametrize("typed", ["", "   ", "\n\t"])
def test_nothing_typed_says_so(typed: str) -> None:
    with pytest.raises(BrowserError) as failure:
        address_of(typed)
    assert failure.value.code == "invalid-args"


@pytest.mark.parametrize(
    "url", ["http://x/", "https://x/y?z", "about:blank", "about:blank#a", "blob:http://x/1", "HTTP://X/"]
)
def test_programs_open_allowed_addresses(url: str) -> None:
    assert check_agent_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "example.com",
        "localhost:3000",
        "http://",
        "http:///x",
        "https:x",
        "",
        "http://x/\ny",
        "http://x:99999/",
        "http://[::zz]/",
    ],
)
def test_programs_must_write_whole_addresses(url: str) -> None:
    with pytest.raises(BrowserError) as failure:
        check_agent_url(url)
    assert failure.value.code == "invalid-args"


@given(st.text(max_size=60))
def test_whatever_is_typed_ends_at_an_allowed_scheme_or_a_closed_code(typed: str) -> None:
    try:
        address = address_of(typed, SEARCH)
    except BrowserError as error:
        assert error.code in ("invalid-args", "not-allowed")
    else:
        assert urlsplit(address).scheme in ("http", "https", "about", "blob")
        assert check_agent_url(address) == address
