"""Nodes of ECMAScript patterns.

Offsets are half-open and count code points of the pattern as it was given. A pattern without `u` or `v` is about
UTF-16 code units, so a character beyond U+FFFF is two `Character` nodes that share its offsets.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class RegexpError(Exception):
    """A regular expression gave no answer."""


class PatternError(RegexpError):
    """The pattern is not one: `message` says why, `[offset, end)` where, in code points of the pattern."""

    def __init__(self, offset: int, end: int, message: str) -> None:
        super().__init__(offset, end, message)
        self.offset = offset
        self.end = end
        self.message = message

    def __str__(self) -> str:
        return self.message


class RegexpTimeout(RegexpError):
    """The match did not end within its deadline."""

    def __init__(self, timeout: float) -> None:
        super().__init__(timeout)
        self.timeout = timeout

    def __str__(self) -> str:
        return f"the regular expression did not end within {self.timeout:g} s"


class PatternNode(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node: where it begins and ends."""

    start: int
    end: int


class Character(PatternNode, frozen=True, kw_only=True, gc=False):
    """One code unit, or one code point under `u` and `v`."""

    code: int


class AnyCharacter(PatternNode, frozen=True, kw_only=True, gc=False):
    """`.`; with `dot_all` line terminators too."""

    dot_all: bool


class CharacterSet(PatternNode, frozen=True, kw_only=True, gc=False):
    r"""`\d`, `\s`, `\w` or one of their complements."""

    letter: Literal["d", "D", "s", "S", "w", "W"]


class Property(PatternNode, frozen=True, kw_only=True, gc=False):
    r"""`\p{Name}` or `\p{Name=Value}`; `\P` is `negated`. Some properties hold `strings` of several characters."""

    name: str
    value: str | None
    negated: bool
    strings: bool


class CharacterRange(PatternNode, frozen=True, kw_only=True, gc=False):
    """`a-z` in a class, both ends included."""

    first: int
    last: int


class Strings(PatternNode, frozen=True, kw_only=True, gc=False):
    r"""`\q{abc|d|}` in a class under `v`."""

    texts: tuple[str, ...]


class SetOperation(PatternNode, frozen=True, kw_only=True, gc=False):
    """`A&&B` or `A--B` in a class under `v`."""

    operator: Literal["&&", "--"]
    operands: tuple[ClassMember, ...]


class Class(PatternNode, frozen=True, kw_only=True, gc=False):
    """`[...]`: the union of its members, or what none of them holds."""

    negated: bool
    members: tuple[ClassMember, ...]


ClassMember = Character | CharacterSet | Property | CharacterRange | Strings | SetOperation | Class


class LineStart(PatternNode, frozen=True, kw_only=True, gc=False):
    """`^`: the text's start, or with `multiline` a line's."""

    multiline: bool


class LineEnd(PatternNode, frozen=True, kw_only=True, gc=False):
    """`$`: the text's end, or with `multiline` a line's."""

    multiline: bool


class WordBoundary(PatternNode, frozen=True, kw_only=True, gc=False):
    r"""`\b`, or `\B` where `negated`."""

    negated: bool


class Look(PatternNode, frozen=True, kw_only=True, gc=False):
    """A lookahead, or a lookbehind if `behind`."""

    behind: bool
    negated: bool
    body: Term


class Group(PatternNode, frozen=True, kw_only=True, gc=False):
    """Parentheses: capturing with an `index` from 1, else None; `(?i-s:...)` has `modifiers`, the text `i-s`."""

    index: int | None = None
    name: str | None = None
    modifiers: str = ""
    body: Term


class Backreference(PatternNode, frozen=True, kw_only=True, gc=False):
    r"""`\1` or `\k<name>`."""

    to: int | str


class Repeat(PatternNode, frozen=True, kw_only=True, gc=False):
    """A quantifier and what it repeats; `max` is None if there is no upper bound."""

    body: Term
    min: int
    max: int | None
    greedy: bool


class PatternSequence(PatternNode, frozen=True, kw_only=True, gc=False):
    """Terms that follow one another; the empty pattern is an empty sequence."""

    items: tuple[Term, ...]


class Alternation(PatternNode, frozen=True, kw_only=True, gc=False):
    """`a|b`: two branches or more."""

    branches: tuple[Term, ...]


Term = (
    Character
    | AnyCharacter
    | CharacterSet
    | Property
    | Class
    | LineStart
    | LineEnd
    | WordBoundary
    | Look
    | Group
    | Backreference
    | Repeat
    | PatternSequence
    | Alternation
)


class Pattern(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A whole pattern: its text, its flags (of `imsuv`, sorted), its tree and its number of capturing groups."""

    source: str
    flags: str
    body: Term
    groups: int
