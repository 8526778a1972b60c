"""Splits a pattern into the units of its grammar, each with its offset."""

from __future__ import annotations

import re
from typing import Final, final

from evalc.ecma.regexp.errors import PatternError

_BEYOND_UTF16: Final = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")


@final
class Scanner:
    """A place in a pattern, and the modes in which it is read.

    Attributes:
        units: the pattern as code points (`u` and `v`) or as UTF-16 code units (neither), one character each.
        at: the index in `units` of what is read next.
        unicode: whether `u` or `v` is set.
        sets: whether `v` is set.
        names: whether `\\k` must be a reference to a name: under `u` and `v`, or if a group has a name.
    """

    def __init__(self, pattern: str, flags: str) -> None:
        self.unicode = "u" in flags or "v" in flags
        self.sets = "v" in flags
        self.at = 0
        self.units = pattern
        self._offsets: list[int] | None = None
        if _BEYOND_UTF16.search(pattern):
            self.units, self._offsets = _split(pattern, whole=self.unicode)
        self.names = self.unicode
        self._depth = 0

    def __bool__(self) -> bool:
        return self.at < len(self.units)

    def offset(self, at: int) -> int:
        """The offset in the pattern of the unit at index `at`."""
        return at if self._offsets is None else self._offsets[at]

    def end_offset(self, at: int) -> int:
        """The offset in the pattern at which a stretch ends whose units end before index `at`."""
        if self._offsets is None or at == 0:
            return at
        behind = self._offsets[at]
        return behind if behind > self._offsets[at - 1] else behind + 1

    def peek(self, length: int = 1) -> str:
        """The next units; fewer at the end of the pattern."""
        return self.units[self.at : self.at + length]

    def eat(self, expected: str) -> bool:
        """Whether the next units are these; then they are passed."""
        if not self.units.startswith(expected, self.at):
            return False
        self.at += len(expected)
        return True

    def take(self, shape: re.Pattern[str]) -> re.Match[str] | None:
        """The stretch of this shape that begins here, which is consumed; None if there is none."""
        match = shape.match(self.units, self.at)
        if match:
            self.at = match.end()
        return match

    def error(self, message: str, start: int, end: int | None = None) -> PatternError:
        """An error about the units from index `start` to `end`, or to the present place."""
        end = self.at if end is None else end
        return PatternError(self.offset(start), max(self.end_offset(end), self.offset(start)), message)

    def descend(self, start: int, limit: int = 100) -> None:
        """One level of nesting more. The limit keeps every walk over the tree within the interpreter's stack."""
        self._depth += 1
        if self._depth > limit:
            raise self.error(f"groups are nested more than {limit} deep", start, start + 1)

    def ascend(self) -> None:
        """One level of nesting less."""
        self._depth -= 1


def _split(pattern: str, *, whole: bool) -> tuple[str, list[int]]:
    units: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(pattern):
        code = ord(character)
        if whole and 0xDC00 <= code <= 0xDFFF and units and "\ud800" <= units[-1] <= "\udbff":
            units[-1] = chr(0x10000 + (ord(units[-1]) - 0xD800 << 10) + (code - 0xDC00))
        elif not whole and code > 0xFFFF:
            units += (chr(0xD800 + (code - 0x10000 >> 10)), chr(0xDC00 + (code & 0x3FF)))
            offsets += (offset, offset)
        else:
            units.append(character)
            offsets.append(offset)
    offsets.append(len(pattern))
    return "".join(units), offsets
