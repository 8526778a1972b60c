"""A run with one of everything that a report shows, the same every time, as large as is asked for."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from evalc.model.case import Message
from evalc.model.reports import Trend, TrendPoint
from evalc.model.result import (
    PASSING,
    AssertionResult,
    AttemptResult,
    CaseDetails,
    CaseResult,
    CriterionResult,
    CriterionSummary,
    GateResult,
    JudgedScore,
    ResultMetadata,
    SkippedCase,
    Status,
    SuiteResult,
    Summary,
)
from evalc.model.suite import Place
from evalc.report import ReportedRun, ReportedSuite
from evalc.runtime.run.finish import summarize_run

FILE: Final = "evals/weather.eval.yaml"
SOURCE: Final = "".join(
    f"{line}\n"
    for line in (
        "suite: weather",
        "tool: get_weather",
        "prompt: What is the weather in {{city}}?",
        "inputs:",
        "  - {name: city, required: true}",
        "eval:",
        "  criteria:",
        '    - "grounded (0.6): Says what the tool said"',
        '    - "tone (0.4): Answers like a person"',
        "  test_cases:",
        "    - name: city",
        "      for_each: cities.csv",
        "      validate:",
        "        - tools called [get_weather]",
        '        - contains "{{city}}" for grounded',
        '        - contains "°C" or contains "degrees" for grounded',
        '        - not contains "fetchedAt" for tone',
        "        - latency <= 30s",
    )
)
RUN_ID: Final = "01a1f3c2-5b7e-7d40-9c1a-8e2f6b4d7a90"
BASELINE_ID: Final = "01a1ee9c-1d04-7a11-8f6e-0c5b7d219e33"
CITIES: Final = (
    *("Tokyo", "Oslo", "Lima", "Cairo", "Quito", "Paris", "Delhi", "Accra", "Hanoi", "Perth", "Seoul", "Berlin"),
    *("Lagos", "Milan", "Porto", "Sofia", "Turin", "Dakar", "Kyoto", "Leeds", "Minsk", "Osaka", "Praha", "Tunis"),
)
SKIES: Final = ("clear sky", "light rain", "overcast", "a fresh breeze", "fog in the morning")


def reported(size: int = 24) -> tuple[ReportedSuite, ReportedSuite]:
    """A labeled suite of that many cases with a baseline, and a small golden one."""
    chance = random.Random(7)
    cases = [_case(index, chance) for index in range(size)]
    labeled = suite(cases, tier="labeled", baseline={case.id: _before(case) for case in cases})
    golden = suite([_case(index, chance, tier="golden") for index in range(5)], tier="golden")
    return labeled, golden


def trends(runs: int = 12, *, now: ReportedSuite | None = None) -> tuple[Trend, ...]:
    """The course of the labeled suite up to this run, which ended as `now` did, and a short one of the golden suite."""
    chance = random.Random(11)
    points = tuple(_point(index, runs, chance) for index in range(runs))
    if now is not None:
        points = (*points[:-1], _ended(points[-1], now.result.summary))
    labeled = Trend(
        suite="get_weather",
        tool_name="desk",
        tier="labeled",
        agent_endpoint=None,
        criteria=tuple(_WEIGHTS),
        points=points,
    )
    first = replace(points[-2], pass_rate=0.8, score=None, criteria={})
    golden = replace(labeled, tier="golden", criteria=(), points=(first, replace(first, run=RUN_ID, pass_rate=1.0)))
    return labeled, golden


def _ended(point: TrendPoint, summary: Summary) -> TrendPoint:
    criteria = {each.name: each.score for each in summary.criteria}
    return replace(point, pass_rate=summary.passed / summary.total_cases, score=summary.score, criteria=criteria)


def _point(index: int, runs: int, chance: random.Random) -> TrendPoint:
    grown = 0.62 + 0.3 * index / runs + chance.uniform(-0.06, 0.06)
    return TrendPoint(
        run=RUN_ID if index == runs - 1 else f"{BASELINE_ID[:-2]}{index:02}",
        timestamp=f"2026-03-{index % 28 + 3:02}T09:26:53Z",
        pass_rate=min(grown, 1.0),
        score=min(grown + 0.04, 1.0),
        criteria={"grounded": min(grown + 0.08, 1.0), "tone": None if index < 4 else 0.96},
    )


def run_of(*suites: ReportedSuite, root: Path, **more: Any) -> ReportedRun:
    """The run of these suites, whose eval files are within `root`."""
    summary = summarize_run([suite.result for suite in suites])
    return ReportedRun(
        run_id=RUN_ID, folder=f"evals/results/{RUN_ID}", suites=suites, summary=summary, root=root, **more
    )


def suite(
    cases: Iterable[CaseResult],
    *,
    tier: str = "labeled",
    agent: str = "http://localhost:3000/chat",
    baseline: Mapping[str, CaseResult] | None = None,
) -> ReportedSuite:
    """The suite of these cases, its totals counted."""
    cases = tuple(cases)
    scores = [case.score for case in cases if case.score is not None]
    statuses = Counter(case.status for case in cases)
    passed = sum(case.passed for case in cases)
    labeled = tier == "labeled"
    score = sum(scores) / len(scores) if labeled and scores else None
    summary = Summary(
        total_cases=len(cases),
        passed=passed,
        failed=len(cases) - passed,
        skipped_assertions=0,
        total_duration_ms=sum(case.duration_ms for case in cases),
        estimated_cost_usd=0.0183 if labeled else UNSET,
        errors=statuses["error"],
        unverified=statuses["unverified"],
        expected_failures=statuses["expected-failure"],
        unexpected_passes=statuses["unexpected-pass"],
        flaky=sum(case.flaky is True for case in cases),
        skipped=1 if labeled else 0,
        score=score,
        scored_weight=1.0 if labeled else None,
        criteria=tuple(_mean(name, cases) for name in _WEIGHTS) if labeled else (),
    )
    result = SuiteResult(
        run_id=RUN_ID,
        timestamp="2026-03-14T09:26:53.589Z",
        tier=tier,
        suite="get_weather",
        tool_name="desk",
        agent_endpoint=agent,
        metadata=ResultMetadata(tool_version=None, description_hash=None, registry_size=None, eval_file_hash="0" * 12),
        staleness_warnings=("Tool description has changed since these evals were written",) if labeled else (),
        cases=(),
        summary=summary,
        baseline_run_id=BASELINE_ID if baseline else None,
        regressions=(),
        new_passes=(),
        stale=labeled,
        gates=(GateResult(gate="minScore", limit=0.97, value=score, passed=False),) if labeled else UNSET,
    )
    skipped = SkippedCase(id="weather/antarctica", description="Nobody asks", reason="No station", archived=False)
    return ReportedSuite(result=result, cases=cases, skipped=(skipped,) if labeled else (), baseline=baseline or {})


def answered(identity: str, response: str) -> CaseResult:
    """A case that passed with this answer, which may hold anything."""
    return CaseResult(
        id=identity,
        description=response[:200],
        passed=True,
        status="passed",
        duration_ms=100.0,
        assertions_run=1,
        assertions_skipped=0,
        score=None,
        details=CaseDetails(
            response=response,
            message=response[:200],
            response_length=len(response),
            tool_calls=({"name": response[:100], "params": {response[:50]: response[:50]}},),
        ),
        assertions=(AssertionResult(at="/expect/responseContains/0", outcome="passed"),),
    )


def _mean(name: str, cases: Iterable[CaseResult]) -> CriterionSummary:
    cases = tuple(cases)
    scores = [each.score for case in cases for each in case.criteria if each.name == name and each.score is not None]
    mean = sum(scores) / len(scores) if scores else None
    return CriterionSummary(name=name, weight=_WEIGHTS[name], score=mean, cases=len(scores), of=len(cases))


def _case(index: int, chance: random.Random, tier: str = "labeled") -> CaseResult:
    city = CITIES[index % len(CITIES)]
    number = index // len(CITIES)
    status: Status = "passed" if tier == "golden" else _STATUSES.get(index % 24, "passed")
    degrees, sky = chance.randint(-4, 34), chance.choice(SKIES)
    response = f"In {city} it is {degrees} °C with {sky}. Nothing suggests that this will change before the evening."
    details = CaseDetails(
        message=f"What is the weather in {city}?",
        messages=(
            (
                Message(role="user", content="Hello"),
                Message(role="assistant", content="Hello! Which city is it?"),
                Message(role="user", content=city),
            )
            if index % 24 == 4
            else UNSET
        ),
        tools_called=("get_weather",),
        response_length=len(response),
        response=None if status == "error" else _answer(status, response),
        tool_calls=()
        if status == "error"
        else (
            {"name": "get_weather", "success": True, "durationMs": 212.4, "params": {"city": city, "units": "metric"}},
        ),
        usage={"inputTokens": 312, "outputTokens": 41, "costUsd": 0.00076},
    )
    failed = status == "failed"
    grounded, tone = (0.5 if failed else 1.0), (1.0 if index % 5 else 0.75)
    return CaseResult(
        id=f"weather/{city.lower()}{f'-{number}' if number else ''}{'' if tier == 'labeled' else '-golden'}",
        description=f"Says how warm it is in {city} and what the sky looks like",
        passed=status in PASSING,
        status=status,
        duration_ms=round(chance.lognormvariate(6.7, 0.45), 1),
        assertions_run=4,
        assertions_skipped=0,
        score=None if status == "error" or tier == "golden" else round(0.6 * grounded + 0.4 * tone, 3),
        criteria=() if tier == "golden" else _criteria(status, grounded, tone),
        error=_ERRORS.get(status, UNSET),
        error_at="/expect/checks/1" if failed else UNSET,
        expected_failure="The agent does not know fog yet" if status == "expected-failure" else UNSET,
        tags=("smoke",) if index % 6 == 0 else UNSET,
        details=details,
        assertions=_assertions(status, city),
        attempts=_attempts(response) if index % 24 == 9 else UNSET,
        flaky=True if index % 24 == 9 else UNSET,
        place=Place(file=FILE, line=11, column=7),
    )


_DEGREES: Final = 'contains "°C" or contains "degrees" for grounded'
_WEIGHTS: Final = {"grounded": 0.6, "tone": 0.4}
_STATUSES: Final[Mapping[int, Status]] = {
    3: "failed",
    7: "error",
    11: "unverified",
    14: "expected-failure",
    18: "failed",
    21: "unexpected-pass",
}
_ERRORS: Final[Mapping[Status, str]] = {
    "failed": "or: no part of it holds: '°C' is not in the response; 'degrees' is not in the response",
    "error": "agent: the connection was closed before the answer was complete",
    "expected-failure": "responseContains: 'fog' is not in the response",
    "unexpected-pass": "expectedFailure: passed, but a failure was expected: the agent does not know fog yet",
}


def _answer(status: Status, response: str) -> str:
    return response.replace(" °C", "") + ' {"fetchedAt": "09:26"}' if status == "failed" else response


def _criteria(status: Status, grounded: float, tone: float) -> tuple[CriterionResult, ...]:
    broken = status == "error"
    said = JudgedScore(score=3, max_score=4, reason="Friendly, but the last sentence tells the user nothing.")
    return (
        CriterionResult(name="grounded", weight=0.6, score=None if broken else grounded, scored_by="linked"),
        CriterionResult(
            name="tone",
            weight=0.4,
            score=None if broken else tone,
            scored_by="judge",
            judged=UNSET if broken or tone == 1 else said,
        ),
    )


def _assertions(status: Status, city: str) -> tuple[AssertionResult, ...]:
    if status == "error":
        return ()
    lines = ("tools called [get_weather]", f'contains "{city}" for grounded', _DEGREES, "latency <= 30s")
    failed = AssertionResult(
        at="/expect/checks/1",
        outcome="failed",
        field="or",
        line=lines[2],
        message="no part of it holds: '°C' is not in the response; 'degrees' is not in the response",
        place=Place(file=FILE, line=16, column=11),
    )
    return (
        AssertionResult(at="/expect/toolsCalled", outcome="passed", line=lines[0]),
        AssertionResult(at="/expect/responseContains/0", outcome="passed", line=lines[1]),
        failed if status == "failed" else AssertionResult(at="/expect/checks/1", outcome="passed", line=lines[2]),
        AssertionResult(at="/expect/maxLatencyMs", outcome="passed", line=lines[3]),
    )


def _attempts(response: str) -> tuple[AttemptResult, ...]:
    statuses: tuple[Status, ...] = ("passed", "failed", "passed")
    return tuple(
        AttemptResult(
            status=status, duration_ms=700 + 40 * number, score=1, response=response, error=_ERRORS.get(status, UNSET)
        )
        for number, status in enumerate(statuses)
    )


def _before(case: CaseResult) -> CaseResult:
    """The case as it was in the baseline: what failed passed then."""
    response = (case.details.response or "").replace(". Nothing suggests that this will change before the evening", "")
    response = response.replace(' {"fetchedAt": "09:26"}', "").replace(" with ", " °C and ").replace("°C °C", "°C")
    details = replace(case.details, response=response)
    return replace(case, status="passed", passed=True, error=UNSET, details=details, duration_ms=case.duration_ms + 130)
