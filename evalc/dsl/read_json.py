"""Reads JSON text, and finds the place of the value of a JSON pointer.

Decoding is the standard library's, at full speed. Only when something is wrong, or a place is asked for, is the text
looked at once more, by iteration.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from enum import Enum
from itertools import chain, compress
from typing import Any, Final, NamedTuple, final

from evalc.base.json_fault import fault_of
from evalc.base.source import Source, Span
from evalc.diagnostics import Fault, Finding
from evalc.dsl.nodes import Report, unheard
from evalc.dsl.scalars import MAX_DIGITS
from evalc.model.json import key_of_step


class Hole(Enum):
    """The type of `HOLE`."""

    HOLE = "hole"


HOLE: Final = Hole.HOLE
"""Takes the place of data that cannot be read; what is wrong is reported."""

MAX_DEPTH: Final = 100
"""How many levels of values are read by default."""

# Only the classes are possessive: Python before 3.11.5 loses matches of a possessive group.
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_TOKEN: Final = re.compile(rf"{_STRING}|[\[\]{{}},:]|[^\s\[\]{{}},:\"]+", re.DOTALL)
_COLON: Final = re.compile(r"\s*:")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_NUMBER: Final = re.compile(r"-?(?:[0-9]|NaN|Infinity)")


def read_json(source: Source, report: Report = unheard, *, max_depth: int = MAX_DEPTH) -> object:
    """The value that a JSON text holds, or `HOLE`.

    A repeated key is reported and the last value kept; everything else that is wrong leaves no data.
    """
    text = source.text
    watch = _Watch()
    data: object = HOLE
    end = len(text)
    try:
        data = json.loads(
            text,
            object_pairs_hook=watch.pairs,
            parse_constant=watch.constant,
            parse_float=watch.float,
            parse_int=watch.whole,
        )
    except json.JSONDecodeError as error:
        end = error.pos
        start, stop, found, cure = fault_of(error, text)
        report(Span(start, stop), Finding("EV127", found=found, cure=cure))
        watch.suspicious = True
    except RecursionError:
        watch.suspicious = True
    if data is not HOLE and _deeper_than(data, max_depth):
        watch.suspicious = True
    if not watch.suspicious and not _SURROGATE_ESCAPE.search(text) and (text.isascii() or not _SURROGATE.search(text)):
        return data
    usable = True
    for start, stop, finding in _flaws(source, end, max_depth):
        report(Span(start, stop), finding)
        usable = usable and finding.code == "EV111"
    return data if usable else HOLE


@final
class _Watch:
    """The hooks of one decoding. They notice what the decoder lets pass, and leave it to a second look to say where."""

    def __init__(self) -> None:
        self.suspicious = False

    def pairs(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self.suspicious = True
        return value

    def constant(self, _word: str) -> None:
        self.suspicious = True

    def whole(self, text: str) -> int:
        if len(text) > MAX_DIGITS:
            self.suspicious = True
        return int(text[:MAX_DIGITS])

    def float(self, text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            self.suspicious = True
        return number


_COLLECTIONS: Final = frozenset({dict, list})


def _deeper_than(data: object, limit: int) -> bool:
    level: list[Any] = [data] if isinstance(data, dict | list) else []
    for _ in range(limit):
        inner = list(chain.from_iterable([each.values() if type(each) is dict else each for each in level]))
        level = list(compress(inner, map(_COLLECTIONS.__contains__, map(type, inner))))
        if not level:
            return False
    return True


# --- what is wrong, and where ----------------------------------------------------------------------------------------


def _flaws(source: Source, end: int, max_depth: int) -> Iterator[Fault]:
    """Flaws that the decoder accepts, up to `end`: repeated keys, halves of characters, numbers beyond JSON."""
    text = source.text
    open_keys: list[dict[str, int]] = []
    for match in _TOKEN.finditer(text, 0, end):
        start, stop = match.span()
        character = text[start]
        if character in "[{":
            if len(open_keys) >= max_depth:
                yield Fault(start, start + 1, Finding("EV610", limit=max_depth))
                return
            open_keys.append({})
        elif character in "]}":
            if open_keys:
                open_keys.pop()
        elif character == '"':
            yield from half_characters(text, start, stop)
            if open_keys and _COLON.match(text, stop):
                key = _decoded(text[start:stop])
                first = open_keys[-1].setdefault(key, start)
                if first != start:
                    line = source.position(first).line
                    yield Fault(start, stop, Finding("EV111", key=key, first_line=line))
        elif _NUMBER.match(text, start) and not _readable(text[start:stop]):
            yield Fault(start, stop, Finding("EV128", text=text[start : min(stop, start + 60)]))


def _decoded(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:  # it is followed by the syntax error that is already reported
        return token


def half_characters(text: str, start: int, stop: int) -> Iterator[Fault]:
    """The halves of characters in a stretch that is a JSON string, or holds some."""
    for match in _SURROGATE.finditer(text, start, stop):
        escape = f"\\u{ord(match[0]):04x}"
        yield Fault(match.start(), match.end(), Finding("EV129", escape=escape))
    if _SURROGATE_ESCAPE.search(text, start, stop) is None:
        return
    for match in _ESCAPE.finditer(text, start, stop):
        if match["half"]:
            yield Fault(match.start(), match.end(), Finding("EV129", escape=match[0]))


def _readable(number: str) -> bool:
    if number.lstrip("-").isdigit():
        return len(number.lstrip("-")) <= MAX_DIGITS
    try:
        return math.isfinite(float(number))
    except ValueError:
        return True  # a syntax error, which is reported as such


# --- places ----------------------------------------------------------------------------------------------------------


class _Member(NamedTuple):
    """A value inside a collection, and its key (its own span in a list)."""

    key: Span
    value: Span


@final
class JsonPlaces:
    """The places of the values and keys of a JSON text, by JSON pointer (RFC 6901).

    A collection is looked through when a pointer first leads into it, and only then: a place costs at most one pass
    over each collection on its path, and places beside it cost nothing.
    """

    def __init__(self, source: Source) -> None:
        text = self._text = source.text
        whole = Span(len(text) - len(text.lstrip()), len(text.rstrip()))
        self._root = _Member(whole, whole)
        self._members: dict[int, dict[str, _Member]] = {}

    def value(self, pointer: str) -> Span:
        """The span of the value; of the nearest value around it if there is none at this pointer."""
        return self._member(pointer).value

    def key(self, pointer: str) -> Span:
        """The span of the key of the value, quotes included; of the value itself in a list."""
        return self._member(pointer).key

    def _member(self, pointer: str) -> _Member:
        member = self._root
        for step in pointer.split("/")[1:]:
            inner = self._inside(member.value.start).get(key_of_step(step))
            if inner is None:
                break
            member = inner
        return member

    def _inside(self, start: int) -> dict[str, _Member]:
        if start not in self._members:
            opening = self._text[start : start + 1]
            self._members[start] = _members(self._text, start) if opening in {"[", "{"} else {}
        return self._members[start]


def _members(text: str, start: int) -> dict[str, _Member]:
    """The members of the collection that opens at `start`, without a look into theirs."""
    try:
        return dict(_scanned(text, start))
    except (ValueError, IndexError, RecursionError):  # the JSON is broken somewhere
        return dict(_tokenized(text, start))


def _scanned(text: str, start: int) -> Iterator[tuple[str, _Member]]:
    """The members of a collection that is whole, each skipped by the decoder, which is quick."""
    in_list = text[start] == "["
    at = _behind_spaces(text, start + 1)
    index = 0
    while text[at] not in "]}":
        opening, name = at, str(index)
        if not in_list:
            name, at = _decode(text, at)
            key = Span(opening, at)
            at = _behind_spaces(text, at)
            if text[at] != ":":
                raise ValueError
            opening = _behind_spaces(text, at + 1)
        _, at = _decode(text, opening)
        value = Span(opening, at)
        yield name, _Member(value if in_list else key, value)
        index += 1
        at = _behind_spaces(text, at)
        if text[at] == ",":
            at = _behind_spaces(text, at + 1)
        elif text[at] not in "]}":
            raise ValueError


def _behind_spaces(text: str, at: int) -> int:
    space = _SPACES.match(text, at)
    return at if space is None else space.end()


_decode: Final = json.JSONDecoder(strict=False).raw_decode
_SPACES: Final = re.compile(r"[ \t\n\r]*")


def _tokenized(text: str, start: int) -> Iterator[tuple[str, _Member]]:
    """The members of a collection in a text that may be broken anywhere."""
    in_list = text[start] == "["
    depth = 0
    index = 0
    key: Span | None = None
    begin = end = -1
    for match in _TOKEN.finditer(text, start):
        at = match.start()
        character = text[at]
        if character in "]}":
            depth -= 1
            end = match.end()
        if (depth == 0 and character in "]}") or (depth == 1 and character == ","):
            if begin >= 0:
                value = Span(begin, begin + len(text[begin:at].rstrip()))
                if in_list:
                    yield str(index), _Member(value, value)
                elif key is not None:
                    yield _decoded(text[key.start : key.end]), _Member(key, value)
            index, key, begin = index + 1, None, -1
            if depth == 0:
                return
        elif depth == 1 and character == ":":
            key, begin = Span(begin, end), -1
        elif depth == 1 and begin < 0:
            begin, end = at, match.end()
        if character in "[{":
            depth += 1
