"""Validates a JSON value against a JSON Schema. Nothing is fetched, and no pattern runs for ever.

Import this only where a value is validated: `jsonschema` is slow to import.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, cast

import jsonschema
import msgspec
from jsonschema import ValidationError, validators
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY

from evalc.ecma.regexp import DEFAULT_TIMEOUT, all_formats, compile_pattern, pattern_format
from evalc.ecma.regexp.nodes import RegexpError, RegexpTimeout
from evalc.model.json_schema import dialect_of, schemas_within
from evalc.runtime.checks import Found, NoAnswer, broken
from evalc.runtime.checks.words import shown

_pattern_deadline: ContextVar[float] = ContextVar("_pattern_deadline")

MOST_DEPTH: Final = 200
"""The nesting of a schema that is read."""


def fits(value: Any, schema: Mapping[str, Any] | bool) -> Found:
    """Whether the value fits the schema, else where and why it does not.

    Raises:
        NoAnswer: the schema is malformed or points out of itself.
    """
    token = _pattern_deadline.set(time.monotonic() + DEFAULT_TIMEOUT)
    try:
        violation = next(_validator(msgspec.json.encode(schema)).iter_errors(value), None)
    except Unresolvable as error:
        raise _unusable(f"`$ref` leads to nothing in the schema: {error.ref}") from None
    except RegexpTimeout as error:
        return broken(f"the schema's patterns ran longer than {error.timeout:g} s")
    except RegexpError as error:
        return broken(f"a pattern of the schema gave no answer: {shown(str(error))}")
    except OverflowError:
        return broken("the response has a number that is too large to be compared with the schema")
    except RecursionError:
        return broken("the schema or the response is nested too deeply to be checked")
    finally:
        _pattern_deadline.reset(token)
    if violation is None:
        return True
    steps = violation.absolute_path
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
    fault = f"{where}: {violation.message}" if where else violation.message
    return f"expected JSON that fits the schema but {shown(fault)}"


def _unusable(why: str) -> NoAnswer:
    return NoAnswer(broken(f"the schema cannot be used: {shown(why)}"))


@lru_cache(maxsize=128)
def _validator(schema_json: bytes) -> Any:
    """The validator of a schema, given as its JSON because a mapping has no hash."""
    schema = msgspec.json.decode(schema_json)
    _refuse_what_runs_unbounded(schema)
    dialect = dialect_of(schema)
    try:
        dialect.check_schema(schema, format_checker=pattern_format())
    except jsonschema.SchemaError as error:
        raise _unusable(f"it is not a JSON Schema: {error.message}") from None
    known = {keyword: check for keyword, check in _OWN.items() if keyword in dialect.VALIDATORS}
    bounded = validators.extend(dialect, known)  # type: ignore[no-untyped-call]
    for _, part in schemas_within(schema):
        # jsonschema would go on with the named draft's own class, whose patterns are unbounded
        cast("dict[str, Any]", part).pop("$schema", None)
    # An empty registry retrieves nothing: a reference out of the document is refused, not followed.
    return bounded(schema, registry=EMPTY_REGISTRY, format_checker=all_formats())


def _refuse_what_runs_unbounded(schema: Any) -> None:
    """`unevaluatedProperties` would run the patterns beside it in an engine without a deadline."""
    keywords: set[str] = set()
    level, depth = [schema], 0
    while level:
        if depth > MOST_DEPTH:
            raise _unusable(f"it is nested more than {MOST_DEPTH} deep")
        keywords.update(*(part for part in level if isinstance(part, dict)))
        lists = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level, depth = [child for children in lists for child in children], depth + 1
    if {"unevaluatedProperties", "patternProperties"} <= keywords:
        raise _unusable("`unevaluatedProperties` together with `patternProperties` is not supported")


# --- keywords --------------------------------------------------------------------------------------------------------


def _found(pattern: str, text: str) -> bool:
    left = _pattern_deadline.get() - time.monotonic()
    if left <= 0:
        raise RegexpTimeout(DEFAULT_TIMEOUT)
    # JSON Schema reads patterns as ECMAScript does with the flag `u`; those that are malformed under it go without.
    return compile_pattern(pattern).test(text, timeout=left)


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _multiple_of(validator: Any, step: float, instance: Any, _schema: Any) -> Iterator[Any]:
    """Divides the numbers as they are written: 0.3 is a multiple of 0.1, but not as binary fractions."""
    if validator.is_type(instance, "number"):
        quotient = _as_written(instance) / _as_written(step) if math.isfinite(instance) else None
        if quotient is None or quotient.denominator != 1:
            yield ValidationError(f"{instance!r} is not a multiple of {step}")


def _as_written(number: float) -> Fraction:
    return Fraction(number if isinstance(number, int) else repr(number))


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for pattern, subschema in patterns.items():
            for key, value in instance.items():
                if _found(pattern, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    patterns = schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in schema.get("properties", {}) or any(_found(pattern, key) for pattern in patterns):
            continue
        if allowed is False:
            yield ValidationError(f"the property {key!r} is not allowed")
        else:
            yield from validator.descend(value, allowed, path=key)


_OWN: Final = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "multipleOf": _multiple_of,
    "divisibleBy": _multiple_of,
}
"""The keywords that are checked otherwise than `jsonschema` does."""
