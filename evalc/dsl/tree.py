"""The texts, numbers and checks of the syntax tree: what the author wrote, with its places, before names are looked up.

The trees of suites, cases and prompts stand beside the keys that they are read from, in `build_*`.
There is always a tree: where something is wrong, the wrong part is left out and the node around it says `partial`,
so that later phases neither stumble over it nor conclude anything from its absence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from evalc.base.source import Span
from evalc.check.tree import Check
from evalc.dsl.nodes import Mapping
from evalc.grammar import nodes as g


class Str(msgspec.Struct, frozen=True, gc=False):
    """A text of the file: its value, and the span of its raw token (with quotes, header, indentation)."""

    value: str
    span: Span


class Num(msgspec.Struct, frozen=True, gc=False):
    """A number of the file."""

    value: int | float
    span: Span


# --- checks ----------------------------------------------------------------------------------------------------------


class CheckLeaf(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A check, its texts unfilled, and where they were written, in the order of `texts_of`.

    With an `origin`, the offsets of places count from the start of that text's value; without one they count from the
    start of the source.
    """

    span: Span
    check: Check
    places: Sequence[g.Atom] = ()
    origin: Str | None = None


class CheckGroup(msgspec.Struct, frozen=True, kw_only=True):
    """`any_of:`, `all_of:` or `not:` over checks (`not:` holds one)."""

    span: Span
    op: Literal["any_of", "all_of", "not"]
    items: tuple[CheckBody, ...]


class CheckUse(msgspec.Struct, frozen=True, kw_only=True):
    """`use: NAME`: the checks of a named rule."""

    span: Span
    name: Str


class CheckJson(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `expect.checks`: a check as the case model writes it in JSON."""

    span: Span
    node: Mapping


CheckBody = CheckLeaf | CheckGroup | CheckUse | CheckJson


class CheckTree(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An entry of `validate:`, or a field of `expect:`: what it asks, what it counts for, and how much.

    `turn` is the number of the turn whose checks it is among; None among the checks of the case.
    """

    span: Span
    body: CheckBody
    criterion: Str | None = None
    weight: int | float = 1
    turn: int | None = None
