"""From the name of an earlier run to which of its cases did not pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from evalc.runtime.store.past.results import find_results, read_result


class _Case(msgspec.Struct, frozen=True):
    id: str
    passed: bool


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
