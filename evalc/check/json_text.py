"""Reads the JSON of texts as `JSON.parse` does: the whole text, or a fenced block of its Markdown.

The block is found in linear time.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from evalc.base.json_fault import fault_of
from evalc.ecma.text import trim

_LINE_END: Final = re.compile(r"\r\n?")
_FENCED: Final = re.compile(
    r"^ {0,3}(([`~])\2{2,}+)(?!(?<=`)[^\n]*`)[^\n]*(.*?)(?:\n {0,3}\1\2*[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_LONGEST_EXACT: Final = 300


def fenced_blocks(markdown: str) -> list[str]:
    """The text in code fences; a fence that is not closed ends with the text."""
    return [block[3].removeprefix("\n") for block in _FENCED.finditer(_LINE_END.sub("\n", markdown))]


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


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"`{constant}` is not JSON")


def _number(digits: str) -> int | float:
    """Whole numbers are exact, as long as a float could hold them: reading longer ones would take quadratic time."""
    return int(digits) if len(digits) <= _LONGEST_EXACT else float(digits)


_decoder: Final = json.JSONDecoder(parse_constant=_refuse, parse_int=_number)
