"""Finds the JSON value in a response, as `JSON.parse` reads it: the whole of it, or a fenced block of its Markdown.

Fenced blocks are found in linear time, however hostile the text is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from evalc.base.json_fault import fault_of
from evalc.ecma.text import trim

_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)


def fenced_blocks(markdown: str) -> list[str]:
    """The text in code fences; a fence that is not closed ends with the text."""
    blocks: list[list[str]] = []
    inside = False
    for line, in_fence in _lines(markdown):
        if in_fence is None:
            if not inside:
                blocks.append([])
            inside = not inside
        elif in_fence:
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks]


def _lines(markdown: str) -> Iterator[tuple[str, bool | None]]:
    """Each line, and whether it is in a code fence; None for the lines that open and close one."""
    fence = ""
    for line in _LINE_END.split(markdown):
        marker = _FENCE.fullmatch(line)
        if fence:
            closes = marker is not None and marker[1].startswith(fence) and not marker[2].strip()
            yield line, None if closes else True
            fence = "" if closes else fence
        else:
            yield line, None if marker else False
            fence = marker[1] if marker else ""


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


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"`{constant}` is not JSON")


def _number(digits: str) -> int | float:
    """Whole numbers are exact, as long as a float could hold them: reading longer ones would take quadratic time."""
    return int(digits) if len(digits) <= _LONGEST_EXACT else float(digits)


_decoder: Final = json.JSONDecoder(parse_constant=_refuse, parse_int=_number)
