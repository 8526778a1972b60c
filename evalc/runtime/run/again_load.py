"""Loads past runs from their result files as they were reported, and compares two of them.

Cases are read one at a time. A file of any other layout is read as a whole, which takes memory with the number of its
cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar, final

import msgspec
from msgspec.structs import replace

from evalc.base import Anew
from evalc.base.errors import UsageError
from evalc.base.files import open_regular
from evalc.compare.suites import compare_runs
from evalc.model.json import UNREADABLE
from evalc.model.reports import ComparedSuite
from evalc.model.result import CaseResult, RunComparison, RunSummary, SkippedCase, SuiteResult
from evalc.model.suite import SuiteKey, key_of
from evalc.runtime.run.finish import summarize_run
from evalc.runtime.store.journal import Header
from evalc.runtime.store.runs import (
    PastResults,
    each_result,
    find_results,
    header_beside,
    no_result,
    places_in,
    read_result,
    read_results,
    results_before,
)
from evalc.runtime.store.scope import Place, Scope, selects_cases

_LISTS: Final = (b'  "cases": [', b'  "skipped": [')
_ITEM: Final = b"    {"
_ITEM_ENDS: Final = (b"    }", b"    },")
_LIST_ENDS: Final = (b"  ]", b"  ],")


@final
class LoadedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """A suite of a past run: `result` is everything in the file but its cases, run and skipped, which are read anew."""

    result: SuiteResult
    cases: Iterable[CaseResult]
    skipped: Iterable[SkippedCase]


def read_suite(file: Path) -> LoadedSuite:
    """The suite of a result file.

    Raises:
        UsageError: it cannot be read, is too large, or is not a result.
    """
    result = _totals(file)
    if result is not None:
        return LoadedSuite(
            result=result,
            cases=Anew(_streamed, file, _LISTS[0], CaseResult),
            skipped=Anew(_streamed, file, _LISTS[1], SkippedCase),
        )
    whole = read_result(file, SuiteResult)
    rest = msgspec.structs.replace(whole, cases=(), skipped=())
    return LoadedSuite(result=rest, cases=whole.cases, skipped=whole.skipped)


def _totals(file: Path) -> SuiteResult | None:
    """The result without its cases; None if the file is not laid out as evalc does, or is not a result."""
    kept: list[bytes] = []
    inside = False
    cases = 0
    try:
        with open_regular(file) as lines:
            for line in lines:
                bare = line.rstrip(b"\r\n")
                cases += inside and bare == _ITEM
                if not inside or bare in _LIST_ENDS:
                    kept.append(bare)
                    inside = bare in _LISTS
        result = msgspec.json.decode(b"\n".join(kept), type=SuiteResult)
    except (OSError, ValueError, msgspec.DecodeError, RecursionError):
        return None
    # Of another layout, cases are in what is kept, or there are fewer items than the summary says.
    summary = result.summary
    return result if not result.cases and cases == summary.total_cases + summary.skipped else None


Item = TypeVar("Item", bound=msgspec.Struct)


def _streamed(file: Path, opening: bytes, kind: type[Item]) -> Iterator[Item]:
    """The items of a list of a result file, each decoded when it is its turn.

    Raises:
        UsageError: it is not such an item.
    """
    decoder = msgspec.json.Decoder(kind)
    with open_regular(file) as lines:
        for line in lines:
            if line.rstrip(b"\r\n") == opening:
                break
        item: list[bytes] = []
        for line in lines:
            bare = line.rstrip(b"\r\n")
            if bare in _LIST_ENDS:
                return
            item.append(bare)
            if bare in _ITEM_ENDS:
                item[-1] = _ITEM_ENDS[0]
                try:
                    decoded = decoder.decode(b"\n".join(item))
                except UNREADABLE as error:
                    raise no_result(file, error) from error
                yield decoded
                item.clear()


@final
class LoadedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A past run; of its suites the cases are read when they are asked for."""

    run_id: str
    suites: tuple[LoadedSuite, ...]
    summary: RunSummary


def load_run(past: PastResults) -> tuple[LoadedRun, tuple[str, ...]]:
    """The run, and a warning for each file that is not a result of this version.

    Raises:
        UsageError: no file is one.
    """
    warnings: list[str] = []
    place = _place_in(past.folder)
    suites = sorted(each_result(past, read_suite, warnings), key=lambda suite: place(suite.result))
    results = [suite.result for suite in suites]
    return LoadedRun(run_id=results[0].run_id, suites=tuple(suites), summary=summarize_run(results)), tuple(warnings)


def _place_in(folder: Path) -> Callable[[SuiteResult], int]:
    """The position of a suite in the run, as its journal says; without a journal, the order of the files."""
    header = header_beside(folder)
    order = [(key_of(suite), suite.agent) for suite in header.suites] if header else []
    several = bool(header and header.agents)
    places = {key: place for place, key in enumerate(order)}
    return lambda suite: places.get((key_of(suite), suite.agent_endpoint if several else None), len(places))


def compare_past(before: str | None, after: str, output_dir: Path) -> RunComparison:
    """Compare two runs, each named as `find_results` knows it; None is the run before the later one."""
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
