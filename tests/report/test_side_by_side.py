"""Agents and prompt variants side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import pytest

from evalc.base.terminal import Screen, cells
from evalc.model.result import CaseResult, CriterionResult, Status, SuiteResult
from evalc.report import ReportedSuite
from evalc.report.side_by_side import MOST_ALIKE, MOST_ROWS, side_by_side_lines
from tests.report.results import case, suite


def of(agent: str, *cases: CaseResult, tool: str = "get_weather") -> SuiteResult:
    return msgspec.structs.replace(suite(*cases, tool=tool), agent_endpoint=agent)


def scored(identity: str, status: Status, score: float, *, variant: str | None = None) -> CaseResult:
    criterion = CriterionResult(name="clear", weight=2, score=score, scored_by="linked")
    made = msgspec.structs.replace(case(identity, status=status), criteria=(criterion,))
    return made if variant is None else msgspec.structs.replace(made, variant=variant)


def lines(suites: Sequence[SuiteResult], **screen: object) -> list[str]:
    return list(side_by_side_lines(tuple(map(ReportedSuite.of, suites)), Screen(**screen)))  # type: ignore[arg-type]


def test_cases_stand_by_agent_with_rates_and_scores() -> None:
    one = of("one", scored("a", "passed", 1), scored("b", "failed", 0))
    two = of("two", scored("a", "passed", 0.5), scored("b", "passed", 1))
    assert lines([one, two]) == [
        "═══ 2 agents side by side",
        "          one   two",
        "  a       ✓     ✓",
        "  b       ✗     ✓",
        "  passed  1/2   2/2",
        "  score   0.50  0.75",
        "  passed by one alone: 0, by two alone: 1; may be chance (McNemar's exact test, p = 1)",
        "",
    ]
    assert lines([one, two], unicode=False)[2:4] == ["  a       +     +", "  b       x     +"]
    assert "\x1b[" in lines([one, two], color=True)[2]


def test_one_agent_and_no_variants_are_no_table() -> None:
    assert lines([of("one", case("a")), of("one", case("b"), tool="other")]) == []


def test_the_score_of_an_agent_is_the_mean_of_its_suites() -> None:
    suites = [of("one", scored("a", "passed", 1), tool="t"), of("one", *(scored(f"b{i}", "failed", 0) for i in "123"))]
    table = lines([*suites, of("two", case("a"), tool="t")])
    assert table[-2].split() == ["score", "0.50", "—"]


def test_a_case_that_one_agent_did_not_run_has_a_dash() -> None:
    table = lines([of("one", case("a"), case("b")), of("two", case("b"), case("c"))])
    assert [line.split() for line in table[2:5]] == [["b", "✓", "✓"], ["a", "✓", "—"], ["c", "—", "✓"]]


def test_of_many_cases_only_those_that_differ_are_shown() -> None:
    count = 3 * MOST_ROWS
    one = of("one", *(case(f"c{i}") for i in range(count)))
    two = of("two", *(case(f"c{i}", status="failed" if i % 3 == 0 else "passed") for i in range(count)))
    table = lines([one, two])
    assert [line.split()[0] for line in table[2:4]] == ["c0", "c3"]
    assert table[-3] == f"  {count - MOST_ROWS} of {count} cases end alike in every column"
    more = lines([one, of("two", *(case(f"c{i}", status="failed") for i in range(count)))])
    assert more[-3:-1] == [
        f"  and {count - MOST_ROWS} more differ",
        f"  passed by one alone: {count}, by two alone: 0; more than chance (McNemar's exact test, p < 0.0001)",
    ]
    few = lines([of("one", *(case(f"c{i}") for i in range(MOST_ALIKE))), of("two", case("c0", status="failed"))])
    assert len(few) == MOST_ALIKE + 5


@pytest.mark.parametrize("width", [40, 60, 120])
@pytest.mark.parametrize("agents", [2, 5, 30])
def test_narrow_screens_and_long_names(width: int, agents: int) -> None:
    names = [f"http://127.0.0.1:3000/{'long/' * 3}{number}" for number in range(agents)]
    table = lines([of(name, case("weather/" + "天気" * 20)) for name in names], width=width)
    assert [line.split() for line in table[1 : agents + 1]] == [[str(i), name] for i, name in enumerate(names, 1)]
    assert all(cells(line) <= width for line in table[agents + 1 :])
    shown = [number for line in table[agents + 1 :] if re.fullmatch(r"[\d ]+", line) for number in line.split()]
    assert shown == [str(number) for number in range(1, agents + 1)]


def test_variants_of_a_suite_stand_side_by_side() -> None:
    rows: list[tuple[str, str, Status, float]] = [
        ("s/a", "terse", "passed", 1),
        ("s/a", "long", "failed", 0),
        ("s/b", "terse", "passed", 0.5),
        ("s/b", "long", "passed", 1),
    ]
    cases = [scored(f"{name}@{variant}", status, score, variant=variant) for name, variant, status, score in rows]
    assert lines([of("one", *cases, case("s/c"))]) == [
        "═══ prompt variants of get_weather (golden)",
        "          terse  long",
        "  s/a     ✓      ✗",
        "  s/b     ✓      ✓",
        "  passed  2/2    1/2",
        "  score   0.75   0.50",
        "  passed by terse alone: 1, by long alone: 0; may be chance (McNemar's exact test, p = 1)",
        "",
    ]


def test_names_of_agents_are_obeyed_by_no_terminal() -> None:
    table = lines([of("a\x1b[2J", case("x\x1b[2J")), of("b\nc", case("x\x1b[2J"))])
    assert not any("\x1b" in line or "\n" in line for line in table)
