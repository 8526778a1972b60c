"""Examines parts of checks by themselves: patterns, tokens, predicates of subjects.

Each pattern is examined once, since suites repeat themselves. Where they do not, their expressions still are alike:
`(consider|suggest) type1` and `(use|try) name2` have one shape, in which each run of plain characters is replaced by a
stand-in. What is known of the shape is known of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import msgspec

from evalc.check import tree as t
from evalc.check.forms import CALL_HAS, Record, check_of, form_of
from evalc.check.predicates import ASKS, GIVES, PREDICATES, Kind
from evalc.diagnostics import Finding
from evalc.diagnostics.near import nearest
from evalc.ecma.regexp import compile_pattern
from evalc.ecma.regexp.nodes import PatternError
from evalc.ecma.regexp.parser import parse
from evalc.ecma.regexp.vacuity import (
    LiteralKind,
    is_local,
    literal_text,
    matches_everything,
    matches_nothing,
    required_texts,
)

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
    return (pattern, ()) if _ODD.search(shape) else (shape, tuple(runs))


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


_SOURCES: Final = ("seed", "snapshot")
_ALMOST: Final = re.compile(r"(?<!\\)\{\{\s*(?P<name>[A-Za-z_]{2,20})\s*:(?P<path>[^{}\n]{0,200})(?P<close>\}{0,2})")
_ODD_INDEX: Final = re.compile(r"\[(?![0-9]+\])[^\]]*\]?")


class AlmostAToken(NamedTuple):
    """A stretch of a text that is almost a token, and what was probably meant; empty if only the author knows."""

    start: int
    end: int
    text: str
    meant: str


def typos_in(text: str) -> Iterator[AlmostAToken]:
    """Texts that are almost tokens: the source is misspelt, a brace is missing, or an index is not a number."""
    for match in _ALMOST.finditer(text) if "{{" in text else ():
        name, path = match["name"], match["path"].strip()
        source = name if name in _SOURCES else nearest(name, _SOURCES)
        if source is None:
            continue
        odd_index = _ODD_INDEX.search(path)
        if name == source and match["close"] == "}}" and odd_index is None:
            continue
        meant = "" if odd_index is not None else f"{{{{{source}:{path}}}}}"
        yield AlmostAToken(match.start(), match.end(), match[0], meant)


Kinds = frozenset[Kind]

_ANY: Final = Kinds(GIVES)
_CALL: Final = Kinds({"call"})
_PLACE: Final = Kinds({"value", "call"})
_TEXT: Final = Kinds({"value"})


def unaskable(
    record: Record, at: str = "", subject: str = "response", kind: Kind = "value"
) -> Iterator[tuple[str, Finding]]:
    """The findings about a check of a subject of this kind, each with the JSON pointer to it."""
    type_ = record["type"]
    if type_ == CALL_HAS:
        return
    own, test = t.steps_of(form_of(record).tree)
    for step in t.steps_of(check_of(record))[0][: len(own)]:
        asks, gives = _kinds(step)
        if kind not in asks:
            yield _finding(record, at, subject, kind, asks)
            return
        subject, kind = type_, gives
    while isinstance(test, t.Not):
        test = test.check
    if isinstance(test, t.Test) and kind not in PREDICATES[test.predicate].on:
        yield _finding(record, at, subject, kind, PREDICATES[test.predicate].on)
    if "check" in record:
        yield from unaskable(record["check"], f"{at}/check", subject, kind)
    for index, part in enumerate(record.get("checks", ())):
        yield from unaskable(part, f"{at}/checks/{index}", subject, kind)


def _kinds(step: t.Step) -> tuple[Kinds, Kind]:
    """The kinds of subjects that a step starts from, and the kind that it leads to."""
    match step:
        case t.Call():
            return _ANY, "call"
        case t.Tools():
            return _ANY, "names"
        case t.Measure(of):
            return _TEXT if of in t.OF_TEXT or of == "items" else _ANY, "number"
        case t.Argument() | t.Result() | t.Failure():
            return _CALL, "value"
        case t.At() | t.Items():
            return _PLACE, "value"
        case _:
            return _ANY, "value"


def _finding(record: Record, at: str, subject: str, kind: Kind, asks: Kinds) -> tuple[str, Finding]:
    finding = Finding("EV160", subject=subject, given=GIVES[kind], predicate=record["type"], asks=ASKS[asks])
    return f"{at}/type", finding
