"""`Source` is an input text, `Span` a stretch of it, `Position` a line and column for people."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple, final


class Span(NamedTuple):
    """A half-open stretch `[start, end)` of a source text, in code points from its beginning."""

    start: int
    end: int


@final
class AliasedSpan(Span):
    """A stretch that an alias elsewhere refers to, as `*base` does for what `&base` names.

    Attributes:
        alias: the place of that alias.
    """

    alias: Span

    def __new__(cls, span: Span, alias: Span) -> AliasedSpan:
        """The stretch itself, with where it is used."""
        aliased = super().__new__(cls, *span)
        aliased.alias = alias
        return aliased


def where_used(span: Span) -> Span:
    """Where a stretch is used: its alias's place if an alias refers to it, else its own."""
    return span.alias if isinstance(span, AliasedSpan) else span


def is_within(offset: int, spans: Sequence[Span]) -> bool:
    """Whether an offset is within one of the spans, which are sorted and do not overlap."""
    before = bisect_right(spans, offset, key=itemgetter(0))
    return before > 0 and offset < spans[before - 1].end


class Position(NamedTuple):
    """A place as editors show it: line and column, both counted from 1, columns in code points."""

    line: int
    column: int


class Source:
    """One input text and the name it goes by in messages (a path as the user wrote it, or `<stdin>`).

    The text is what follows the byte order mark, if there is one. Lines end at LF, CRLF or CR, as YAML and
    editors count them. Of a file that is read piece by piece, a source may be an excerpt: `first_line` is the number of
    the line that its text begins at.
    """

    functions: Mapping[str, Callable[..., Any]] = {}
    """The checks, by their names, that a text which was made in Python has brought."""

    def __init__(self, name: str, text: str, *, first_line: int = 1) -> None:
        self.name = name
        self.text = text
        self.first_line = first_line

    def with_text(self, text: str) -> Source:
        """Another text in the place of this one, whose own places its problems have."""
        changed = Source(self.name, text)
        changed.functions = self.functions
        return changed

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"

    @cached_property
    def _line_starts(self) -> list[int]:
        lines = self.text.splitlines(keepends=True) if _only_newlines(self.text) else _lines(self.text)
        starts = [0, *accumulate(map(len, lines))]
        return starts if self.text.endswith(("\r", "\n")) or not lines else starts[:-1]

    def position(self, offset: int) -> Position:
        """The line and column of `offset`; offsets outside the text are clamped to it."""
        offset, starts = min(max(offset, 0), len(self.text)), self._line_starts
        line = bisect_right(starts, offset)
        return Position(line + self.first_line - 1, offset - starts[line - 1] + 1)

    def offset(self, position: Position) -> int:
        """The offset of a place; beyond the end of its line it is that end, beyond the last line the text's end."""
        number = position.line - self.first_line
        if number >= len(self._line_starts):
            return len(self.text)
        line = self.line(position.line)
        return self._line_starts[max(number, 0)] + min(max(position.column - 1, 0), len(line))

    def shown_at(self, offset: int) -> tuple[str, int]:
        """The text that people are shown a place of, and where the place is in it."""
        return self.text, min(offset, len(self.text))

    def line(self, number: int) -> str:
        """The text of line `number` (from 1) without its line ending; empty if there is no such line."""
        number -= self.first_line - 1
        if not 1 <= number <= len(self._line_starts):
            return ""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


def _only_newlines(text: str) -> bool:
    """Whether `str.splitlines` cuts this text at LF, CR and CRLF alone."""
    return not any(mark in text for mark in "\v\f\x1c\x1d\x1e\x85\u2028\u2029")


def _lines(text: str) -> list[str]:
    return [line for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)?", text) if line]
