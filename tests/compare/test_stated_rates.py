"""Gates, plans, intervals and comparisons are wrong no more often than they state, in a few of the simulated runs."""

from __future__ import annotations

import pytest

from benchmarks.rates import RESULTS, SCENARIOS, Scenario, about, at_most, rows_of, unbiased

RUNS = 60


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_stated_rates_are_kept(scenario: Scenario) -> None:
    rows = rows_of(scenario, RUNS)
    assert rows
    assert [row for row in rows if not row.kept] == []


def test_the_page_has_every_row_and_all_are_kept() -> None:
    page = RESULTS.read_text(encoding="utf-8")
    listed = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and "---" not in line][1:]
    rows = [row for scenario in SCENARIOS for row in rows_of(scenario, 2)]
    assert [what.removeprefix("| ") for what, *_ in listed] == [row.what for row in rows]
    assert {kept.removesuffix(" |") for *_, kept in listed} == {"yes"}
    assert "2,000 runs a row" in page


def test_a_rate_that_is_not_kept_shows() -> None:
    assert at_most("", 100, 2_000).kept
    assert not at_most("", 150, 2_000).kept
    assert not about("", 1_500, 2_000, 0.8).kept
    assert not unbiased("", [0.1, 0.2, 0.15] * 100).kept
