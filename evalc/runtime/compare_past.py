"""From the names of two runs to their comparison."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from evalc.compare.past import ComparedSuite
from evalc.compare.suites import compare_runs
from evalc.errors import UsageError
from evalc.model.comparison import RunComparison
from evalc.runtime.past_results import PastResults, find_results, read_results


def compare_past(before: str, after: str, output_dir: Path) -> RunComparison:
    """Compare two runs, each named as `find_results` knows it.

    Raises:
        UsageError: there is no such run, it has several agents, its results cannot be read, or the runs have no suite
            in common.
    """
    warnings: list[str] = []
    past = [find_results(name, output_dir) for name in (before, after)]
    for results in past:
        _refuse_several_agents(results)
    old, new = (tuple(read_results(results, ComparedSuite, warnings)) for results in past)
    comparison = compare_runs(old, new, names=(past[0].name, past[1].name))
    if not comparison.suites:
        there = ", ".join(comparison.only_before), ", ".join(comparison.only_after)
        raise UsageError(f"the runs have no suite in common: `{before}` has {there[0]}, `{after}` has {there[1]}")
    return replace(comparison, warnings=(*warnings, *comparison.warnings))


def _refuse_several_agents(results: PastResults) -> None:
    folders = sorted({file.parent for file in results.files} - {results.folder})
    if folders:
        named = " or ".join(f"`{folder}`" for folder in folders)
        raise UsageError(f"the run `{results.name}` has several agents: name the results of one, {named}")
