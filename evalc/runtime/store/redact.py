"""From text that may hold secrets to the same text with `***` in their places."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final, final
from urllib.parse import quote, quote_plus

import msgspec

from evalc.runtime.checks.wording import shown
from evalc.runtime.store.any_encoding import AnyEncoding

SHORTEST: Final = 8
"""Shorter values are no secrets: striking out `true` or `8080` would spoil every text and hide nothing."""

_MASK = "***"

_ELLIPSES: Final = ("...", "…")
_TELLING: Final = 4
"""From this length on, the beginning of a secret before an ellipsis is taken for one that was cut."""

_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')


@final
class Redactor:
    """Strikes out secret values, also where they are encoded in any everyday way, or cut by an ellipsis.

    Args:
        secrets: the values; those of less than eight characters are left alone.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        values = {value for secret in secrets if len(value := secret.strip()) >= SHORTEST}
        forms = {form for value in values for form in _forms(value)}
        # Longest first, so that where one form begins like another the whole of it goes.
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        # Forms are found when they are cut, too.
        self._any_encoding = AnyEncoding(values)
        # What a text must have at the least to hold a secret.
        self._beginnings = sorted({form[:_TELLING] for form in forms} | self._any_encoding.telling)
        self._encoded = sorted(
            {written.encode(errors="replace") for beginning in self._beginnings for written in _as_json(beginning)}
        )

    def redact(self, text: str) -> str:
        """The text without any of the secrets; the same text where it holds none."""
        if not any(beginning in text for beginning in self._beginnings):
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
        start = stop = 0
        for next_start, next_stop in sorted(self._found(text)):
            if next_start >= stop:
                if stop:
                    yield start, stop
                start = next_start
            stop = max(stop, next_stop)
        if stop:
            yield start, stop

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        for form in self._forms:
            yield from _places(form, text)
        yield from self._any_encoding.places(text)


def _places(form: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the form stands, whole or up to an ellipsis, since messages are cut before they come here."""
    beginning = form[:_TELLING]
    start = text.find(beginning)
    while start >= 0:
        if text.startswith(form, start):
            yield start, start + len(form)
        elif (stop := _cut_at(form, text, start)) is not None:
            yield start, stop
        start = text.find(beginning, start + 1)


def _cut_at(form: str, text: str, start: int) -> int | None:
    """Where the ellipsis is before which the form that begins at `start` was cut."""
    common = _TELLING
    while common < len(form) and text.startswith(form[common], start + common):
        common += 1
    # The form itself may go on with the dots of the ellipsis.
    lengths = range(common, max(common - len(_ELLIPSES[0]), _TELLING - 1), -1)
    return next((start + length for length in lengths if text.startswith(_ELLIPSES, start + length)), None)


def _forms(value: str) -> Iterator[str]:
    """The forms that are found when they are cut, too: the likeliest. Whole secrets are found in any encoding."""
    yield value
    yield from _as_json(value)
    raw = value.encode(errors="replace")
    yield quote(value, safe="", errors="replace")
    yield quote_plus(raw)
    yield html.escape(value)
    yield shown(value, len(value))
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        alone = encode(raw).decode()
        yield alone
        yield alone.rstrip("=")


def _as_json(value: str) -> Iterator[str]:
    """The inside of the value's JSON strings: as it is, in ASCII, and with the `\\/` that some encoders write."""
    for ascii_only in (False, True):
        escaped = json.dumps(value, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", "\\/")
