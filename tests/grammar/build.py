"""Builds expected nodes by short calls, so that a table of spellings stays readable."""

from __future__ import annotations

from evalc.grammar.nodes import Number, PatternAtom, Text


def text(start: int, end: int, value: str) -> Text:
    return Text(start=start, end=end, value=value)


def number(start: int, end: int, value: float) -> Number:
    return Number(start=start, end=end, value=value)


def literal(start: int, end: int, pattern: str, flags: str = "") -> PatternAtom:
    return PatternAtom(start=start, end=end, pattern=pattern, flags=flags, pattern_at=start + 1, literal=True)
