"""The problems of an eval file in short: line, column, code."""

from __future__ import annotations

import evalc


def found(text: str, name: str = "example.eval.yaml") -> list[str]:
    """Every problem as `LINE:COLUMN CODE`."""
    problems = evalc.check(evalc.Source(name, text))
    return [f"{problem.start.line}:{problem.start.column} {problem.code}" for problem in problems]


def codes(text: str, name: str = "example.eval.yaml") -> list[str]:
    """The codes of the problems, in the order of their places."""
    return [line.split()[1] for line in found(text, name)]


def case_of(validate: str, *, more: str = "", suite: str = "") -> str:
    """A suite of one case, in flow form."""
    return f"{suite}eval: {{test_cases: [{{name: a, message: hi, {more}validate: {validate}}}]}}\n"
