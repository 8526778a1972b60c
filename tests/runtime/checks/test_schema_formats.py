"""The formats of JSON Schema: which texts have them, and that no other format is taken for checked."""

from __future__ import annotations

import datetime
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import check_of
from evalc.model.json_schema import CHECKED, FORMATS
from evalc.runtime.checks.schema import fits
from tests.runtime.checks.conftest import Ask

HOLDS: dict[str, tuple[str, ...]] = {
    "date": ("2024-02-29", "0001-01-01", "9999-12-31", "2000-02-29"),
    "time": ("00:00:00Z", "23:59:59.123+02:00", "23:59:60Z", "01:59:60+02:00", "08:30:06z"),
    "date-time": ("2024-02-29T12:00:00Z", "2024-02-29t12:00:00.5-08:00", "1998-12-31T15:59:60-08:00"),
    "uuid": ("2eb8aa08-aa98-11ea-b4aa-73b441d16380", "2EB8AA08-AA98-11EA-B4AA-73B441D16380"),
    "email": ("a@b.de", "joe.bloggs+x@mail.example.com", "te~st@example.com"),
    "uri": ("http://a.b/c?d=e#f", "mailto:a@b.de", "urn:isbn:1", "http://[::1]/", "http://a/%20"),
    "url": ("https://shop.example/x?y=1#z", "HTTP://localhost:8080", "http://[::1]:80/", "https://u:p@h/"),
    "hostname": ("example.com", "a", "xn--nxasmq6b", "1.a-b"),
    "ipv4": ("0.0.0.0", "255.255.255.255", "192.168.1.10"),
    "ipv6": ("::", "::1", "2001:db8::ff", "::ffff:1.2.3.4"),
    "regex": ("a+", "(?<n>a)\\k<n>", ""),
}
FAILS: dict[str, tuple[str, ...]] = {
    "date": (
        "2023-02-29",
        "1900-02-29",
        "2024-13-01",
        "2024-1-1",
        "2024-01-01T00:00:00Z",
        "20240101",
        "2024-04-31",
        "",
    ),
    "time": ("24:00:00Z", "12:00:00", "12:60:00Z", "22:59:60Z", "12:00:00+24:00", "noon", "12:00Z", "12:00:00 Z"),
    "date-time": ("2024-02-29", "2024-02-29 12:00:00Z", "2023-02-29T12:00:00Z", "2024-02-29T12:00:00", "2024-02-29T"),
    "uuid": ("2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "{2eb8aa08}", "", "x"),
    "email": ("us @ the shop", "a@b", "a b@c.de", "@b.de", "a@", "a@b..de", "a@b.de\n", "a@@b.de", "a@.de"),
    "uri": ("any text", "a b:c", "//a.b", "/a", "http://a b", "http://a/<x>", "http://a/%2", "1a:b", ":a", "é:x"),
    "url": (
        "ftp://a.b",
        "http://",
        "http:///x",
        "https:a",
        "shop.example",
        "http://:80",
        "http://a b",
        "mailto:a@b.de",
    ),
    "hostname": ("-a", "a-", "a..b", "a_b", "a" * 64, "", ".", "a b", ".".join(["a" * 60] * 5)),
    "ipv4": ("256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4.", "a.b.c.d", "", "1.2.3.4\n", "\u0660.0.0.0"),
    "ipv6": (":", "1.2.3.4", "12345::", "::1%eth0", "::1::", "", "2001:db8::g"),
    "regex": ("a(", "(?P<n>a)", "[b-a]"),
}


def has_format(text: str, name: str) -> bool:
    return fits(text, {"format": name}) is True


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in HOLDS.items() for text in texts])
def test_a_text_that_has_the_format(name: str, text: str) -> None:
    assert has_format(text, name)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FAILS.items() for text in texts])
def test_a_text_that_does_not(name: str, text: str) -> None:
    assert not has_format(text, name)


def test_each_format_that_is_named_is_checked() -> None:
    assert set(HOLDS) == set(FAILS) == set(CHECKED) == {*FORMATS, "regex"}


@given(st.sampled_from(CHECKED), st.one_of(st.none(), st.booleans(), st.integers(), st.lists(st.text())))
def test_only_texts_are_asked(name: str, value: object) -> None:
    assert fits(value, {"format": name}) is True


@given(st.text())
def test_a_format_that_is_not_checked_holds_for_each_text(text: str) -> None:
    assert has_format(text, "phone")


@given(st.text(alphabet=st.sampled_from("0123456789-TZ:+."), max_size=26))
def test_a_date_is_one_of_the_calendar(text: str) -> None:
    written = re.fullmatch(r"\d{4}-\d\d-\d\d", text)
    try:
        expected = written is not None and datetime.date.fromisoformat(text) is not None
    except ValueError:
        expected = False
    assert has_format(text, "date") == (expected or (text[:4] == "0000" and has_format(f"2000{text[4:]}", "date")))


@given(st.datetimes(timezones=st.timezones()))
def test_a_moment_in_rfc_3339_has_the_format(moment: datetime.datetime) -> None:
    offset = moment.utcoffset()
    if offset is not None and not offset.total_seconds() % 60:
        assert has_format(moment.isoformat(), "date-time")


def test_a_json_check_asks_the_format(ask: Ask) -> None:
    check = check_of({"type": "json", "schema": {"properties": {"to": {"format": "email"}}}})
    assert ask(check, '{"to": "a@b.de"}').outcome == "passed"
    assert ask(check, '{"to": "us @ the shop"}').outcome == "failed"
