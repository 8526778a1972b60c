"""Reads how the verdicts of suites varied over earlier runs, and over the attempts of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec

from evalc.base.errors import UsageError
from evalc.compare.noise import Noise, noise_of_attempts
from evalc.model.result import PASSING, Status
from evalc.model.suite import KnownSuites, SuiteKey
from evalc.runtime.store.past.results import read_result
from evalc.runtime.store.past.runs import age, has_results, result_files, run_folders

_MOST_RUNS: Final = 10
"""How many of the newest runs are looked at."""


class _Past(msgspec.Struct, frozen=True, rename="camel"):
    pass


class _Attempt(_Past, frozen=True):
    status: Status


class _Case(_Past, frozen=True):
    id: str
    passed: bool
    status: str | None = None
    case_hash: str | None = None
    attempts: tuple[_Attempt, ...] = ()
    not_attempted: int = 0


class PastVerdicts(_Past, frozen=True):
    """A suite of an earlier run, as far as its verdicts go."""

    tool_name: str
    tier: str
    cases: tuple[_Case, ...]
    suite: str | None = None
    agent_endpoint: str | None = None
    selected: Any = None
    stopped: str | None = None
    rescored_from: str | None = None

    def measured(self, *, single: bool) -> Mapping[str, _Case]:
        """The cases that did not end in error, by their ids: those with a single attempt, or those with several."""
        return {case.id: case for case in self.cases if case.status != "error" and single is not bool(case.attempts)}

    @property
    def is_fair(self) -> bool:
        """Whether its cases were not chosen by how they end, and its answers are of its own."""
        return not (self.selected or self.stopped or self.rescored_from)


def earlier_verdicts(output_dir: Path, known: KnownSuites) -> Mapping[SuiteKey, Sequence[PastVerdicts]]:
    """By suite, the suites of the newest runs that ran whole, the newest first."""
    newest = sorted(run_folders(output_dir, has_results), key=age, reverse=True)[:_MOST_RUNS]
    found: dict[SuiteKey, list[PastVerdicts]] = {}
    for file in (file for folder in newest for file in result_files(folder)):
        try:
            suite = read_result(file, PastVerdicts)
        except UsageError:  # a plan is good without it
            continue
        key = known.key_of(suite)
        if suite.is_fair and key is not None:
            found.setdefault(key, []).append(suite)
    return found


def of_attempts(suite: PastVerdicts) -> Noise | None:
    """The noise of the attempts at a suite's cases; None of too few, and where attempts were left out."""
    if any(case.not_attempted for case in suite.cases):
        return None
    measured = ([a.status in PASSING for a in case.attempts if a.status != "error"] for case in suite.cases)
    return noise_of_attempts((len(passed), sum(passed)) for passed in measured)


def pairs_of(runs: Sequence[PastVerdicts], *, single: bool) -> Iterator[tuple[bool, bool]]:
    """The verdicts of the same cases in two runs of an agent, one after the other; `single` are of one attempt."""
    for agent in dict.fromkeys(run.agent_endpoint for run in runs):
        of_agent = [run.measured(single=single) for run in runs if run.agent_endpoint == agent]
        for after, before in pairwise(of_agent):
            for name, case in after.items():
                then = before.get(name)
                if then is not None and then.case_hash == case.case_hash:
                    yield then.passed, case.passed
