"""From a path such as `items[0].title` or `items[].id` to the values of a JSON document that it leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Literal

EVERY: Final = "[]"
"""The step to every item of an array."""

Step = str | int

_SEGMENT: Final = re.compile(r"(.*?)((?:\[\d*\])*)", re.DOTALL)
_BRACKET: Final = re.compile(r"\[(\d*)\]")


class Missing:
    """The type of `MISSING`: nothing is there."""


MISSING: Final = Missing()


@lru_cache(maxsize=1024)
def steps(path: str) -> tuple[tuple[Literal["key", "index", "every"], Step], ...]:
    """The steps of a path: keys between dots, `[0]` an index, `[]` every item. A path may begin with brackets."""
    found: list[tuple[Literal["key", "index", "every"], Step]] = []
    for position, segment in enumerate(path.split(".")):
        split = _SEGMENT.fullmatch(segment)
        key, brackets = (split[1], split[2]) if split else (segment, "")
        if key or not brackets or position:
            found.append(("key", key))
        found += (("index", int(index[:15])) if index else ("every", EVERY) for index in _BRACKET.findall(brackets))
    return tuple(found)


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


def _step(value: Any, step: Step) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else MISSING
    return value.get(step, MISSING) if isinstance(value, dict) else MISSING
