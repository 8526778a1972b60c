"""The SARIF 2.1.0 report: a result for each reason why a case did not pass, at its source line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from evalc import __version__
from evalc.base.annotations import SCHEMA, artifact_location, message_text
from evalc.base.terminal import visible
from evalc.model.result import PASSING, CaseResult
from evalc.report.reported import ReportedRun
from evalc.report.words import Reason, missing_lines, reasons

_RULES: Final = {
    "failed": "The case failed: a check does not hold, or no answer came in time",
    "error": "The case ended in an error: the agent, a judge or a check broke",
    "unexpected-pass": "The case passed, though its failure is expected",
}
_MOST_REASONS: Final = 20


def render(run: ReportedRun) -> Iterator[bytes]:
    """The log, in ASCII, a case at a time: its main reason, then the others, each a result."""
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": "error"}}
        for name, text in _RULES.items()
    ]
    driver = {"name": "evalc", "version": __version__, "rules": rules}
    frame = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", **_warnings(run), "results": []}
    head, key, tail = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [frame]}).partition('"results": [')
    yield (head + key).encode()
    separator = "\n"
    for suite in run.suites:
        for case in suite.cases:
            for reason in () if case.status in PASSING else _reasons(case):
                yield f"{separator}{json.dumps(_result(case, reason, run.name_of(suite.result)))}".encode()
                separator = ",\n"
    yield f"\n{tail}\n".encode()


def _warnings(run: ReportedRun) -> dict[str, Any]:
    """Cases missing since the baseline, and warnings of the suites and the run, as notifications of the tool."""
    texts = (*missing_lines(run), *run.all_warnings())
    notes = [{"level": "warning", "message": {"text": message_text(visible(text))}} for text in texts]
    return {"invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}]} if notes else {}


def _reasons(case: CaseResult) -> Sequence[Reason]:
    """The reasons, at least one: a result of another runner may have none."""
    return tuple(islice(reasons(case), _MOST_REASONS)) or (Reason(case.status, case.place or None),)


def _result(case: CaseResult, reason: Reason, suite: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": case.status,
        "ruleIndex": list(_RULES).index(case.status),
        "level": "error",
        "message": {"text": message_text(f"{visible(case.id)}: {reason.in_short()}")},
        "partialFingerprints": {"check/v1": _fingerprint(case, reason, suite)},
    }
    place = reason.place
    if place is not None:
        region = {"startLine": place.line, "startColumn": place.column}
        physical = {"artifactLocation": artifact_location(place.file), "region": region}
        result["locations"] = [{"physicalLocation": physical}]
    return result


def _fingerprint(case: CaseResult, reason: Reason, suite: str) -> str:
    """The same for the same check of a case, wherever it is in its file and whatever the agent said."""
    name = f"{suite}\n{case.id}\n{reason.at or ''}"
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
