"""From a regular expression to what is wrong with it, each expression examined once: suites repeat themselves."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from evalc.ecma.regexp import PatternError, matches_everything, matches_nothing, parse


class Examined(NamedTuple):
    """What a pattern is: not one at all (`error`), or one that matches every text or none (`always`)."""

    error: PatternError | None
    always: Literal["matches", "fails"] | None


@lru_cache(4096)
def examine(pattern: str, flags: str = "") -> Examined:
    """Read a pattern as `new RegExp(pattern, flags)` does."""
    try:
        node = parse(pattern, flags)
    except PatternError as error:
        return Examined(error.with_traceback(None), None)
    if matches_everything(node):
        return Examined(None, "matches")
    return Examined(None, "fails" if matches_nothing(node) else None)
