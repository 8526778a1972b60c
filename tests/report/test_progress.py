"""Progress of a run: one line on a terminal, elsewhere one line per suite and minute."""

from __future__ import annotations

import io

import msgspec
import pytest

from evalc.base.terminal import Screen
from evalc.model.result import SkippedCase
from evalc.model.suite import Suite
from evalc.report.progress import Progress, draws
from tests.report.results import case


def a_suite(size: int) -> Suite:
    return Suite(
        metadata=None,
        name="get\x1bweather",
        tool_name="get\x1bweather",
        tier="golden",
        file_hash="0",
        origin="a.yaml",
        cases=(),
        size=size,
    )


def test_elsewhere_a_line_a_suite() -> None:
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=False) as progress:
        progress.run_started(2, 0)
        for size in (1, 2):
            progress.suite_started(a_suite(size))
            progress.case_finished(a_suite(size), case("a"))
    assert stream.getvalue() == (
        "running get\\x1bweather (golden): 1 case\nrunning get\\x1bweather (golden): 2 cases\n"
    )


def test_elsewhere_a_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([5.0, 64.9, 65.0, 70.0, 125.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=False) as progress:
        progress.run_started(9, 0)
        for status in ("passed", "failed", "passed", "passed"):
            progress.case_finished(a_suite(9), case("a", status=status))
    assert stream.getvalue().splitlines() == [
        "2 of 9 cases finished: 1 passed, 1 did not",
        "4 of 9 cases finished: 3 passed, 1 did not",
    ]


def test_skipped_cases_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1.0)
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=True) as progress:
        progress.run_started(3, 0)
        progress.case_skipped(a_suite(3), SkippedCase(id="b", description="d", reason="r", archived=False))
        progress.case_finished(a_suite(3), case("a"))
    assert "1/2 cases, 100% passed, 0s left" in stream.getvalue()


def test_on_a_terminal_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.5, 1.0, 1.05, 60.5])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    with Progress(stream, Screen(width=44), drawn=True) as progress:
        progress.run_started(3, 0)
        progress.case_finished(a_suite(3), case("a"))
        progress.case_finished(a_suite(3), case("b", status="failed", error="e"))
        progress.case_finished(a_suite(3), case("c", status="error", error="e"))
    assert stream.getvalue().split("\r") == [
        "",
        "1/3 cases, 100% passed, 1s left, get\\x1b...",
        f"{'✗ b  e':43}\n",
        "2/3 cases, 50% passed, 0s left, get\\x1bw...",
        f"{'! c  e':43}\n",
        "3/3 cases, 33% passed, get\\x1bweather".ljust(43),
        " " * 43,
        "",
    ]


def test_the_time_that_is_left_and_the_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 200.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    spent = case("a")
    details = msgspec.structs.replace(spent.details, usage={"costUsd": 0.5}, judge_usage={"costUsd": 0.25})
    with Progress(stream, Screen(), drawn=True) as progress:
        progress.run_started(21, 0)
        progress.case_finished(a_suite(21), msgspec.structs.replace(spent, details=details))
    assert "1/21 cases, 100% passed, 1h 6m left, $0.7500, get" in stream.getvalue()


def test_the_total_and_the_time_are_those_of_all_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 2.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=True) as progress:
        progress.run_started(60, 10)
        progress.suite_started(a_suite(3))
        progress.case_finished(a_suite(3), case("a"))
    assert "11/60 cases, 100% passed, 1m 38s left, get" in stream.getvalue()


def test_a_resumed_run_counts_what_was_done_before() -> None:
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=True) as progress:
        progress.run_started(40, 10)
        assert progress.so_far() == "10 of 40 cases finished, 10 of them before it was resumed"
        progress.case_finished(a_suite(40), case("a"))
        progress.case_finished(a_suite(40), case("b", status="failed", error="e"))
    assert "11/40 cases, 100% passed" in stream.getvalue()
    assert progress.so_far() == "12 of 40 cases finished, 10 of them before it was resumed: 1 passed, 1 did not"


def test_many_failures_are_left_to_the_report() -> None:
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=True) as progress:
        progress.run_started(40, 0)
        for number in range(40):
            progress.case_finished(a_suite(40), case(f"case-{number}", status="failed", error="e"))
    named = [line for line in stream.getvalue().splitlines() if "case-" in line]
    assert len(named) == 5
    assert stream.getvalue().count("the report names all that did not pass") == 1


@pytest.mark.parametrize(
    ("environ", "terminal", "drawn"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"CI": "true"}, True, False),
        ({"CI": "false"}, True, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_where_the_line_is_drawn(environ: dict[str, str], terminal: bool, drawn: bool) -> None:
    stream = io.StringIO()
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    assert draws(stream, environ) is drawn
