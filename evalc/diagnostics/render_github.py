"""From problems to the annotations that GitHub Actions shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evalc.diagnostics.problem import Problem
from evalc.terminal import visible


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
    shown = ",".join(f"{name}={_escaped_property(value)}" for name, value in properties.items())
    return f"::{problem.severity} {shown}::{_escaped(_message(problem))}"


def _message(problem: Problem) -> str:
    finding = problem.finding
    lines = [finding.message(), finding.label(), *finding.help().split("\n")]
    return "\n".join(visible(line) for line in lines if line)


def _escaped(text: str) -> str:
    """What the runner of a workflow reads back as the text, and as nothing else."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
