"""Takes the raw token of a scalar apart: which of its characters denote which of the value, through escapes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, final

import msgspec

from evalc.base.source import Source

_BREAK: Final = r"(?:\r\n|\r|\n)"
_PROPERTIES: Final = re.compile(r"(?:[&!][^ \t\r\n,\[\]{}]*|#[^\r\n]*|[ \t\r\n]+)*")
_BREAKS: Final = re.compile(_BREAK)
_FOLD: Final = rf"[ \t]*{_BREAK}(?:[ \t]*{_BREAK})*[ \t]*"
_PLAIN: Final = re.compile(rf"(?P<fold>{_FOLD})|[^ \t\r\n]+|[ \t]+")
_SINGLE: Final = re.compile(rf"(?P<fold>{_FOLD})|(?P<one>'')|[^ \t\r\n']+|[ \t]+")
_DOUBLE: Final = re.compile(
    rf"(?P<fold>{_FOLD})|(?P<joined>\\{_BREAK}[ \t]*(?:{_BREAK}[ \t]*)*)"
    r"|(?P<one>\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.))"
    r"|[^ \t\r\n\\]+|[ \t]+"
)
_HEADER: Final = re.compile(rf"[|>](?P<signs>[-+0-9]*)[^\r\n]*(?:{_BREAK}|$)")
_LINE: Final = re.compile(rf"(?P<indent> *)(?P<rest>[^\r\n]*)(?P<end>{_BREAK}|$)")
_BEFORE_HEADER: Final = re.compile(r"(?P<signs> *(?:[-?:] +)*)(?:[&!]\S* +)*(?P<key>\S.*)?")


class _Piece(NamedTuple):
    """A stretch of the raw text: literal characters, or (`one`) characters that together denote one."""

    start: int
    end: int
    one: bool


@final
class PieceTable(msgspec.Struct, frozen=True):
    """The pieces of a token in order, the index in the value where each begins, and where the value ends."""

    pieces: list[_Piece]
    value_starts: list[int]
    end: int

    @classmethod
    def of(cls, pieces: Iterator[_Piece], start: int) -> PieceTable:
        """The table of pieces; `start` is where the value begins, for an empty value."""
        kept: list[_Piece] = []
        value_starts: list[int] = []
        length = 0
        for piece in pieces:
            if piece.end > piece.start:
                kept.append(piece)
                value_starts.append(length)
                length += 1 if piece.one else piece.end - piece.start
        return cls(kept, value_starts, kept[-1].end if kept else start)

    def start_of(self, index: int) -> int:
        """Where the raw text of the character at an index in the value begins."""
        at = bisect_right(self.value_starts, index) - 1
        if at < 0:
            return self.pieces[0].start if self.pieces else self.end
        piece = self.pieces[at]
        offset = index - self.value_starts[at]
        if piece.one:
            return piece.start if offset == 0 else self.end
        return min(piece.start + offset, self.end)

    def end_of(self, index: int) -> int:
        """Where it ends."""
        at = bisect_right(self.value_starts, index) - 1
        if at < 0:
            return self.end
        piece = self.pieces[at]
        return piece.end if piece.one else min(piece.start + index - self.value_starts[at] + 1, self.end)


@lru_cache(maxsize=16)  # many problems of one long scalar are shown one after the other
def pieces_of(source: Source, start: int, end: int) -> PieceTable:
    """The pieces of the token at `[start, end)` of a source."""
    text = source.text
    properties = _PROPERTIES.match(text, start, end)
    at = properties.end() if properties is not None else start
    match text[at : at + 1]:
        case "'":
            return PieceTable.of(_flow(_SINGLE, text, at + 1, end - 1), at + 1)
        case '"':
            return PieceTable.of(_flow(_DOUBLE, text, at + 1, end - 1), at + 1)
        case "|" | ">":
            return PieceTable.of(_block(text, at, end), end)
        case _:
            return PieceTable.of(_flow(_PLAIN, text, at, end), at)


def _flow(token: re.Pattern[str], text: str, start: int, end: int) -> Iterator[_Piece]:
    """Plain and quoted scalars: folds, escapes and runs of characters that are themselves."""
    for match in token.finditer(text, start, end):
        match match.lastgroup:
            case "fold":
                yield from _fold(text, match.start(), match.end())
            case "joined":  # an escaped break is nothing, each empty line after it a break
                _, *more = _BREAKS.finditer(text, match.start(), match.end())
                yield from (_Piece(at.start(), at.end(), one=True) for at in more)
            case group:
                yield _Piece(match.start(), match.end(), one=group == "one")


def _fold(text: str, start: int, end: int) -> Iterator[_Piece]:
    """One break is a space; of several the first is nothing and each other one a break."""
    first, *more = _BREAKS.finditer(text, start, end)
    if not more:
        yield _Piece(start, end, one=True)
    for at in more:
        yield _Piece(first.start() if at is more[0] else at.start(), at.end(), one=True)


class _Line(NamedTuple):
    """A line of a block scalar after its indentation, and its break (empty at the end of the text)."""

    start: int
    end: int
    break_end: int


def _block(text: str, start: int, end: int) -> Iterator[_Piece]:
    header = _HEADER.match(text, start, end)
    if header is None:
        return
    signs = header["signs"]
    indent = _indent(text, start, signs, header.end(), end)
    lines = _lines(text, header.end(), end, indent)
    folded = text[start] == ">"
    ended: _Piece | None = None  # the break of the last line with content
    empty: list[_Piece] = []  # the breaks of the empty lines after it
    more_indented = False
    for line in lines:
        line_break = _Piece(line.end, line.break_end, one=True)
        if line.start >= line.end:
            empty.append(line_break)
            continue
        blank = text[line.start] in " \t"
        if folded and ended is not None and not more_indented and not blank:
            if empty:
                empty[0] = _Piece(ended.start, empty[0].end, one=True)
            else:
                yield _Piece(ended.start, line.start, one=True)
        elif ended is not None:
            yield ended
        yield from empty
        yield _Piece(line.start, line.end, one=False)
        more_indented, ended, empty = blank, line_break, []
    if "-" not in signs and ended is not None:
        yield ended
    if "+" in signs:
        yield from empty


def _lines(text: str, start: int, end: int, indent: int) -> Iterator[_Line]:
    for match in _LINE.finditer(text, start, end):
        if match.end() == match.start():
            return
        inside = min(match.start() + indent, match.end("indent"))
        yield _Line(inside, match.end("rest"), match.end())


def _indent(text: str, header: int, signs: str, start: int, end: int) -> int:
    """How many spaces indent the text of a block scalar."""
    indicator = re.search(r"[1-9]", signs)
    if indicator is not None and (parent := _parent_indent(text, header)) is not None:
        return parent + int(indicator[0])
    if indicator is not None:
        return min(len(m["indent"]) for m in _LINE.finditer(text, start, end) if m["rest"] or m.end() == end)
    deepest = 0
    for match in _LINE.finditer(text, start, end):
        deepest = max(deepest, len(match["indent"]))
        if match["rest"] or match.end() == match.start():
            break
    return deepest


def _parent_indent(text: str, header: int) -> int | None:
    """How far the node around a block scalar is indented; None if its line does not show it."""
    line_start = max(text.rfind("\n", 0, header), text.rfind("\r", 0, header)) + 1
    before = _BEFORE_HEADER.match(text, line_start, header)
    if before is None:
        return None
    if before["key"]:
        return len(before["signs"])
    if sign := before["signs"].rstrip():
        return len(sign) - 1
    return None if text[:line_start].strip() else 0
