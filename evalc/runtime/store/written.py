"""Encodes records for files: what JSON cannot hold is replaced, secrets are struck out."""

from __future__ import annotations

import base64
import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from html.entities import codepoint2name
from itertools import count, groupby
from typing import Any, Final, TypeVar, final
from urllib.parse import quote, quote_plus

import msgspec

from evalc.runtime.agents.wire import well_formed
from evalc.runtime.checks.wording import shown

Record = TypeVar("Record", bound=msgspec.Struct)

SHORTEST: Final = 8
"""Shorter values are not secrets: striking out `true` or `8080` would spoil every text and hide nothing."""

_MASK = "***"

_ELLIPSES: Final = ("...", "…")
_TELLING: Final = 4
"""From this length on, the beginning of a secret before an ellipsis counts as a secret that was cut."""

_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')


def _foreign(value: object) -> str:
    """The text of what JSON has no form for; the subclasses of `str` are texts."""
    return str.__str__(value) if isinstance(value, str) else repr(value)


_encoder: Final = msgspec.json.Encoder(enc_hook=_foreign)


def encoded(record: msgspec.Struct) -> bytes:
    """The record as one line of JSON.

    Agents send what JSON cannot hold: an object of Python becomes its `repr`, half a surrogate pair U+FFFD.

    Raises:
        Exception: of any kind, where not even that can be done: a value that holds itself, a `repr` that raises.
    """
    try:
        return _encoder.encode(record)
    except Exception:  # what a foreign object raises when it is looked at is not ours to foresee
        return _encoder.encode(_with_texts(msgspec.to_builtins(record, enc_hook=_foreign), well_formed))


def redacted(record: Record, json: bytes, redactor: Redactor | None) -> tuple[Record, bytes]:
    """The record and its JSON without secrets; the same objects if there are none."""
    if redactor is None:
        return record, json
    struck = redactor.redact_bytes(json)
    if struck == json:
        return record, json
    try:
        return msgspec.json.decode(struck, type=type(record)), struck
    except (msgspec.DecodeError, UnicodeDecodeError):
        # It was in a number: then the digits are not a secret, and only the texts are changed.
        struck = _encoder.encode(_with_texts(msgspec.json.decode(json), redactor.redact))
        return msgspec.json.decode(struck, type=type(record)), struck


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed."""
    match value:
        case str():
            return change(value)
        case dict():
            return {_with_texts(key, change): _with_texts(item, change) for key, item in value.items()}
        case list() | tuple():
            return [_with_texts(item, change) for item in value]
        case _:
            return value


# --- secrets ---------------------------------------------------------------------------------------------------------


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
            return written  # Digits within a longer number are not a secret, and a number must stay a number.
        return msgspec.json.encode(redacted)

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the secrets are; overlapping secrets are one span, so that no part of either is left."""
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
    """Where the form is, whole or up to an ellipsis, since messages are cut before they come here."""
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


_SLASHES: Final = r"\\{1,8}"
"""What precedes an escape: as many backslashes as there are languages around it."""

_BREAK: Final = (
    rf"(?:\s|{_SLASHES}[nrt]|{_SLASHES}(?=\s)|(?:%(?:25)?|=)(?:0[AaDd9]|20)|&#(?:1[03]|32|[xX](?:0?[aAdD]|20));)"
)
"""A piece of whitespace, however it is written."""

_HEX_GAPS: Final = re.compile(rf"(?:{_SLASHES}[xu]|%(?:25)?|&(?:amp;)?#[xX](?:00)*|0[xX]|[;:,\s-])+")
"""What stands between the bytes of a text in hexadecimal: `73:65`, `0x73, 0x65`, `%73%65`, `\\u0073\\u0065`."""
_DECIMAL_GAPS: Final = re.compile(r"(?:&(?:amp;)?#0*)+")
"""What precedes each number in `&#115;&#101;`."""

_BREAKS: Final = re.compile(f"{_BREAK}+")
_NEVER_ENCODED: Final = re.compile(r"[A-Za-z0-9]{4,}")
_TELLING_BYTES: Final = 4


@final
class AnyEncoding:
    """Finds secrets.

    Attributes:
        telling: a text that holds a secret holds one of these; an empty one if that cannot be said.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        values = sorted(secrets, key=lambda secret: (-len(secret), secret))
        groups = count(1)
        self._written_out = re.compile("|".join(_written_out(value, groups) for value in values)) if values else None
        self._bases = [written for secret in values for written in (*_base64_of(secret), *_base32_of(secret))]
        self._hex = [re.compile(digits, re.IGNORECASE | re.ASCII) for secret in values for digits in _hex_of(secret)]
        self._decimal = [re.compile("".join(f"{ord(character)};" for character in secret)) for secret in values]
        self._in_one_case = [written for secret in values for written in _in_one_case(secret)]
        self.telling = frozenset(
            (
                *self._parts(),
                *self._in_one_case,
                *(part for secret in values for part in (_telling(secret), *_hex_begins(secret), f"{ord(secret[0])};")),
            )
        )

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the secrets are, in no order; places may overlap."""
        if self._written_out is None:
            return
        yield from (match.span() for match in self._written_out.finditer(text))
        bare = _Bare(text, _BREAKS)
        for written in self._bases:
            yield from (bare.place(*found) for found in _stretches(written, bare.text))
        for patterns, gaps in ((self._hex, _HEX_GAPS), (self._decimal, _DECIMAL_GAPS)):
            bare = _Bare(text, gaps)
            for pattern in patterns:
                yield from (bare.place(*match.span()) for match in pattern.finditer(bare.text))
        for written in self._in_one_case:
            yield from _stretches(written, text)

    def _parts(self) -> Iterator[str]:
        """The beginnings of base64 and base32, and what follows on them, since a line may end in either of them."""
        for written in self._bases:
            yield written[:_TELLING_BYTES]
            yield written[_TELLING_BYTES : 2 * _TELLING_BYTES]


