"""Decodes TOML and JSON texts, and reports what is wrong with them and where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from evalc.json_fault import fault_of

Language = Literal["TOML", "JSON"]

_TOO_MANY_DIGITS = "a number has too many digits"


class NotValid(Exception):
    """The text is not valid TOML or JSON: why, and at which offset."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.what = what
        self.at = at


def decode(text: str, language: Language) -> Any:
    """The values of the text.

    Raises:
        NotValid: when it is not of the language.
    """
    try:
        return _from_toml(text) if language == "TOML" else _from_json(text)
    except RecursionError:
        raise NotValid("it is nested too deeply", 0) from None


def _from_toml(text: str) -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415 - for start-up: only where there is such a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_fault(text, str(error)) from None
    except ValueError:
        raise NotValid(_TOO_MANY_DIGITS, 0) from None


def _toml_fault(text: str, message: str) -> NotValid:
    """Take the place out of tomllib's message: `... (at line 3, column 5)`, or `(at end of document)`."""
    words, _, where = message.partition(" (at ")
    what = next((ours for theirs, ours in _TOML_WORDS if words.startswith(theirs)), "this is not TOML")
    numbers = re.fullmatch(r"line (\d+), column (\d+)\)", where)
    if numbers is None:
        return NotValid(what, len(text.rstrip()))
    # tomllib reads CRLF as LF, and counts lines by LF alone.
    lines = text.split("\n")[: int(numbers[1]) - 1]
    return NotValid(what, sum(len(line) + 1 for line in lines) + int(numbers[2]) - 1)


_TOML_WORDS = (
    ("Expected '=' after a key", "a `=` is expected behind the key"),
    ("Expected newline or end of document", "the line should end behind the value"),
    ("Expected ']'", "a `]` is expected here"),
    ("Expected ']]'", "`]]` is expected here"),
    ("Invalid initial character for a key part", "a key is expected here"),
    ("Invalid statement", "a key or a table is expected here"),
    ("Invalid value", "a value is expected here: texts stand in quotes"),
    ("Invalid date or datetime", "this is no date"),
    ("Cannot overwrite a value", "this key is set already"),
    ("Cannot declare", "this table is declared already"),
    ("Cannot redefine", "this key is set already"),
    ("Cannot mutate immutable namespace", "this table is complete already"),
    ("Duplicate inline table key", "this key is set already"),
    ("Unclosed inline table", "this table is never closed"),
    ("Unclosed array", "this list is never closed"),
    ("Unterminated string", "this text is never closed"),
    ("Unescaped '\\' in a string", "a `\\` in double quotes begins an escape; write two, or use single quotes"),
    ("Illegal character", "this character may not stand here"),
    ("Found invalid character", "this character may not stand here"),
    ("Invalid hex value", "this escape is no character"),
    ("Escaped character is not a Unicode scalar value", "this escape is no character"),
    ('Expected "\'"', "this text is never closed"),
)
"""What tomllib says, and what we say, whatever version of it there is."""


def _from_json(text: str) -> Any:
    import json  # noqa: PLC0415 - for start-up: only where there is such a file

    def no_number(name: str) -> Any:
        raise NotValid(f"{name} is no number of JSON", text.find(name))

    try:
        return json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as error:
        fault = fault_of(error, text)
        raise NotValid(fault.found, fault.start) from None
    except ValueError:
        raise NotValid(_TOO_MANY_DIGITS, 0) from None
