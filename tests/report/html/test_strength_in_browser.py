"""Missed faults and unchecked tools, in a real browser."""

from __future__ import annotations

from msgspec.structs import replace

from evalc.model.reports import (
    CaseStrength,
    ChallengerCount,
    CheckStrength,
    Coverage,
    NotChallenged,
    Part,
    Strength,
    SuiteStrength,
    Survivor,
)
from tests.report.html.accessible import sound
from tests.report.html.conftest import Shown
from tests.report.html.sample import reported

_HOSTILE = "</script><img src=x onerror=alert(1)>"
_SURVIVORS = tuple(
    Survivor(
        challenger="negated",
        difference=f"{number}: {_HOSTILE}",
        line='- contains "not"' if number else None,
        turn=2 if number == 2 else None,
        proved=True,
    )
    for number in range(20)
)


def _counts(killed: int) -> tuple[ChallengerCount, ...]:
    return (
        ChallengerCount(name="truncated", mutants=2, killed=killed),
        ChallengerCount(name="negated", mutants=20, killed=0),
    )


def _case(identity: str, killed: int) -> CaseStrength:
    return CaseStrength(
        id=identity,
        suite="get_weather",
        tool_name="desk",
        tier="labeled",
        mutants=22,
        killed=killed,
        strength=killed / 22,
        undecided=0,
        allowed={},
        challengers=_counts(killed),
        survivors=_SURVIVORS,
        place=None,
    )


STRENGTH = Strength(
    of="01",
    strength=3 / 44,
    mutants=44,
    killed=3,
    undecided=2,
    challengers=_counts(3),
    suites=(
        SuiteStrength(
            tool_name="desk", suite="get_weather", tier="labeled", cases=2, mutants=40, killed=3, strength=3 / 40
        ),
        SuiteStrength(tool_name="desk", suite="other", tier="labeled", cases=1, mutants=4, killed=0, strength=0.0),
    ),
    cases=(_case("weather/cairo", 2), _case("weather/gone", 1)),
    checks=(
        CheckStrength(id="weather/cairo", at="/0", check=f"contains {_HOSTILE}", mutants=7, killed=0, place=None),
        CheckStrength(id="weather/cairo", at="/1", check="non-empty", mutants=7, killed=3, place=None),
        CheckStrength(id="weather/cairo", at="/2", check="latency <= 5s", mutants=0, killed=0, place=None),
    ),
    criteria=(),
    not_challenged=(NotChallenged(id="a", reason="no recorded answer passes its checks"),),
)
COVERAGE = Coverage(
    coverage=0.5,
    covered=1,
    total=2,
    parts=(
        Part(kind="tools", total=1, covered=1, missing=()),
        Part(kind="arguments", total=1, covered=0, missing=("get_weather.city",)),
    ),
    tools=(),
)


def test_it_shows_what_the_checks_miss_case_by_case(shown: Shown) -> None:
    page = shown(reported(), strength=STRENGTH, coverage=COVERAGE)
    strength = page.get_by_role("region", name="Strength", exact=True)
    assert "0.07 3 of 44 faults noticed. 2 more could not be decided." in strength.inner_text()
    rows = strength.locator("tbody tr")
    assert [row.locator("th").inner_text() for row in rows.all()] == ["weather/gone", "weather/cairo"]  # weakest first
    assert rows.nth(1).locator("td").all_inner_texts() == ["✓ 2 of 2", "✗ 0 of 20"]
    assert rows.nth(0).locator("a").count() == 0
    rows.nth(1).locator("a").click()
    assert page.locator("#details-title").inner_text() == "weather/cairo"


def test_it_lists_the_faults_and_the_lines_that_would_notice_them(shown: Shown) -> None:
    page = shown(reported(), strength=STRENGTH, coverage=COVERAGE)
    strength = page.locator("#strength")
    strength.get_by_text("What 2 cases miss").click()
    strength.get_by_text("weather/gone misses 21 of 22").click()
    missed = strength.locator("details[open] details[open] li")
    assert missed.count() == 15
    assert missed.nth(0).inner_text() == f"negated: 0: {_HOSTILE}"
    assert missed.nth(1).inner_text().splitlines() == [
        f"negated: 1: {_HOSTILE}",
        'would notice it: - contains "not"',
    ]
    assert missed.nth(2).inner_text().startswith("negated in turn 2: ")
    assert missed.nth(14).inner_text() == "6 more"
    strength.get_by_text("1 check noticed nothing").click()
    assert "weather/cairo /0, 7 faults" in strength.inner_text()
    strength.get_by_text("1 check was not tried").click()
    assert "latency <= 5s weather/cairo /2" in strength.inner_text()
    assert "other (labeled): 0.00 0 of 4 faults noticed" in strength.inner_text()
    assert "1 not challenged: no recorded answer passes its checks" in strength.inner_text()


def test_it_shows_what_no_case_looks_at(shown: Shown) -> None:
    page = shown(reported(), strength=STRENGTH, coverage=COVERAGE)
    coverage = page.get_by_role("region", name="Coverage", exact=True)
    assert "0 of 1 arguments that a case checks" in coverage.inner_text()
    coverage.get_by_text("1 not covered").click()
    assert coverage.locator("li").all_inner_texts() == ["get_weather.city"]


def test_without_a_tool_registry_no_total_is_shown(shown: Shown) -> None:
    found = replace(COVERAGE, coverage=None, parts=COVERAGE.parts[:1], unknown=("tools", "arguments", "toolPairs"))
    coverage = shown(reported(), coverage=found).get_by_role("region", name="Coverage", exact=True)
    assert "no total: without a tool registry" in coverage.inner_text()
    assert "covered." not in coverage.inner_text()


def test_a_run_that_was_not_challenged_has_neither_part(shown: Shown) -> None:
    page = shown(reported())
    assert not page.locator("#strength").is_visible()
    assert not page.locator("#coverage").is_visible()


def test_axe_finds_nothing(shown: Shown) -> None:
    page = shown(reported(), strength=STRENGTH, coverage=COVERAGE, color_scheme="dark")
    page.locator("#strength summary").first.click()
    page.locator("#coverage summary").first.click()
    sound(page)
