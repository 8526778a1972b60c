"""Encodes records for files: what JSON cannot hold is replaced, secrets are struck out."""

from __future__ import annotations

import base64
import html
import json
import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, reduce
from html.entities import html5
from typing import Any, Final, NamedTuple, TypeVar, final
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


def redacted(record: Record, json: bytes, redactor: Redactor) -> tuple[Record, bytes]:
    """The record and its JSON without secrets; the same objects if there are none."""
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
        if not self._forms:
            return text
        parts: list[str] = []
        end = 0
        for start, stop in self._spans(text):
            parts += (text[end:start], _MASK)
            end = stop
        return "".join([*parts, text[end:]]) if parts else text

    def redact_bytes(self, data: bytes) -> bytes:
        """The JSON, in UTF-8, without any of the secrets: it stays JSON, whatever characters a secret has."""
        if not self._forms or not self._are_in(_all_texts(data)):
            return data
        return _JSON_TOKEN.sub(self._redact_token, data)

    def _are_in(self, text: str) -> bool:
        return next(self._forms_in(text), None) is not None or self._any_encoding.are_in(text)

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
        yield from self._forms_in(text)
        yield from self._any_encoding.places(text)

    def _forms_in(self, text: str) -> Iterator[tuple[int, int]]:
        is_cut = _ELLIPSES[0] in text or _ELLIPSES[1] in text
        for form in self._forms:
            if is_cut:
                yield from _places(form, text)
            elif form in text:
                yield from _stretches(form, text)


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


_WHITESPACE: Final = b" \t\n\r\v\f"
_HEX: Final = "[0-9A-Fa-f]"
_ESCAPE: Final = (
    rf"\\\\*(?:[xu]\{{0*({_HEX}{{1,6}})\}}|u({_HEX}{{4}})|U({_HEX}{{8}})|x({_HEX}{{2}})|"
    r"(?:0(?=[0-3][0-7]{2})(?!1[125][0-7][0-9A-Za-z]))?(?P<octal>[0-3][0-7]{2})|"
    r"N\{(?P<name>[A-Z0-9 -]{2,80})\}|(?P<space>[nrt])|(?P<itself>[^%&=]?))|"
    rf"%(?:25)*(?:u({_HEX}{{4}})|({_HEX}{{2}}))|"
    rf"&(?:amp;)*(?:#[xX]0*({_HEX}{{1,6}});?|#0*(?P<decimal>[0-9]{{1,7}});?|(?P<entity>[A-Za-z][A-Za-z0-9]{{1,31}};))"
)
"""A character as Python, JSON, JavaScript and shells escape it, or URLs, or HTML. A backslash alone goes.

Each alternative begins with a literal character: so `re` looks for these alone, instead of trying all at each place.
"""
_PRINTABLE: Final = rf"=(?:(?P<soft>\r?\n|(?:\\+r)?\\+n)|({_HEX}{{2}}))"
"""A byte or a soft line break in quoted-printable."""
_BYTES: Final = re.compile(
    "[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\ud800-\udbff][\udc00-\udfff]"
)
"""The bytes of a character in UTF-8, each read as a character, or its two units of UTF-16."""
_DEPTH: Final = 4
"""How many encodings within one another are undone."""

_GAPS: Final = re.compile(r"(?:0[xX]|[:;,\s-])+")
"""Separators of the bytes of a text in hexadecimal: `73:65`, `0x73, 0x65`."""
_BREAKS: Final = re.compile(r"\s+")

_ESCAPES: Final = re.compile(_ESCAPE)
_PRINTABLES: Final = re.compile(_PRINTABLE)
_ESCAPES_OR_PRINTABLES: Final = re.compile(f"{_PRINTABLE}|{_ESCAPE}")
_BEGINNINGS: Final = "\\%&="


def _plain(text: str, escapes: re.Pattern[str]) -> str:
    """The text with what is escaped as it is."""
    for _ in range(_DEPTH):
        if not any(beginning in text for beginning in _BEGINNINGS):
            break
        text, changed = escapes.subn(_unescaped, text)
        if not changed:
            break
        text = text if text.isascii() else _BYTES.sub(_character, text)
    return text


