"""Checks of a response that is JSON: that it is, that it fits a schema, and what stands at one of its places."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from evalc.ecma.regexp import RegexpError, RegexpTimeout
from evalc.ecma.values import to_json
from evalc.model import checks as c
from evalc.model.paths import EVERY, steps
from evalc.model.places import MISSING, values_at
from evalc.runtime.checks.json_text import NotJson, parse, parse_leniently, type_of
from evalc.runtime.checks.schema import SchemaError, first_violation
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed
from evalc.runtime.checks.wording import quoted, shown

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
    except RecursionError:
        return broken("the schema or the response is nested too deeply to be checked")
    if violation is None:
        return PASSED
    return failed(f"expected JSON that fits the schema but {shown(violation)}")


def text_at(check: c.At, evidence: Evidence) -> str | Verdict:
    """The text of the check's place: strings as they are, other values as `JSON.stringify` writes them."""
    if ("every", EVERY) in steps(check.path):
        return broken(f"{quoted(check.path)} is more than one place")
    try:
        value = next(values_at(parse_leniently(evidence.response), check.path))
    except NotJson as error:
        return failed(not_json(error, evidence.response))
    except RecursionError:
        return broken(TOO_DEEP)
    if value is MISSING:
        return failed(f"expected {quoted(check.path)} in the JSON response but it is not there")
    return value if isinstance(value, str) else to_json(value)


def not_json(error: NotJson, response: str) -> str:
    """The message of a check that needs JSON and got none."""
    return f"expected JSON but got {quoted(response)}: {shown(str(error))}"


def _a(type_name: str) -> str:
    article = "" if type_name == "null" else "an " if type_name[0] in "aeiou" else "a "
    return article + type_name
