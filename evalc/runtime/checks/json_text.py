"""Reads the JSON of a response, and asks texts whether they are JSON, and have the fields and headings required.

JSON is read as `JSON.parse` does: the whole text, or a fenced block of its Markdown, which is found in linear time.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable
from typing import Any, Final, NoReturn

from evalc.base.json_fault import fault_of
from evalc.check.markdown import headings, plain
from evalc.check.tree import Test
from evalc.check.values import is_a, text_of, type_of
from evalc.ecma.text import trim
from evalc.model.json import MISSING, only_key, values_at
from evalc.runtime.checks import words
from evalc.runtime.checks.verdict import Found, View
from evalc.runtime.checks.words import listed, quoted

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

# --- checks ----------------------------------------------------------------------------------------------------------


def is_json(test: Test, view: View) -> Found | Awaitable[Found]:
    """Whether the text is JSON of the mode, and fits the schema."""
    mode, schema = test.operand
    text = text_of(view.value)
    try:
        value = parse_leniently(text) if mode == "lenient" else parse(text)
    except NotJson as error:
        return words.not_json(error, text)
    type_ = type_of(value)
    if mode in ("object", "array") and type_ != mode:
        found = {"null": "null", "array": "an array", "integer": "an integer", "object": "an object"}
        return f"expected a JSON {mode} but got {found.get(type_, f'a {type_}')}"
    if schema is None:
        return True
    # In a thread: a big response, or a pattern that needs the slow engine, must not hold up the other cases.
    return asyncio.to_thread(_fits, value, schema)


def _fits(value: Any, schema: dict[str, Any] | bool) -> Found:
    from evalc.runtime.checks.schema import fits  # noqa: PLC0415 - for start-up: slow to import

    return fits(value, schema)


def structure(test: Test, view: View) -> Found:
    """Whether the text has every field and every heading; JSON may be in its one fenced block."""
    fields, expected = test.operand
    text = text_of(view.value)
    if fields:
        try:
            document = parse_leniently(text)
        except NotJson as error:
            return words.not_json(error, text)
        for path, type_ in fields:
            if message := _wrong(document, path, type_):
                return message
    found = headings(text) if expected else []
    present = {heading.casefold() for heading in found}
    missing = [heading for heading in expected if plain(heading).casefold() not in present]
    return not missing or f"expected headings {listed(missing)} but found {listed(found) or 'none'}"


def _wrong(document: Any, path: str, type_: Any) -> str | None:
    """Why the document lacks the field; `items[].id` asks every item, so that an empty array lacks nothing."""
    key = only_key(path)
    name = quoted(path if key is None else key)
    for value in values_at(document, path):
        if value is MISSING:
            return f"expected field {name} but it is not there"
        if type_ and not is_a(value, type_):
            return f"expected field {name} to be of type {type_} but got {type_of(value)}"
    return None
