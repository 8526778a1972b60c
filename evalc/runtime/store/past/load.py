"""Loads past runs from their result files, and compares two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from msgspec.structs import replace

from evalc.compare.past import ComparedSuite
from evalc.compare.suites import compare_runs
from evalc.errors import UsageError
from evalc.model.comparison import RunComparison
from evalc.model.result import RunSummary, SuiteResult
from evalc.runtime.run.finished import summarize_run
from evalc.runtime.store.journaled import FILE_NAME, read_header
from evalc.runtime.store.past.results import PastResults, each_result, find_results, read_results, results_before
from evalc.runtime.store.past.streamed import LoadedSuite, read_suite


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
    """A past run; of its suites the cases are read when they are asked for."""

    run_id: str
    suites: tuple[LoadedSuite, ...]
    summary: RunSummary


def load_run(past: PastResults) -> tuple[LoadedRun, tuple[str, ...]]:
    """The run, and a warning for each file that is no result of this version's runs.

    Raises:
        UsageError: no file is one.
    """
    warnings: list[str] = []
    place = _place_in(past.folder)
    suites = sorted(each_result(past, read_suite, warnings), key=lambda suite: place(suite.result))
    results = [suite.result for suite in suites]
    return LoadedRun(run_id=results[0].run_id, suites=tuple(suites), summary=summarize_run(results)), tuple(warnings)


def _place_in(folder: Path) -> Callable[[SuiteResult], int]:
    """Where a suite stood in the run, as its journal says; where there is none, the order of the files stays."""
    try:
        header = read_header(folder / FILE_NAME)
    except UsageError:
        header = None
    order = [(suite.tool_name, suite.tier, suite.agent) for suite in header.suites] if header else []
    several = bool(header and header.agents)
    places = {key: place for place, key in enumerate(order)}
    return lambda suite: places.get(
        (suite.tool_name, suite.tier, suite.agent_endpoint if several else None), len(places)
    )


def compare_past(before: str | None, after: str, output_dir: Path) -> RunComparison:
    """Compare two runs, each named as `find_results` knows it; None is the run before the later one.

    Raises:
        UsageError: there is no such run, its results cannot be read, both are the same, or have no suite in common.
    """
    warnings: list[str] = []
    later = find_results(after, output_dir)
    earlier = results_before(later, output_dir) if before is None else find_results(before, output_dir)
    if _real(earlier) & _real(later):
        raise UsageError(f"`{before}` and `{after}` are the same run: there is nothing to compare")
    old, new = (tuple(read_results(results, ComparedSuite, warnings)) for results in (earlier, later))
    comparison = compare_runs(old, new, names=(earlier.name, later.name))
    if not comparison.suites:
        there = ", ".join(comparison.only_before), ", ".join(comparison.only_after)
        named = before or earlier.name
        raise UsageError(f"the runs have no suite in common: `{named}` has {there[0]}, `{after}` has {there[1]}")
    return replace(comparison, warnings=(*warnings, *comparison.warnings))


def _real(results: PastResults) -> set[Path]:
    return {file.resolve() for file in results.files}
