"""Reads YAML into nodes: long texts of the usual form line by line, all others from the events of a parser.

It also finds the stretches of a source that are text, in which a `#` begins no comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evalc.base.source import Source, Span
from evalc.dsl.nodes import KeepItems, Node, Report, Scalar, YamlLimits, has_forbidden, nodes_of, unheard

_LONG: Final = 50_000
"""From so many characters on it pays to try the lines of a text before its events."""

_DEFAULT_LIMITS: Final = YamlLimits()


def read_yaml(
    source: Source, report: Report = unheard, limits: YamlLimits = _DEFAULT_LIMITS, keep: KeepItems | None = None
) -> list[Node | None]:
    """The documents of a YAML text, None for an empty one.

    A text that only lacks its quotes is reported, and read as if it had them. A value with an unclosed bracket or quote
    is reported and becomes a hole, and what is below it is read. Lines that a tab indents are left out up to the next
    entry that cannot be within them. Any other syntax error ends the document: what precedes it is kept. The open
    collections are marked as `cut`.

    Of a long text of the usual form, items of lists are kept as `keep` has it.
    """
    # Each reader is imported when it is needed, for start-up: few commands need both.
    if len(source.text) >= _LONG and not has_forbidden(source.text):
        from evalc.dsl.read_lines import read_lines  # noqa: PLC0415

        root = read_lines(source.text, depth=limits.depth, keep=keep)
        if root is not None:
            return [root]
    from evalc.dsl.read_events import read_events  # noqa: PLC0415

    return read_events(source, report, limits)


def texts_of(source: Source, *, holding: str = "#") -> Iterator[Span]:
    """The texts that hold a `#`, or another text: in quotes, in blocks, or plain."""
    for node in nodes_of(read_yaml(source)):
        if isinstance(node, Scalar):
            start = _behind_header(source.text, node) if node.style in ("literal", "folded") else node.start
            if source.text.find(holding, start, node.end) >= 0:
                yield Span(start, node.end)


def _behind_header(text: str, block: Scalar) -> int:
    """Where the text of a block begins: after its first line, which may have a comment."""
    breaks = [at for mark in "\r\n" if (at := text.find(mark, block.start, block.end)) >= 0]
    return min(breaks, default=block.end)
