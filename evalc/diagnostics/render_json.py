"""Renders problems as a JSON array, one object on a line each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from evalc.diagnostics.problem import Problem


def render_json(problems: Iterable[Problem]) -> str:
    """The problems as a JSON array with a line end. Lines and columns count from 1, columns in code points.

    Only ASCII is written: names and texts of files may hold lone surrogates, which UTF-8 cannot.
    """
    objects = ",\n  ".join(json.dumps(_as_object(problem)) for problem in problems)
    return f"[\n  {objects}\n]\n" if objects else "[]\n"


def _as_object(problem: Problem) -> dict[str, Any]:
    start, end = problem.start, problem.end
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.finding.message(),
        "file": problem.source.name,
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "help": _joined(_joined(problem.finding.label(), problem.note), problem.finding.help()),
        "fixable": (fix := problem.fix) is not None and fix.is_safe,
    }


def _joined(label: str, text: str) -> str:
    """Both as sentences in a row; a question keeps its mark."""
    if not (label and text):
        return label or text
    return f"{label} {text}" if label[-1] in ".?!:" else f"{label}. {text}"
