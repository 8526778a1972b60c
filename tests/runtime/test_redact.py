"""Secrets are found in every form in which a file may hold them, and nothing else is touched."""

from __future__ import annotations

import base64
import html
import json
import quopri
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.runtime.checks.words import shown
from evalc.runtime.store.redact import Redactor

SECRET = 'pä "ss"/w+ord\\ \n<1>'

secrets = st.text(min_size=8, max_size=20).map(str.strip).filter(lambda text: len(text) >= 8)


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(SECRET).replace("/", "\\/"),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower(),
        quote_plus(SECRET),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
        html.escape(SECRET),
        repr(SECRET)[1:-1],
        shown(SECRET),
    ],
)
def test_every_form_is_struck_out(form: str) -> None:
    redactor = Redactor([SECRET])
    assert redactor.redact(f"a {form.strip(chr(34))} b") == "a *** b"
    encoded = msgspec.json.encode({"k": f"a {form.strip(chr(34))} b"})
    assert redactor.redact_bytes(encoded) == b'{"k":"a *** b"}'


def wrapped(text: str, columns: int, end: str) -> str:
    return end.join(text[at : at + columns] for at in range(0, len(text), columns))


def uri_component(text: str) -> str:
    """As `encodeURIComponent` of JavaScript."""
    return quote(text, safe="!'()*~-_.")


def go_json(text: str) -> str:
    """As Go and others write JSON that may stand in HTML."""
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    return "".join(f"\\u{ord(char):04x}" if char in "&<>'+" else char for char in escaped)


ENCODINGS = {
    "itself": str,
    "encodeURIComponent": uri_component,
    "percent twice": lambda text: quote(uri_component(text), safe=""),
    "percent, small": lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text, safe="")),
    "form": quote_plus,
    "json of Go": go_json,
    "json, capitals": lambda text: re.sub(r"\\u....", lambda found: "\\u" + found[0][2:].upper(), go_json(text)),
    "json within json": lambda text: json.dumps(json.dumps(text))[1:-1],
    "json of Go within json": lambda text: json.dumps(go_json(text))[1:-1],
    "html": html.escape,
    "html, & < > alone": lambda text: html.escape(text, quote=False),
    "html with &#39;": lambda text: html.escape(text).replace("&#x27;", "&#39;"),
    "html with &apos;": lambda text: html.escape(text).replace("&#x27;", "&apos;"),
    "html twice": lambda text: html.escape(html.escape(text)),
    "html, all": lambda text: "".join(char if char.isalnum() else f"&#x{ord(char):X};" for char in text),
    "python": lambda text: repr(text)[1:-1],
    "python bytes": lambda text: repr(text.encode())[2:-1],
    "base64 at 64": lambda text: wrapped(base64.b64encode(text.encode()).decode(), 64, "\n"),
    "base64 at 76": lambda text: wrapped(base64.b64encode(text.encode()).decode(), 76, "\r\n"),
    "base64 behind something": lambda text: wrapped(base64.b64encode(b"user:" + text.encode()).decode(), 7, "\n  "),
    "base64 in json": lambda text: json.dumps(wrapped(base64.b64encode(text.encode()).decode(), 64, "\n"))[1:-1],
    "quoted-printable": lambda text: quopri.encodestring(text.encode(), quotetabs=True).decode().replace("=\n", ""),
    "quoted-printable, wrapped": lambda text: wrapped(
        quopri.encodestring(text.encode(), quotetabs=True).decode().replace("=\n", ""), 9, "=\n"
    ),
    "quoted-printable, all": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "quoted-printable, all, wrapped": lambda text: wrapped("".join(f"={byte:02X}" for byte in text.encode()), 9, "=\n"),
    "percent, all": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent, all, twice": lambda text: "".join(f"%25{byte:02x}" for byte in text.encode()),
    "json, all": lambda text: "".join(f"\\u{unit}" for unit in utf_16(text)),
    "json, all, within json": lambda text: json.dumps("".join(f"\\u{unit}" for unit in utf_16(text)))[1:-1],
    "python, all": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "python, all, eight digits": lambda text: "".join(f"\\U{ord(char):08x}" for char in text),
    "python, characters": lambda text: text.encode("unicode-escape").decode(),
    "javascript, all": lambda text: "".join(f"\\u{{{ord(char):x}}}" for char in text),
    "shell, all": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "shell, all, with zeros": lambda text: "".join(f"\\0{byte:03o}" for byte in text.encode()),
    "shell, but letters": lambda text: "".join(
        char if char.isascii() and char.isalnum() else "".join(f"\\{byte:03o}" for byte in char.encode())
        for char in text
    ),
    "html, every character, capitals": lambda text: "".join(f"&#X{ord(char):04X};" for char in text),
    "html, every character": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "html, every character, with zeros": lambda text: "".join(f"&#{ord(char):04};" for char in text),
    "html, every character, twice": lambda text: "".join(f"&amp;#{ord(char)};" for char in text),
    "hex": lambda text: text.encode().hex(),
    "hex, capitals": lambda text: text.encode().hex().upper(),
    "hex with :": lambda text: text.encode().hex(":"),
    "hex with spaces": lambda text: text.encode().hex(" "),
    "hex with 0x": lambda text: "0x" + text.encode().hex(),
    "hex, each with 0X": lambda text: " ".join(f"0X{byte:02X}" for byte in text.encode()),
    "hex, wrapped": lambda text: wrapped(text.encode().hex(), 16, "\n"),
    "hex, each with 0x": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "hex behind something": lambda text: "ab" + text.encode().hex(),
    "base32": lambda text: base64.b32encode(text.encode()).decode().rstrip("="),
    "base32, small": lambda text: base64.b32encode(text.encode()).decode().rstrip("=").lower(),
    "base32 behind something": lambda text: wrapped(
        base64.b32encode(b"ab" + text.encode()).decode().rstrip("="), 64, "\n"
    ),
}


