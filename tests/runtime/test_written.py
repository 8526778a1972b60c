"""Records as files hold them: what JSON has no form for, and what secrets become in them."""

from __future__ import annotations

from typing import Any

import msgspec

from evalc.runtime.store.redact import Redactor, encoded, redacted

SECRET = "hunter2-hunter2"


class Record(msgspec.Struct, frozen=True):
    """A record with anything in it."""

    value: Any
    count: int = 0


class Named(str):
    """A text of a class of somebody's own, which says something else of itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return "not this"


def test_values_without_a_form_in_json_are_written_as_texts() -> None:
    assert encoded(Record("x", 1)) == b'{"value":"x","count":1}'
    assert encoded(Record([1j, Named("x")])) == b'{"value":["1j","x"],"count":0}'


def test_half_a_surrogate_pair_is_replaced_wherever_it_is() -> None:
    value = {"a\ud83d": ["\ud83d", 1, None], "b": ("\ude00",)}
    expected = {"value": {"a\ufffd": ["\ufffd", 1, None], "b": ["\ufffd"]}, "count": 0}
    assert msgspec.json.decode(encoded(Record(value))) == expected


def test_without_secrets_it_is_the_very_same() -> None:
    record = Record("x")
    json = encoded(record)
    for redactor in (Redactor([]), Redactor([SECRET])):
        same, written = redacted(record, json, redactor)
        assert same is record
        assert written is json


def test_a_secret_is_struck_out_of_the_record_and_its_json() -> None:
    record = Record({"key": f"it is {SECRET}", SECRET: [SECRET]})
    struck, written = redacted(record, encoded(record), Redactor([SECRET]))
    assert struck == Record({"key": "it is ***", "***": ["***"]})
    assert written == encoded(struck)


class Elsewhere:
    """Strikes out digits also in the middle of the JSON, where numbers are."""

    def redact(self, text: str) -> str:
        """The text without the digits."""
        return text.replace("12345678", "***")

    def redact_bytes(self, data: bytes) -> bytes:
        """The bytes without the digits."""
        return data.replace(b"12345678", b"***")


def test_a_number_stays_one_and_texts_lose_the_secret_all_the_same() -> None:
    record = Record({"12345678": ["12345678", 1, None]}, 12345678)
    redactor: Any = Elsewhere()
    struck, written = redacted(record, encoded(record), redactor)
    assert struck == Record({"***": ["***", 1, None]}, 12345678)
    assert written == encoded(struck)
