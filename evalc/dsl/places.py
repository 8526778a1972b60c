"""Finds places: of characters of a scalar's value in the raw text that denotes them, of JSON pointers in a tree.

Nodes keep no table of the raw text: it is rebuilt from the raw token when a problem inside a scalar has to be shown.
"""

from __future__ import annotations

from typing import Final

from evalc.base.source import AliasedSpan, Source, Span
from evalc.dsl.nodes import Mapping, Node, Sequence
from evalc.model.json import key_of_step

_SIGNS: Final = frozenset("|>&!# \t")  # of blocks, anchors, tags: the value does not begin here, or not as it is


def locate(source: Source, raw: Span, value_start: int, value_end: int) -> Span:
    """The place in the source of the characters `[value_start, value_end)` of a scalar's value.

    `raw` is the scalar's token: its node's span, with or without anchors and tags before it. An empty stretch is
    the empty place before the character at `value_start`. Indexes beyond the value are clamped to its end.
    """
    if isinstance(raw, AliasedSpan):
        return AliasedSpan(locate(source, Span(*raw), value_start, value_end), raw.alias)
    first = _first_of_simple(source.text, raw)
    if first is not None:
        last = min(first + value_end, raw.end - (first - raw.start))
        start = min(first + value_start, last)
        return Span(start, last) if value_end > value_start else Span(start, start)
    from evalc.dsl.token_pieces import pieces_of  # noqa: PLC0415 - for start-up: its expressions take long to compile

    table = pieces_of(source, raw.start, raw.end)
    start = table.start_of(value_start)
    return Span(start, max(start, table.end_of(value_end - 1)) if value_end > value_start else start)


def _first_of_simple(text: str, raw: Span) -> int | None:
    """Where the value begins in a token whose every character is itself; None if one may not be."""
    start, end = raw
    sign = text[start : start + 1]
    if sign in _SIGNS or text.find("\n", start, end) >= 0 or text.find("\r", start, end) >= 0:
        return None
    if sign == "'":
        return start + 1 if text.find("''", start + 1, end) < 0 else None
    if sign == '"':
        return start + 1 if text.find("\\", start, end) < 0 else None
    return start


def node_at(node: Node, pointer: str) -> Node:
    """The node that a JSON pointer leads to from another one; with a leading `#`, its key."""
    key: Node = node
    for step in pointer.removeprefix("#").split("/")[1:]:
        name = key_of_step(step)
        if isinstance(node, Sequence):
            key = node = node.items[int(name)]
        elif isinstance(node, Mapping):
            key, node = next(pair for pair in node.pairs if pair[0].text == name)
    return key if pointer.startswith("#") else node
