"""Asks texts whether they are JSON, and have the fields and headings required."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from evalc.check.texts import NotJson, headings, parse, parse_leniently, plain
from evalc.check.tree import Test
from evalc.check.values import is_a, text_of, type_of
from evalc.model.json import MISSING, only_key, values_at
from evalc.runtime.checks import words
from evalc.runtime.checks.verdict import Found, View
from evalc.runtime.checks.words import listed, quoted


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
