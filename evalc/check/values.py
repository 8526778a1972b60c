"""Questions that checks ask of JSON values: texts, equality, order, containment, types and measures.

A question that does not suit the type of a value raises `CannotAsk`, so that `not` cannot turn it into a pass.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise, starmap
from math import inf
from typing import Any, Final, Literal, TypeGuard

from msgspec.structs import astuple

from evalc.check.tree import Bounds
from evalc.ecma import Unit, length_of, to_json, trim
from evalc.model.json import MISSING, is_number, is_same, values_at
from evalc.model.json_schema import FORMATS as SCHEMA_FORMATS

JsonType = Literal["string", "number", "integer", "boolean", "array", "object", "null"]
FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "date": lambda text: SCHEMA_FORMATS["date"](text) or SCHEMA_FORMATS["date-time"](text),
    **{name: SCHEMA_FORMATS[name] for name in ("date-time", "uuid", "email", "url")},
}
"""The test of each format, as in JSON Schema, except that a `date` may have a time."""
KINDS: Final[Mapping[str, str]] = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "date": "a date",
    "date-time": "a date with a time",
    "uuid": "a UUID",
    "email": "an e-mail address",
    "url": "a web address",
}
"""The types and the formats, as messages name them."""


class CannotAsk(Exception):
    """A value of this type cannot be asked; `required` says what can be, `found` is the value or `MISSING`."""

    def __init__(self, required: str, found: Any) -> None:
        super().__init__(f"expected {required}, found {described(found)}")
        self.required = required
        self.found = found


class OnlyInside(CannotAsk):
    """No item of a list equals the value that is sought, but the text of `found`, an item or the list, contains it."""

    def __init__(self, sought: Any, found: Any) -> None:
        super().__init__(f"an item `{text_of(sought)}`", found)
        self.sought = sought


def described(value: Any) -> str:
    """A value with its type, as messages name it: ``the text `12 EUR` ``, `the number 5`, `an empty list`, `null`."""
    match value:
        case str():
            return f"the text `{value}`" if value else "an empty text"
        case list():
            return f"a list of {len(value)} item{'s' * (len(value) > 1)}" if value else "an empty list"
        case dict():
            return "an object" if value else "an empty object"
        case None | bool():
            return to_json(value)
        case int() | float():
            return f"the number {to_json(value)}"
        case _:
            return "nothing"


# --- texts and equality ----------------------------------------------------------------------------------------------


def text_of(value: Any) -> str:
    """The text of a value: a text itself, else its JSON as `JSON.stringify` writes it."""
    return value if isinstance(value, str) else to_json(value)


def folded(text: str, ignoring_case: bool) -> str:
    """The text as it is compared."""
    return text.casefold() if ignoring_case else text


def equals(value: Any, required: Any, *, ignoring_case: bool = False) -> bool:
    """Whether a value is the required one: a text is compared with the value's text, any other value as JSON."""
    if isinstance(required, str):
        return folded(text_of(value), ignoring_case) == folded(required, ignoring_case)
    return is_same(value, required)


def is_one_of(value: Any, required: Iterable[Any], *, ignoring_case: bool = False) -> bool:
    """Whether a value equals one of the required values."""
    return any(equals(value, each, ignoring_case=ignoring_case) for each in required)


def is_empty(value: Any) -> bool:
    """Whether it is null, a text of white space, an empty list or an empty object."""
    if value is None or isinstance(value, list | dict):
        return not value
    return not trim(as_text(value, "a text, a list, an object or null"))


# --- what a value contains -------------------------------------------------------------------------------------------


def occurrences(value: Any, required: Any, *, ignoring_case: bool = False) -> int:
    """Count the items of a list that equal the required value; of another value, how often its text contains the text.

    Occurrences in a text do not overlap.

    Raises:
        OnlyInside: no item equals it, but the list's JSON contains its text: `timeout` in `["timeout after 3s"]`.
    """
    if not isinstance(value, list):
        return folded(text_of(value), ignoring_case).count(folded(text_of(required), ignoring_case))
    count = sum(equals(item, required, ignoring_case=ignoring_case) for item in value)
    if count == 0 and _is_inside(value, required, ignoring_case):
        raise OnlyInside(required, next((item for item in value if _is_inside(item, required, ignoring_case)), value))
    return count