def utf_16(text: str) -> list[str]:
    digits = text.encode("utf-16-be").hex()
    return [digits[at : at + 4] for at in range(0, len(digits), 4)]


PEM = (
    "-----BEGIN KEY-----\n"
    + wrapped(base64.b64encode(bytes(range(256)) * 3).decode(), 64, "\n")
    + "\n-----END KEY-----"
)
NASTY = "p&ss'w\"rd!(1)*<2>/\\+~ä"


@pytest.mark.parametrize("secret", [NASTY, "hunter2 hunter2", PEM, "sk-proj-abc_DEF.123", "天地玄黄宇宙洪荒"])
@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
def test_every_everyday_encoding_is_struck_out(encode: Callable[[str], str], secret: str) -> None:
    redactor = Redactor([secret, "another-secret"])
    text = f"said: {encode(secret)} :end"
    redacted = redactor.redact(text)
    assert redacted.startswith("said: ")
    assert redacted.endswith(" :end")
    left = redacted.removeprefix("said: ").removesuffix(" :end")
    # At the edges of base64 a character may hold bits of what stands beside the secret.
    assert "***" in left
    assert len(left) <= 20
    assert msgspec.json.decode(redactor.redact_bytes(msgspec.json.encode([text]))) == [redacted]


@pytest.mark.parametrize("change", ["crlf", "indented", "one line", "escaped", "spaces"])
def test_a_key_of_several_lines_is_struck_out_however_its_lines_end(change: str) -> None:
    ends = {"crlf": "\r\n", "indented": "\n      ", "one line": "", "escaped": "\\n", "spaces": "   "}
    written = PEM.replace("\n", ends[change])
    assert Redactor([PEM]).redact(f"a {written} b") == "a *** b"
    assert Redactor([written]).redact(f"a {PEM} b") == "a *** b" or change in {"one line", "escaped"}


@given(st.text(st.sampled_from("\\nrt%0DA \n&#;u+a"), max_size=300))
def test_hostile_whitespace_is_read_in_linear_time(text: str) -> None:
    Redactor([PEM, NASTY, "aaaa !\n\n+u"]).redact(f"-----BEGIN{text * 30}aaaa{text}")


@pytest.mark.parametrize(
    ("values", "text", "redacted"),
    [
        ([], "anything", "anything"),
        (["short"], "short", "short"),
        (["", "   "], "   ", "   "),
        ([" token-123 \n"], "token-123", "***"),
        (["abcdefgh", "abcdefghij"], "abcdefghij", "***"),
        (["abcdefgh", "efghijkl"], "abcdefghijkl.", "***."),
        (["aaaaaaaa"], "aaaaaaaaaaa", "***"),
        (["abcdefgh"], "abcdefghabcdefgh x", "****** x"),
        (["abcdefgh"], "ABCDEFGH", "ABCDEFGH"),
        (["abcdefghabcdefgh"], "ABCDEFGHABCDEFGH", "ABCDEFGHABCDEFGH"),
        (["Sk-abcdefg-12345"], "SK-ABCDEFG-12345 sk-abcdefg-12345", "*** ***"),
        (["sk-abc-1"], "sk-abc-1 SK-ABC-1", "*** SK-ABC-1"),
    ],
)
def test_secrets_are_found(values: list[str], text: str, redacted: str) -> None:
    assert Redactor(values).redact(text) == redacted


