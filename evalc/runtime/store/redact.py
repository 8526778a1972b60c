"""Encodes records for files: what JSON cannot hold is replaced, secrets are struck out."""

from __future__ import annotations

import base64
import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from html.entities import codepoint2name
from itertools import count, groupby
from typing import Any, Final, TypeVar, final
from urllib.parse import quote, quote_plus

import msgspec

from evalc.base.terminal import well_formed
from evalc.runtime.checks.words import shown

Record = TypeVar("Record", bound=msgspec.Struct)

SHORTEST: Final = 8
"""Shorter values are not secrets: striking out `true` or `8080` would spoil every text and hide nothing."""

_MASK: Final = "***"

_ELLIPSES: Final = ("...", "…")
_DISTINCTIVE: Final = 4
"""From this length on, the beginning of a secret before an ellipsis counts as a secret that was cut."""

_JSON_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*')


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

    Values of less than eight characters are left alone.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        values = {value for secret in secrets if len(value := secret.strip()) >= SHORTEST}
        forms = {form for value in values for form in _forms(value)}
        # Longest first, so that where one form begins like another the whole of it goes.
        self._forms = sorted(forms, key=lambda form: (-len(form), form))
        self._any_encoding = AnyEncoding(values)

    def redact(self, text: str) -> str:
        """The text without any of the secrets; the same text where it holds none."""
        parts: list[str] = []
        end = 0
        for start, stop in self._spans(text):
            parts += (text[end:start], _MASK)
            end = stop
        return "".join([*parts, text[end:]]) if parts else text

    def redact_bytes(self, data: bytes) -> bytes:
        """The JSON, in UTF-8, without any of the secrets: it stays JSON, whatever characters a secret has."""
        if not self._forms or next(self._found(_all_texts(data)), None) is None:
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
        is_cut = _ELLIPSES[0] in text or _ELLIPSES[1] in text
        for form in self._forms:
            if is_cut:
                yield from _places(form, text)
            elif form in text:
                yield from _stretches(form, text)
        yield from self._any_encoding.places(text)


def _all_texts(data: bytes) -> str:
    """The strings of the JSON and the text between them, in one text."""
    if b"\\" not in data:
        return data.decode(errors="replace")
    ends_marked = data.replace(b"\\\\", rb"\u005c").replace(b'\\"', rb"\u0022").replace(b'"', rb"\u0000")
    text: str = json.loads(f'"{ends_marked.decode(errors="replace")}"', strict=False)
    return text


