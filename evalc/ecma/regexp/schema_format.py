"""The format `regex` of JSON Schema, checked as ECMAScript reads patterns rather than as Python does."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from evalc.ecma.regexp.engine import compile_pattern
from evalc.ecma.regexp.errors import PatternError

if TYPE_CHECKING:
    from jsonschema import FormatChecker


@lru_cache(maxsize=1)
def pattern_format() -> FormatChecker:
    """A checker of this format alone, for `check_schema`."""
    from jsonschema import FormatChecker  # noqa: PLC0415 - deferred for start-up time

    checker = FormatChecker(formats=())
    checker.checks("regex", raises=PatternError)(_is_pattern)
    return checker


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        compile_pattern(value)
    return True
