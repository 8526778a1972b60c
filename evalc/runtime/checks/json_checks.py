"""Checks of a response that is JSON: that it is, that it fits a schema, its values, the value at a path, its structure.

The structure is the fields of JSON, or the headings of Markdown.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec

from evalc.check.markdown import headings, plain
from evalc.check.values import type_of
from evalc.ecma.regexp import RegexpError, RegexpTimeout
from evalc.ecma.values import to_json
from evalc.model import checks as c
from evalc.model.json import EVERY, MISSING, is_number, is_same, only_key, steps, values_at
from evalc.model.json import to_json as as_json
from evalc.runtime.checks.json_text import NotJson, parse, parse_leniently
from evalc.runtime.checks.schema import SchemaError, first_violation
from evalc.runtime.checks.token_values import resolved_value, with_texts
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed, skipped
from evalc.runtime.checks.wording import listed, quoted, shown
from evalc.runtime.checks.wording import number as digits

TOO_DEEP: Final = "the response is nested too deeply to be read as JSON"


async def json(check: c.Json, evidence: Evidence) -> Verdict:
    """Whether the response is JSON of the check's mode, and fits its schema."""
    try:
        value = parse_leniently(evidence.response) if check.mode == "lenient" else parse(evidence.response)
    except NotJson as error:
        return failed(not_json(error, evidence.response))
    except RecursionError:
        return broken(TOO_DEEP)
    if check.mode in ("object", "array") and type_of(value) != check.mode:
        return failed(f"expected a JSON {check.mode} but got {_a(type_of(value))}")
    if check.schema is None:
        return PASSED
    # In a thread: a big response, or a pattern that needs the slow engine, must not hold up the other cases.
    return await asyncio.to_thread(_fits, value, check.schema)


def _fits(value: Any, schema: dict[str, Any] | bool) -> Verdict:
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
    if violation is None:
        return PASSED
    return failed(f"expected JSON that fits the schema but {shown(violation)}")


def number(check: c.Number, evidence: Evidence) -> Verdict:
    """Whether the JSON value is a number within the bounds."""
    value = _value_of(evidence)
    if isinstance(value, Verdict):
        return value
    if is_number(value) and (check.min is None or value >= check.min) and (check.max is None or value <= check.max):
        return PASSED
    return failed(f"expected a number{_within(check)} but got {_shown(value)}")


def count(check: c.Count, evidence: Evidence) -> Verdict:
    """Whether the JSON value is an array, and the number of its items within the bounds."""
    value = _value_of(evidence)
    if isinstance(value, Verdict):
        return value
    if not isinstance(value, list):
        return failed(f"expected an array but got {_shown(value)}")
    if (check.min is None or len(value) >= check.min) and (check.max is None or len(value) <= check.max):
        return PASSED
    return failed(f"expected an array with a number of items{_within(check)} but it has {len(value)}")


def is_value(check: c.Value, evidence: Evidence) -> Verdict:
    """Whether the JSON value is the one of the check."""
    value = _value_of(evidence)
    if isinstance(value, Verdict):
        return value
    unresolved: list[str] = []
    expected = with_texts(check.value, lambda text: resolved_value(text, evidence, unresolved))
    if unresolved:
        return skipped(tuple(unresolved))
    return PASSED if is_same(value, expected) else failed(f"expected {_shown(expected)} but got {_shown(value)}")


def _value_of(evidence: Evidence) -> Any:
    """The JSON value that a check looks at, or the verdict that it is missing."""
    if evidence.place is not msgspec.UNSET:
        return evidence.place
    try:
        return parse_leniently(evidence.response)
    except NotJson as error:
        return failed(not_json(error, evidence.response))
    except RecursionError:
        return broken(TOO_DEEP)


def _within(check: c.Number | c.Count) -> str:
    least, most = check.min, check.max
    if least is None:
        return "" if most is None else f" <= {digits(most)}"
    if most is None:
        return f" >= {digits(least)}"
    return f" == {digits(least)}" if least == most else f" from {digits(least)} to {digits(most)}"


def _shown(value: Any) -> str:
    """A JSON value as JSON writes it; a string that looks like a number is known by its quotes."""
    return shown(as_json(value).decode())


def place_of(path: str, evidence: Evidence) -> Evidence | Verdict:
    """The place that a check looks at; its text is a string itself, or what `JSON.stringify` writes."""
    if ("every", EVERY) in steps(path):
        return broken(f"{quoted(path)} is more than one place")
    try:
        value = next(values_at(parse_leniently(evidence.response), path))
    except NotJson as error:
        return failed(not_json(error, evidence.response))
    except RecursionError:
        return broken(TOO_DEEP)
    if value is MISSING:
        return failed(f"expected {quoted(path)} in the JSON response but it is not there")
    text = value if isinstance(value, str) else to_json(value)
    return msgspec.structs.replace(evidence, response=text, place=value)


def not_json(error: NotJson, response: str) -> str:
    """The message of a check that needs JSON and got none."""
    return f"expected JSON but got {quoted(response)}: {shown(str(error))}"


def _a(type_name: str) -> str:
    article = "" if type_name == "null" else "an " if type_name[0] in "aeiou" else "a "
    return article + type_name


def structure(check: c.Structure, evidence: Evidence) -> Verdict:
    """Whether the response has every field and every heading; JSON may be in the response's one fenced block."""
    if check.fields:
        try:
            document = parse_leniently(evidence.response)
        except NotJson as error:
            return failed(not_json(error, evidence.response))
        except RecursionError:
            return broken(TOO_DEEP)
        for field in check.fields:
            if message := _wrong(document, field):
                return failed(message)
    return _headings(check.headings, evidence.response) if check.headings else PASSED


def _wrong(document: Any, field: c.RequiredField) -> str | None:
    """Why the document lacks the field; `items[].id` asks every item, so that an empty array lacks nothing."""
    key = only_key(field.path)
    name = quoted(field.path if key is None else key)
    for value in values_at(document, field.path):
        if value is MISSING:
            return f"expected field {name} but it is not there"
        if field.type and not _is_of_type(value, field.type):
            return f"expected field {name} to be of type {field.type} but got {type_of(value)}"
    return None


def _is_of_type(value: Any, expected: c.FieldType) -> bool:
    actual = type_of(value)
    return actual == expected or (expected == "number" and actual == "integer")


def _headings(expected: tuple[str, ...], response: str) -> Verdict:
    found = headings(response)
    present = {heading.casefold() for heading in found}
    missing = [heading for heading in expected if plain(heading).casefold() not in present]
    if not missing:
        return PASSED
    return failed(f"expected headings {listed(missing)} but found {listed(found) or 'none'}")
