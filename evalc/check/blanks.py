"""Reads the values that fill bare templates (`nights {{n}}`), each as its place requires: as a number, a list, ..."""

from __future__ import annotations

import json
from sys import float_info
from typing import Any, Final, NamedTuple

from evalc.base.json_fault import unique_keys
from evalc.check.tree import NO_TOOL, Asked, Blank
from evalc.ecma import to_json
from evalc.model.json import is_number

REQUIRED: Final[dict[Asked, str]] = {
    "text": "a text",
    "name": "a name",
    "number": "a number",
    "whole": "a whole number",
    "items": "a list that is not empty",
    "names": "a list of names",
    "sets": "a list of lists of names",
    "flag": "`true` or `false`",
    "any": "a value",
}
"""The requirement of each kind of place, as messages name it."""


class Given(NamedTuple):
    """The filling of a template: the text as written, and the value; a cell of CSV is only a text (`is_cell`)."""

    text: str
    value: Any
    is_cell: bool = False


NOTHING: Final = Given("", "", is_cell=True)
"""Fills a template whose name has no value, as an empty cell does."""


class Misfit(NamedTuple):
    """Why a value does not fit a place: what is required there and what was found, in words."""

    required: str
    found: str
    is_empty: bool = False  # whether nothing was given


def fitted(blank: Blank, given: Given) -> Any:
    """The operand that a bare template becomes, or a `Misfit`.

    Where any value fits, a cell is JSON only if that is how the value is written: `007`, `1.10` and `1e5` are texts.
    """
    if blank.asks in ("text", "name") and not isinstance(given.value, list | dict):
        is_blank = blank.asks == "name" and not given.text.strip()
        return Misfit(REQUIRED["name"], "empty", is_empty=True) if is_blank else given.text
    if given.is_cell and not given.text.strip():
        return Misfit(REQUIRED[blank.asks], "empty", is_empty=True)
    if blank.asks == "any":
        return _of_cell(given.text) if given.is_cell else given.value
    if given.value is None:
        return Misfit(REQUIRED[blank.asks], "null", is_empty=True)
    value = _decoded(given.text) if given.is_cell else given.value
    match blank.asks:
        case "number" | "whole" if is_number(value) and abs(value) <= float_info.max:
            number = _scaled(value, blank.scale)
            if blank.asks == "number" or (isinstance(number, int) and number >= 0):
                return number
        case "items" if isinstance(value, list) and value:
            return tuple(value)
        case "names" if _are_names(value):
            return tuple(value)
        case "sets" if isinstance(value, list) and all(map(_are_names, value)):
            return tuple(tuple(names) or (NO_TOOL,) for names in value)
        case "flag" if isinstance(value, bool):
            return value
        case _:
            pass
    from evalc.check.values import described  # noqa: PLC0415 - for start-up: only for a mistake

    return Misfit(REQUIRED[blank.asks], described(given.text if value is _NOT_JSON else value))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)


def _of_cell(cell: str) -> Any:
    value = _decoded(cell)
    if value is _NOT_JSON:
        return cell
    spaced = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else None
    return value if cell in (to_json(value), spaced) else cell


_NOT_JSON: Final = object()


def _decoded(text: str) -> Any:
    """The value of a JSON text; `_NOT_JSON` of any other."""
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _refuse(word: str) -> object:
    raise ValueError(word)


def _scaled(number: int | float, scale: float) -> int | float:
    """A number as checks have it: in the base unit of its place, a whole one as an integer."""
    if scale != 1:
        number = round(number * scale, 6)  # as a number with its unit on a line: 4.35 s are 4350 ms
    return int(number) if isinstance(number, float) and number.is_integer() else number
