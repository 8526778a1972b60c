"""From YAML to the compiler: nodes, the facts of one document, each with where it stands in its source.

Offsets are half-open and count code points of `Source.text`. They leave out what stands before a value (anchors,
tags, `- `, `key: `) and what stands after it (comments, blank lines), and take in quotes and brackets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from evalc.diagnostics.problem import Finding
from evalc.source import Span

Style = Literal["plain", "single", "double", "literal", "folded", "hole"]

Report = Callable[[Span, Finding], None]
"""How a reader tells what it found, and where in its source."""


class Scalar(msgspec.Struct, frozen=True, gc=False):
    """One value that is not a collection, as text: escapes undone, lines folded, nothing else interpreted.

    `tag` is the core tag that the author wrote (`!!str`), else empty. A `hole` stands where something was wrong
    that is already reported (an alias of nothing): it may have been meant as anything.
    """

    start: int
    end: int
    text: str
    style: Style
    tag: str = ""


class Sequence(msgspec.Struct, frozen=True, gc=False):
    """A list. `cut` says that a syntax error ended the file inside it: more items may have been meant."""

    start: int
    end: int
    items: tuple[Node, ...]
    cut: bool = False


class Mapping(msgspec.Struct, frozen=True, gc=False):
    """Pairs in the order of the source, each key once; merge keys are already replaced by what they bring.

    `cut` says that a syntax error ended the file inside it: more keys may have been meant.
    """

    start: int
    end: int
    pairs: tuple[tuple[Scalar, Node], ...]
    cut: bool = False


Node = Scalar | Sequence | Mapping


def span_of(node: Node) -> Span:
    """Where a node stands."""
    return Span(node.start, node.end)
