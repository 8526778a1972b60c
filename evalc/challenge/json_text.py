"""Finds the values of a JSON text and where they stand in it, so that one can be changed and the rest left as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # public in its documentation, not in its types
from typing import Any, Final, NamedTuple

from evalc.model.paths import path_of_key

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST: Final = 50


class Leaf(NamedTuple):
    """A text, a number or a truth value: its path in the response, its value, and the stretch of the text."""

    path: str
    value: Any
    start: int
    end: int


class Member(NamedTuple):
    """A member of an object, with the comma before or behind it: its path and the stretch of the text."""

    path: str
    start: int
    end: int


class JsonParts(NamedTuple):
    """What a JSON text is made of."""

    leaves: tuple[Leaf, ...]
    members: tuple[Member, ...]


def json_parts(text: str) -> JsonParts | None:
    """The parts of a text that is a JSON object or array; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        json.loads(text)
        found = list(_value(text, _space(text, 0), "", 0))
    except (ValueError, RecursionError, _TooDeep):
        return None
    return JsonParts(
        tuple(part for part in found if isinstance(part, Leaf)),
        tuple(part for part in found if isinstance(part, Member)),
    )


class _TooDeep(Exception):
    """The text nests deeper than anybody writes."""


class _End(NamedTuple):
    """Where a value ends."""

    at: int


def _space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _value(text: str, at: int, path: str, depth: int) -> Iterator[Leaf | Member | _End]:
    """The parts of the value that begins there, and at last where it ends."""
    if depth > _DEEPEST:
        raise _TooDeep
    if text[at] == "{":
        yield from _object(text, at, path, depth)
    elif text[at] == "[":
        yield from _array(text, at, path, depth)
    elif text[at] == '"':
        value, end = scanstring(text, at + 1)
        yield Leaf(path, value, at, end)
        yield _End(end)
    else:
        match = _SCALAR.match(text, at)
        if match is None:
            raise ValueError(text[at : at + 1])
        yield Leaf(path, json.loads(match[0]), at, match.end())
        yield _End(match.end())


def _object(text: str, at: int, path: str, depth: int) -> Iterator[Leaf | Member | _End]:
    starts: list[tuple[str, int, int]] = []
    at = _space(text, at + 1)
    while text[at] != "}":
        start = at
        key, at = scanstring(text, at + 1)
        inner = f"{path}.{path_of_key(key)}" if path else path_of_key(key)
        at = _space(text, _space(text, at) + 1)
        for part in _value(text, at, inner, depth + 1):
            if isinstance(part, _End):
                at = part.at
            else:
                yield part
        starts.append((inner, start, at))
        at = _space(text, at)
        if text[at] == ",":
            at = _space(text, at + 1)
    for index, (inner, start, end) in enumerate(starts):
        if index:
            yield Member(inner, starts[index - 1][2], end)
        else:
            yield Member(inner, start, starts[1][1] if len(starts) > 1 else end)
    yield _End(at + 1)


def _array(text: str, at: int, path: str, depth: int) -> Iterator[Leaf | Member | _End]:
    index = 0
    at = _space(text, at + 1)
    while text[at] != "]":
        for part in _value(text, at, f"{path}[{index}]", depth + 1):
            if isinstance(part, _End):
                at = part.at
            else:
                yield part
        index += 1
        at = _space(text, at)
        if text[at] == ",":
            at = _space(text, at + 1)
    yield _End(at + 1)
