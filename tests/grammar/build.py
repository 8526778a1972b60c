"""From short calls to expected nodes, so that a table of spellings stays readable."""

from __future__ import annotations

from evalc.grammar.nodes import Number, Path, Text


def text(start: int, end: int, value: str) -> Text:
    return Text(start=start, end=end, value=value)


def number(start: int, end: int, value: float) -> Number:
    return Number(start=start, end=end, value=value)


def path(start: int, written: str, *steps: str | int | None) -> Path:
    return Path(start=start, end=start + len(written), steps=steps, text=written)
