"""Writes the HTML page piece by piece: style, data and scripts in one file."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Final, final

import msgspec

from evalc.base.terminal import counted
from evalc.model.result import SuiteResult
from evalc.model.suite import Place, key_of
from evalc.report.html.records import CaseRecord, case_records, coverage_record, in_html, strength_record, trend_record
from evalc.report.reported import ReportedRun, ReportedSuite, quoted, read_authored, seconds_of
from evalc.report.words import failures_allowed, missing_lines, not_met

_AROUND: Final = 1


class Excerpt(msgspec.Struct, frozen=True):
    """Lines of a file by their numbers; whether the file is newer than the run, and may have said something else."""

    changed: bool
    lines: dict[int, str]


@final
class Sources:
    """Collects places, and reads the files below `root` when all are known; which may be read, `read_authored` says."""

    def __init__(self, root: Path, redact: Callable[[str], str]) -> None:
        self._root = root.resolve()
        self._redact = redact
        self._numbers: dict[str, set[int]] = defaultdict(set)
        self._earliest: dict[str, str] = {}

    def want(self, place: Place, timestamp: str) -> None:
        """Ask for the line of the place and those around it; `timestamp` is when the run began, in ISO 8601."""
        self._numbers[place.file].update(range(max(place.line - _AROUND, 1), place.line + _AROUND + 1))
        self._earliest[place.file] = min(timestamp, self._earliest.get(place.file, timestamp))

    def excerpts(self) -> dict[str, Excerpt]:
        """The excerpts of the files; files that cannot be read are left out."""
        read = ((name, self._excerpt(name, numbers)) for name, numbers in sorted(self._numbers.items()))
        return {name: excerpt for name, excerpt in read if excerpt is not None}

    def _excerpt(self, name: str, numbers: set[int]) -> Excerpt | None:
        authored = read_authored(self._root, name)
        if authored is None:
            return None
        there = [number for number in sorted(numbers) if number <= len(authored.lines)]
        return Excerpt(
            changed=authored.written > seconds_of(self._earliest[name]),
            lines={number: quoted(authored.lines[number - 1], self._redact) for number in there},
        )


SCRIPTS: Final = (
    "texts.js",
    "data.js",
    "charts.js",
    "summary.js",
    "agents.js",
    "history.js",
    "strength.js",
    "filter.js",
    "list.js",
    "differences.js",
    "details.js",
    "print.js",
    "main.js",
)
"""The page's scripts in the order in which they are joined: each uses only what precedes it."""

_CASES_A_BLOCK: Final = 200


def render(run: ReportedRun) -> Iterator[bytes]:
    """The page, in pieces. It works from a `file://` URL and asks for nothing; cases are read while it is written."""
    style, script = _asset("report.css"), "\n".join(map(_asset, SCRIPTS))
    before, _, after = _asset("report.html").partition("<!-- data -->\n")
    filled = before.replace("{{script hash}}", _hash(script)).replace("{{style hash}}", _hash(style))
    yield filled.replace("{{style}}", style).replace("{{in short}}", escape(_in_short(run.suites))).encode()
    totals = {
        "suites": [_without_cases(suite.result) for suite in run.suites],
        "gates": tuple(not_met(run)),
        "warnings": (*_failures_allowed(run), *missing_lines(run), *run.warnings),
        "history": tuple(map(trend_record, run.trends)),
        "strength": None if run.strength is None else strength_record(run.strength, run.redact),
        "coverage": None if run.coverage is None else coverage_record(run.coverage, run.redact),
    }
    yield _block("run", in_html(totals))
    sources = Sources(run.root, run.redact)
    for index, suite in enumerate(run.suites):
        records = _noting(case_records(index, suite), sources, suite.result.timestamp)
        while block := list(islice(records, _CASES_A_BLOCK)):
            yield _block("cases", in_html(block))
    yield _block("sources", in_html(sources.excerpts()))
    yield after.replace("{{script}}", script).encode()


def _without_cases(result: SuiteResult) -> SuiteResult:
    """The totals of a suite, which the page calls by its name."""
    return msgspec.structs.replace(result, suite=key_of(result).name, cases=(), skipped=())


def _failures_allowed(run: ReportedRun) -> Iterator[str]:
    """The notes that gates are met though cases failed."""
    for result in run.results:
        if (note := failures_allowed(result)) is not None:
            yield f"{run.title_of(result)}: {note}"
    if (note := failures_allowed(run)) is not None:
        yield note


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
    """The summary for readers without scripts."""
    summaries = [suite.result.summary for suite in suites]
    passed, total = (sum(summary.passed for summary in summaries), sum(summary.total_cases for summary in summaries))
    return f"{passed} of {counted(total, 'case')} passed"


@cache
def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The source expression by which the page's policy allows exactly this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
