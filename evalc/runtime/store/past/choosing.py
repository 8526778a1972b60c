"""Reads what choosing cases needs of an earlier run: which did not pass, how long each took."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from evalc.errors import UsageError
from evalc.runtime.store.journaled import FILE_NAME, read_header
from evalc.runtime.store.past.results import find_results, read_result
from evalc.runtime.store.past.runs import has_results


class _Case(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    passed: bool
    duration_ms: float = 0.0


class _Result(msgspec.Struct, frozen=True, rename="camel"):
    """What is needed of an EvalSuiteResult."""

    tool_name: str
    tier: str
    cases: tuple[_Case, ...]


def failures_of(name: str, output_dir: Path) -> Mapping[tuple[str, str], frozenset[str]]:
    """By tool and tier, the ids that failed or ended in error in the run: its id, `latest`, its folder or a result.

    In a run of several agents these are the ids that did so with any of them.

    Raises:
        UsageError: there is no such run, or its results cannot be read.
    """
    failed: dict[tuple[str, str], frozenset[str]] = {}
    for file in find_results(name, output_dir).files:
        result = read_result(file, _Result)
        suite = result.tool_name, result.tier
        ids = frozenset(case.id for case in result.cases if not case.passed)
        failed[suite] = failed.get(suite, frozenset()) | ids
    return failed


def durations_of(name: str, output_dir: Path) -> Mapping[tuple[str, str], Mapping[str, float]]:
    """By tool and tier, the milliseconds that each case of the run took; in a run of several agents, of all together.

    Raises:
        UsageError: there is no such run, or its results cannot be read.
    """
    durations: dict[tuple[str, str], dict[str, float]] = {}
    for file in find_results(name, output_dir).files:
        result = read_result(file, _Result)
        of_suite = durations.setdefault((result.tool_name, result.tier), {})
        for case in result.cases:
            of_suite[case.id] = of_suite.get(case.id, 0.0) + case.duration_ms
    return durations


def is_no_shard(folder: Path) -> bool:
    """Whether a folder has the results of a run that was no shard of another."""
    if not has_results(folder):
        return False
    try:
        header = read_header(folder / FILE_NAME)
    except UsageError:
        return True
    wanted = {} if header is None else header.flags.get("wanted")
    return not (isinstance(wanted, dict) and wanted.get("shard"))
