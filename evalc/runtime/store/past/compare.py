"""Compares two past runs, or one with the run before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from evalc.base.errors import UsageError
from evalc.compare.past import ComparedSuite
from evalc.compare.suites import compare_runs
from evalc.model.result import RunComparison
from evalc.model.suite import SuiteKey
from evalc.runtime.run.scope import Place, Scope, selects_cases
from evalc.runtime.store.journaled import Header
from evalc.runtime.store.past.results import (
    PastResults,
    find_results,
    header_beside,
    places_in,
    read_results,
    results_before,
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
    header = None if later.is_part else header_beside(later.folder)
    looked_at = _looked_at(header, header_beside(earlier.folder))
    comparison = compare_runs(old, new, names=(earlier.name, later.name), looked_at=looked_at)
    if header is not None and selects_cases(header.flags):
        comparison = replace(comparison, missing=())
    if not comparison.suites:
        if comparison.warnings:
            raise UsageError(f"the runs have no suite in common that is sure: {'; '.join(comparison.warnings)}")
        there = ", ".join(comparison.only_before), ", ".join(comparison.only_after)
        named = before or earlier.name
        raise UsageError(f"the runs have no suite in common: `{named}` has {there[0]}, `{after}` has {there[1]}")
    return replace(comparison, warnings=(*warnings, *comparison.warnings))


def _looked_at(later: Header | None, earlier: Header | None) -> Callable[[SuiteKey], bool]:
    """Whether a run looked where an earlier one had a suite."""
    scope = None if later is None else Scope.of(later.flags)
    places = places_in(earlier)
    return lambda key: scope is not None and scope.has(places.get(key, Place()), key.tier)


def _real(results: PastResults) -> set[Path]:
    return {file.resolve() for file in results.files}
