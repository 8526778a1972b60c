"""From a run to the annotations that GitHub Actions shows beside the lines that failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evalc.model.result import PASSING, CaseResult
from evalc.project import below_working_folder
from evalc.report.case_words import Reason, main_reason
from evalc.report.reported import ReportedRun
from evalc.workflow_command import annotation


def render(run: ReportedRun) -> Iterator[bytes]:
    """A command a case that did not pass, at the line that says why; GitHub shows the first ten of a step."""
    for suite in run.suites:
        for case in suite.cases:
            reason = main_reason(case)
            if reason is not None and case.status not in PASSING:
                yield f"{_command(case, reason)}\n".encode(errors="backslashreplace")


def _command(case: CaseResult, reason: Reason) -> str:
    properties = {"title": f"{case.id}: {case.status}"}
    if reason.place is not None:
        place = reason.place
        file = below_working_folder(Path(place.file)).as_posix()
        properties = {"file": file, "line": str(place.line), "col": str(place.column), **properties}
    return annotation("error", properties, [reason.in_short()])
