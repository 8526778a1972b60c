"""Reads YAML into nodes: long texts of the usual form line by line, all others from the events of a parser.

It also finds the stretches of a source that are text, in which a `#` begins no comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evalc.base.source import Source, Span
from evalc.dsl.nodes import KeepItems, Mapping, Node, Report, Scalar, Sequence, YamlLimits, has_forbidden, unheard

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
    seen: set[int] = set()
    waiting: list[Node] = [node for node in read_yaml(source) if node is not None]
    while waiting:
        node = waiting.pop()
        match node:
            case Scalar(start=start, end=end, style=style):
                if style in ("literal", "folded"):
                    start = _behind_header(source.text, start, end)
                if source.text.find(holding, start, end) >= 0:
                    yield Span(start, end)
            case Sequence() | Mapping() if id(node) in seen:
                pass
            case Sequence(items=items):
                seen.add(id(node))
                waiting += items
            case Mapping(pairs=pairs):
                seen.add(id(node))
                waiting += (part for pair in pairs for part in pair)


def _behind_header(text: str, start: int, end: int) -> int:
    """Where the text of a block begins: after its first line, which may have a comment."""
    breaks = [at for mark in "\r\n" if (at := text.find(mark, start, end)) >= 0]
    return min(breaks, default=end)
