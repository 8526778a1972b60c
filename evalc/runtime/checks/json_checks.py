"""Asks texts whether they are JSON, fit a schema, and have the fields or the headings that are required."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from evalc.check.markdown import headings, plain
from evalc.check.tree import Test
from evalc.check.values import is_a, text_of, type_of
from evalc.ecma.regexp import RegexpError, RegexpTimeout
from evalc.model.json import MISSING, only_key, values_at
from evalc.runtime.checks.json_text import NotJson, parse, parse_leniently
from evalc.runtime.checks.schema import SchemaError, first_violation
from evalc.runtime.checks.subjects import TOO_DEEP, json_of, not_json
from evalc.runtime.checks.verdict import Found, Verdict, View, broken
from evalc.runtime.checks.wording import listed, quoted, shown


def is_json(test: Test, view: View) -> Found | Awaitable[Found]:
    """Whether the text is JSON of the mode, and fits the schema."""
    mode, schema = test.operand
    text = text_of(view.value)
    try:
        value = parse_leniently(text) if mode == "lenient" else parse(text)
    except NotJson as error:
        return not_json(error, text)
    except RecursionError:
        return broken(TOO_DEEP)
    if mode in ("object", "array") and type_of(value) != mode:
        return f"expected a JSON {mode} but got {_a(type_of(value))}"
    if schema is None:
        return True
    # In a thread: a big response, or a pattern that needs the slow engine, must not hold up the other cases.
    return asyncio.to_thread(_fits, value, schema)


def _fits(value: Any, schema: dict[str, Any] | bool) -> Found:
    try:
        violation = first_violation(value, schema)
    except SchemaError as error:
        return broken(f"the schema cannot be used: {shown(str(error))}")
    except RegexpTimeout as error:
        return broken(f"the schema's patterns ran longer than {error.timeout:g} s")
    except RegexpError as error:
        return broken(f"a pattern of the schema gave no answer: {shown(str(error))}")
    except OverflowError:
        return broken("the response has a number that is too large to be compared with the schema")
    except RecursionError:
        return broken("the schema or the response is nested too deeply to be checked")
    return True if violation is None else f"expected JSON that fits the schema but {shown(violation)}"


def _a(type_name: str) -> str:
    article = "" if type_name == "null" else "an " if type_name[0] in "aeiou" else "a "
    return article + type_name


def structure(test: Test, view: View) -> Found:
    """Whether the text has every field and every heading; JSON may be in its one fenced block."""
    fields, expected = test.operand
    text = text_of(view.value)
    if fields:
        document = json_of(text)
        if isinstance(document, Verdict):
            return document.message or "" if document.outcome == "failed" else document
        for path, type_ in fields:
            if message := _wrong(document, path, type_):
                return message
    return _headings(expected, text) if expected else True


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


def _headings(expected: tuple[str, ...], text: str) -> Found:
    found = headings(text)
    present = {heading.casefold() for heading in found}
    missing = [heading for heading in expected if plain(heading).casefold() not in present]
    return True if not missing else f"expected headings {listed(missing)} but found {listed(found) or 'none'}"