@given(secret=secrets, before=st.text(max_size=4), after=st.text(max_size=4))
def test_no_character_of_it_is_left_in_the_base64_of_something_longer(secret: str, before: str, after: str) -> None:
    written = base64.b64encode((before + secret + after).encode()).decode()
    whole = len(secret.encode()) * 8 // 6
    left = len(Redactor([secret]).redact(written).replace("***", ""))
    assert left <= len(written) - whole + 1


@pytest.mark.parametrize("ellipsis", ["...", "…"])
@pytest.mark.parametrize("length", range(4, len(SECRET)))
def test_a_secret_that_was_cut_is_struck_out(length: int, ellipsis: str) -> None:
    redactor = Redactor([SECRET])
    text = f"HTTP 500: {SECRET[:length].rstrip()}{ellipsis} (agent.py:5)"
    assert redactor.redact(text) == f"HTTP 500: ***{ellipsis} (agent.py:5)"
    assert msgspec.json.decode(redactor.redact_bytes(msgspec.json.encode([text]))) == [redactor.redact(text)]


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("abc...", "abc..."),
        ("abcd. ..", "abcd. .."),
        ("abcd x ...", "abcd x ..."),
        ("abcd.....", "***..."),
        ("abcd....", "***..."),
        ("abcd...", "***..."),
        ("abcd..efgh...", "***..."),
    ],
)
def test_cut_secrets_are_found(text: str, redacted: str) -> None:
    assert Redactor(["abcd..efgh"]).redact(text) == redacted


def test_text_without_secrets_is_the_same_object() -> None:
    text, encoded = "nothing here", b'{"a": 1}'
    redactor = Redactor(["a-long-secret"])
    assert redactor.redact(text) is text
    assert redactor.redact_bytes(encoded) is encoded


@pytest.mark.parametrize(
    ("secret", "encoded", "redacted"),
    [
        ("12345678", b'{"n":12345678,"m":-123456789,"s":"x12345678"}', b'{"n":"***","m":-123456789,"s":"x***"}'),
        ("nnnnnnnn", b'{"s":"\\nnnnnnnnn"}', b'{"s":"\\n***"}'),
        ("001babcd", b'{"s":"\\u001babcd 001babcd"}', b'{"s":"\\u001babcd ***"}'),
        ("api-key-1", b'{"api-key-1":"x"}', b'{"***":"x"}'),
    ],
)
def test_json_stays_json(secret: str, encoded: bytes, redacted: bytes) -> None:
    assert Redactor([secret]).redact_bytes(encoded) == redacted


@given(secrets.filter(lambda text: "*" not in text), st.text(), st.text())
def test_no_secret_is_left(secret: str, before: str, after: str) -> None:
    redacted = Redactor([secret]).redact(before + secret + after)
    assert secret not in redacted
    assert "***" in redacted


@given(secrets, st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_redacted_json_can_be_read(secret: str, value: object) -> None:
    encoded = msgspec.json.encode({"a": [value, secret, value], "b": json.dumps({"c": secret})})
    redacted = Redactor([secret]).redact_bytes(encoded)
    document = json.loads(redacted)
    assert len(document["a"]) == 3
    assert "***" in document["a"][1]
    assert "***" in document["b"]


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("length", range(6, 12))
def test_a_secret_in_json_that_was_cut_is_struck_out(ascii_only: bool, length: int) -> None:
    secret = 'ä"sswörd-long'
    cut = json.dumps(secret, ensure_ascii=ascii_only)[1:-1][:length]
    assert Redactor([secret]).redact(f"said {cut}... (agent.py:5)") == "said ***... (agent.py:5)"


def test_a_text_that_begins_like_a_secret_with_dots_was_not_cut() -> None:
    assert Redactor(["abcd...efghijk"]).redact("abcd...efghij, all") == "abcd...efghij, all"
    assert Redactor(["abc..xyzw"]).redact("abc...") == "abc..."


@given(
    secret=secrets | st.sampled_from([NASTY, "hunter2 hunter2", "sk-Live9f8e7d6c5b4aQwErTy"]),
    encode=st.sampled_from(list(ENCODINGS.values())),
    before=st.text(max_size=4),
    value=st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3)),
)
def test_json_is_struck_where_its_texts_are(
    secret: str, encode: Callable[[str], str], before: str, value: object
) -> None:
    """The quick search over a line of JSON misses nothing that would be struck out of one of its texts."""
    redactor = Redactor([secret])
    text = f"{before} {encode(secret)}"
    struck = json.loads(redactor.redact_bytes(msgspec.json.encode([value, text, value])))
    assert struck[1] == redactor.redact(text)
