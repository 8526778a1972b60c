"""Finds the values of a JSON text with their places, so that one can be changed and the rest kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Never

from evalc.base.source import Source
from evalc.dsl.read_json import JsonPlaces
from evalc.model.json import path_of_key, pointer_step

_DEEPEST: Final = 50


class Leaf(NamedTuple):
    """A text, a number, a truth value or null: its path in the response, its value, and the stretch of the text."""

    path: str
    value: Any
    start: int
    end: int


class Member(NamedTuple):
    """A member of an object, with the comma before or after it: its path and the stretch of the text."""

    path: str
    start: int
    end: int


class JsonParts(NamedTuple):
    """What a JSON text is made of."""

    leaves: tuple[Leaf, ...]
    members: tuple[Member, ...]


class _TooDeep(Exception):
    """The text nests deeper than anybody writes."""


def json_parts(text: str) -> JsonParts | None:
    """The parts of a text that is a JSON object or array; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        data = json.loads(text, parse_constant=_no_json)
        found = list(_parts(data, JsonPlaces(Source("", text)), "", "", 0))
    except (ValueError, RecursionError, _TooDeep):
        return None
    return JsonParts(
        tuple(part for part in found if isinstance(part, Leaf)),
        tuple(part for part in found if isinstance(part, Member)),
    )


def _no_json(constant: str) -> Never:
    """`NaN` and its kin, which Python reads."""
    raise ValueError(constant)


def _parts(value: Any, places: JsonPlaces, pointer: str, path: str, depth: int) -> Iterator[Leaf | Member]:
    """The parts of a value, what is inside first."""
    if depth > _DEEPEST:
        raise _TooDeep
    match value:
        case dict():
            pointers = {key: f"{pointer}/{pointer_step(key)}" for key in value}
            paths = {key: f"{path}.{path_of_key(key)}" if path else path_of_key(key) for key in value}
            for key, inner in value.items():
                yield from _parts(inner, places, pointers[key], paths[key], depth + 1)
            yield from _members(places, pointers, paths)
        case list():
            for index, inner in enumerate(value):
                yield from _parts(inner, places, f"{pointer}/{index}", f"{path}[{index}]", depth + 1)
        case _:
            yield Leaf(path, value, *places.value(pointer))


def _members(places: JsonPlaces, pointers: dict[str, str], paths: dict[str, str]) -> Iterator[Member]:
    """The members of an object: the first with the comma after it, the others with the comma before."""
    keys = sorted(pointers, key=lambda key: places.key(pointers[key]).start)
    for index, key in enumerate(keys):
        end = places.value(pointers[key]).end
        if index:
            yield Member(paths[key], places.value(pointers[keys[index - 1]]).end, end)
        else:
            behind = places.key(pointers[keys[1]]).start if len(keys) > 1 else end
            yield Member(paths[key], places.key(pointers[key]).start, behind)
