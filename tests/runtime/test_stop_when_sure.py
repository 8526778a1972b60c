"""Runs that end where their gates are decided, and repeats that end where their case is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalc
from evalc.model.case import Gates
from evalc.runtime.run.stopping import GateWatch, in_random_order

SUITE = """\
suite: numbers
{gates}eval:
  test_cases:
    - name: n
      message: "{{{{id}}}}"
      for_each: [{rows}]
      validate: ['contains "good"']
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()


def suite(cases: int, gates: str = "") -> evalc.Source:
    rows = ", ".join(f"{{id: c{number}}}" for number in range(cases))
    return evalc.Source("numbers.eval.yaml", SUITE.format(rows=rows, gates=gates))


def agent(failing: float) -> evalc.ScriptedAgent:
    """An agent of whose answers this share is bad."""
    return evalc.ScriptedAgent(default=lambda message: "bad" if int(message[1:]) % 100 < failing * 100 else "good")


@pytest.mark.parametrize(("failing", "code"), [(0.0, 0), (0.5, 1)])
@pytest.mark.parametrize("gates", ["", "gates: {min_pass_rate: 0.8}\n"])
def test_a_run_ends_where_its_gate_is_decided(failing: float, code: int, gates: str) -> None:
    least = None if gates else 0.8
    run = evalc.run(suite(200, gates), agent=agent(failing), stop_when_sure=True, concurrency=2, min_pass_rate=least)
    (result,) = run.suites
    assert run.exit_code == code
    assert 0 < result.summary.total_cases < 100
    assert result.decided is True
    verdict = "meet" if code == 0 else "miss"
    assert str(result.stopped).endswith(f"of 200 cases: all of them would {verdict} the gates, at 95 %")
    assert {skipped.stopped for skipped in result.skipped} == {True}
    (gate,) = run.finished.gates or result.gates or ()
    assert (gate.verdict, gate.passed, gate.confidence) == ("holds" if code == 0 else "fails", code == 0, 0.95)


def test_which_cases_finish_first_decides_nothing() -> None:
    watch = GateWatch(Gates(min_pass_rate=0.5), 20, {})
    for place in range(1, 20):
        watch.finished(place, True)
        assert decided(watch) is None
    watch.finished(0, True)
    assert decided(watch) == ("holds", frozenset(), 5)
    run = [
        evalc.run(suite(100), agent=agent(0.0), stop_when_sure=True, min_pass_rate=0.5, concurrency=c) for c in (1, 3)
    ]
    assert len({str(result.stopped) for each in run for result in each.suites}) == 1


def test_a_run_whose_gate_stays_open_asks_everything() -> None:
    run = evalc.run(suite(10), agent=agent(0.0), stop_when_sure=True, min_score=0.0)
    (result,) = run.suites
    assert result.summary.total_cases == 10
    assert not result.stopped


def test_without_the_flag_nothing_ends_early() -> None:
    (result,) = evalc.run(suite(100), agent=agent(0.0), min_pass_rate=0.1).suites
    assert result.summary.total_cases == 100


def test_a_run_that_was_stopped_goes_on_to_the_same_end(tmp_path: Path) -> None:
    first = evalc.run(suite(100), agent=agent(0.0), stop_when_sure=True, min_pass_rate=0.5)
    before = [(suite.stopped, suite.summary.total_cases) for suite in first.suites]
    journal = first.folder / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    kept = [line for number, line in enumerate(lines) if number < 4]
    journal.write_text("".join(kept))
    again = evalc.run(suite(100), agent=agent(0.0), resume=first.run_id, stop_when_sure=True, min_pass_rate=0.5)
    assert [(suite.stopped, suite.summary.total_cases) for suite in again.suites] == before


def test_a_stopped_run_is_no_baseline() -> None:
    Path("numbers.eval.yaml").write_text(suite(100).text)
    evalc.run("numbers.eval.yaml", agent=agent(0.0), stop_when_sure=True, min_pass_rate=0.5)
    run = evalc.run("numbers.eval.yaml", agent=agent(0.0), baseline="latest")
    (result,) = run.suites
    assert result.baseline_run_id is None


REPEATED = """\
suite: repeated
eval:
  test_cases:
    - {name: it, message: hi, repeat: 10, require: 3, validate: ['contains "good"']}
"""


@pytest.mark.parametrize(
    ("answers", "asked", "status"),
    [("ggg", 3, "passed"), ("bbbbbbbb", 8, "failed"), ("gbgbg", 5, "passed"), ("gbbbbbbgbb", 10, "failed")],
)
def test_repeats_end_where_the_case_is_decided(answers: str, asked: int, status: str) -> None:
    replies = iter(["good" if letter == "g" else "bad" for letter in answers])
    scripted = evalc.ScriptedAgent(default=lambda _message: next(replies))
    run = evalc.run(evalc.Source("r.eval.yaml", REPEATED), agent=scripted, stop_when_sure=True)
    (case,) = next(iter(run.suites)).cases
    assert (len(scripted.requests), case.status) == (asked, status)
    written = json.loads((run.folder / "repeated.labeled.json").read_text())["cases"][0]
    assert written.get("notAttempted", 0) == 10 - asked


def test_the_order_is_the_same_on_every_machine() -> None:
    assert in_random_order(range(10), "a") == in_random_order(range(10), "a")
    assert in_random_order(range(50), "a") != in_random_order(range(50), "b")
    assert sorted(in_random_order(range(50), "b")) == list(range(50))


def test_regressions_decide_at_once() -> None:
    watch = GateWatch(Gates(fail_on_regression=True), 20, dict.fromkeys(range(20), True))
    watch.finished(1, False)
    assert decided(watch) is None  # the case before it may still come
    watch.finished(0, True)
    assert decided(watch) == ("fails", frozenset({"failOnRegression"}), 2)


def test_with_a_confidence_regressions_decide_when_they_are_shown() -> None:
    watch = GateWatch(Gates(fail_on_regression=True, confidence=0.95), 20, dict.fromkeys(range(20), True))
    for place in range(20):
        watch.finished(place, False)
    assert decided(watch) == ("fails", frozenset({"failOnRegression"}), 7)


def decided(watch: GateWatch) -> tuple[str, frozenset[str], int] | None:
    found = watch.decided
    return None if found is None else (found.verdict, found.fails, found.seen)
