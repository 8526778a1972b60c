"""The texts, numbers and checks of the syntax tree: what the author wrote, with its places, before names are looked up.

The trees of suites, cases and prompts stand beside the keys that they are read from, in `build_*`.
There is always a tree: where something is wrong, the wrong part is left out and the node around it says `partial`,
so that later phases neither stumble over it nor conclude anything from its absence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evalc.check.tree import Check
from evalc.dsl.nodes import InSource, Mapping
from evalc.grammar import nodes as g


class Str(InSource, frozen=True, gc=False):
    """A text of the file: its value, and the place of its raw token (with quotes, header, indentation)."""

    value: str


class Num(InSource, frozen=True, gc=False):
    """A number of the file."""

    value: int | float


Place = g.Atom | Str
"""The place of a text of a check, and the text."""


# --- checks ----------------------------------------------------------------------------------------------------------


class CheckLeaf(InSource, frozen=True, kw_only=True, gc=False):
    """A check, its texts unfilled, and where they were written, in the order of `texts_of`.

    In a `line`, which is the value of a text, the offsets of places count from its start; without one they count from
    the start of the source.
    """

    check: Check
    places: Sequence[Place] = ()
    line: str | None = None


class CheckGroup(InSource, frozen=True, kw_only=True):
    """`any_of:`, `all_of:` or `not:` over checks (`not:` holds one)."""

    op: Literal["any_of", "all_of", "not"]
    items: tuple[CheckBody, ...]


class CheckUse(InSource, frozen=True, kw_only=True):
    """`use: NAME`: the checks of a named rule."""

    name: Str


class CheckJson(InSource, frozen=True, kw_only=True):
    """An entry of `expect.checks`: a check as the case model writes it in JSON."""

    node: Mapping


CheckBody = CheckLeaf | CheckGroup | CheckUse | CheckJson


class CheckTree(InSource, frozen=True, kw_only=True, gc=False):
    """An entry of `validate:`, or a field of `expect:`: what it asks, what it counts for, and how much.

    `turn` is the number of the turn whose checks it is among; None among the checks of the case.
    """

    body: CheckBody
    criterion: Str | None = None
    weight: int | float = 1
    turn: int | None = None
