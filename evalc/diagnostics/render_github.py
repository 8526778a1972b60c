"""Renders problems as GitHub Actions annotations, shown beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evalc.base.annotations import annotation
from evalc.diagnostics.problem import Problem


def render_github(problems: Iterable[Problem]) -> str:
    """One workflow command a problem, a line each."""
    return "".join(f"{_command(problem)}\n" for problem in problems)


def _command(problem: Problem) -> str:
    start, end = problem.start, problem.end
    properties = {
        "file": Path(problem.source.name).as_posix(),
        "line": str(start.line),
        "endLine": str(end.line),
        "col": str(start.column),
        "endColumn": str(end.column),
        "title": problem.code,
    }
    return annotation(problem.severity, properties, filter(None, _lines(problem)))


def _lines(problem: Problem) -> tuple[str, ...]:
    finding = problem.finding
    return finding.message(), finding.label(), problem.note, *finding.help().split("\n")
