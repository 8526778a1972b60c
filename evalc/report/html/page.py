"""From suites and their cases to the bytes of the report, a piece at a time: style, data and scripts in one file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec import UNSET

from evalc.report.gates import gate_line
from evalc.report.html.records import CaseRecord, case_records, in_html
from evalc.report.html.reported import ReportedSuite
from evalc.report.html.sources import Sources

SCRIPTS: Final = (
    "texts.js",
    "data.js",
    "charts.js",
    "summary.js",
    "filter.js",
    "list.js",
    "differences.js",
    "details.js",
    "print.js",
    "main.js",
)
"""The page's scripts in the order in which they are one: each names only what stands before it."""

_CASES_A_BLOCK: Final = 200


def render(
    suites: Sequence[ReportedSuite],
    *,
    root: Path,
    gates: Sequence[str] = (),
    warnings: Sequence[str] = (),
    redact: Callable[[str], str] = str,
) -> Iterator[bytes]:
    """The report, in pieces. It works from a `file://` URL and asks for nothing.

    Args:
        suites: the suites of one run, or of several that are to stand side by side.
        root: the folder that the places in results are relative to; only eval files within it are quoted.
        gates: the gates that were not met, in words, where the suites do not say.
        warnings: those that belong to no suite.
        redact: strikes secrets out of the lines that are quoted from eval files; results have none any more.
    """
    style, script = _asset("report.css"), "\n".join(map(_asset, SCRIPTS))
    before, _, after = _asset("report.html").partition("<!-- data -->\n")
    filled = before.replace("{{script hash}}", _hash(script)).replace("{{style hash}}", _hash(style))
    yield filled.replace("{{style}}", style).replace("{{in short}}", escape(_in_short(suites))).encode()
    run = {
        "suites": [msgspec.structs.replace(suite.result, cases=(), skipped=()) for suite in suites],
        "gates": [*_gates_not_met(suites), *gates],
        "warnings": warnings,
    }
    yield _block("run", in_html(run))
    sources = Sources(root, redact)
    for index, suite in enumerate(suites):
        records = _noting(case_records(index, suite), sources, suite.result.timestamp)
        while block := list(islice(records, _CASES_A_BLOCK)):
            yield _block("cases", in_html(block))
    yield _block("sources", in_html(sources.excerpts()))
    yield after.replace("{{script}}", script).encode()


def _gates_not_met(suites: Iterable[ReportedSuite]) -> Iterator[str]:
    for result in [suite.result for suite in suites]:
        for gate in () if result.gates is UNSET else result.gates:
            if not gate.passed:
                yield f"{result.tool_name} ({result.tier}): {gate_line(gate)}"


def _noting(records: Iterable[CaseRecord], sources: Sources, timestamp: str) -> Iterator[CaseRecord]:
    """The records; on the way, the places whose lines the page shows are asked for."""
    for record in records:
        for assertion in record.assertions:
            if assertion.place is not None:
                sources.want(assertion.place, timestamp)
        yield record


def _block(holds: str, data: bytes) -> bytes:
    return b'<script type="application/json" data-holds="%b">%b</script>\n' % (holds.encode(), data)


def _in_short(suites: Sequence[ReportedSuite]) -> str:
    """What is known without a script."""
    summaries = [suite.result.summary for suite in suites]
    passed, total = (sum(summary.passed for summary in summaries), sum(summary.total_cases for summary in summaries))
    return f"{passed} of {total} cases passed"


@cache
def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The source expression by which the page's policy allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
