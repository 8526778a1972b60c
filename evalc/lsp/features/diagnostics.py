"""Problems of the compiler, as an editor shows them while you type."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types as lsp

from evalc.base.source import Source, Span
from evalc.diagnostics.problem import Problem
from evalc.lsp.document import Encoding, range_in, uri_of
from evalc.lsp.one_case import DocumentProblems

SOURCE = "evalc"
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}


def diagnostics(checked: DocumentProblems, encoding: Encoding) -> Mapping[str, list[lsp.Diagnostic]]:
    """The diagnostics of a checked document, by the address of the file that they are in."""
    return {uri: [diagnostic(each, encoding) for each in found] for uri, found in checked.problems.items()}


def diagnostic(problem: Problem, encoding: Encoding) -> lsp.Diagnostic:
    """A problem with what to do about it."""
    finding = problem.finding
    lines = [finding.message(), finding.label(), *finding.help().splitlines()]
    return lsp.Diagnostic(
        range=range_in(problem.source, _visible(problem.source, problem.span), encoding),
        message="\n".join(filter(None, lines)),
        severity=_SEVERITIES[problem.severity],
        code=problem.code,
        source=SOURCE,
        related_information=_related(problem, encoding) or None,
    )


def _visible(source: Source, span: Span) -> Span:
    """The stretch up to the end of its first line: an editor would underline a whole block."""
    end = source.text.find("\n", span.start, span.end)
    return Span(span.start, span.end if end < 0 else max(end, span.start + 1))


def _related(problem: Problem, encoding: Encoding) -> list[lsp.DiagnosticRelatedInformation]:
    places: list[tuple[str, Source, Span]] = []
    if problem.alias is not None:
        places.append(("used by this alias", problem.source, problem.alias))
    if problem.row is not None:
        places.append(("first seen with this row", *problem.row))
    return [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri_of(source.name), range_in(source, span, encoding)), message)
        for message, source, span in places
    ]
