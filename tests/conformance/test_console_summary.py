"""The console summary of a given result. Where its columns stand and how long its rules are is the runner's affair."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from evalc.base.terminal import Screen
from evalc.model.result import SuiteResult
from evalc.report import ReportedSuite
from evalc.report.console import suite_lines
from tests.conformance.documents import Entry, with_key
from tests.report.runs import NOWHERE

_OWN: dict[str, Any] = {"stale": False}
_OWN_OF_SUMMARY: dict[str, Any] = {"errors": 0, "unverified": 0, "score": None, "scoredWeight": None}


@with_key("result")
def test_the_summary(entry: Entry) -> None:
    lines = suite_lines(ReportedSuite.of(_result(entry["result"])), Screen(), NOWHERE)
    assert [_in_one_form(line) for line in lines] == entry["text"]


def _result(contracts: dict[str, Any]) -> SuiteResult:
    """The result, with evalc's own keys as they are when there is nothing to say."""
    cases = [{**case, "status": "passed" if case["passed"] else "failed", "score": None} for case in contracts["cases"]]
    summary = contracts["summary"] | _OWN_OF_SUMMARY
    return msgspec.convert(contracts | _OWN | {"cases": cases, "summary": summary}, SuiteResult)


def _in_one_form(line: str) -> str:
    """Columns two spaces apart, rules three characters long."""
    indented = len(line) - len(line.lstrip())
    columns = re.sub(" {2,}", "  ", line[indented:].rstrip())
    return " " * indented + re.sub("([═─])\\1+", r"\1\1\1", columns)
