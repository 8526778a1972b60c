"""Finds the stretches of a YAML source that are text, in which a `#` begins no comment."""

from __future__ import annotations

from collections.abc import Iterator

from evalc.base.source import Source, Span
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.read_yaml import read_yaml


def texts_of(source: Source, *, holding: str = "#") -> Iterator[Span]:
    """The texts that hold a `#`, or another text: in quotes, in blocks, or plain."""
    seen: set[int] = set()
    waiting: list[Node] = [node for node in read_yaml(source, lambda _span, _finding: None) if node is not None]
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
