"""The results of the newest runs, case by case, and the commands above each case that run it or show what happened."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, final

from lsprotocol import types as lsp

from evalc.base.errors import EvalcError
from evalc.compiler.compiled import file_name
from evalc.config.settings import Settings
from evalc.dsl.build_case import CaseTree
from evalc.dsl.build_suite import SuiteTree
from evalc.extras.lsp.document import Document
from evalc.extras.lsp.workspace import Workspace
from evalc.model.result import CaseResult
from evalc.runtime.run.again_load import read_suite
from evalc.runtime.store.runs import age, has_results, result_files, run_folders
from evalc.setup.choice import id_in_pattern

_MOST_RUNS: Final = 5
_LARGEST: Final = 64_000_000


class Ended(NamedTuple):
    """How a case ended: where the run keeps the result, the case's tier, and its result."""

    run_id: str
    tier: str
    case: CaseResult


class CaseVerdict(NamedTuple):
    """How a case ended in a run, or several that are rows of one, or were put to several agents."""

    ended: tuple[Ended, ...]

    @property
    def line(self) -> str:
        """In a few words: `passed, score 0.83`, `3 of 4 passed`."""
        cases = [each.case for each in self.ended]
        scores = [case.score for case in cases if case.score is not None]
        score = f", score {sum(scores) / len(scores):.2f}" if scores else ""
        if len(cases) == 1:
            return f"{cases[0].status}{score}"
        return f"{sum(case.passed for case in cases)} of {len(cases)} passed{score}"


@final
class LatestResults:
    """How cases ended in the newest runs, which are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, str, str], tuple[list[Path], list[list[Ended]]]] = {}

    def verdicts(self, settings: Settings, suite: SuiteTree, name: str) -> Mapping[str, CaseVerdict]:
        """How the cases of a suite of this name ended in the last few runs, by id; of each, the newest that it was in.

        The ids are without what rows and variants add. Results that do not name their suite are filed under its tool.
        """
        folder, tool = settings.results_folder, name if suite.tool is None else suite.tool.value
        runs = sorted(run_folders(folder, has_results), key=age)[-_MOST_RUNS:]
        known = self._known.get((folder, name, tool))
        if known is None or known[0] != runs:
            known = self._known[folder, name, tool] = (runs, [[*_ended(run, name, tool)] for run in runs])
        tiers = {id_: _tier(suite, case) for case, id_ in ids_of(suite, name)}
        filled = {id_: re.compile(f"{_pattern_of(id_)}(@.*)?", re.DOTALL) for id_ in tiers if "{{" in id_}
        verdicts: dict[str, CaseVerdict] = {}
        for run in known[1]:
            by_case: dict[str, list[Ended]] = {}
            for each in run:
                id_ = _declared(each.case.id, tiers, filled)
                if tiers.get(id_) == each.tier:
                    by_case.setdefault(id_, []).append(each)
            verdicts |= {id_: CaseVerdict(tuple(ended)) for id_, ended in by_case.items()}
        return verdicts


def _tier(suite: SuiteTree, case: CaseTree) -> str:
    return next((str(tier.value) for tier in (case.tier, suite.tier) if tier is not None), "labeled")


def _declared(id_: str, declared: Container[str], filled: Mapping[str, re.Pattern[str]]) -> str:
    """The id that a file declares, without what rows and variants add to it; the shortest where it declares none.

    `filled` are the patterns of the declared ids that rows fill.
    """
    found = next((each for each, pattern in filled.items() if pattern.fullmatch(id_)), None)
    while found is None and id_ not in declared and "@" in id_:
        id_ = id_.rpartition("@")[0]
    return found or id_


def _pattern_of(id_: str) -> str:
    """The pattern of an id, in which the templates that rows fill may be any text."""
    return ".*".join(map(id_in_pattern, re.split(r"\{\{.*?\}\}", id_)))


def _ended(run: Path, name: str, tool: str) -> Iterator[Ended]:
    """How the cases of a suite ended with each agent of a run, as far as files can be read and are not very large."""
    beginnings = tuple(file_name(called, "").removesuffix(".json") for called in (name, tool))
    for file in result_files(run):
        try:
            if file.name.startswith(beginnings) and file.stat().st_size <= _LARGEST:
                suite = read_suite(file)
                if (suite.result.suite or name) == name:
                    run_id = file.parent.relative_to(run.parent).as_posix()
                    yield from (Ended(run_id, suite.result.tier, case) for case in suite.cases)
        except (EvalcError, OSError):
            continue


def ids_of(suite: SuiteTree, name: str) -> list[tuple[CaseTree, str]]:
    """The cases of a suite with their ids, without what rows and variants add; `name` is the suite's."""
    return [(each, f"{name}/{each.name.value}" if each.id is None else each.id.value) for each in suite.cases]


def as_markdown(verdict: CaseVerdict) -> str:
    """A verdict with what was said and what was checked, to be read."""
    return "\n".join(line for each in verdict.ended for line in _case(each.run_id, each.case))


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


RUN: Final = "evalc.run"
SHOW: Final = "evalc.show"


def lenses(workspace: Workspace, results: LatestResults, document: Document) -> Iterator[lsp.CodeLens]:
    """The lenses of a document: for each suite `run all`, for each case its verdict, `run` and `show`."""
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


def filter_of(id_: str, declared: Iterable[str]) -> str:
    """The `--filter` of `evalc run` that chooses a case by its id, with all of its rows and variants.

    Of the ids that its file declares, those that begin like a row of it are cases of their own.
    """
    others = "".join(f"(?!{id_in_pattern(each)}(@|$))" for each in declared if each.startswith(f"{id_}@"))
    return f"/^{others}{_pattern_of(id_)}(@.*)?$/"
