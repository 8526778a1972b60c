"""Problems for tests of what is made of them."""

from __future__ import annotations

from evalc.base.source import Source, Span
from evalc.diagnostics import Finding, Problem


def problem_at(source: Source, marked: str, finding: Finding) -> Problem:
    """The finding at the only place where `marked` stands in the source."""
    assert source.text.count(marked) == 1
    start = source.text.index(marked)
    span = Span(start, start + len(marked))
    return Problem(source=source, span=span, finding=finding, severity=finding.entry.severity)
