"""The console summary: the contract's form, the scores, and nothing that a terminal would obey."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.terminal import Screen, cells
from evalc.model.result import AssertionResult, CriterionSummary, GateResult, ScoredBy, SkippedCase, SuiteResult
from evalc.model.suite import Place
from evalc.report import ReportedRun, ReportedSuite
from evalc.report.console import Detail, run_lines, suite_lines, summary_lines
from tests.report.results import case, suite, totals
from tests.report.runs import NOWHERE, reported


def shown(result: SuiteResult, screen: Screen | None = None) -> str:
    return "\n".join(suite_lines(ReportedSuite.of(result), screen or Screen(), NOWHERE))


def test_the_contracts_example() -> None:
    result = suite(
        case("gs-get-weather-001", "trigger phrase — direct weather question", 1250),
        case("gs-get-weather-002", "trigger phrase — asking about temperature", 1100),
        case("gs-get-weather-003", "trigger phrase — general conditions", 1300),
        case("gs-get-weather-004", "rephrased — casual wording", 980),
        case(
            "gs-get-weather-005",
            "no raw JSON leak",
            2100,
            status="failed",
            error='responseNotContains: found "fetchedAt" in response',
        ),
        case("gs-get-weather-006", "disambiguation — current not forecast", 1200),
        staleness_warnings=("Description hash mismatch (generated: abc123, current: def456)",),
    )
    assert shown(result) == (
        """\
═══ get_weather — golden evals ════════════════════════════════════
  ✓ gs-get-weather-001  trigger phrase — direct weather question   1250ms
  ✓ gs-get-weather-002  trigger phrase — asking about temperature  1100ms
  ✓ gs-get-weather-003  trigger phrase — general conditions        1300ms
  ✓ gs-get-weather-004  rephrased — casual wording                  980ms
  ✗ gs-get-weather-005  no raw JSON leak                           2100ms
    → responseNotContains: found "fetchedAt" in response
  ✓ gs-get-weather-006  disambiguation — current not forecast      1200ms
