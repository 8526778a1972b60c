"""From a TOML or JSON text to its values, or to what is wrong with it and where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

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
    what, _, where = message.partition(" (at ")
    numbers = re.fullmatch(r"line (\d+), column (\d+)\)", where)
    if numbers is None:
        return NotValid(_lowered(what), len(text.rstrip()))
    # tomllib reads CRLF as LF, and counts lines by LF alone.
    lines = text.split("\n")[: int(numbers[1]) - 1]
    return NotValid(_lowered(what), sum(len(line) + 1 for line in lines) + int(numbers[2]) - 1)


def _from_json(text: str) -> Any:
    import json  # noqa: PLC0415 - for start-up: only where there is such a file

    def no_number(name: str) -> Any:
        raise NotValid(f"{name} is no number of JSON", text.find(name))

    try:
        return json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise NotValid(_lowered(error.msg), error.pos) from None
    except ValueError:
        raise NotValid(_TOO_MANY_DIGITS, 0) from None


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
