"""Parses ECMAScript patterns, says what is certain about them, and matches them."""

from evalc.ecma.regexp.engine import DEFAULT_TIMEOUT, Regexp, compile_pattern, escape, test_async
from evalc.ecma.regexp.nodes import Pattern, PatternError, RegexpError, RegexpTimeout
from evalc.ecma.regexp.parser import MAX_LENGTH, parse
from evalc.ecma.regexp.vacuity import is_local, literal_text, matches_everything, matches_nothing, required_texts

__all__ = [
    "DEFAULT_TIMEOUT",
    "MAX_LENGTH",
    "Pattern",
    "PatternError",
    "Regexp",
    "RegexpError",
    "RegexpTimeout",
    "compile_pattern",
    "escape",
    "is_local",
    "literal_text",
    "matches_everything",
    "matches_nothing",
    "parse",
    "required_texts",
    "test_async",
]
