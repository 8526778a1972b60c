"""Loads a past run from its result files, as it was reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from evalc.base.errors import UsageError
from evalc.model.result import RunSummary, SuiteResult
from evalc.model.suite import key_of
from evalc.runtime.run.finished import summarize_run
from evalc.runtime.store.journaled import FILE_NAME, read_header
from evalc.runtime.store.past.results import PastResults, each_result
from evalc.runtime.store.past.streamed import LoadedSuite, read_suite


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRun:
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
    try:
        header = read_header(folder / FILE_NAME)
    except UsageError:
        header = None
    order = [(key_of(suite), suite.agent) for suite in header.suites] if header else []
    several = bool(header and header.agents)
    places = {key: place for place, key in enumerate(order)}
    return lambda suite: places.get((key_of(suite), suite.agent_endpoint if several else None), len(places))
