"""Runs that end where their gates are decided, and repeats that end where their case is."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

import evalc
from evalc.model.case import Gates
from evalc.runtime.run.gates import GateWatch, in_random_order
from tests.support.command_line import app

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


def test_the_order_of_finishing_decides_nothing() -> None:
    watch = GateWatch(Gates(min_pass_rate=0.5), 20, {})
    for place in range(1, 20):
        watch.finished(place, "passed")
        assert decided(watch) is None
    watch.finished(0, "passed")
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
    first = evalc.run(suite(100), agent=agent(0.0), stop_when_sure=True, min_pass_rate=0.5, save=True)
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


TWENTY = """\
suite: twenty
{gates}eval:
  test_cases:
    - name: it
      message: "{{{{id}}}}"
      repeat: 10
      require: 2
      for_each: [{rows}]
      validate: ['contains "good"']
"""


def flaky(seed: int) -> evalc.ScriptedAgent:
    draw = random.Random(seed)
    return evalc.ScriptedAgent(default=lambda _message: "good" if draw.random() < 0.3 else "bad")


def twenty(gates: str = "") -> evalc.Source:
    rows = ", ".join(f"{{id: c{number}}}" for number in range(20))
    return evalc.Source("t.eval.yaml", TWENTY.format(rows=rows, gates=gates))


def test_pass_at_k_is_not_estimated_where_attempts_were_left_out() -> None:
    (whole,) = evalc.run(twenty(), agent=flaky(1)).suites
    assert whole.summary.repeats
    assert not whole.summary.cut_short
    assert whole.summary.repeats[0].pass_at_k == pytest.approx(0.3, abs=0.1)
    run = evalc.run(twenty(), agent=flaky(1), stop_when_sure=True, save=True)
    (result,) = run.suites
    cut_short = sum(bool(case.not_attempted) for case in result.cases)
    assert cut_short > 10
    assert not result.summary.repeats
    assert result.summary.cut_short == cut_short
    message = f"{cut_short} of 20 repeated cases ended before the last attempt: pass@k cannot be estimated"
    assert [warning for warning in result.warnings if message in warning]
    assert "repeats" not in json.loads((run.folder / "twenty.labeled.json").read_text())["summary"]


@pytest.mark.parametrize("report", ["x.txt", "x.md", "x.html", "x.json"])
def test_every_report_says_that_pass_at_k_is_not_estimated(report: str) -> None:
    evalc.run(twenty(), agent=flaky(1), stop_when_sure=True, save=True)
    with pytest.raises(SystemExit):
        app(["report", "latest", "-o", report])
    text = Path(report).read_text(encoding="utf-8")
    assert "20 repeated cases ended before the last attempt" in text
    assert "cannot be estimated" in text


def test_tables_say_how_many_attempts_were_left_out() -> None:
    run = evalc.run(twenty(), agent=flaky(1), stop_when_sure=True, save=True)
    (result,) = run.suites
    left_out = [case.not_attempted or 0 for case in result.cases]
    for report in ("x.csv", "x.xml"):
        with pytest.raises(SystemExit):
            app(["report", run.run_id, "-o", report])
    rows = list(csv.DictReader(Path("x.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(row["not_attempted"] or 0) for row in rows] == left_out
    assert Path("x.xml").read_text(encoding="utf-8").count(" not made") == sum(map(bool, left_out))


@pytest.mark.parametrize("gates", ["gates: {min_score: 0}\n", "gates: {max_p95_ms: 60000}\n", "threshold: 0\n"])
def test_measures_of_every_attempt_keep_every_attempt(gates: str) -> None:
    (result,) = evalc.run(twenty(gates), agent=flaky(1), stop_when_sure=True).suites
    assert not result.summary.cut_short
    assert {len(case.attempts or ()) for case in result.cases} == {10}


def test_a_rescored_run_keeps_the_cases_that_were_decided_early() -> None:
    Path("t.eval.yaml").write_text(twenty().text)
    first = evalc.run("t.eval.yaml", agent=flaky(1), stop_when_sure=True)
    with pytest.raises(SystemExit):
        app(["rescore", first.run_id])
    results = sorted(Path("evals/results").glob("*/twenty.labeled.json"))
    before, after = (json.loads(file.read_text()) for file in results)
    assert after["summary"]["totalCases"] == 20
    verdicts = [
        [(case["id"], case["status"], case.get("notAttempted")) for case in r["cases"]] for r in (before, after)
    ]
    assert verdicts[0] == verdicts[1]


def test_the_order_is_the_same_on_every_machine() -> None:
    assert in_random_order(range(10), "a") == in_random_order(range(10), "a")
    assert in_random_order(range(50), "a") != in_random_order(range(50), "b")
    assert sorted(in_random_order(range(50), "b")) == list(range(50))


def test_regressions_decide_at_once() -> None:
    watch = GateWatch(Gates(fail_on_regression=True), 20, dict.fromkeys(range(20), True))
    watch.finished(1, "failed")
    assert decided(watch) is None  # the case before it may still come
    watch.finished(0, "passed")
    assert decided(watch) == ("fails", frozenset({"failOnRegression"}), 2)


def test_with_a_confidence_regressions_decide_when_they_are_shown() -> None:
    watch = GateWatch(Gates(fail_on_regression=True, confidence=0.95), 20, dict.fromkeys(range(20), True))
    for place in range(20):
        watch.finished(place, "failed")
    assert decided(watch) == ("fails", frozenset({"failOnRegression"}), 8)


def decided(watch: GateWatch) -> tuple[str, frozenset[str], int] | None:
    found = watch.decided
    return None if found is None else (found.verdict, found.fails, found.seen)
