"""Annotates the lines that failed in GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, starmap
from pathlib import Path
from typing import Final

from evalc.base.annotations import annotation
from evalc.base.files import below_working_folder
from evalc.base.terminal import counted
from evalc.model.result import PASSING, CaseResult
from evalc.report.reported import ReportedRun
from evalc.report.words import Reason, missing_lines, not_met, reasons

_MOST_SHOWN: Final = 10
"""The errors that GitHub shows of a step, and the warnings, the first of each; the log has all errors."""

_MOST_REASONS: Final = 20


def render(run: ReportedRun) -> Iterator[bytes]:
    """A command for each gate that is not met and each reason why a case did not pass, at the line of its check.

    The main reasons of all cases come before the others, so that the ten that GitHub shows are about as many cases as
    they can; a notice says how many it does not show. The first ten warnings of the suites and the run follow.
    """
    gates = (annotation("error", {"title": "evalc"}, [words]) for words in not_met(run))
    fails = any(
        gate.missing and not gate.passed
        for gate in chain(run.gates, *(suite.result.gates or () for suite in run.suites))
    )
    missing = (annotation("error" if fails else "warning", {"title": "evalc"}, [words]) for words in missing_lines(run))
    count = 0
    for command in chain(gates, missing, starmap(_command, chain(_mains(run), _others(run)))):
        count += 1
        yield _written(command)
    if count > _MOST_SHOWN:
        left_out = f"{counted(count - _MOST_SHOWN, 'more error')}: GitHub shows the first {_MOST_SHOWN}"
        yield _written(annotation("notice", {"title": "evalc"}, [f"{left_out}, the log has all"]))
    for warning in islice(run.all_warnings(), _MOST_SHOWN):
        yield _written(annotation("warning", {"title": "evalc"}, [warning]))


def _mains(run: ReportedRun) -> Iterator[tuple[CaseResult, Reason]]:
    return ((case, reason) for case in _not_passed(run) for reason in islice(reasons(case), 1))


def _others(run: ReportedRun) -> Iterator[tuple[CaseResult, Reason]]:
    return ((case, reason) for case in _not_passed(run) for reason in islice(reasons(case), 1, _MOST_REASONS))


def _not_passed(run: ReportedRun) -> Iterator[CaseResult]:
    return (case for suite in run.suites for case in suite.cases if case.status not in PASSING)


def _written(command: str) -> bytes:
    return f"{command}\n".encode(errors="backslashreplace")


def _command(case: CaseResult, reason: Reason) -> str:
    properties = {"title": f"{case.id}: {case.status}"}
    if reason.place is not None:
        place = reason.place
        file = below_working_folder(Path(place.file)).as_posix()
        properties = {"file": file, "line": str(place.line), "col": str(place.column), **properties}
    return annotation("error", properties, [reason.in_short()])