@final
class _Bare:
    """A text without what matches `gaps`, such as whitespace, and where its characters were."""

    def __init__(self, text: str, gaps: re.Pattern[str]) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []  # of the pieces, in the bare text
        self._places: list[int] = []  # of the pieces, in the text
        at = size = 0
        for gap in gaps.finditer(text):
            size = self._add(pieces, text[at : gap.start()], at, size)
            at = gap.end()
        self._add(pieces, text[at:], at, size)
        self.text = "".join(pieces)

    def _add(self, pieces: list[str], piece: str, at: int, size: int) -> int:
        pieces.append(piece)
        self._starts.append(size)
        self._places.append(at)
        return size + len(piece)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the bare text is in the text."""
        return self._at(start), self._at(end - 1) + 1

    def _at(self, offset: int) -> int:
        piece = bisect_right(self._starts, offset) - 1
        return self._places[piece] + offset - self._starts[piece]


def _telling(secret: str) -> str:
    """The longest part of the secret that no encoding touches; empty if there is none."""
    return max(_NEVER_ENCODED.findall(secret), key=len, default="")


def _written_out(secret: str, groups: Iterator[int]) -> str:
    """An expression for the secret, in which runs of whitespace may be any or none.

    A run is taken whole, by a lookahead and its group: before 3.11.5, Python mismatches `*+` after alternatives.
    The empty comment keeps digits of the secret from being read as the end of the group's number.
    """
    parts = (
        rf"(?=({_BREAK}*))\{next(groups)}(?#)" if is_space else "".join(map(_character, characters))
        for is_space, characters in groupby(secret, key=str.isspace)
    )
    return "".join(parts)


def _character(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    return f"(?:{'|'.join(dict.fromkeys(_ways(character)))})"


def _ways(character: str) -> Iterator[str]:
    """The ways in which a character is written, as expressions."""
    code = ord(character)
    yield rf"\\{{0,8}}{re.escape(character)}"
    raw = character.encode(errors="surrogatepass")
    yield "".join(f"%(?:25)?{_hex(byte, 2)}" for byte in raw)
    yield "".join(f"{_SLASHES}x{_hex(byte, 2)}" for byte in raw)
    units = character.encode("utf-16-be", errors="surrogatepass")
    yield "".join(rf"{_SLASHES}u{_hex(high << 8 | low, 4)}" for high, low in zip(units[::2], units[1::2], strict=True))
    if code < 256:
        yield f"{_SLASHES}x{_hex(code, 2)}"
    yield "".join(f"={_hex(byte, 2)}" for byte in raw)
    yield f"&(?:amp;)?#(?:0*{code}|[xX]0*{_hex(code)});"
    if (name := _NAMES.get(code)) is not None:
        yield f"&(?:amp;)?{name};"


_NAMES: Final = {**codepoint2name, ord("'"): "apos"}


def _hex(number: int, digits: int = 0) -> str:
    """The digits, letters in either size."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{number:0{digits}x}")


def _base64_of(secret: str) -> Iterator[str]:
    """The secret in base64, wherever it begins in what was encoded: only the characters that hold nothing else."""
    raw = secret.encode(errors="replace")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
            yield encode(b"\0" * before + raw).decode()[first:last]


_BASE32_GROUP: Final = 5
"""The bytes that are eight characters of base32."""


def _base32_of(secret: str) -> Iterator[str]:
    """The secret in base32, as `_base64_of`."""
    raw = secret.encode(errors="replace")
    for before in range(_BASE32_GROUP):
        first, last = -(-before * 8 // 5), (before + len(raw)) * 8 // 5
        written = base64.b32encode(b"\0" * before + raw).decode()[first:last]
        yield from (written, written.lower())


def _hex_of(secret: str) -> Iterator[str]:
    """The digits of the secret in UTF-8, and in UTF-16, as `\\u0073` has it."""
    yield secret.encode(errors="replace").hex()
    yield secret.encode("utf-16-be", errors="replace").hex()


def _hex_begins(secret: str) -> Iterator[str]:
    """The beginnings that the secret may have in hexadecimal."""
    raw = secret.encode(errors="replace")
    unit = secret.encode("utf-16-be", errors="replace")[:2].hex()
    for case in (str.lower, str.upper):
        first, second, long = case(f"{raw[0]:02x}"), case(f"{raw[1]:02x}"), case(unit)
        yield from (f"{first}{between}{second}" for between in ("", ":", "-", " "))
        yield from (f"%{first}", f"%25{first}", f"x{first}", f"u{long}", f"x{long}")


_DISTINCT: Final = 16
"""The length from which a secret with letters and digits is like no word, however its letters are written."""


def _in_one_case(secret: str) -> Iterator[str]:
    """The secret in capitals and in small letters, where that cannot be a word that means something else."""
    if len(secret) >= _DISTINCT and re.search("[0-9]", secret) and re.search("[A-Za-z]", secret):
        yield from {secret.upper(), secret.lower()} - {secret}


def _stretches(written: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(written)
    while at >= 0:
        yield at, at + len(written)
        at = text.find(written, at + 1)
