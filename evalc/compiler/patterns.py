"""Examines regular expressions. Each is examined once, since suites repeat themselves.

Where they do not, their expressions still are alike: `(consider|suggest) type1` and `(use|try) name2` have one shape,
in which each run of plain characters is replaced by a stand-in. What is known of the shape is known of both.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

import msgspec

from evalc.ecma.regexp import (
    PatternError,
    compile_pattern,
    is_local,
    literal_text,
    matches_everything,
    matches_nothing,
    parse,
    required_texts,
)
from evalc.ecma.regexp.vacuity import LiteralKind

Always = Literal["matches", "fails"]


class Examined(msgspec.Struct, frozen=True, gc=False):
    """A pattern's nature: invalid (`error`), or matching every text or none (`always`)."""

    error: PatternError | None
    always: Always | None
    literal: tuple[str, LiteralKind] | None = None  # the text that it is another spelling of
    required: tuple[str, ...] = ()  # texts that occur in whatever it matches
    # whether a text that it matches is matched inside a longer text, and inside a text that starts with it
    local: tuple[bool, bool] = (False, False)


_LONGEST: Final = 1_000
"""The most characters of a pattern that is looked at for its shape."""

# Escapes that take in what follows, groups of special kinds, and characters that no line shows.
_ODD: Final = re.compile(r"\\(?![bdfnrstvwBDSW]|x[0-9A-Fa-f]{2})\w|\(\?|[\x00-\x09\x0b-\x1f\x7f]")
# What is kept unchanged: escapes, classes, braces; and runs, without a last character that is repeated.
_RUN: Final = re.compile(
    r"(\\x[0-9A-Fa-f]{2}|\\.|\[(?:[^\]\\]|\\.)*\]|\{[^}]*\})|([\w ]+(?![*+?{]))", re.ASCII | re.DOTALL
)
_FIRST_STAND_IN: Final = 0xE000
_STAND_INS: Final = tuple(map(chr, range(_FIRST_STAND_IN, _FIRST_STAND_IN + 64)))


@lru_cache(16_384)
def examine(pattern: str, flags: str = "") -> Examined:
    """Read a pattern as `new RegExp(pattern, flags)` does."""
    shape, runs = (pattern, ()) if "v" in flags else shape_of(pattern)
    examined = _examined(shape, flags)
    if not runs:
        return examined
    if examined.error is not None:
        return _examined(pattern, flags)  # whose error has its place

    spelt = dict(enumerate(runs, _FIRST_STAND_IN))
    literal = examined.literal and (examined.literal[0].translate(spelt), examined.literal[1])
    required = tuple([text.translate(spelt) for text in examined.required])
    return Examined(None, examined.always, literal, required, examined.local)


def shape_of(pattern: str) -> tuple[str, tuple[str, ...]]:
    """A pattern with a stand-in for each of its runs of plain characters, and those runs; itself if it is odd."""
    if len(pattern) > _LONGEST or not pattern.isascii():
        return pattern, ()
    runs: list[str] = []
    pieces = _RUN.split(pattern)  # by threes: what is between, what is kept, a run
    for at in range(2, len(pieces), 3):
        run = pieces[at]
        if run and len(runs) < len(_STAND_INS):
            pieces[at] = _STAND_INS[len(runs)]
            runs.append(run)
    shape = "".join(filter(None, pieces))
    return (pattern, ()) if _is_odd(shape) else (shape, tuple(runs))


@lru_cache(4096)
def _is_odd(shape: str) -> bool:
    return _ODD.search(shape) is not None


@lru_cache(4096)
def _examined(pattern: str, flags: str) -> Examined:
    try:
        node = parse(pattern, flags)
    except PatternError as error:
        return Examined(error.with_traceback(None), None)
    always: Always | None = "matches" if matches_everything(node) else "fails" if matches_nothing(node) else None
    local = is_local(node), is_local(node, at_start=True)
    return Examined(None, always, literal_text(node), required_texts(node), local)


def answer(pattern: str, flags: str, text: str) -> bool | None:
    """Whether the pattern matches the text; None if no engine knows at once."""
    examined = examine(pattern, flags)
    if examined.error is not None:
        return None
    if _lacks_what_it_needs(examined.required, flags, text):
        return False
    return compile_pattern(pattern, flags).by_re2(text)


def _lacks_what_it_needs(needed: tuple[str, ...], flags: str, text: str) -> bool:
    """Whether a text cannot match, known without an engine. Only among ASCII texts is another case the same letter."""
    if "i" not in flags:
        return not all(part in text for part in needed)
    lower = text.lower()
    return text.isascii() and not all(part.lower() in lower for part in needed if part.isascii())
