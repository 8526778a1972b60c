"""Compares two readings of a text, ignoring places and quotes, to prove that formatting changed nothing."""

from __future__ import annotations

from collections.abc import Sequence

from evalc.dsl.nodes import Mapping, Node, Scalar
from evalc.dsl.nodes import Sequence as SequenceNode
from evalc.dsl.scalars import kind_of


def same_documents(ours: Sequence[Node | None], theirs: Sequence[Node | None]) -> bool:
    """Whether two lists of documents hold the same texts of the same kinds in the same order.

    Stricter than the values' equality: `1.50` and `1.5` differ, since a text may be expected in their place.
    """
    pending: list[tuple[Sequence[Node | None], Sequence[Node | None]]] = [(ours, theirs)]
    seen: set[tuple[int, int]] = set()  # aliases: what was compared once is not compared again
    while pending:
        left, right = pending.pop()
        if len(left) != len(right):
            return False
        for one, other in zip(left, right, strict=True):
            match one, other:
                case Scalar(), Scalar():
                    if one.text != other.text or kind_of(one) != kind_of(other):
                        return False
                case (Mapping() as here, Mapping() as there) | (SequenceNode() as here, SequenceNode() as there):
                    if (id(here), id(there)) not in seen:
                        seen.add((id(here), id(there)))
                        pending.append((_children(here), _children(there)))
                case None, None:
                    pass
                case _:
                    return False
    return True


def _children(node: Mapping | SequenceNode) -> Sequence[Node]:
    if isinstance(node, SequenceNode):
        return node.items
    return [part for pair in node.pairs for part in pair]
