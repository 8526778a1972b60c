"""The results of the newest runs, case by case, and the commands above each case that run it or show what happened."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, final

from lsprotocol import types as lsp

from evalc.base.errors import EvalcError
from evalc.compiler.compiled import file_name
from evalc.config.settings import Settings
from evalc.dsl.tree import CaseTree, SuiteTree
from evalc.extras.lsp.document import Document
from evalc.extras.lsp.workspace import Workspace
from evalc.model.result import CaseResult
from evalc.runtime.run.again_load import read_suite
from evalc.runtime.store.runs import age, has_results, run_folders
from evalc.setup.choice import id_in_pattern

_MOST_RUNS: Final = 5
_LARGEST: Final = 64_000_000


class CaseVerdict(NamedTuple):
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
        return f"{sum(case.passed for case in self.cases)} of {len(self.cases)} passed{score}"


@final
class LatestResults:
    """How cases ended in the newest runs, which are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str, str], tuple[list[Path], dict[str, CaseVerdict]]] = {}

    def verdicts(self, settings: Settings, suite: SuiteTree, name: str) -> Mapping[str, CaseVerdict]:
        """How the cases of a suite of this name ended in the last few runs, by id; of each, the newest that it was in.

        The ids are without what rows and variants add. Results that do not name their suite are filed under its tool.
        """
        folder, tool = settings.results_folder, name if suite.tool is None else suite.tool.value
        runs = sorted(run_folders(folder, has_results), key=age)[-_MOST_RUNS:]
        known = self._known.get((folder, name, tool))
        if known is None or known[0] != runs:
            verdicts: dict[str, CaseVerdict] = {}
            for run in runs:
                verdicts |= _verdicts(run, name, tool)
            known = self._known[folder, name, tool] = (runs, verdicts)
        return known[1]


def _verdicts(run: Path, name: str, tool: str) -> dict[str, CaseVerdict]:
    """Those of one run. A file that cannot be read, or is very large, has none."""
    cases: dict[str, list[CaseResult]] = {}
    for file in (file for called in dict.fromkeys((name, tool)) for file in run.glob(file_name(called, "*"))):
        try:
            suite = read_suite(file) if file.stat().st_size <= _LARGEST else None
            is_other = suite is None or (suite.result.suite or name) != name
            for case in () if suite is None or is_other else suite.cases:
                for id_ in dict.fromkeys((case.id, case.id.partition("@")[0])):
                    cases.setdefault(id_, []).append(case)
        except (EvalcError, OSError):
            continue
    return {id_: CaseVerdict(run.name, tuple(found)) for id_, found in cases.items()}


def ids_of(suite: SuiteTree, name: str) -> list[tuple[CaseTree, str]]:
    """The cases of a suite with their ids, without what rows and variants add; `name` is the suite's."""
    return [(each, f"{name}/{each.name.value}" if each.id is None else each.id.value) for each in suite.cases]


def as_markdown(verdict: CaseVerdict) -> str:
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


RUN = "evalc.run"
SHOW = "evalc.show"


def lenses(workspace: Workspace, results: LatestResults, document: Document) -> list[lsp.CodeLens]:
    """The lenses of a document: for each suite `run all`, for each case its verdict, `run` and `show`."""
    return [*_lenses(workspace, results, document)]


def _lenses(workspace: Workspace, results: LatestResults, document: Document) -> Iterator[lsp.CodeLens]:
    settings = workspace.settings(document.path)
    for suite in workspace.outline(document).suites:
        if suite.cases:
            yield _lens(document.range_of(suite.span), "run all", RUN, document.uri, "")
        name = workspace.name_of(document, suite)
        verdicts = results.verdicts(settings, suite, name)
        for case, id_ in ids_of(suite, name):
            range_ = document.range_of(case.name.span)
            verdict = verdicts.get(id_)
            if verdict is not None:
                yield _lens(range_, verdict.line, SHOW, document.uri, id_)
            yield _lens(range_, "run", RUN, document.uri, id_)


def _lens(range_: lsp.Range, title: str, command: str, uri: str, id_: str) -> lsp.CodeLens:
    return lsp.CodeLens(range=range_, command=lsp.Command(title=title, command=command, arguments=[uri, id_]))


def filter_of(id_: str) -> str:
    """The `--filter` of `evalc run` that chooses a case by its id, with all of its rows and variants."""
    return f"/^{id_in_pattern(id_)}(@.*)?$/"