def contains(value: Any, required: Any, ignoring_case: bool = False) -> bool:
    """Whether a list has the required value as an item, or the text of another value contains it.

    Raises:
        OnlyInside: as of `occurrences`.
    """
    if isinstance(value, list):
        return occurrences(value, required, ignoring_case=ignoring_case) > 0
    text = value if isinstance(value, str) else to_json(value)
    sought = required if isinstance(required, str) else to_json(required)
    return sought.casefold() in text.casefold() if ignoring_case else sought in text


def _is_inside(value: Any, required: Any, ignoring_case: bool) -> bool:
    """Whether a value's text contains the text, as it is or as JSON writes it within quotes.

    A number is in no longer number: 5 is not in `[15]`, but it is only inside `["5"]`.
    """
    if not isinstance(required, str):
        return any(text_of(item) == text_of(required) for item in (value if isinstance(value, list) else [value]))
    text = folded(text_of(value), ignoring_case)
    sought = text_of(required)
    return any(folded(each, ignoring_case) in text for each in (sought, to_json(sought)[1:-1]))


# --- numbers and order -----------------------------------------------------------------------------------------------


def is_between(value: Any, bounds: Bounds, _ignoring_case: bool = False) -> bool:
    """Whether a number is within the bounds, exactly, also beyond 2^53.

    Bounds that leave one number ask whether the value is that one, which can be asked of every value.
    """
    least, most, above, below = astuple(bounds)
    if least is not None and least == most and above is below is None:
        return is_same(value, least)
    number = value if type(value) is int else _number(value)
    return (
        (least is None or number >= least)
        and (most is None or number <= most)
        and (above is None or number > above)
        and (below is None or number < below)
    )


def is_within(value: Any, distance: float, of: float) -> bool:
    """Whether a number is at most so far from another one, in decimal digits: 0.1 is within 0.1 of 0.2."""
    from fractions import Fraction  # noqa: PLC0415 - for start-up

    number = _number(value)
    if not -inf < number < inf:
        return False
    # A float is the number that its shortest digits write.
    exact, center, most = (Fraction(each if isinstance(each, int) else repr(each)) for each in (number, of, distance))
    return abs(exact - center) <= most


def is_sorted(value: Any, *, descending: bool = False, by: str = "") -> bool:
    """Whether a list of numbers, or of texts by their code points, is in order; `by` is a path into its items.

    Equal neighbours are in order.
    """
    keys = [_only(values_at(item, by)) if by else item for item in _list(value)]
    kind = is_text if keys and is_text(keys[0]) else is_number
    for key in keys:
        if not kind(key):
            raise CannotAsk(f"only numbers or only texts {f'at {by} of the items' if by else 'in the list'}", key)
    return all(starmap(operator.ge if descending else operator.le, pairwise(keys)))


def _only(values: Iterator[Any]) -> Any:
    """The one value of a place; a path to several has none."""
    first = next(values, MISSING)
    return first if next(values, MISSING) is MISSING else MISSING


def is_unique(value: Any) -> bool:
    """Whether no two items of a list are the same JSON."""
    items = _list(value)
    return len(set(map(_hashable, items))) == len(items)


def _hashable(value: Any) -> object:
    """A value that is equal and hashes equally if and only if the JSON is the same."""
    match value:
        case bool():
            return bool, value
        case list():
            return list, *map(_hashable, value)
        case dict():
            return dict, frozenset((key, _hashable(member)) for key, member in value.items())
        case _:
            return value


# --- types and measures ----------------------------------------------------------------------------------------------


def is_text(value: object) -> TypeGuard[str]:
    """Whether a JSON value is a text."""
    return isinstance(value, str)


def type_of(value: Any) -> JsonType:
    """The JSON type of a value, `integer` where it is a whole number, however that is written: 5, 5.0 and 5e0."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def is_a(value: Any, required: JsonType) -> bool:
    """Whether a value is of a type; an integer is a number."""
    return required == type_of(value) or (required == "number" and is_number(value))


def has_format(value: Any, name: str) -> bool:
    """Whether a text has a format, one of `FORMATS`."""
    return FORMATS[name](as_text(value))


def measure(value: Any, unit: Unit) -> int:
    """The length of a text in a unit."""
    if not isinstance(value, str):
        raise CannotAsk("a text", value)
    return length_of(value, unit)


def count(value: Any) -> int:
    """The number of items of a list."""
    return len(_list(value))


def as_text(value: Any, required: str = "a text") -> str:
    """The value, which is a text."""
    if isinstance(value, str):
        return value
    raise CannotAsk(required, value)


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise CannotAsk("a list", value)


def _number(value: Any) -> int | float:
    if is_number(value):
        return value
    raise CannotAsk("a number", value)
