"""Checks of a response's structure: the fields of JSON, the headings of Markdown."""

from __future__ import annotations

from typing import Any

from evalc.ecma.text import trim
from evalc.model import checks as c
from evalc.model.json import MISSING, only_key, values_at
from evalc.runtime.checks.json_checks import TOO_DEEP, not_json
from evalc.runtime.checks.json_text import NotJson, parse_leniently, type_of
from evalc.runtime.checks.markdown import headings
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed
from evalc.runtime.checks.wording import listed, quoted


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
    present = {trim(heading).casefold() for heading in found}
    missing = [heading for heading in expected if trim(heading).casefold() not in present]
    if not missing:
        return PASSED
    return failed(f"expected headings {listed(missing)} but found {listed(found) or 'none'}")
