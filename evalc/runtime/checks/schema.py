"""Validates a JSON value against a JSON Schema. Nothing is fetched, and no pattern runs for ever."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, cast

import msgspec

from evalc.ecma.regexp import DEFAULT_TIMEOUT, RegexpTimeout, compile_pattern
from evalc.ecma.regexp.schema_format import all_formats, pattern_format
from evalc.model.json_schema import dialect_of, schemas_within

_pattern_deadline: ContextVar[float] = ContextVar("_pattern_deadline")

MOST_DEPTH: Final = 200
"""The nesting of a schema that is read."""


class SchemaError(Exception):
    """The schema cannot be used; the message says why."""


def first_violation(value: Any, schema: Mapping[str, Any] | bool) -> str | None:
    """Where and why the value does not fit the schema, or None.

    Raises:
        SchemaError: the schema is malformed or points out of itself.
        RegexpTimeout: its patterns took too long on this value.
        RegexpError: one of its patterns is invalid.
    """
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - deferred for start-up time

    token = _pattern_deadline.set(time.monotonic() + DEFAULT_TIMEOUT)
    try:
        violation = next(_validator(msgspec.json.encode(schema)).iter_errors(value), None)
    except Unresolvable as error:
        raise SchemaError(f"`$ref` leads to nothing in the schema: {error.ref}") from error
    finally:
        _pattern_deadline.reset(token)
    if violation is None:
        return None
    where = "".join(_place(step) for step in violation.absolute_path).removeprefix(".")
    return f"{where}: {violation.message}" if where else str(violation.message)


def _place(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step}"


@lru_cache(maxsize=128)
def _validator(schema_json: bytes) -> Any:
    """The validator of a schema, given as its JSON because a mapping has no hash."""
    # Deferred for start-up time: seldom needed, and slow to import.
    import jsonschema  # noqa: PLC0415
    from jsonschema import validators  # noqa: PLC0415
    from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415

    schema = msgspec.json.decode(schema_json)
    _refuse_what_runs_unbounded(schema)
    dialect = dialect_of(schema)
    try:
        dialect.check_schema(schema, format_checker=pattern_format())
    except jsonschema.SchemaError as error:
        raise SchemaError(f"it is not a JSON Schema: {error.message}") from error
    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "multipleOf": _multiple_of,
        "divisibleBy": _multiple_of,
    }
    known = {keyword: check for keyword, check in own.items() if keyword in dialect.VALIDATORS}
    bounded = validators.extend(dialect, known)  # type: ignore[no-untyped-call]
    for _, part in schemas_within(schema):
        cast("dict[str, Any]", part).pop(
            "$schema", None
        )  # jsonschema would go on with the named draft's own class, whose patterns are unbounded
    # An empty registry retrieves nothing: a reference out of the document is refused, not followed.
    return bounded(schema, registry=EMPTY_REGISTRY, format_checker=all_formats())


def _refuse_what_runs_unbounded(schema: Any) -> None:
    """`unevaluatedProperties` would run the patterns beside it in an engine without a deadline."""
    keywords: set[str] = set()
    pending = [(schema, 0)]
    while pending:
        part, depth = pending.pop()
        if depth > MOST_DEPTH:
            raise SchemaError(f"it is nested more than {MOST_DEPTH} deep")
        if isinstance(part, dict):
            keywords.update(part)
            pending.extend((child, depth + 1) for child in part.values())
        elif isinstance(part, list):
            pending.extend((child, depth + 1) for child in part)
    if {"unevaluatedProperties", "patternProperties"} <= keywords:
        raise SchemaError("`unevaluatedProperties` together with `patternProperties` is not supported")


def _found(pattern: str, text: str) -> bool:
    left = _pattern_deadline.get() - time.monotonic()
    if left <= 0:
        raise RegexpTimeout(DEFAULT_TIMEOUT)
    # JSON Schema reads patterns as ECMAScript does with the flag `u`; those that are malformed under it go without.
    return compile_pattern(pattern).test(text, timeout=left)


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError  # noqa: PLC0415 - deferred for start-up time

    if validator.is_type(instance, "string") and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _multiple_of(validator: Any, step: float, instance: Any, _schema: Any) -> Iterator[Any]:
    """Divides the numbers as they are written: 0.3 is a multiple of 0.1, but not as binary fractions."""
    from jsonschema import ValidationError  # noqa: PLC0415 - deferred for start-up time

    if validator.is_type(instance, "number"):
        quotient = _as_written(instance) / _as_written(step) if math.isfinite(instance) else None
        if quotient is None or quotient.denominator != 1:
            yield ValidationError(f"{instance!r} is not a multiple of {step}")


def _as_written(number: float) -> Fraction:
    return Fraction(number if isinstance(number, int) else repr(number))


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for key, value in instance.items():
            if _found(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    from jsonschema import ValidationError  # noqa: PLC0415 - deferred for start-up time

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
