"""Finds the JSON value in a response, as `JSON.parse` reads it."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from evalc.base.json_fault import fault_of
from evalc.ecma.text import trim
from evalc.runtime.checks.markdown import fenced_blocks

_LONGEST_EXACT: Final = 300


class NotJson(Exception):
    """The text is not JSON; the message says why, and where."""


def parse(text: str) -> Any:
    """`JSON.parse(text)`: no NaN, no trailing comma; the last of equal keys wins.

    Raises:
        NotJson: it is not JSON.
        RecursionError: it is nested more deeply than can be read.
    """
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        fault = fault_of(error, text)
        raise NotJson(f"{fault.found} ({fault.where(text)})") from error
    except ValueError as error:
        raise NotJson(str(error)) from error


def parse_leniently(text: str) -> Any:
    """The JSON of the whole text, or of its one fenced block.

    Raises:
        NotJson: neither is JSON, or there are several blocks.
        RecursionError: it is nested more deeply than can be read.
    """
    try:
        return parse(trim(text))
    except NotJson:
        blocks = fenced_blocks(text)
        if not blocks:
            raise
        if len(blocks) > 1:
            raise NotJson(f"there are {len(blocks)} fenced blocks") from None
        return parse(trim(blocks[0]))


def type_of(value: Any) -> str:
    """The JSON type of a value, `integer` where it is a whole number."""
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


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"`{constant}` is not JSON")


def _number(digits: str) -> int | float:
    """Whole numbers are exact, as long as a float could hold them: reading longer ones would take quadratic time."""
    return int(digits) if len(digits) <= _LONGEST_EXACT else float(digits)


_decoder: Final = json.JSONDecoder(parse_constant=_refuse, parse_int=_number)
