"""JSON values: where a path such as `items[0].title` or `items[].id` leads to, and which values are the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from evalc.model.paths import steps


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
            pending.append((_step(value, step), done + 1))
        elif isinstance(value, list):
            pending.extend((item, done + 1) for item in reversed(value))
        else:
            yield MISSING


def _step(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else MISSING
    return value.get(step, MISSING) if isinstance(value, dict) else MISSING


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number: true and false are none."""
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
