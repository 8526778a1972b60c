"""Translates a pattern to RE2 where the meaning is certainly the same, and says for which texts it is.

RE2 answers in linear time, inside the process. It is asked only what it provably answers as ECMAScript does. RE2 sees
code points where a pattern without `u` sees UTF-16 code units, so texts and patterns with characters beyond U+FFFF are
left to the other engine, as are the foldings of case that Unicode adds to ASCII's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, assert_never, final

import msgspec

from evalc.ecma.regexp.nodes import (
    Alternation,
    AnyCharacter,
    Backreference,
    Character,
    CharacterSet,
    Class,
    ClassMember,
    Group,
    LineEnd,
    LineStart,
    Look,
    Pattern,
    PatternSequence,
    Property,
    Range,
    Repeat,
    SetOperation,
    Strings,
    Term,
    WordBoundary,
)
from evalc.ecma.text import LINE_TERMINATORS, SPACES

_MOST_REPETITIONS: Final = 1000


class Translation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An RE2 pattern, and the texts that it may be asked about.

    Attributes:
        pattern: in RE2's syntax.
        ascii_only: only ASCII texts: case is ignored, or the pattern has `\\B`.
        newline_only: only texts whose lines end at LF alone: `^` or `$` is multiline.
    """

    pattern: str
    ascii_only: bool
    newline_only: bool

    def encoded(self, text: str) -> bytes | None:
        """The text for RE2, or None if its answer might differ from ECMAScript's."""
        if self.newline_only and any(mark in text for mark in "\r\u2028\u2029"):
            return None
        if text.isascii():
            return text.encode()
        # A character beyond U+FFFF is two units of UTF-16: the quickest way to see whether there is one.
        if self.ascii_only or len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text):
            return None
        try:
            return text.encode()
        except UnicodeEncodeError:  # half a surrogate pair
            return None


def translate(pattern: Pattern) -> Translation | None:
    """The pattern in RE2's syntax, or None if its meaning there is not certainly the same."""
    translator = _Translator(ignore_case="i" in pattern.flags)
    try:
        body = translator.term(pattern.body)
    except _NotTheSame:
        return None
    return Translation(
        pattern=f"(?i){body}" if translator.ignore_case else body,
        ascii_only=translator.ignore_case or translator.not_at_boundary,
        newline_only=translator.multiline,
    )


class _NotTheSame(Exception):
    """RE2 lacks this, or means something else by it."""


@final
class _Translator:
    def __init__(self, *, ignore_case: bool) -> None:
        self.ignore_case = ignore_case
        self.not_at_boundary = False
        self.multiline = False

    def term(self, term: Term) -> str:
        match term:
            case Character():
                return self._character(term.code)
            case AnyCharacter():
                return _ANY if term.dot_all else _ANY_IN_LINE
            case CharacterSet():
                return f"[{_SETS[term.letter]}]"
            case Class():
                return self._class(term)
            case LineStart() | LineEnd():
                return self._line_edge(term)
            case WordBoundary():
                self.not_at_boundary = self.not_at_boundary or term.negated
                return r"\B" if term.negated else r"\b"
            case Group():
                if term.modifiers:
                    raise _NotTheSame
                return f"(?:{self.term(term.body)})"
            case Repeat():
                return self._repeat(term)
            case PatternSequence():
                return "".join(map(self.term, term.items))
            case Alternation():
                return "|".join(map(self.term, term.branches))
            case Look() | Backreference() | Property():
                raise _NotTheSame
            case _:
                assert_never(term)

    def _line_edge(self, edge: LineStart | LineEnd) -> str:
        at_start = isinstance(edge, LineStart)
        if edge.multiline:
            self.multiline = True
            return "(?m:^)" if at_start else "(?m:$)"
        return r"\A" if at_start else r"\z"

    def _repeat(self, repeat: Repeat) -> str:
        most = repeat.min if repeat.max is None else repeat.max
        if most > _MOST_REPETITIONS:
            raise _NotTheSame
        bounds = f"{{{repeat.min},{'' if repeat.max is None else repeat.max}}}"
        return f"(?:{self.term(repeat.body)}){bounds}"

    def _class(self, brackets: Class) -> str:
        if not brackets.members:
            return _ANY if brackets.negated else _NOTHING
        members = "".join(map(self._member, brackets.members))
        return f"[{'^' if brackets.negated else ''}{members}]"

    def _member(self, member: ClassMember) -> str:
        match member:
            case Character():
                return self._character(member.code)
            case Range():
                return f"{self._character(member.first)}-{self._character(member.last)}"
            case CharacterSet():
                return _SETS[member.letter]
            case Property() | Strings() | SetOperation() | Class():
                raise _NotTheSame
            case _:
                assert_never(member)

    def _character(self, code: int) -> str:
        if code > 0xFFFF or 0xD800 <= code <= 0xDFFF or (self.ignore_case and code > 0x7F):
            raise _NotTheSame
        return _literal(code)


@lru_cache
def _literal(code: int) -> str:
    character = chr(code)
    return character if character.isascii() and character.isalnum() else f"\\x{{{code:x}}}"


def _complement(characters: str) -> str:
    """Ranges of all characters but these."""
    ranges: list[str] = []
    following = 0
    for code in sorted(map(ord, characters)):
        if code > following:
            ranges.append(f"{_literal(following)}-{_literal(code - 1)}")
        following = code + 1
    return "".join(ranges) + f"{_literal(following)}-{_literal(0x10FFFF)}"


_ANY: Final = r"[\x{0}-\x{10ffff}]"
_NOTHING: Final = r"[^\x{0}-\x{10ffff}]"
_ANY_IN_LINE: Final = f"[^{''.join(_literal(ord(mark)) for mark in LINE_TERMINATORS)}]"
# RE2's own `\s` is ASCII's without \v. Its `\W` and `\D` stay as they are: written as ranges they would, if case
# is ignored, take in `s` and `k` as foldings of U+017F and U+212A.
_SETS: Final = {
    "d": r"\d",
    "D": r"\D",
    "w": r"\w",
    "W": r"\W",
    "s": "".join(_literal(ord(space)) for space in SPACES),
    "S": _complement(SPACES),
}