def _places(form: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the form is, whole or up to an ellipsis, since messages are cut before they come here."""
    beginning = form[:_DISTINCTIVE]
    start = text.find(beginning)
    while start >= 0:
        if text.startswith(form, start):
            yield start, start + len(form)
        elif (stop := _cut_at(form, text, start)) is not None:
            yield start, stop
        start = text.find(beginning, start + 1)


def _cut_at(form: str, text: str, start: int) -> int | None:
    """Where the ellipsis is before which the form that begins at `start` was cut."""
    common = _DISTINCTIVE
    while common < len(form) and text.startswith(form[common], start + common):
        common += 1
    # The form itself may go on with the dots of the ellipsis.
    lengths = range(common, max(common - len(_ELLIPSES[0]), _DISTINCTIVE - 1), -1)
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


_SLASHES: Final = r"\\\\{0,7}"
"""The prefix of an escape: as many backslashes as there are languages around it."""

_SPACE_HEX: Final = "(?:0[AaDd9]|20)"
_WRITTEN_BREAK: Final = (
    rf"{_SLASHES}(?:[nrt]|(?=\s)|(?:x|u00|U0{{6}}){_SPACE_HEX}|[xu]\{{0*(?:[AaDd9]|20)\}}|0?0(?:1[125]|40))|"
    rf"%(?:25)?{_SPACE_HEX}|={_SPACE_HEX}|&(?:amp;)?#(?:0*(?:9|1[03]|32)|[xX]0*(?:[AaDd9]|20));"
)
"""A piece of whitespace in an encoding."""
_BREAK: Final = rf"(?:\s|{_WRITTEN_BREAK})"
"""A piece of whitespace, however it is written."""
_WHITESPACE: Final = b" \t\n\r\v\f"

_SOFT_BREAKS: Final = re.compile(rf"=(?:\r?\n|{_SLASHES}r{_SLASHES}n|{_SLASHES}n)")
"""Where quoted-printable breaks a line."""

_HEX_GAP: Final = rf"(?:{_SLASHES}(?:[nrt]|[xu]\{{0*|[xuU])|%(?:25)?u?|&(?:amp;)?#[xX]0*|0[xX]|[=}};:,\s-])"
"""The separators of the bytes of a text in hexadecimal: `73:65`, `0x73, 0x65`, `%73%65`, `\\u0073\\u0065`."""
_DECIMAL_GAP: Final = r"(?:&(?:amp;)?#0*)"
"""The prefix of each number in `&#115;&#101;`."""
_OCTAL_GAP: Final = rf"(?:{_SLASHES}(?:0(?=[0-7]{{3}}))?)"
"""The prefix of each number in `\\163\\145`."""

_ESCAPES: Final = re.compile(r"[\\%=&]")
_BREAKS: Final = re.compile(f"{_BREAK}+")
_WRITTEN_BREAKS: Final = re.compile(_WRITTEN_BREAK)
_NEVER_ENCODED: Final = re.compile("[A-Za-z0-9]+")


@final
class AnyEncoding:
    """Finds secrets: each way of encoding looks first, cheaply, whether the text can hold any."""

    def __init__(self, secrets: Iterable[str]) -> None:
        values = sorted(secrets, key=lambda secret: (-len(secret), secret))
        self._written_out = [(_never_encoded(value), re.compile(_written_out(value))) for value in values]
        bases = {written for secret in values for written in (*_base64_of(secret), *_base32_of(secret))}
        self._bases = [(written, written.encode()) for written in bases]
        self._numbers = [
            _Numbers(gap, {units for secret in values for units in units_of(secret)})
            for gap, units_of in ((_HEX_GAP, _hex_of), (_DECIMAL_GAP, _decimal_of), (_OCTAL_GAP, _octal_of))
        ]
        self._in_one_case = [written for secret in values for written in _in_one_case(secret)]

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the secrets are, in no order; places may overlap."""
        joined = _SOFT_BREAKS.sub("", text)
        for part, pattern in self._written_out:
            if part in joined:
                yield from _places_written_out(pattern, text, joined)
        unescaped = _WRITTEN_BREAKS.sub("", text) if _ESCAPES.search(text) else text
        unbroken = unescaped.encode(errors="replace").translate(None, _WHITESPACE)
        for written, raw in self._bases:
            if raw in unbroken:
                bare = _Bare(text, _BREAKS)
                yield from (bare.place(*place) for place in _stretches(written, bare.text))
        small = text.lower()
        for numbers in self._numbers:
            for first in numbers.firsts:
                if first in small:
                    yield from numbers.places(text, small)
                    break
        for written in self._in_one_case:
            if written in text:
                yield from _stretches(written, text)


def _places_written_out(pattern: re.Pattern[str], text: str, joined: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in pattern.finditer(text))
    if joined != text:
        bare = _Bare(text, _SOFT_BREAKS)
        yield from (bare.place(*match.span()) for match in pattern.finditer(joined))


@final
class _Numbers:
    """Finds secrets whose characters or bytes are numbers in the text, in small letters, with gaps between them.

    A text that holds the numbers of one holds one of `firsts`, which is cheap to see, and the second number behind it.
    """

    def __init__(self, gap: str, secrets: Collection[tuple[str, ...]]) -> None:
        self._gaps = re.compile(f"{gap}+")
        firsts = {first for first, *_ in secrets}
        self.firsts = [first for first in firsts if not any(less in first for less in firsts - {first})]
        self._secrets = [
            (re.compile(f"{first}{gap}*{second}"), re.compile("".join((first, second, *more)), re.IGNORECASE))
            for first, second, *more in secrets
        ]

    def places(self, text: str, small: str) -> Iterator[tuple[int, int]]:
        """Where the secrets are, in no order; `small` is the text in small letters."""
        if patterns := [pattern for begin, pattern in self._secrets if begin.search(small) is not None]:
            bare = _Bare(text, self._gaps)
            for pattern in patterns:
                yield from (bare.place(*match.span()) for match in pattern.finditer(bare.text))


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


def _never_encoded(secret: str) -> str:
    """The longest part of the secret that is itself where only other characters are encoded; empty if there is none."""
    return max(_NEVER_ENCODED.findall(secret), key=len, default="")


def _written_out(secret: str) -> str:
    """An expression for the secret, in which runs of whitespace may be any or none.

    A run is taken whole, by a lookahead and its group: before 3.11.5, Python mismatches `*+` after alternatives.
    The empty comment keeps digits of the secret from being read as the end of the group's number.
    """
    groups = count(1)
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
    yield rf"{_SLASHES}(?:U{_hex(code, 8)}|[ux]\{{0*{_hex(code)}\}})"
    yield "".join(f"{_SLASHES}0?{byte:03o}" for byte in raw)
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


def _hex_of(secret: str) -> Iterator[tuple[str, ...]]:
    """The secret's bytes, in UTF-8, UTF-16 (`\\u0073`) and UTF-32 (`\\U00000073`), and its characters (`&#x73;`)."""
    for encoding, size in (("utf-8", 1), ("utf-16-be", 2), ("utf-32-be", 4)):
        raw = secret.encode(encoding, errors="replace")
        yield tuple(raw[at : at + size].hex() for at in range(0, len(raw), size))
    yield tuple(f"{ord(character):x}" for character in secret)


def _decimal_of(secret: str) -> Iterator[tuple[str, ...]]:
    yield tuple(f"{ord(character)};" for character in secret)


def _octal_of(secret: str) -> Iterator[tuple[str, ...]]:
    yield tuple(f"{byte:03o}" for byte in secret.encode(errors="replace"))


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