def _readings(text: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The text as it is without escapes, and what these are."""
    plain = _plain(text, _ESCAPES)
    yield plain, _ESCAPES
    # What follows a `=` may also be a value in a query, so that this is another reading of the same text.
    if _PRINTABLES.search(plain) is not None:
        yield _plain(text, _ESCAPES_OR_PRINTABLES), _ESCAPES_OR_PRINTABLES


def _steps(text: str, escapes: re.Pattern[str]) -> list[_Rewritten]:
    """The steps of `_plain`, with the way back from each."""
    steps: list[_Rewritten] = []
    for _ in range(_DEPTH):
        unescaped = _Rewritten(text, escapes, _unescaped)
        if not unescaped.is_changed:
            break
        steps += (unescaped, _Rewritten(unescaped.text, _BYTES, _character))
        text = steps[-1].text
    return steps


def _unescaped(escape: re.Match[str]) -> str:
    text = escape[0]
    return _known_meaning(text) if len(text) <= _SHORT else _meaning(text)


def _meaning(text: str) -> str:
    """The character or byte that an escape means; itself if it means none."""
    escape = _ESCAPES_OR_PRINTABLES.fullmatch(text)
    assert escape is not None  # noqa: S101 - for the type checker: it is one
    written = escape[escape.lastindex or 0]
    match escape.lastgroup:
        case "itself":
            return written
        case "space":
            return "\n"
        case "soft":
            return ""
        case "entity":
            return html5.get(written, text)
        case "name":
            try:
                return unicodedata.lookup(written)
            except KeyError:
                return text
        case kind:
            code = int(written, {"octal": 8, "decimal": 10}.get(kind or "", 16))
            return chr(code) if code <= sys.maxunicode else text


_SHORT: Final = 16
"""The length of escapes that are kept, since texts have the same ones again and again."""
_known_meaning: Final = lru_cache(4096)(_meaning)


def _character(units: re.Match[str]) -> str:
    """The character that bytes of UTF-8 or units of UTF-16 make; themselves if they make none."""
    written = units[0]
    try:
        return (
            written.encode("latin-1").decode()
            if written <= "\xff"
            else written.encode("utf-16", "surrogatepass").decode("utf-16")
        )
    except UnicodeError:
        return written


@final
class AnyEncoding:
    """Finds secrets: compares them with the text as it is without its encodings, or in base64, base32 or hexadecimal.

    Each search looks first, cheaply, whether the text can hold any.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        values = sorted(secrets, key=lambda secret: (-len(secret), secret))
        self._secrets = {
            escapes: [plain for secret in values if (plain := _plain_secret(_plain(secret, escapes))) is not None]
            for escapes in (_ESCAPES, _ESCAPES_OR_PRINTABLES)
        }
        bases = {written for secret in values for written in (*_base64_of(secret), *_base32_of(secret))}
        self._bases = [(written, written.encode()) for written in bases]
        self._hex = [_InHex(secret.encode(errors="replace").hex()) for secret in values]
        self._in_one_case = [written for secret in values for written in _in_one_case(secret)]

    def are_in(self, text: str) -> bool:
        """Whether the text holds any; that takes less time than to say where."""
        return any(True for plain, escapes in _readings(text) for _ in self._in_plain(plain, self._secrets[escapes]))

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the secrets are, in no order; places may overlap."""
        for plain, escapes in _readings(text):
            found = list(self._in_plain(plain, self._secrets[escapes]))
            steps = _steps(text, escapes)[::-1] if found else ()
            for place in found:
                yield reduce(lambda place, step: step.place(*place), steps, place)

    def _in_plain(self, text: str, secrets: Iterable[_PlainSecret]) -> Iterator[tuple[int, int]]:
        for part, whole in secrets:
            if part in text:
                yield from (match.span() for match in whole.finditer(text))
        unbroken = text.encode(errors="replace").translate(None, _WHITESPACE)
        for written, raw in self._bases:
            if raw in unbroken:
                bare = _Rewritten(text, _BREAKS)
                yield from (bare.place(*place) for place in _stretches(written, bare.text))
        small = text.lower()
        for in_hex in self._hex:
            yield from in_hex.places(text, small)
        for written in self._in_one_case:
            if written in text:
                yield from _stretches(written, text)


class _PlainSecret(NamedTuple):
    """A secret without encodings: its longest part, which is quick to look for, and an expression for the whole."""

    part: str
    whole: re.Pattern[str]


def _plain_secret(secret: str) -> _PlainSecret | None:
    """How a secret without encodings is found, in which whitespace may be any or none.

    None if it has become so short that it is like other words.
    """
    parts = secret.split()
    if len("".join(parts)) < SHORTEST:
        return None
    return _PlainSecret(max(parts, key=len), re.compile(r"\s*".join(map(re.escape, parts))))


@final
class _InHex:
    """Finds a secret in hexadecimal, with gaps between its bytes: a text that holds it holds its first two bytes."""

    def __init__(self, digits: str) -> None:
        self._first = digits[:2]
        self._begin = re.compile(f"{self._first}(?:{_GAPS.pattern})?{digits[2:4]}")
        self._whole = re.compile(digits, re.IGNORECASE)

    def places(self, text: str, small: str) -> Iterator[tuple[int, int]]:
        """Where the secret is; `small` is the text in small letters."""
        if self._first in small and self._begin.search(small) is not None:
            bare = _Rewritten(text, _GAPS)
            yield from (bare.place(*match.span()) for match in self._whole.finditer(bare.text))


@final
class _Rewritten:
    """A text in which what matches a pattern is written anew, and where its characters were before."""

    def __init__(
        self, text: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str] = lambda _: ""
    ) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []  # of the pieces, in the new text
        self._places: list[tuple[int, int]] = []  # of the pieces, in the old text
        at = size = 0
        for match in pattern.finditer(text):
            for piece, place in ((text[at : match.start()], (at, match.start())), (change(match), match.span())):
                pieces.append(piece)
                self._starts.append(size)
                self._places.append(place)
                size += len(piece)
            at = match.end()
        self._starts.append(size)
        self._places.append((at, len(text)))
        self.is_changed = bool(pieces)
        self.text = "".join([*pieces, text[at:]])

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the new text was in the old one."""
        return self._at(start)[0], self._at(end - 1)[1]

    def _at(self, offset: int) -> tuple[int, int]:
        piece = bisect_right(self._starts, offset) - 1
        first, last = self._places[piece]
        if piece % 2:  # written anew, and as a whole
            return first, last
        at = first + offset - self._starts[piece]
        return at, at + 1


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


NO_SECRETS: Final = Redactor(())
"""Strikes out nothing."""
