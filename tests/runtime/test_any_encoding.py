"""Where secrets stand in encoded texts, to the character."""

from __future__ import annotations

import base64

import pytest

from evalc.runtime.store.written import AnyEncoding, Redactor

SECRET = "twelve-bytes"


def encoded(before: str, after: str = "") -> str:
    return base64.b64encode((before + SECRET + after).encode()).decode()


def broken(text: str, columns: int) -> str:
    return "\n".join(text[at : at + columns] for at in range(0, len(text), columns))


@pytest.mark.parametrize(("before", "first", "last"), [("abc", 4, 20), ("a", 2, 17), ("ab", 3, 18), ("abcd", 6, 21)])
@pytest.mark.parametrize("columns", [3, 5, 64])
def test_base64_goes_to_the_last_character_that_holds_nothing_else(
    before: str, first: int, last: int, columns: int
) -> None:
    whole = encoded(before, "xyz")
    at = next(iter(AnyEncoding([SECRET]).places(broken(whole, columns))))
    found = broken(whole, columns)[slice(*at)].replace("\n", "")
    assert found == whole[first:last]


@pytest.mark.parametrize("columns", [4, 5, 7])
def test_broken_base64_is_found_at_the_beginning_and_as_often_as_it_is_there(columns: int) -> None:
    text = broken(encoded(""), columns)
    redactor = Redactor([SECRET])
    assert redactor.redact(text) == "***"
    assert redactor.redact(f"{text}, {text} and {text}.") == "***, *** and ***."


def test_a_character_of_two_units_is_found_in_its_escapes() -> None:
    redactor = Redactor(["key😀with🎉signs"])
    for written in (r"key\ud83d\ude00with\uD83C\uDF89signs", r"key\\ud83d\\ude00with\\ud83c\\udf89signs"):
        assert redactor.redact(f"a {written} b") == "a *** b"


def test_what_a_text_must_hold_is_the_longest_part_that_no_encoding_touches() -> None:
    telling = AnyEncoding(["abcd!efghijkl"]).telling
    whole = base64.b64encode(b"abcd!efghijkl").decode()
    assert {"efghijkl", whole[:4], whole[4:8]} <= telling
    assert "abcd" not in telling
    assert not {part for part in telling if len(part) > 8}
    assert "" in AnyEncoding(["a!b@c#d$"]).telling
