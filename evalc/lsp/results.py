"""The results of the newest run, case by case, for the documents that its cases came from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, final

from evalc.compiler.resolve.names import suite_name
from evalc.config.settings import Settings
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.tree import CaseTree, SuiteTree
from evalc.errors import EvalcError
from evalc.model.result import CaseResult
from evalc.runtime.store.past.load import load_run
from evalc.runtime.store.past.results import find_results
from evalc.runtime.store.past.runs import LATEST

_GOOD = frozenset({"passed", "unverified", "expected-failure"})


class Verdict(NamedTuple):
    """How a case ended in a run, or several that are rows of one."""

    run_id: str
    cases: tuple[CaseResult, ...]

    @property
    def line(self) -> str:
        """In a few words: `passed, score 0.83`, `3 of 4 passed`."""
        scores = [case.score for case in self.cases if case.score is not None]
        score = f", score {sum(scores) / len(scores):.2f}" if scores else ""
        if len(self.cases) == 1:
            return f"{self.cases[0].status}{score}"
        return f"{sum(case.status in _GOOD for case in self.cases)} of {len(self.cases)} passed{score}"


@final
class Results:
    """The newest runs of projects, each read once."""

    def __init__(self) -> None:
        self._runs: dict[Path, tuple[str, dict[str, list[CaseResult]]]] = {}

    def verdict(self, settings: Settings, suite: SuiteTree, case: CaseTree) -> Verdict | None:
        """How a case ended in the newest run; None where it was not in it."""
        run_id, cases = self._newest(settings)
        found = cases.get(id_of(suite, case))
        return None if found is None else Verdict(run_id, tuple(found))

    def _newest(self, settings: Settings) -> tuple[str, dict[str, list[CaseResult]]]:
        folder = settings.results_folder
        try:
            past = find_results(LATEST, folder)
        except (EvalcError, OSError):
            return "", {}
        known = self._runs.get(folder)
        if known is None or known[0] != past.name:
            cases: dict[str, list[CaseResult]] = {}
            try:
                for suite in load_run(past)[0].suites:
                    for case in suite.cases:
                        cases.setdefault(case.id.partition("@")[0], []).append(case)
                        if "@" in case.id:
                            cases.setdefault(case.id, []).append(case)
            except (EvalcError, OSError):
                cases = {}
            known = self._runs[folder] = (past.name, cases)
        return known


def id_of(suite: SuiteTree, case: CaseTree) -> str:
    """The id of a case, without what its rows and variants add."""
    return case.id.value if case.id is not None else f"{suite_name(suite, Diagnostics())}/{case.name.value}"


def as_markdown(verdict: Verdict) -> str:
    """A verdict with what was said and what was checked, to be read."""
    return "\n".join(line for case in verdict.cases for line in _case(verdict.run_id, case))


def _case(run_id: str, case: CaseResult) -> Iterator[str]:
    score = "" if case.score is None else f", score {case.score:.2f}"
    yield f"# {case.id}: {case.status}{score}"
    yield ""
    yield f"Run {run_id}, {case.duration_ms:.0f} ms"
    if isinstance(case.error, str):
        yield from ("", *_quoted(case.error))
    details = case.details
    for title, text in (("Message", details.message), ("Response", details.response)):
        if isinstance(text, str):
            yield from ("", f"## {title}", "", *_quoted(text))
    if details.tool_calls:
        calls = json.dumps(list(details.tool_calls), indent=2, ensure_ascii=False, default=repr)
        yield from ("", "## Tool calls", "", *_quoted(calls))
    if case.assertions:
        yield from ("", "## Checks", "")
        for assertion in case.assertions:
            yield f"- {assertion.outcome}: {assertion.at} {assertion.message or ''}".rstrip()
    yield ""


def _quoted(text: str) -> Iterator[str]:
    """A text as an indented block, in which nothing is Markdown."""
    return (f"    {line}" for line in text.splitlines())
