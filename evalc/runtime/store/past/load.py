"""From the result files of a past run to the run as it was reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evalc.errors import UsageError
from evalc.model.result import RunResult, SuiteResult
from evalc.runtime.run.finished import summarize_run
from evalc.runtime.store.journaled import FILE_NAME, read_header
from evalc.runtime.store.past.results import PastResults, read_results


def load_run(past: PastResults) -> tuple[RunResult, tuple[str, ...]]:
    """The run with all its cases in memory, and a warning for each file that is no result of this version's runs.

    Raises:
        UsageError: no file is one.
    """
    warnings: list[str] = []
    suites = sorted(read_results(past, SuiteResult, warnings), key=_place_in(past.folder))
    run = RunResult(run_id=suites[0].run_id, suites=tuple(suites), summary=summarize_run(suites))
    return run, tuple(warnings)


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
