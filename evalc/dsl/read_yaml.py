"""Reads YAML into nodes: long texts of the usual form line by line, all others from the events of a parser."""

from __future__ import annotations

from typing import Final

from evalc.base.source import Source
from evalc.dsl.nodes import KeepItems, Node, Report, YamlLimits, has_forbidden

_LONG: Final = 50_000
"""From so many characters on it pays to try the lines of a text before its events."""

_DEFAULT_LIMITS: Final = YamlLimits()


def read_yaml(
    source: Source, report: Report, limits: YamlLimits = _DEFAULT_LIMITS, keep: KeepItems | None = None
) -> list[Node | None]:
    """The documents of a YAML text, None for an empty one.

    A text that only lacks its quotes is reported, and read as if it had them. A value with an unclosed bracket or quote
    is reported and becomes a hole, and what is below it is read. Any other syntax error ends the document: what
    precedes it is kept, its open collections marked as `cut`.

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
