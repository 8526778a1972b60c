"""Nodes of the small languages: checks of the model with the places of their texts, templates, criteria.

Offsets are half-open and count code points: from the start of the parsed text for nodes that a grammar built, from
the start of the source for nodes that the YAML reader's mappings were turned into (`dsl` keeps which is which).
Texts may still hold templates: a check is parsed first and its texts are filled after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, Literal, NamedTuple, TypeVar

import msgspec

from evalc.check import tree
from evalc.diagnostics.problem import Fault

N = TypeVar("N")

MAX_FAULTS: Final = 20
"""How many faults of one text are reported."""

REMEMBERED: Final = 4_096
"""How many parses of each language are remembered: suites repeat themselves."""
LONGEST_REMEMBERED: Final = 1_000
"""The most characters of a text whose parse is remembered."""


class Node(msgspec.Struct, frozen=True, gc=False):
    """A node: where it begins and ends."""

    start: int
    end: int


# --- atoms -----------------------------------------------------------------------------------------------------------


class Text(Node, frozen=True, gc=False):
    """A string: its value with escapes undone; the offsets take in its quotes."""

    value: str


class Number(Node, frozen=True, gc=False):
    """A number, in the base unit of its place: milliseconds, US dollars, else a plain count."""

    value: int | float


class PatternAtom(Node, frozen=True, gc=False):
    """An ECMAScript pattern and its flags (a subset of `imsuv`, in alphabetical order, each once).

    `pattern_at` is the offset of the pattern's first character; for a `/pattern/flags` literal the pattern is
    exactly the characters between the outer slashes, so an offset in it is `pattern_at` plus an index.
    `literal` is True for `/pattern/flags`, False for a pattern written as a plain text.
    """

    pattern: str
    pattern_at: int
    literal: bool
    flags: str = ""


# --- checks ----------------------------------------------------------------------------------------------------------


Atom = Text | PatternAtom


class ReadCheck(Node, frozen=True, gc=False):
    """A whole one-line check: its tree, its texts unfilled, and the criterion it counts for.

    `places` are where its texts were written, in the order of `texts_of`.
    """

    check: tree.Check
    places: Sequence[Atom]
    criterion: Text | None = None


# --- criteria --------------------------------------------------------------------------------------------------------


class CriterionLine(Node, frozen=True):
    """A one-line criterion, `clarity (0.3): Clear and well-structured`."""

    name: Text
    weight: Number | None = None
    description: Text | None = None


# --- templates -------------------------------------------------------------------------------------------------------


class Words(Node, frozen=True, gc=False):
    """Literal text."""

    value: str


class Variable(Node, frozen=True, gc=False):
    """`{{name}}`, or `{{this}}` inside `#each`."""

    name: str


class TemplateToken(Node, frozen=True, gc=False):
    """`{{seed:path}}` or `{{snapshot:path}}`: resolved when the eval runs. `text` is the token as written."""

    source: Literal["seed", "snapshot"]
    path: str
    text: str


class If(Node, frozen=True):
    """`{{#if name}}...{{else}}...{{/if}}`; `{{#unless name}}` is the same with `negated`."""

    name: Variable
    then: tuple[Part, ...]
    negated: bool = False
    otherwise: tuple[Part, ...] = ()


class Each(Node, frozen=True):
    """`{{#each name}}...{{this}}...{{/each}}`."""

    name: Variable
    body: tuple[Part, ...]


Part = Words | Variable | TemplateToken | If | Each


class Template(Node, frozen=True):
    """A parsed template."""

    parts: tuple[Part, ...]


class Parsed(NamedTuple, Generic[N]):
    """A parsed text: `node` is None exactly when there are faults. Offsets count from the text's start."""

    node: N | None
    faults: tuple[Fault, ...]


def parsed(node: N | None, faults: list[Fault]) -> Parsed[N]:
    """The node when there are no faults, else the first of the faults, in the order of their places."""
    in_order = sorted(faults, key=lambda fault: (fault.start, fault.end))
    return Parsed(None if faults else node, tuple(in_order[:MAX_FAULTS]))
