"""The formats of JSON Schema that are checked; `regex` is read as ECMAScript reads patterns, not as Python does."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from evalc.ecma.regexp.engine import compile_pattern
from evalc.ecma.regexp.nodes import PatternError
from evalc.model.json_schema import FORMATS

if TYPE_CHECKING:
    from jsonschema import FormatChecker


@lru_cache(maxsize=1)
def pattern_format() -> FormatChecker:
    """A checker of this format alone, for `check_schema`."""
    from jsonschema import FormatChecker  # noqa: PLC0415 - deferred for start-up time

    checker = FormatChecker(formats=())
    checker.checks("regex", raises=PatternError)(_is_pattern)
    return checker


@lru_cache(maxsize=1)
def all_formats() -> FormatChecker:
    """A checker of all formats, for the values that a schema describes."""
    from jsonschema import FormatChecker  # noqa: PLC0415 - as above

    checker = FormatChecker(formats=())
    checker.checks("regex", raises=PatternError)(_is_pattern)
    for name, has_format in FORMATS.items():
        checker.checks(name)(_of_texts(has_format))
    return checker


def _of_texts(has_format: Callable[[str], bool]) -> Callable[[object], bool]:
    """The check of a format as JSON Schema has it: what is not a text is not asked."""
    return lambda value: not isinstance(value, str) or has_format(value)


def _is_pattern(value: object) -> bool:
    if isinstance(value, str):
        compile_pattern(value)
    return True
