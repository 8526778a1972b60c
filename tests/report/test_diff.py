"""The words of `evalc diff`: a regression that was planted, and noise."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.terminal import Screen
from evalc.compare.suites import compare_runs
from evalc.model.reports import ComparedSuite
from evalc.model.result import Significance
from evalc.report import ReportedSuite
from evalc.report.console import suite_lines
from evalc.report.side_by_side import diff_lines
from evalc.report.words import more_cases, significance_line
from tests.report.results import case, suite
from tests.report.runs import NOWHERE


def past(passed: list[bool], *, tool: str = "get_weather", error: str = "equals: no") -> ComparedSuite:
    cases: list[dict[str, Any]] = [
        {
            "id": f"c{number}",
            "passed": each,
            "error": None if each else error,
            "durationMs": 100 + number,
            "criteria": [{"name": "clarity", "score": 1.0 if each else 0.5}],
        }
        for number, each in enumerate(passed)
    ]
    criteria = [{"name": "clarity", "weight": 1}]
    return msgspec.convert(
        {"toolName": tool, "tier": "golden", "cases": cases, "summary": {"criteria": criteria}}, ComparedSuite
    )


def shown(
    before: list[bool], after: list[bool], screen: Screen | None = None, *, verbose: bool = False, **more: str
) -> str:
    found = compare_runs([past(before)], [past(after, **more)], names=("run-a", "run-b"))
    return "\n".join(diff_lines(found, screen or Screen(), called={"run-b": "latest"}, verbose=verbose))


PLANTED = [True] * 200, [number >= 12 for number in range(200)]


def test_a_planted_regression() -> None:
    assert (
        shown(*PLANTED)
        == """\
run-a → latest

  suite                 before → after  verdict  changed
  get_weather (golden)  100 % → 94 %    worse    12 worse, 0 better of 200, p = 0.000488
    score               1.00 → 0.97     worse    -0.030 (95 % interval -0.048 to -0.015)
      clarity           1.00 → 0.97     worse    -0.030 (95 % interval -0.048 to -0.015)

✗ 12 cases got worse
    12  equals: no
        c0, c1, c2 and 9 more"""
    )


def test_all_that_was_measured() -> None:
    assert shown(*PLANTED, verbose=True).startswith(
        """\
run-a → latest, run-b

  suite                 before → after  verdict  changed
  get_weather (golden)  100 % → 94 %    worse    12 worse, 0 better of 200, p = 0.000488
    passed                                       200/200 (95 % interval 98.1 to 100.0 %) → 188/200 (95 % interval 89.8
                                                 to 96.6 %)
    score               1.00 → 0.97     worse    -0.030 (95 % interval -0.048 to -0.015)
      clarity           1.00 → 0.97     worse    -0.030 (95 % interval -0.048 to -0.015)
    latency, median     200ms → 200ms

"""
    )


def test_few_regressions_are_listed_and_of_many_passes_the_first() -> None:
    text = shown([number >= 40 for number in range(200)], [number < 195 for number in range(200)])
    assert text.count("→ equals: no") == 5
    listed = text.partition("✓ 40 cases newly pass\n")[2].splitlines()
    assert listed[:30] == [f"    c{number}" for number in range(30)]
    assert listed[30] == "    and 10 more; --json has all"


def test_noise() -> None:
    before = [number >= 6 for number in range(200)]
    after = [not 6 <= number < 11 for number in range(200)]
    lines = shown(before, after, Screen(unicode=False)).splitlines()
    words = "5 worse, 6 better of 200, p = 1; about 17,000 more cases would"
    assert lines[:5] == [
        "run-a -> latest",
        "",
        "  suite                 before -> after  verdict        changed",
        f"  get_weather (golden)  97 % -> 97.5 %   may be chance  {words}",
        "                                                        settle it",
    ]


def test_another_reason_and_nothing_a_terminal_would_obey() -> None:
    text = shown([False], [False], error="equals: \x1b[2J\n")
    assert text.endswith(
        "\n? 1 case still fails, for another reason\n    c0\n      was: equals: no\n      → equals: \\x1b[2J\\n"
    )


@given(st.text(), st.text())
def test_no_name_and_no_message_reaches_a_terminal_as_it_is(name: str, message: str) -> None:
    found = compare_runs([past([True], tool=name)], [past([False], tool=name, error=message)], names=(name, message))
    for line in diff_lines(found, Screen()):
        assert not set(line) & set("\x1b\n\r\x07\u202e\x9b")


def test_how_many_more_cases() -> None:
    assert more_cases(1) == "about 1 more case would settle it"
    assert more_cases(17_060) == "about 17,000 more cases would settle it"
    assert more_cases(10**30) == "more than 1,000,000 more cases would settle it"
    assert more_cases(None) == "no number of cases would settle it"


def found(regressed: int, newly_passed: int, **more: Any) -> Significance:
    fields: dict[str, Any] = {"pairs": 50, "errors": 0, "p_value": 0.5, "verdict": "inconclusive", "more_cases": 7}
    return Significance(regressed=regressed, newly_passed=newly_passed, **{**fields, **more})


def test_the_line_of_significance() -> None:
    assert significance_line(found(0, 0, verdict="unchanged", pairs=1)) == "unchanged: the same verdict in 1 case"
    assert significance_line(found(0, 20, verdict="better", p_value=1e-9, errors=3)) == (
        "better: none of 50 cases regressed, 20 newly pass (McNemar's exact test, p < 0.0001); "
        "3 left out that ended in error"
    )


def test_a_run_with_a_baseline_says_what_its_changes_mean() -> None:
    result = suite(case("c1", status="failed", error="equals: no"), regressions=("c1",))
    changed = msgspec.structs.replace(result, significance=found(1, 0))
    lines = list(suite_lines(ReportedSuite.of(changed), Screen(), NOWHERE))
    assert lines[-4:-2] == ["  REGRESSIONS (1) since run-0", "    ✗ c1"]
    assert " ".join(line.strip() for line in lines[-2:]) == (
        "inconclusive: 1 of 50 cases regressed, none newly passes (McNemar's exact test, p = 0.5); "
        "about 7 more cases would settle it"
    )
    unchanged = msgspec.structs.replace(suite(case("c1")), significance=found(0, 0, verdict="unchanged"))
    assert not any("unchanged" in line for line in suite_lines(ReportedSuite.of(unchanged), Screen(), NOWHERE))
