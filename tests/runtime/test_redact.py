"""Secrets are found in every form in which a file may hold them, and nothing else is touched."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.runtime.checks.wording import shown
from evalc.runtime.redact import Redactor

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
    ],
)
def test_what_is_a_secret(values: list[str], text: str, redacted: str) -> None:
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
def test_what_was_cut(text: str, redacted: str) -> None:
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
