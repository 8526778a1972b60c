"""Canonical JSON and its hash, paths into values such as `items[0].title`, and the steps of JSON pointers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Literal, TypeGuard

import msgspec

_encoder = msgspec.json.Encoder()


def to_json(record: Any) -> bytes:
    """The record as one line of JSON, UTF-8, fields in the order of the model, without a line end."""
    return _encoder.encode(record)


def short_hash(data: bytes | str) -> str:
    """`sha256(data)[0:12]`, the contract's hash of descriptions and eval files."""
    import hashlib  # noqa: PLC0415 - for start-up: OpenSSL is loaded with it, and most files are not hashed

    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:12]


EVERY: Final = "[]"
"""The step to every item of an array."""

Kind = Literal["key", "index", "every"]
Step = tuple[Kind, str | int]

_HEX: Final = "[0-9a-fA-F]"
_PAIR: Final = rf"u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}"
_ESCAPE: Final = rf'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F]){_HEX}{{4}}|{_PAIR})'
_QUOTED: Final = rf'"(?:[^"\\\x00-\x1f]|{_ESCAPE})*"'
_SEGMENT: Final = re.compile(rf"([^.]*?)((?:\[(?:\d*|{_QUOTED})\])*)(\.|\Z)")
_BRACKET: Final = re.compile(rf"\[(\d*|{_QUOTED})\]")


@lru_cache(maxsize=1024)
def steps(path: str) -> tuple[Step, ...]:
    """The steps of a path: keys between dots, `[0]` an index, `[]` every item, `["a.b"]` a key whatever it holds.

    A path may begin with brackets.
    """
    found: list[Step] = []
    position = 0
    while segment := _SEGMENT.match(path, position):
        key, brackets, end = segment.groups()
        if key or not brackets or position:
            found.append(("key", key))
        found += map(_in_brackets, _BRACKET.findall(brackets))
        if not end:
            break
        position = segment.end()
    return tuple(found)


def _in_brackets(held: str) -> Step:
    if held.startswith('"'):
        return "key", json.loads(held)
    return ("index", int(held[:15])) if held else ("every", EVERY)


def path_of_key(key: str) -> str:
    """The path of one key: the key itself, in brackets and quotes where it would be read as more than one step."""
    return key if key and not set(key) & set(".[]") else f"[{json.dumps(key, ensure_ascii=False)}]"


def path_inside(path: str, key: str | int) -> str:
    """The path of a member or an item of the value at a path."""
    step = path_of_key(key) if isinstance(key, str) else f"[{key}]"
    return f"{path}.{step}" if path and not step.startswith("[") else path + step


def pointer_step(key: str) -> str:
    """The step of a JSON pointer that means a key."""
    return key.replace("~", "~0").replace("/", "~1")


def key_of_step(step: str) -> str:
    """The key that a step of a JSON pointer means."""
    return step.replace("~1", "/").replace("~0", "~")


def only_key(path: str) -> str | None:
    """The key that a path is, None for a path of other or more steps."""
    match steps(path):
        case (("key", str() as key),):
            return key
        case _:
            return None


class Missing:
    """The type of `MISSING`: nothing is there."""


MISSING: Final = Missing()


def values_at(document: Any, path: str) -> Iterator[Any]:
    """Every value that the path leads to; `MISSING` for each way that ends early. An empty array has none."""
    pending: list[tuple[Any, int]] = [(document, 0)]
    route = steps(path)
    while pending:
        value, done = pending.pop()
        if done == len(route) or value is MISSING:
            yield value
            continue
        kind, step = route[done]
        if kind != "every":
            pending.append((step_into(value, step), done + 1))
        elif isinstance(value, list):
            pending.extend((item, done + 1) for item in reversed(value))
        else:
            yield MISSING


def step_into(value: Any, step: str | int) -> Any:
    """The value at a key or an index; `MISSING` if there is none."""
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else MISSING
    return value.get(step, MISSING) if isinstance(value, dict) else MISSING


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number: true and false are not numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: numbers by their value, and no number is true or false."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())
    return bool(one == other)
