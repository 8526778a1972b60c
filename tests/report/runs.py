"""Runs for tests of the formats: one of every status, and agents that say what readers might obey."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from hypothesis import strategies as st

from evalc.model.result import AssertionResult, CaseResult, CriterionSummary, SkippedCase, SuiteResult
from evalc.model.suite import Place
from evalc.report import ReportedRun, ReportedSuite, SourceLines
from evalc.runtime.run.finish import summarize_run
from tests.report.results import case, suite

FILE: Final = "evals/weather.eval.yaml"
NOWHERE: Final = SourceLines(Path("nowhere"))
"""Lines of files that are not there."""

HOSTILE: Final = (
    "\x1b[31mred\x1b[0m \x07\x00\x08",
    "safe\u202egnp.exe \u2066\u200f",
    "half a pair \ud800 \udfff and \ufffe \uffff",
    "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)>",
    "::set-output name=x::y\n::error::gotcha\n  ::stop-commands::x\n##[add-mask]x",
    "a | b | `c` | ``` | ````` \n```\n# heading\n@octocat [x](http://x) www.x.org <b>",
    "=cmd|'/c calc'!A1",
    "+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\uff1d1+1",
    "]]> <![CDATA[ &amp; &#0; \"quoted\", 'so'; %0A %25",
    "\r\n \x85 \u2028 \u2029 lines",
    "x" * 1_000_000,
    "```\n" * 1_000,
    "{0} [a](b) \\",
)
"""Texts that an agent may say: each is harmless, and may only be text in a report."""

texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), max_size=60))


def place(line: int) -> Place:
    """A place in the suite's file."""
    return Place(file=FILE, line=line, column=9)


def reported(*suites: SuiteResult, warnings: tuple[str, ...] = ()) -> ReportedRun:
    """The run of these suites."""
    return ReportedRun(
        run_id="run-1",
        folder="evals/results/run-1",
        suites=tuple(map(ReportedSuite.of, suites)),
        summary=summarize_run(suites),
        root=Path("nowhere"),
        warnings=warnings,
    )


def saying(text: str) -> CaseResult:
    """A case that failed, in which the text is everywhere that an agent's words may be."""
    failed = AssertionResult(
        at="/expect/responseContains/0",
        outcome="failed",
        field="responseContains",
        line=text,
        message=text,
        place=place(13),
    )
    result = case(
        "w/hostile", status="failed", error=f"responseContains: {text}", assertions=(failed,), place=place(11)
    )
    return with_response(result, text)


def with_response(result: CaseResult, response: str) -> CaseResult:
    """The case with that response."""
    details = msgspec.structs.replace(result.details, response=response, tools_called=(response[:50],))
    return msgspec.structs.replace(result, details=details)


def every_status() -> SuiteResult:
    """A suite with a case of each status, two that were not run, and names that are full of punctuation."""
    failed = AssertionResult(
        at="/expect/responseContains/0",
        outcome="failed",
        field="responseContains",
        line='contains "Paris"',
        message="no 'Paris'",
        place=place(13),
    )
    other = AssertionResult(at="/expect/latency", outcome="failed", field="latency", message="took 9s", place=place(14))
    return suite(
        with_response(case("w/passed", place=place(6)), "It is *sunny* in Paris."),
        with_response(
            case(
                "w/failed|1",
                "has | pipes",
                1250,
                status="failed",
                error="responseContains: no 'Paris'",
                assertions=(failed, other),
                place=place(11),
            ),
            "It is sunny.",
        ),
        case("w/slow", status="failed", error="timeout: no complete answer within 60000ms", place=place(16)),
        case("w/error", status="error", error="agent: connection refused", place=place(20)),
        case("w/unverified", status="unverified", skipped_tokens=("seed:city",), place=place(24)),
        case(
            "w/expected",
            status="expected-failure",
            error="responseContains: no 'Oslo'",
            expected_failure="known to fail",
            place=place(28),
        ),
        case(
            "w/unexpected",
            status="unexpected-pass",
            error="expectedFailure: passed, but a failure was expected: known",
            place=place(32),
        ),
        case(
            "w/flaky", status="failed", error="repeat: 1 of 2 attempts passed, 2 needed", attempts=("passed", "failed")
        ),
        tool="get_weather",
        score=0.5,
        scored_weight=1,
        criteria=(CriterionSummary(name="tone | manner", weight=0.4, score=0.5, cases=7, of=8),),
        skipped=(
            SkippedCase(id="w/skipped", description="later", reason="not now", archived=False),
            SkippedCase(id="w/archived", description="old", reason="gone", archived=True),
        ),
        warnings=("no `seed` <here>",),
    )
