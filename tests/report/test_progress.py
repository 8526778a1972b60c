"""How a run's progress is told: one line on a terminal, a line a suite elsewhere."""

from __future__ import annotations

import io

import pytest

from evalc.model.result import SkippedCase
from evalc.model.suite import Suite
from evalc.report.progress import Progress
from evalc.terminal import Screen
from tests.report.results import case


def a_suite(size: int) -> Suite:
    return Suite(
        metadata=None, tool_name="get\x1bweather", tier="golden", file_hash="0", origin="a.yaml", cases=(), size=size
    )


def test_elsewhere_a_line_a_suite() -> None:
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=False) as progress:
        for size in (1, 2):
            progress.suite_started(a_suite(size))
            progress.case_finished(a_suite(size), case("a"))
            progress.suite_finished(a_suite(size), None)
    assert stream.getvalue() == (
        "running get\\x1bweather (golden): 1 case\nrunning get\\x1bweather (golden): 2 cases\n"
    )


def test_skipped_cases_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1.0)
    stream = io.StringIO()
    with Progress(stream, Screen(), drawn=True) as progress:
        progress.suite_started(a_suite(3))
        progress.case_skipped(a_suite(3), SkippedCase(id="b", description="d", reason="r", archived=False))
        progress.case_finished(a_suite(3), case("a"))
    assert "1/2 cases, 0 failed" in stream.getvalue()


def test_on_a_terminal_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([1.0, 1.05, 2.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    with Progress(stream, Screen(width=44), drawn=True) as progress:
        progress.suite_started(a_suite(3))
        progress.case_finished(a_suite(3), case("a"))
        progress.case_finished(a_suite(3), case("b", status="failed", error="e"))
        progress.case_finished(a_suite(3), case("c", status="error", error="e"))
    assert stream.getvalue().split("\r") == [
        "",
        "1/3 cases, 0 failed, get\\x1bweather".ljust(43),
        "3/3 cases, 2 failed, get\\x1bweather".ljust(43),
        " " * 43,
        "",
    ]
