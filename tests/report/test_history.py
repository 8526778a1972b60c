"""The table of runs and the course of suites."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evalc.base.terminal import Screen
from evalc.extras.history import trends_of
from evalc.model.reports import History, HistoryEntry
from evalc.report.others import history_lines, short_names, sparkline


def entry(run: str, **more: Any) -> HistoryEntry:
    fields: dict[str, Any] = {
        "run": run,
        "file": "t.golden.json",
        "run_id": run,
        "timestamp": "2026-01-01T12:30:00Z",
        "began": 0.0,
        "tool_name": "get_weather",
        "tier": "golden",
        "suite": None,
        "agent_endpoint": "demo",
        "total_cases": 4,
        "passed": 3,
        "errors": 0,
        "score": None,
        "estimated_cost_usd": None,
        "total_duration_ms": None,
        "criteria": {},
        "partial": False,
        "rescored": False,
    }
    return HistoryEntry(**{**fields, **more})


def shown(*entries: HistoryEntry, screen: Screen | None = None, by_suite: bool = True) -> str:
    history = History(entries=entries, trends=trends_of(entries))
    names = short_names([each.run for each in entries])
    return "\n".join(history_lines(history, screen or Screen(), names=names, most=20, by_suite=by_suite))


NEWEST = entry("01a20102-2751", passed=4, score=0.995, criteria={"clarity": 0.5}, estimated_cost_usd=0.00123)
PART = entry("01a20102-2700", total_cases=1, passed=0, errors=1, partial=True, rescored=True)
OLDEST = entry("01890000-0000", passed=1, score=0.1, criteria={"clarity": None})


def test_the_results_of_a_suite_and_their_courses() -> None:
    assert (
        shown(NEWEST, PART, OLDEST)
        == """\
  run           when (UTC)   agent  passed         score      cost  notes
  01a20102-275  01-01 12:30  demo      4/4  100 %  0.995  $0.00123
  01a20102-270  01-01 12:30  demo      0/1    0 %                   1 error, part of the cases, rescored
  01890000      01-01 12:30  demo      1/4   25 %   0.10

get_weather (golden), 2 runs
  passed   ▃█  1.00
  score    ▁█  0.995
  clarity   ▅  0.50"""
    )


def test_the_runs_of_all_suites() -> None:
    other = {"suite": "other", "tier": "labeled", "passed": 4, "score": 0.5, "estimated_cost_usd": 0.1}
    assert (
        shown(NEWEST, entry("01a20102-2751", **other), PART, OLDEST, entry("01890000-0000", **other), by_suite=False)
        == """\
  run           when (UTC)   agent  passed          score    cost  notes
  01a20102-275  01-01 12:30  demo      8/8   100 %   0.75  $0.101
  01a20102-270  01-01 12:30  demo      0/1     0 %                 1 error, part of the cases, rescored
  01890000      01-01 12:30  demo      5/8  62.5 %   0.30    $0.1

  suite                 passed, by run  now
  get_weather (golden)  ▃█              100 %

1 suite passed the same share in each run. `evalc history SUITE` shows a suite by its criteria."""
    )
    assert "  01890000  2025-01-01 12:30" in shown(NEWEST, entry("01890000-0000", timestamp="2025-01-01T12:30:00Z"))


def test_more_runs_than_are_listed() -> None:
    text = shown(*(entry(f"run-{number:04}") for number in range(50)), by_suite=False)
    assert "\n  and 30 more; `--limit` lists more\n" in text


def test_ascii_and_many_runs() -> None:
    text = shown(*(entry(f"run-{number:04}") for number in range(50)), screen=Screen(unicode=False))
    assert text.isascii()
    assert text.endswith(f"get_weather (golden), the last 40 of 50 runs\n  passed  {'7' * 40}  0.75")


@given(st.lists(st.none() | st.floats(allow_nan=False)))
def test_a_sparkline_has_a_character_a_value(values: list[float | None]) -> None:
    assert len(sparkline(values, Screen())) == len(values)
    assert sparkline([0, 0.5, 1, None, -3, 9], Screen()) == "▁▅█ ▁█"


@given(st.sets(st.text(min_size=1), max_size=20))
def test_short_names_distinguish_runs(runs: set[str]) -> None:
    names = short_names(sorted(runs))
    for run in runs:
        assert [other for other in runs if other.startswith(names[run])] == [run] or names[run] == run


@given(st.text())
def test_nothing_that_a_terminal_would_obey(text: str) -> None:
    hostile = entry(text, tool_name=text, agent_endpoint=text, criteria={text: 0.5}, score=1e15)
    for line in shown(hostile, hostile).splitlines():
        assert not set(line) & set("\x1b\r\x07\u202e\x9b")