───────────────────────────────────────────────────────────────────
  5/6 passed | 1 failed | 0 skipped assertions | 7930ms total
  ⚠ Description hash mismatch (generated: abc123, current: def456)"""
    )


def test_every_status_has_its_mark_and_its_reason() -> None:
    place = Place(file="reviews.eval.yaml", line=14, column=9)
    at_check = Place(file="reviews.eval.yaml", line=17, column=11)
    broken = AssertionResult(
        at="/expect/minLength",
        outcome="failed",
        field="minLength",
        line="length >= 5 chars",
        message="3 is less",
        place=at_check,
    )
    other = AssertionResult(at="/expect/jsonValid", outcome="error", field="jsonValid", message="no JSON")
    own = AssertionResult(at="/expect/checks/0", outcome="failed", field="starts_with", message="no 'Dear'")
    result = suite(
        case("a", status="failed", error="minLength: 3 is less", assertions=(broken, other, own), place=place),
        case("b", status="error", error="the agent broke", place=place),
        case("c", status="unverified", skipped_tokens=("{{snapshot:x}}", "{{seed:y}}")),
        case("d", status="failed", error="timeout"),
        case("e", status="unverified"),
        case("f", status="expected-failure", error="minLength: 3", expected_failure="too terse", assertions=(broken,)),
        case("g", status="unexpected-pass", error="expectedFailure: passed", expected_failure="too terse"),
    )
    passed = "3/7 passed (2 unverified, 1 expected failure)"
    failed = "4 failed (1 error, 1 unexpected pass)"
    assert shown(result).split("\n")[1:] == [
        "  ✗ a  says so  100ms",
        "    → length >= 5 chars",
        "      3 is less",
        "      at reviews.eval.yaml:17:11",
        "    → jsonValid: no JSON",
        "    → starts_with: no 'Dear'",
        "  ! b  says so  100ms",
        "    → the agent broke",
        "      at reviews.eval.yaml:14:9",
        "  ? c  says so  100ms",
        "    → nothing was checked, no value for {{snapshot:x}}, {{seed:y}}",
        "  ✗ d  says so  100ms",
        "    → timeout",
        "  ? e  says so  100ms",
        "    → nothing was checked, no assertion applies to what the agent did and reported",
        "  ⊘ f  says so  100ms",
        "    → a failure is expected: too terse",
        "  ✘ g  says so  100ms",
        "    → passed",
        "─" * 67,
        f"  {passed} | {failed} | 0 skipped assertions | 700ms",
        "      total",
    ]


def test_an_error_is_shown_before_an_earlier_failure() -> None:
    failed = AssertionResult(at="/expected", outcome="failed", field="expected", message="half of it is missing")
    pattern = "/expect/responseMatches/0"
    broken = AssertionResult(at=pattern, outcome="error", field="responseMatches", message="no answer in time")
    result = suite(case("a", status="error", error="responseMatches: no answer in time", assertions=(failed, broken)))
    assert shown(result).split("\n")[2:4] == [
        "    → responseMatches: no answer in time",
        "    → expected: half of it is missing",
    ]


def test_of_many_reasons_the_first_five_are_shown() -> None:
    broken = tuple(
        AssertionResult(at=f"/expect/checks/{n}", outcome="failed", field="regex", message=f"m{n}") for n in range(9)
    )
    lines = shown(suite(case("a", status="failed", error="regex: m0", assertions=broken))).split("\n")[2:-2]
    assert lines == ["    → regex: m0", *(f"    → regex: m{n}" for n in range(1, 5)), "    → and 4 more"]


def test_repeated_cases_say_how_many_attempts_passed() -> None:
    broken = AssertionResult(at="/expect/checks/0", outcome="failed", field="regex", message="m")
    result = suite(
        case("a", attempts=("passed", "passed")),
        case("b", duration=1500, attempts=("passed",) * 8 + ("failed", "error")),
        case(
            "c",
            status="failed",
            attempts=("failed", "unverified"),
            error="repeat: 1 of 2 attempts passed, 2 needed; attempt 1: regex: m",
            assertions=(broken,),
        ),
        case("d"),
    )
    assert shown(result).split("\n")[1:] == [
        "  ✓ a  says so   100ms  (2/2)",
        "  ✓ b  says so  1500ms  (8/10, flaky)",
        "  ✗ c  says so   100ms  (1/2, flaky)",
        "    → 1 of 2 attempts passed, 2 needed; attempt 1: regex: m",
        "  ✓ d  says so   100ms",
        "─" * 67,
        "  3/4 passed | 1 failed | 2 flaky | 0 skipped assertions | 1800ms total",
    ]


def test_skipped_cases_are_counted_and_say_why() -> None:
    skipped = (
        SkippedCase(id="s/a", description="d", reason="the tool is down", archived=False),
        SkippedCase(id="s/b", description="d", reason="the tool is\x1b gone", archived=True),
    )
    assert shown(suite(case("a"), skipped=skipped)).split("\n")[-4:] == [
        "  1/1 passed | 0 failed | 2 skipped cases | 0 skipped assertions | 100ms total",
        "  SKIPPED (2)",
        "    - s/a  the tool is down",
        "    - s/b  archived: the tool is\\x1b gone",
    ]


def test_of_many_skipped_cases_the_first_ten_are_shown() -> None:
    skipped = tuple(SkippedCase(id=f"c{n}", description="d", reason="r", archived=False) for n in range(12))
    whole = suite(skipped=skipped)
    lines = shown(whole).split("\n")[3:]
    assert lines == ["  SKIPPED (12)", *(f"    - c{n}  r" for n in range(10)), "    and 2 more"]
    without = msgspec.structs.replace(whole, skipped=())
    assert (
        list(suite_lines(ReportedSuite(result=without, cases=(), skipped=iter(skipped)), Screen(), NOWHERE))[3:]
        == lines
    )


def test_scores() -> None:
    criteria = (
        CriterionSummary(name="completeness", weight=0.3, score=0.81, cases=47, of=50),
        CriterionSummary(name="clarity", weight=2, score=None, cases=0, of=50),
        CriterionSummary(name="天気", weight=1, score=1.0, cases=50, of=50),
    )
    result = suite(case("a", status="error", error="e"), score=0.996, scored_weight=0.394, criteria=criteria)
    assert shown(result).split("\n")[-4:] == [
        "  completeness  0.3   ████████████████░░░░  0.81 over 47 of 50 cases, 1 error",
        "  clarity       2     ░░░░░░░░░░░░░░░░░░░░  unscored",
        "  天気          1     ████████████████████  1.00 over 50 of 50 cases, 1 error",
        "  score               ███████████████████░  0.996 over 0.39 of the weight",
    ]


@pytest.mark.parametrize(
    ("tone", "facts", "words"),
    [
        (("unlinked",), ("unlinked",), " (by all checks)"),
        (("linked", "unlinked"), ("unlinked",), " (by all checks)"),
        (("unlinked",), ("linked",), " (by the other checks)"),
        (("judge", "unlinked"), ("judge",), " (judge m; by all checks)"),
        (("judge", "linked"), ("linked",), " (judge m; by its checks)"),
        (("judge",), ("linked",), " (judge m)"),
        (("linked",), ("linked",), ""),
    ],
)
def test_a_criterion_says_what_scored_it(tone: tuple[ScoredBy, ...], facts: tuple[ScoredBy, ...], words: str) -> None:
    criteria = tuple(
        CriterionSummary(name=name, weight=1, score=0.5, cases=1, of=1, scored_by=by)
        for name, by in (("tone", tone), ("facts", facts))
    )
    result = suite(case("a"), score=0.7, criteria=criteria)
    lines = shown(msgspec.structs.replace(result, judges=("m",))).split("\n")
    assert lines[-3].endswith(f"0.50 over 1 of 1 case{words}")


def test_a_suite_that_nothing_scored_is_unscored_and_no_more() -> None:
    criteria = (CriterionSummary(name="c", weight=1, score=None, cases=0, of=1),)
    lines = shown(suite(case("a"), criteria=criteria, scored_weight=0)).split("\n")
    assert lines[-1] == "  score        ░░░░░░░░░░░░░░░░░░░░  unscored"


def run_of(**others: Any) -> ReportedRun:
    return msgspec.structs.replace(reported(), **{"summary": totals(), **others})


def gated(*gates: GateResult) -> SuiteResult:
    cases = (case("a"), case("b", status="failed", error="no"), case("c", status="error", error="broken"))
    return msgspec.structs.replace(suite(*cases), gates=gates)


SCORE_MET = GateResult(gate="minScore", limit=0.5, value=1.0, passed=True)
RATE_MET = GateResult(gate="minPassRate", limit=0.3, value=0.3333, passed=True)
RATE_UNMET = GateResult(gate="minPassRate", limit=0.9, value=0.3333, passed=False)


@pytest.mark.parametrize("detail", ["normal", "quiet"])
def test_gates_that_are_met_say_which_failures_they_do_not_count(detail: Detail) -> None:
    by_score, by_rate = (
        list(suite_lines(ReportedSuite.of(gated(gate)), Screen(), NOWHERE, detail=detail))
        for gate in (SCORE_MET, RATE_MET)
    )
    assert by_score[-1] == "  ⚠ 1 case failed, which no gate counts"
    assert by_rate[-1] == "  ⚠ 1 case failed, which the pass rate allows for"
    assert "which" not in "".join(
        suite_lines(ReportedSuite.of(gated(SCORE_MET, RATE_UNMET)), Screen(), NOWHERE, detail=detail)
    )
    assert "which" not in shown(msgspec.structs.replace(suite(case("a")), gates=(SCORE_MET,)))
    assert "  ⚠ 1 case failed, which no gate counts" in run_lines(run_of(gates=(SCORE_MET,)), Screen(), detail=detail)


def test_quiet_is_what_failed_and_a_closing_line() -> None:
    criteria = (CriterionSummary(name="c", weight=1, score=0.5, cases=1, of=1),)
    fine = suite(case("a"), case("x", status="expected-failure", expected_failure="known"), tool="fine", score=0.5)
    bad = suite(case("b"), case("c", status="failed", error="no"), score=0.5, criteria=criteria, warnings=("odd",))
    unmet = msgspec.structs.replace(suite(case("d"), tool="slow"), gates=(SCORE_MET, RATE_UNMET))
    run = reported(fine, bad, unmet, warnings=("look",))
    assert list(summary_lines(run, Screen(), detail="quiet")) == [
        "═══ get_weather — golden evals ════════════════════════════════════",
        "  ✗ c  says so  100ms",
        "    → no",
        "",
        "═══ slow — golden evals ═══════════════════════════════════════════",
        "  ✗ pass rate 0.33, at least 0.9 is needed",
        "",
        "run run-1 | 3 suites | 4/5 passed (1 expected failure) | 1 failed | 0 skipped assertions | 500ms total",
    ]
    (line,) = summary_lines(reported(fine), Screen(), detail="quiet")
    assert line.startswith("run run-1 | 1 suite | 2/2 passed")


def test_regressions_and_new_passes_stand_out() -> None:
    result = suite(case("a", status="failed", error="e"), case("b"), regressions=("a",), new_passes=("b",))
    assert shown(result).split("\n")[-4:] == [
        "  REGRESSIONS (1) since run-0",
        "    ✗ a",
        "  NEW PASSES (1) since run-0",
        "    ✓ b",
    ]
    assert "\x1b[1;31m  REGRESSIONS (1) since run-0\x1b[0m" in shown(result, Screen(color=True))


def test_warnings_of_both_kinds() -> None:
    result = suite(case("a"), staleness_warnings=("old",), warnings=("odd",))
    assert shown(result).split("\n")[-2:] == ["  ⚠ old", "  ⚠ odd"]


def test_a_suite_without_cases() -> None:
    assert shown(suite()).split("\n")[1:] == ["─" * 67, "  0/0 passed | 0 failed | 0 skipped assertions | 0ms total"]


def test_in_ascii() -> None:
    criteria = (CriterionSummary(name="c", weight=1, score=0.5, cases=1, of=1),)
    result = suite(
        case("a"), case("b", status="failed", error="e"), score=0.5, criteria=criteria, staleness_warnings=("old",)
    )
    text = shown(result, Screen(unicode=False))
    assert text.isascii()
    assert text.split("\n") == [
        "=== get_weather - golden evals " + "=" * 36,
        "  + a  says so  100ms",
        "  x b  says so  100ms",
        "    -> e",
        "-" * 67,
        "  1/2 passed | 1 failed | 0 skipped assertions | 200ms total",
        "  c      1     ##########..........  0.50 over 1 of 1 case",
        "  score        ##########..........  0.50",
        "  ! old",
    ]


def test_on_a_narrow_terminal_the_description_gives_way() -> None:
    lines = shown(suite(case("gs-get-weather-001", "a long description of it", 1250)), Screen(width=40)).split("\n")
    assert lines[0] == "═══ get_weather — golden evals ═════════"
    assert lines[1] == "  ✓ gs-get-weath…  a long descr…  1250ms"
    assert cells(lines[1]) == 40


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=4), st.integers(40, 100))
def test_hostile_texts_are_harmless_and_rows_fit(texts: list[tuple[str, str, str]], width: int) -> None:
    rows = (case(a, b, status="failed", error=c, attempts=("passed", "failed")) for a, b, c in texts)
    result = suite(*rows, tool="\x1b[2J", tier="\r\n")
    lines = list(suite_lines(ReportedSuite.of(result), Screen(width=width), NOWHERE))
    assert not set("".join(lines)) & set("\x1b\r\n\t\x07\x9b\u202e\u2028")
    assert all(cells(line) <= width for line in lines if line.startswith("  ✗"))
    durations = {cells(line) for line in lines if line.startswith("  ✗")}
    assert len(durations) <= 1


def test_colours() -> None:
    lines = shown(suite(case("a"), case("b", status="failed", error="e")), Screen(color=True)).split("\n")
    assert lines[1] == "  \x1b[32m✓\x1b[0m a  says so  100ms"
    assert lines[2] == "  \x1b[1;31m✗\x1b[0m b  says so  100ms"
    assert lines[3] == "    \x1b[1;31m→\x1b[0m e"


def test_a_long_message_is_cut() -> None:
    line = shown(suite(case("a", status="failed", error="x" * 1_000_000))).split("\n")[2]
    assert line == "    → " + "x" * 399 + "…"


def test_cases_may_be_read_one_at_a_time() -> None:
    whole = suite(*(case(f"{n:04}") for n in range(700)))
    anew = ReportedSuite(result=msgspec.structs.replace(whole, cases=()), cases=iter(whole.cases))
    assert list(suite_lines(anew, Screen(), NOWHERE)) == list(suite_lines(ReportedSuite.of(whole), Screen(), NOWHERE))


def test_the_end_of_a_run() -> None:
    assert list(run_lines(run_of(), Screen())) == [
        "run run-1 | 1 suite | 5/6 passed | 1 failed | 0 skipped assertions | 7930ms total",
        "  results in evals/results/run-1",
    ]


@pytest.mark.parametrize(("unicode", "mark", "warning"), [(True, "✗", "⚠"), (False, "x", "!")])
def test_the_end_of_a_run_with_everything(unicode: bool, mark: str, warning: str) -> None:
    summary = totals(suites=2, regressions=2, score=0.5)
    run = run_of(summary=summary, below=("a (golden): too low",), warnings=("odd",))
    assert list(run_lines(run, Screen(unicode=unicode))) == [
        "run run-1 | 2 suites | 5/6 passed | 1 failed | 0 skipped assertions | 7930ms total",
        "  score 0.50",
        "  2 regressions",
        f"  {mark} a (golden): too low",
        f"  {warning} odd",
        "  results in evals/results/run-1",
    ]


def test_the_id_of_a_run_that_came_from_anyone_is_obeyed_by_no_terminal() -> None:
    assert "\x1b" not in "".join(run_lines(run_of(run_id="\x1b[2J"), Screen()))
