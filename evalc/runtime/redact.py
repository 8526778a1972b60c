"""From text that may hold secrets to the same text with `***` in their places."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final, final
from urllib.parse import quote, quote_plus

import msgspec

SHORTEST: Final = 8
"""Shorter values are no secrets: striking out `true` or `8080` would spoil every text and hide nothing."""

_MASK = "***"

_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')


@final
class Redactor:
    """Strikes out secret values, also where they are escaped as in JSON, percent-encoded, or in base64.

    Args:
        secrets: the values; those of less than eight characters are left alone.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        values = {secret.strip() for secret in secrets}
        forms = {form for value in values if len(value) >= SHORTEST for form in _forms(value)}
        # Longest first, so that where one form begins like another the whole of it goes.
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._encoded = sorted({json_form.encode(errors="replace") for form in forms for json_form in _as_json(form)})

    def redact(self, text: str) -> str:
        """The text without any of the secrets; the same text where it holds none."""
        if not any(form in text for form in self._forms):
            return text
        parts: list[str] = []
        end = 0
        for start, stop in self._spans(text):
            parts += (text[end:start], _MASK)
            end = stop
        return "".join([*parts, text[end:]])

    def redact_bytes(self, data: bytes) -> bytes:
        """The JSON, in UTF-8, without any of the secrets: it stays JSON, whatever characters a secret has."""
        if not any(form in data for form in self._encoded):
            return data
        return _JSON_TOKEN.sub(self._redact_token, data)

    def _redact_token(self, token: re.Match[bytes]) -> bytes:
        written = token[0]
        value: str = msgspec.json.decode(written) if written.startswith(b'"') else written.decode()
        if value in self._forms:
            return b'"***"'
        if not written.startswith(b'"') or (redacted := self.redact(value)) == value:
            return written  # Digits within a longer number are no secret, and a number must stay one.
        return msgspec.json.encode(redacted)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the secrets stand; overlapping ones are one span, so that no rest of either is left."""
        found = sorted((start, start + len(form)) for form in self._forms for start in _places(form, text))
        start, stop = found[0]
        for next_start, next_stop in found[1:]:
            if next_start >= stop:
                yield start, stop
                start = next_start
            stop = max(stop, next_stop)
        yield start, stop


def _places(form: str, text: str) -> Iterator[int]:
    start = text.find(form)
    while start >= 0:
        yield start
        start = text.find(form, start + 1)


def _forms(value: str) -> Iterator[str]:
    """The ways in which texts write the value."""
    yield value
    yield from _as_json(value)
    raw = value.encode(errors="replace")
    for percent in (quote(value, safe="", errors="replace"), quote(value, errors="replace"), quote_plus(raw)):
        yield percent
        yield re.sub("%[0-9A-F]{2}", lambda escape: escape[0].lower(), percent)
    for encoded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
        yield encoded.decode()
        yield encoded.decode().rstrip("=")


def _as_json(value: str) -> Iterator[str]:
    """The inside of the value's JSON strings: as it is, in ASCII, and with the `\\/` that some encoders write."""
    for ascii_only in (False, True):
        escaped = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", "\\/")
