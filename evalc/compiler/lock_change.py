"""Says in words what changed in a locked regression case."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

_LONGEST: Final = 160
"""Texts of more characters are locked as their hashes, so that a lock stays small however long its prompts are."""
_SHOWN: Final = 60
_MOST_CHANGES: Final = 3
_HASHED: Final = "sha256:"

Fields = Mapping[str, Any]
"""A compiled case as JSON: texts, numbers, lists and mappings."""


def locked_text(fields: Fields) -> str:
    """The case on one line of JSON, its keys sorted and its long texts hashed."""
    return msgspec.json.encode(_shortened(fields), order="sorted").decode()


def _shortened(value: Any) -> Any:
    match value:
        case str() if len(value) > _LONGEST:
            return _HASHED + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        case dict():
            return {_shortened(key): _shortened(of_key) for key, of_key in value.items()}
        case list():
            return [_shortened(item) for item in value]
        case _:
            return value


def changes(locked: str, now: str) -> str:
    """The first differences between two lines of `locked_text`.

    Args:
        locked: the case as it was.
        now: the case as it is.
    """
    found = _changes("", msgspec.json.decode(locked), msgspec.json.decode(now))
    shown = list(islice(found, _MOST_CHANGES + 1))
    more = ["and more"] if len(shown) > _MOST_CHANGES else []
    return "; ".join(shown[:_MOST_CHANGES] + more)


def _changes(path: str, was: Any, now: Any) -> Iterator[str]:
    if was == now and type(was) is type(now):
        return
    match was, now:
        case dict(), dict():
            for key in sorted({*was, *now}):
                inner = f"{path}.{key}" if path else key
                if key not in now:
                    yield f"`{inner}` is gone, which was {_shown(was[key])}"
                elif key not in was:
                    yield f"`{inner}` is new: {_shown(now[key])}"
                else:
                    yield from _changes(inner, was[key], now[key])
        case list(), list():
            yield from _items(path, was, now)
        case _:
            yield f"`{path}` was {_shown(was)}, and is {_shown(now)}"


def _items(path: str, was: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    gone = [item for item in was if item not in now]
    new = [item for item in now if item not in was]
    if len(gone) == len(new) == 1:
        yield from _changes(path, gone[0], new[0])
        return
    yield from (f"`{path}` has no {_shown(item)} any more" for item in gone)
    yield from (f"`{path}` has {_shown(item)} besides" for item in new)
    if not (gone or new):
        yield f"`{path}` is in another order, or has items more or less often"


def _shown(value: Any) -> str:
    if isinstance(value, str) and value.startswith(_HASHED):
        return "another long text"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
