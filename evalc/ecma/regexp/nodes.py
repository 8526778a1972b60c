"""What an ECMAScript pattern parses to.

Offsets are half-open and count code points of the pattern as it was given. A pattern without `u` or `v` speaks of
UTF-16 code units, so a character beyond U+FFFF is two `Character` nodes that share its offsets.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A node: where it begins and ends."""

    start: int
    end: int


class Character(Node, frozen=True, kw_only=True, gc=False):
    """One code unit, or one code point under `u` and `v`."""

    code: int


class AnyCharacter(Node, frozen=True, kw_only=True, gc=False):
    """`.`; with `dot_all` line terminators too."""

    dot_all: bool


class CharacterSet(Node, frozen=True, kw_only=True, gc=False):
    r"""`\d`, `\s`, `\w` or one of their complements."""

    letter: Literal["d", "D", "s", "S", "w", "W"]


class Property(Node, frozen=True, kw_only=True, gc=False):
    r"""`\p{Name}` or `\p{Name=Value}`; `\P` is `negated`. Some properties hold `strings` of several characters."""

    name: str
    value: str | None
    negated: bool
    strings: bool


class Range(Node, frozen=True, kw_only=True, gc=False):
    """`a-z` in a class, both ends included."""

    first: int
    last: int


class Strings(Node, frozen=True, kw_only=True, gc=False):
    r"""`\q{abc|d|}` in a class under `v`."""

    texts: tuple[str, ...]


class SetOperation(Node, frozen=True, kw_only=True, gc=False):
    """`A&&B` or `A--B` in a class under `v`."""

    operator: Literal["&&", "--"]
    operands: tuple[ClassMember, ...]


class Class(Node, frozen=True, kw_only=True, gc=False):
    """`[...]`: the union of its members, or what none of them holds."""

    negated: bool
    members: tuple[ClassMember, ...]


ClassMember = Character | CharacterSet | Property | Range | Strings | SetOperation | Class


class LineStart(Node, frozen=True, kw_only=True, gc=False):
    """`^`: the text's start, or with `multiline` a line's."""

    multiline: bool


class LineEnd(Node, frozen=True, kw_only=True, gc=False):
    """`$`: the text's end, or with `multiline` a line's."""

    multiline: bool


class WordBoundary(Node, frozen=True, kw_only=True, gc=False):
    r"""`\b`, or `\B` where `negated`."""

    negated: bool


class Look(Node, frozen=True, kw_only=True, gc=False):
    """A lookahead, or a lookbehind where `behind`."""

    behind: bool
    negated: bool
    body: Term


class Group(Node, frozen=True, kw_only=True, gc=False):
    """Parentheses: capturing with an `index` from 1, else None; `(?i-s:...)` has `modifiers`, the text `i-s`."""

    index: int | None = None
    name: str | None = None
    modifiers: str = ""
    body: Term


class Backreference(Node, frozen=True, kw_only=True, gc=False):
    r"""`\1` or `\k<name>`."""

    to: int | str


class Repeat(Node, frozen=True, kw_only=True, gc=False):
    """A quantifier and what it repeats; `max` is None where there is no upper bound."""

    body: Term
    min: int
    max: int | None
    greedy: bool


class Sequence(Node, frozen=True, kw_only=True, gc=False):
    """One thing behind the other; the empty pattern is an empty sequence."""

    items: tuple[Term, ...]


class Alternation(Node, frozen=True, kw_only=True, gc=False):
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
    | Sequence
    | Alternation
)


class Pattern(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A whole pattern: its text, its flags (of `imsuv`, sorted), its tree and its number of capturing groups."""

    source: str
    flags: str
    body: Term
    groups: int
