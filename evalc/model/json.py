"""Canonical JSON and its hash, sets of hashes, paths into values such as `items[0].title`, steps of JSON pointers."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Literal, TypeGuard, final

import msgspec

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions by which a file proves to hold no JSON of a record."""

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
_SEGMENT: Final = re.compile(rf"([^.]*?)((?:\[(?:[0-9]*|{_QUOTED})\])*)(\.|\Z)")
_BRACKET: Final = re.compile(rf"\[([0-9]*|{_QUOTED})\]")


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


def includes(value: Any, part: Any) -> bool:
    """Whether a JSON value is the same as another, but for keys of objects that only the first one has."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(key in value and includes(value[key], part[key]) for key in part)
    return is_same(value, part)


_FIRST_SIZE: Final = 1 << 10
_BITS: Final = (1 << 64) - 1


def composed(text: str) -> str:
    """A text in the form that all texts have which look like it: `é` is one character, or `e` with an accent.

    Which of them a file holds depends on the system that it was written on, and nobody sees it.
    """
    if text.isascii():
        return text
    import unicodedata  # noqa: PLC0415 - for start-up: most ids are ASCII

    return unicodedata.normalize("NFC", text)


@final
class Fingerprints:
    """The 64-bit hashes of composed texts, each with a number, in a hash table of two arrays: at most 24 bytes each."""

    __slots__ = ("_count", "_hashes", "_mask", "_numbers")

    def __init__(self) -> None:
        self._count = 0
        self._mask = _FIRST_SIZE - 1
        self._hashes = array("Q", bytes(8 * _FIRST_SIZE))
        self._numbers = array("I", bytes(4 * _FIRST_SIZE))

    def add(self, text: str, number: int = 0) -> int | None:
        """Note a text that is new, with its number, below 2^32; for a text that was seen before, return its number."""
        hashed = (hash(text if text.isascii() else composed(text)) & _BITS) or 1  # 0 means an empty place
        at = self._place_of(hashed)
        if self._hashes[at]:
            return self._numbers[at]
        self._hashes[at] = hashed
        self._numbers[at] = number
        self._count += 1
        if self._count > self._mask * 2 // 3:
            self._grow()
        return None

    def _place_of(self, hashed: int) -> int:
        hashes, mask = self._hashes, self._mask
        at = hashed & mask
        while hashes[at] and hashes[at] != hashed:
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        hashes, numbers = self._hashes, self._numbers
        self._mask = 2 * self._mask + 1
        self._hashes = array("Q", bytes(8 * (self._mask + 1)))
        self._numbers = array("I", bytes(4 * (self._mask + 1)))
        for hashed, number in zip(hashes, numbers, strict=True):
            if hashed:
                at = self._place_of(hashed)
                self._hashes[at], self._numbers[at] = hashed, number
