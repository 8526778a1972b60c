"""What a report is made of: a run whose cases are read one at a time, as often as there are reports to write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from evalc.model.result import GateResult, RunSummary, SuiteResult
from evalc.model.suite import Selected
from evalc.report.html import ReportedSuite


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A run as reports show it.

    Attributes:
        run_id: the id that its suites share.
        folder: where its result files are, as the reader is to be told.
        suites: their totals, and cases that can be iterated several times.
        summary: the totals of all suites.
        root: the folder that the places in results are relative to.
        gates: the verdicts on the gates of the run as a whole.
        below: the suites whose score does not meet their threshold, in words.
        selected: which of all cases were chosen; None where it was all of them.
        warnings: those that belong to no suite.
        redact: strikes secrets out of what is quoted from eval files; results have none any more.
    """

    run_id: str
    folder: str
    suites: tuple[ReportedSuite, ...]
    summary: RunSummary
    root: Path
    gates: tuple[GateResult, ...] = ()
    below: tuple[str, ...] = ()
    selected: Selected | None = None
    warnings: tuple[str, ...] = ()
    redact: Callable[[str], str] = str

    def name_of(self, suite: SuiteResult) -> str:
        """`TOOL.TIER`, and the agent behind it where the run has several, so that each suite has a name of its own."""
        name = f"{suite.tool_name}.{suite.tier}"
        several = any(other.result.agent_endpoint != suite.agent_endpoint for other in self.suites)
        return f"{name} ({suite.agent_endpoint})" if several else name
