"""Compares what a conformance case expects with what came of it, and says the differences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any
from uuid import UUID

TOLERANCE = 1e-9

_SHARES = frozenset({"score", "scoredWeight"})
"""The keys whose texts are fractions."""


def differences(
    expected: Any, actual: Any, *, names: Mapping[str, object] | None = None, at: str = "$"
) -> Iterator[str]:
    """How `actual` is not as expected: nothing where it is.

    Objects may have more keys than are expected, and an absent key is null; lists are compared whole.

    Args:
        expected: the JSON of a conformance case.
        actual: the JSON that it is about.
        names: what a text such as `<run id of the baseline>` stands for, by text.
        at: where both stand, for the words.
    """
    match expected:
        case dict():
            if not isinstance(actual, dict):
                yield f"{at}: expected an object, found {_shown(actual)}"
                return
            for key, value in expected.items():
                yield from _member(key, value, actual, names or {}, at)
        case list():
            if not isinstance(actual, list) or len(actual) != len(expected):
                yield f"{at}: expected {_shown(expected)}, found {_shown(actual)}"
                return
            for index, (item, found) in enumerate(zip(expected, actual, strict=True)):
                yield from differences(item, found, names=names, at=f"{at}[{index}]")
        case _:
            if not _is_as(expected, actual, names or {}):
                yield f"{at}: expected {_shown(expected)}, found {_shown(actual)}"


def _member(key: str, value: Any, actual: dict[str, Any], names: Mapping[str, object], at: str) -> Iterator[str]:
    if key == "errorStartsWith":
        error = actual.get("error")
        if not isinstance(error, str) or not error.startswith(value):
            yield f"{at}.error: expected it to start with {_shown(value)}, found {_shown(error)}"
    elif key in _SHARES and isinstance(value, str):
        share = actual.get(key)
        if not isinstance(share, float) or abs(share - float(Fraction(value))) > TOLERANCE:
            yield f"{at}.{key}: expected {value}, found {_shown(share)}"
    else:
        yield from differences(value, actual.get(key), names=names, at=f"{at}.{key}")


def _is_as(expected: object, actual: object, names: Mapping[str, object]) -> bool:
    if isinstance(expected, str) and expected in names:
        return names[expected] == actual
    if isinstance(expected, str) and expected in _VOLATILE:
        return _VOLATILE[expected](actual)
    return isinstance(expected, bool) == isinstance(actual, bool) and expected == actual


def _is_uuid(value: object) -> bool:
    try:
        return str(UUID(str(value))) == value
    except ValueError:
        return False


def _is_timestamp(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _is_short_hash(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{12}", value) is not None


_VOLATILE: Mapping[str, Callable[[object], bool]] = {
    "<uuid>": _is_uuid,
    "<timestamp>": _is_timestamp,
    "<milliseconds>": _is_duration,
    "<hash>": _is_short_hash,
}
"""The texts that stand for values which differ from run to run."""


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
