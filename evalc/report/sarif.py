"""From a run to SARIF 2.1.0: a result for each case that did not pass, at the line that says why."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from evalc import __version__
from evalc.model.result import PASSING, CaseResult
from evalc.report.case_words import reasons
from evalc.report.reported import ReportedRun
from evalc.sarif import SCHEMA, artifact_location, message_text
from evalc.terminal import visible

_RULES: Final = {
    "failed": "The case failed: a check does not hold, or no answer came in time",
    "error": "The case ended in an error: the agent, a judge or a check broke",
    "unexpected-pass": "The case passed, though its failure is expected",
}
_MOST_REASONS: Final = 20


def render(run: ReportedRun) -> Iterator[bytes]:
    """The log, in ASCII, a case at a time. What a case did not pass for is its first reason; others follow it."""
    driver = {"name": "evalc", "version": __version__, "rules": [_rule(name) for name in _RULES]}
    frame = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": []}
    head, key, tail = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [frame]}).partition('"results": [')
    yield (head + key).encode()
    separator = "\n"
    for suite in run.suites:
        for case in suite.cases:
            if case.status not in PASSING:
                yield f"{separator}{json.dumps(_result(case, run.name_of(suite.result)))}".encode()
                separator = ",\n"
    yield f"\n{tail}\n".encode()


def _rule(name: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": _RULES[name]}, "defaultConfiguration": {"level": "error"}}


def _result(case: CaseResult, suite: str) -> dict[str, Any]:
    told = list(islice(reasons(case), _MOST_REASONS))
    words = [reason.in_short() for reason in told] or [case.status]
    result: dict[str, Any] = {
        "ruleId": case.status,
        "ruleIndex": list(_RULES).index(case.status),
        "level": "error",
        "message": {"text": message_text("\n".join((f"{visible(case.id)}: {words[0]}", *words[1:])))},
        "partialFingerprints": {"case/v1": _fingerprint(case, suite)},
    }
    place = told[0].place if told else None
    if place is not None:
        region = {"startLine": place.line, "startColumn": place.column}
        physical = {"artifactLocation": artifact_location(place.file), "region": region}
        result["locations"] = [{"physicalLocation": physical}]
    return result


def _fingerprint(case: CaseResult, suite: str) -> str:
    """The same for the same case of a suite, wherever in its file it stands."""
    name = f"{suite}\n{case.id}"
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
