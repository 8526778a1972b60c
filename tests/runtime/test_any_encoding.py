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


@pytest.mark.parametrize("gap", ["", ":", "-", " ", "  ", "\n", "\t", ",", ", ", ";", " 0X"])
@pytest.mark.parametrize("capitals", [False, True])
def test_hexadecimal_is_found_whatever_stands_between_its_bytes(gap: str, capitals: bool) -> None:
    assert_is_struck_out(gap.join(hexadecimal(capitals)))


@pytest.mark.parametrize("prefix", ["\\x", "=", "%25", "%"])
@pytest.mark.parametrize("capitals", [False, True])
def test_hexadecimal_is_found_whatever_stands_before_each_byte(prefix: str, capitals: bool) -> None:
    assert_is_struck_out("".join(prefix + byte for byte in hexadecimal(capitals)))


def hexadecimal(capitals: bool) -> list[str]:
    return [f"{byte:02X}" if capitals else f"{byte:02x}" for byte in SECRET.encode()]


def assert_is_struck_out(written: str) -> None:
    redactor = Redactor([SECRET])
    text = f"said {written}."
    assert redactor.redact(text) == "said ***."
    assert json.loads(redactor.redact_bytes(json.dumps([text]).encode())) == ["said ***."]


def percent(byte: int) -> str:
    return f"%{byte:02X}"


def json_escape(byte: int) -> str:
    return f"\\u{byte:04x}"


def entity(byte: int) -> str:
    return f"&#{byte};"


def quoted_printable(byte: int) -> str:
    return f"={byte:02X}"


@pytest.mark.parametrize("encode", [percent, json_escape, entity, quoted_printable])
@pytest.mark.parametrize("step", [2, 3, 5])
@pytest.mark.parametrize("first", [0, 1])
def test_any_of_its_characters_may_be_encoded(encode: Callable[[int], str], step: int, first: int) -> None:
    written = [encode(byte) if at % step == first else chr(byte) for at, byte in enumerate(SECRET.encode())]
    assert_is_struck_out("".join(written))


@pytest.mark.parametrize("outer", [percent, json_escape, entity])
@pytest.mark.parametrize("inner", [percent, json_escape, entity, quoted_printable])
def test_encodings_are_undone_within_one_another(outer: Callable[[int], str], inner: Callable[[int], str]) -> None:
    once = "".join(map(inner, SECRET.encode()))
    assert_is_struck_out("".join(map(outer, once.encode())))


@pytest.mark.parametrize("outer", [percent, json_escape, entity])
@pytest.mark.parametrize("inner", [base64.b64encode, base64.b32encode, lambda raw: raw.hex().encode()])
def test_bases_are_found_behind_other_encodings(outer: Callable[[int], str], inner: Callable[[bytes], bytes]) -> None:
    written = [outer(byte) for byte in inner(SECRET.encode()).rstrip(b"=")]
    left = Redactor([SECRET]).redact(f"said {''.join(written)}")
    assert left in ("said ***", f"said ***{written[-1]}"), "the last character holds bits of what follows the secret"


@pytest.mark.parametrize("written", ["&lowbar;", "&#95", "&UnderBar;", "\\N{LOW LINE}", "&amp;amp;#x5f;", "%u005f"])
def test_a_character_by_its_name_or_without_its_semicolon_is_found(written: str) -> None:
    assert Redactor(["hunter2_hunter2"]).redact(f"a hunter2{written}hunter2 b") == "a *** b"


def test_a_sign_before_a_secret_makes_no_escape_of_its_beginning() -> None:
    redactor = Redactor(["abcdef12-abcdef"])
    assert redactor.redact("https://a.example/?key=abcdef12%2Dabcdef&b=1") == "https://a.example/?key=***&b=1"
    assert redactor.redact("key=abcdef12&#45;abcdef and =61bcdef12=2Dabcdef") == "key=*** and ***"


@pytest.mark.parametrize("secret", ["%41%42%43%44", "&amp;&amp;", "\\\\\\\\\\\\\\\\", "\\x61\\x62", "%20%20%20%20"])
def test_a_secret_that_encodes_less_is_found_as_it_is_alone(secret: str) -> None:
    redactor = Redactor([secret])
    assert redactor.redact(f"a {secret} b") == "a *** b"
    assert redactor.redact("ABCD && \\ ab %41 a b") == "ABCD && \\ ab %41 a b"


def test_a_secret_is_struck_out_beside_texts_that_only_look_encoded() -> None:
    redactor = Redactor([SECRET])
    for beside in (
        "100% of Ã¤, ",
        "\\",
        "C:\\temp ",
        "&nothing; &#9999999; \\N{NO SUCH NAME} ",
        "%C3%28 \\ud83d ",
        "é" * 3,
    ):
        assert redactor.redact(f"{beside}{SECRET}{beside}") == f"{beside}***{beside}"
        assert redactor.redact(f"{beside}|twelve%2Dbytes|{beside}") == f"{beside}|***|{beside}"


@pytest.mark.parametrize("columns", range(1, 9))
@pytest.mark.parametrize("encode", [base64.b64encode, base64.b32encode])
@pytest.mark.parametrize("end", ["\n", "\r\n\t", "\\n", "%0D%0A", "&#10;"])
def test_bases_are_found_however_they_are_wrapped(encode: Callable[[bytes], bytes], columns: int, end: str) -> None:
    whole = encode(b"abc" + SECRET.encode()).decode().rstrip("=")
    text = broken(whole, columns).replace("\n", end)
    assert "***" in Redactor([SECRET]).redact(text)
    assert b"***" in Redactor([SECRET]).redact_bytes(json.dumps({"k": text}).encode())
