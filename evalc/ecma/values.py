"""Writes JSON values as JavaScript does: `String(value)` and `JSON.stringify(value)`, but whole numbers exactly."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from math import inf, isfinite, isnan
from typing import Final


class Undefined(enum.Enum):
    """The type of `UNDEFINED`, the value of a missing property; `None` is JSON's null."""

    UNDEFINED = "undefined"


UNDEFINED: Final = Undefined.UNDEFINED

_LARGEST_ARRAY_INDEX: Final = 2**32 - 2
_ARRAY_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def to_string(value: object) -> str:
    """ECMAScript's `String(value)` of a decoded JSON value or `UNDEFINED`; a whole number has all of its digits.

    Raises:
        TypeError: the value is of a type that JSON does not have.
    """
    match value:
        case str():
            return value
        case list() | tuple():
            return ",".join(_leaves(value))
        case dict():
            return "[object Object]"
        case Undefined():
            return "undefined"
        case _:
            return _scalar(value)


def to_json(value: object) -> str:
    """ECMAScript's `JSON.stringify(value)` of a decoded JSON value, without spaces; whole numbers have all digits.

    Raises:
        TypeError: the value, or one inside it, is of a type that JSON does not have.
    """
    written: list[str] = []
    # The work left, the next of it last: a text to write, and the value that follows it. A stack of our own, because
    # the interpreter's would end at a nesting that JSON decoders let through.
    pending: list[tuple[str, object]] = [("", value)]
    while pending:
        lead, item = pending.pop()
        written.append(lead)
        match item:
            case Undefined():
                pass
            case str():
                written.append(_quoted(item))
            case list() | tuple() if item:
                pending.append(("]", UNDEFINED))
                pending += [(",", element) for element in item[:0:-1]]
                pending.append(("[", item[0]))
            case list() | tuple():
                written.append("[]")
            case dict() if item:
                pending.append(("}", UNDEFINED))
                members = [(f"{_quoted(key)}:", item[key]) for key in _in_property_order(item)]
                pending += [("," + name, member) for name, member in members[:0:-1]]
                pending.append(("{" + members[0][0], members[0][1]))
            case dict():
                written.append("{}")
            case float() if not isfinite(item):
                written.append("null")
            case _:
                text = _scalar(item)
                written.append("null" if text.endswith("Infinity") else text)
    return "".join(written)


def token_text(value: object) -> str:
    """The contract's text of a resolved token: `String()` of scalars, `JSON.stringify()` of objects and arrays."""
    return to_json(value) if isinstance(value, dict | list | tuple) else to_string(value)


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case int():
            return _integer(value)
        case float():
            return _number(value)
        case _:
            raise TypeError(f"not a JSON value: {type(value).__name__}")


def _integer(value: int) -> str:
    try:
        return str(value)  # JavaScript would round beyond 2^53, so that one id would be taken for another
    except ValueError:  # more digits than Python writes
        return _number(inf if value > 0 else -inf)


def _number(value: float) -> str:
    """Number::toString: the shortest digits that read back as `value`, without a point or an `e` where JS has none."""
    if isnan(value):
        return "NaN"
    if value in {inf, -inf}:
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the power of `point`.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return ("-" if value < 0 else "") + _laid_out(digits.rstrip("0"), point)


def _laid_out(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


def _leaves(array: list[object] | tuple[object, ...]) -> Iterator[str]:
    """The texts that `join` puts commas between; a nested array's own join is its leaves in its place."""
    pending: list[object] = [*reversed(array)]
    if not pending:
        yield ""
    while pending:
        match pending.pop():
            case None | Undefined():
                yield ""
            case (list() | tuple()) as nested if nested:
                pending += reversed(nested)
            case leaf:
                yield to_string(leaf)


def _in_property_order(members: dict[str, object]) -> list[str]:
    """The keys as JavaScript lists an object's own: array indexes ascending, then the others as they came."""
    indexes = [key for key in members if _is_array_index(key)]
    if not indexes:
        return list(members)
    return sorted(indexes, key=int) + [key for key in members if not _is_array_index(key)]


def _is_array_index(key: str) -> bool:
    return _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _LARGEST_ARRAY_INDEX


def _quoted(text: str) -> str:
    quoted = encode_basestring(text)
    if quoted.isascii() or _SURROGATE.search(quoted) is None:
        return quoted
    # To JavaScript two halves side by side are one character; only a half alone is written as an escape.
    whole = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), quoted)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)
