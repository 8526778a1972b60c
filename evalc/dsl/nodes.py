"""The nodes of a YAML document, each with its place in the source.

Offsets are half-open and count code points of `Source.text`. They leave out what precedes a value (anchors,
tags, `- `, `key: `) and what follows it (comments, blank lines), and take in quotes and brackets.

The node of an alias is at its anchor, and `alias` says where it is used: of a node that an alias or a merge
key inserts. What is below that node learns it from `behind`, when it is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, Literal, TypeVar, final

import msgspec

from evalc.base.source import AliasedSpan, Span
from evalc.diagnostics import Finding

Style = Literal["plain", "single", "double", "literal", "folded", "hole"]

Report = Callable[[Span, Finding], None]
"""Reports a finding of a reader, and where in its source."""


def unheard(_span: Span, _finding: Finding) -> None:
    """A `Report` to nobody: what is wrong is reported elsewhere, or does not matter."""


Stretch = int
"""A span in one integer, its end in the lower bits, which takes a quarter of the memory."""

BITS: Final = 32
END: Final = (1 << BITS) - 1


@final
class AliasedStretch(int):
    """A stretch that an alias elsewhere refers to."""

    alias: Span


def stretch(start: int, end: int) -> Stretch:
    """The stretch between two offsets."""
    return start << BITS | end


def stretch_of(span: Span) -> Stretch:
    """The stretch of a span."""
    return behind_alias(span.alias, stretch(*span)) if isinstance(span, AliasedSpan) else stretch(*span)


def behind_alias(alias: Span, at: Stretch) -> Stretch:
    """A stretch as that alias brings it."""
    aliased = AliasedStretch(at)
    aliased.alias = alias
    return aliased


class InSource(msgspec.Struct, frozen=True, gc=False):
    """Something that stands in a source."""

    at: Stretch

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.at >> BITS

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.at & END

    @property
    def span(self) -> Span:
        """Its place, and that of the alias that refers to it."""
        at = self.at
        span = _AS_IT_IS(Span, (at >> BITS, at & END))  # `Span(...)` takes twice the time, and each node is asked
        return AliasedSpan(span, at.alias) if isinstance(at, AliasedStretch) else span

    @property
    def alias(self) -> Span | None:
        """Where the alias is that inserts it."""
        at = self.at
        return at.alias if isinstance(at, AliasedStretch) else None


_AS_IT_IS: Final = tuple.__new__


class Scalar(InSource, frozen=True, gc=False):
    """One value that is not a collection, as text: escapes undone, lines folded, nothing else interpreted.

    `tag` is the core tag that the author wrote (`!!str`), else empty. A `hole` replaces something that was wrong
    that is already reported (an alias of nothing): it may have been meant as anything.
    """

    text: str
    style: Style
    tag: str = ""


class Sequence(InSource, frozen=True, gc=False):
    """A list. `cut` says that a syntax error hid something inside it: more items may have been meant."""

    items: tuple[Node, ...]
    cut: bool = False


class Mapping(InSource, frozen=True, gc=False):
    """Pairs in the order of the source, each key once; merge keys are already replaced by what they bring.

    `cut` says that a syntax error hid something inside it: more keys may have been meant.
    """

    pairs: tuple[tuple[Scalar, Node], ...]
    cut: bool = False


Node = Scalar | Sequence | Mapping

Keep = Callable[[Node], Node]
"""Gives the form in which an item of a list is kept."""
KeepItems = Callable[[list[str], Collection[str]], Keep | None]
"""Gives that for a list, by the keys that lead to it and those above it in the document; None: as it is read."""


def fields_of(node: Node | None) -> dict[str, Node]:
    """The entries of a mapping by their keys; of anything else, none."""
    return {key.text: value for key, value in node.pairs} if isinstance(node, Mapping) else {}


def items_of(node: Node | None) -> tuple[Node, ...]:
    """The items of a list; of anything else, none."""
    return node.items if isinstance(node, Sequence) else ()


def one_or_many(node: Node | None) -> tuple[Node, ...]:
    """The items of a list; anything else is the only one."""
    return node.items if isinstance(node, Sequence) else () if node is None else (node,)


def children_of(node: Node) -> Collection[Node]:
    """The nodes right below one: the items of a list, the keys and values of a mapping."""
    return [part for pair in node.pairs for part in pair] if isinstance(node, Mapping) else items_of(node)


def nodes_of(documents: Iterable[Node | None]) -> Iterator[Node]:
    """Every node once, at its place; aliases lead to known nodes."""
    waiting = [document for document in documents if document is not None]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += children_of(node)


def is_cut(node: Node) -> bool:
    """Whether a syntax error ended the file inside a list or mapping."""
    return not isinstance(node, Scalar) and node.cut


N = TypeVar("N", Scalar, Sequence, Mapping, Node)


def behind(alias: Span, node: N) -> N:
    """The node as that alias brings it."""
    return msgspec.structs.replace(node, at=behind_alias(alias, node.at))


@final
class YamlLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How far a document may go: levels of nesting, and nodes that aliases and merge keys may add to it."""

    depth: int = 100
    expanded_nodes: int = 1_000_000


# What YAML's production c-printable leaves out, and the three breaks on which libyaml miscounts lines.
FORBIDDEN: Final = r"[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
"""A pattern of one character that YAML does not allow."""

_PLAIN: Final = re.compile(r"[\t\n\r -~]*")
"""A text of ASCII that holds none of these; it is spared the pattern above, which takes 5 ms to compile."""


def has_forbidden(text: str) -> bool:
    """Whether YAML does not allow a character of a text."""
    return not _PLAIN.fullmatch(text) and re.search(FORBIDDEN, text) is not None
