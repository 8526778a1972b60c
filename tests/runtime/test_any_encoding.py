"""Where secrets stand in encoded texts, to the character."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from evalc.runtime.store.redact import AnyEncoding, Redactor

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


def test_a_character_alone_is_found_in_any_escape() -> None:
    redactor = Redactor(["hunter2-hunter2"])
    for written in ("-", r"\-", r"\U0000002d", r"\u{2d}", r"\x{2D}", r"\055", r"\0055", "%2D", "=2d", "&#45;", "=\n-"):
        assert redactor.redact(f"a hunter2{written}hunter2 b") == "a *** b", written


def test_a_space_alone_is_found_in_any_escape() -> None:
    redactor = Redactor(["hunter2 hunter2"])
    written = (
        " ",
        "\\n",
        "\\x20",
        "\\u000A",
        "\\U00000020",
        "\\u{a}",
        "\\040",
        "\\0012",
        "%20",
        "%250a",
        "=20",
        "&#x20;",
    )
    for space in (*written, "&#032;", "&amp;#9;", "=\n "):
        assert redactor.redact(f"a hunter2{space}hunter2 b") == "a *** b", space


@pytest.mark.parametrize(
    "gap", ["", ":", "-", " ", "  ", "\n", "\t", ",", ", ", ";", " 0X", "\\x", "=", "=\r\n=", "%25"]
)
@pytest.mark.parametrize("capitals", [False, True])
def test_hexadecimal_is_found_whatever_stands_between_its_bytes(gap: str, capitals: bool) -> None:
    raw = [f"{byte:02X}" if capitals else f"{byte:02x}" for byte in SECRET.encode()]
    redactor = Redactor([SECRET])
    text = f"said {gap.join(raw)}."
    assert redactor.redact(text) == "said ***."
    assert json.loads(redactor.redact_bytes(json.dumps([text]).encode())) == ["said ***."]


@pytest.mark.parametrize("columns", range(1, 9))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.b32encode])
@pytest.mark.parametrize("end", ["\n", "\r\n\t", "\\n", "%0D%0A", "&#10;"])
def test_bases_are_found_however_they_are_wrapped(encode: Callable[[bytes], bytes], columns: int, end: str) -> None:
    whole = encode(b"abc" + SECRET.encode()).decode().rstrip("=")
    text = broken(whole, columns).replace("\n", end)
    assert "***" in Redactor([SECRET]).redact(text)
    assert b"***" in Redactor([SECRET]).redact_bytes(json.dumps({"k": text}).encode())
