"""`evalc run` that stops before its end, and runs that gates decide."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SUITE, Invoke, Outcome

MANY = """\
suite: many
{gates}eval:
  test_cases:
    - {{name: a, message: What is the weather in Paris?, validate: [contains "Paris"]}}
    - {{name: b, message: What is the weather in Paris?, validate: [contains "Lima"]}}
    - {{name: c, message: What is the weather in Paris?, validate: [contains "Lima"]}}
    - {{name: d, message: What is the weather in Paris?, validate: [contains "Paris"]}}
"""
PAID = """\
def agent(message):
    return {"response": "It is warm in Paris", "usage": {"costUsd": 0.1}}
"""


@pytest.fixture
def many(project: Path) -> Path:
    file = project / "evals" / "weather.eval.yaml"
    file.write_text(MANY.format(gates=""))
    return file


def suite_of(outcome: Outcome) -> dict[str, Any]:
    (suite,) = json.loads(outcome.out)["suites"]
    assert isinstance(suite, dict)
    return suite


@pytest.mark.parametrize(("flags", "ran"), [(["-x"], "ab"), (["--maxfail", "2"], "abc"), (["--maxfail", "3"], "abcd")])
def test_a_run_stops_after_failures_and_lists_what_it_did_not_run(
    invoke: Invoke, many: Path, flags: list[str], ran: str
) -> None:
    outcome = invoke("run", *flags, "--agent", "demo", "--json")
    assert outcome.code == 1
    suite = suite_of(outcome)
    assert [case["id"] for case in suite["cases"]] == [f"many/{name}" for name in ran]
    assert [case["id"] for case in suite["skipped"]] == [f"many/{name}" for name in "abcd"[len(ran) :]]
    assert all(case["stopped"] and case["reason"].startswith("not run: ") for case in suite["skipped"])
    assert ("stopped" in suite) is (len(ran) < 4)


def test_the_report_says_why_a_run_stopped(invoke: Invoke, many: Path) -> None:
    out = invoke("run", "-x", "--agent", "demo").out
    assert "\n    - many/c  not run: 1 case did not pass\n" in out
    assert "\n  ⚠ the run stopped: 1 case did not pass\n" in out


def test_a_run_that_stopped_can_be_resumed(invoke: Invoke, many: Path) -> None:
    run_id = suite_of(invoke("run", "-x", "--agent", "demo", "--json"))["runId"]
    suite = suite_of(invoke("run", "--resume", run_id, "--json"))
    assert [case["id"] for case in suite["cases"]] == ["many/a", "many/b", "many/c", "many/d"]
    assert (suite["skipped"], "stopped" in suite) == ([], False)


def test_a_ceiling_keeps_cases_from_running(invoke: Invoke, project: Path, many: Path) -> None:
    many.write_text(MANY.format(gates="").replace("Lima", "Paris"))
    (project / "paid.py").write_text(PAID)
    outcome = invoke("run", "--max-cost", "0.3", "--agent", "python:paid:agent", "--json")
    assert outcome.code == 1
    suite = suite_of(outcome)
    assert len(suite["cases"]) == 3
    assert suite["stopped"] == "the ceiling of $0.3: $0.3 is spent, and a case has cost up to $0.1"
    assert invoke("run", "--max-cost", "0.4", "--agent", "python:paid:agent").code == 0


def test_a_ceiling_that_sees_nothing_says_so(invoke: Invoke, many: Path) -> None:
    out = invoke("run", "--max-cost", "1", "--agent", "demo").out
    assert "  ⚠ the ceiling of $1 cannot see what 4 cases cost: that is not known\n" in out


@pytest.mark.parametrize(
    ("flags", "code", "line"),
    [
        (["--min-pass-rate", "0.5"], 0, "  ✓ pass rate 0.50, at least 0.5 is needed"),
        (["--min-pass-rate", "0.51"], 1, "  ✗ pass rate 0.50, at least 0.51 is needed"),
        (["--min-score", "0.1"], 1, "  ✗ score unknown, at least 0.1 is needed"),
        (["--max-p95", "60s"], 0, "ms, at most 60000ms are allowed"),
        (["--max-p95", "60s", "--min-pass-rate", "1"], 1, "  ✗ pass rate 0.50, at least 1 is needed"),
    ],
)
def test_gates_decide_in_place_of_the_cases(invoke: Invoke, many: Path, flags: list[str], code: int, line: str) -> None:
    outcome = invoke("run", *flags, "--agent", "demo")
    assert outcome.code == code
    assert f"{line}\n" in outcome.out


def test_only_regressions_fail_a_run(invoke: Invoke, many: Path) -> None:
    """Before there is a baseline, whatever fails does."""
    assert invoke("run", "--fail-on-regression", "--agent", "demo").code == 1
    assert invoke("run", "--fail-on-regression", "--agent", "demo").code == 1
    assert invoke("accept").code == 0
    assert invoke("run", "--fail-on-regression", "--agent", "demo").code == 0
    many.write_text(MANY.format(gates="").replace('"Paris"]', '"Lima"]', 1))
    outcome = invoke("run", "--fail-on-regression", "--agent", "demo")
    assert outcome.code == 1
    assert "  ✗ 1 regression, none is allowed\n" in outcome.out


def test_gates_of_a_suite(invoke: Invoke, many: Path) -> None:
    many.write_text(MANY.format(gates="gates: {min_pass_rate: 0.5}\n"))
    outcome = invoke("run", "--agent", "demo", "--json")
    assert outcome.code == 0
    assert suite_of(outcome)["gates"] == [{"gate": "minPassRate", "limit": 0.5, "value": 0.5, "passed": True}]
    invoke("compile", "evals", "-o", "build")
    compiled = json.loads(Path("build/many.labeled.json").read_text())
    assert compiled["metadata"]["gates"] == {"minPassRate": 0.5}
    assert invoke("run", "build/many.labeled.json", "--agent", "demo").code == 0
    (many.parent / "other.eval.yaml").write_text(MANY.format(gates="").replace("suite: many", "suite: other"))
    assert invoke("run", "--agent", "demo").code == 1
    assert invoke("run", "--agent", "demo", "--min-pass-rate", "0.5").code == 0
    assert invoke("run", "--agent", "demo", "--min-pass-rate", "0.6").code == 1


def test_gates_of_the_configuration(invoke: Invoke, project: Path, many: Path) -> None:
    (project / "evalc.toml").write_text('agent = "demo"\nmin_pass_rate = 0.5\n')
    assert invoke("run").code == 0
    assert invoke("run", "--min-pass-rate", "0.9").code == 1


def test_an_error_beats_a_gate(invoke: Invoke, project: Path, many: Path) -> None:
    (project / "evalc.toml").write_text("agent.retries = 0\n")
    assert invoke("run", "--min-pass-rate", "0", "--agent", "http://127.0.0.1:1/").code == 3


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--min-pass-rate", "90"], "`--min-pass-rate` must be between 0 and 1"),
        (["--min-score", "-0.1"], "`--min-score` must be between 0 and 1"),
        (["--max-p95", "0s"], "`--max-p95` must be above 0"),
        (["--max-cost", "0"], "`--max-cost` must be above 0"),
    ],
)
def test_limits_that_are_none(invoke: Invoke, many: Path, flags: list[str], message: str) -> None:
    outcome = invoke("run", *flags, "--agent", "demo")
    assert (outcome.code, outcome.err) == (2, f"error: {message}\n")


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        ("gates: {min_pass_rate: 1.5}", "error[EV303]: `min_pass_rate` is 1.5; it has to be between 0 and 1"),
        ("gates: {max_p95_ms: 0}", "error[EV303]: `max_p95_ms` is 0; it has to be above 0"),
        ("gates: {max_p95: 0s}", "error[EV301]: `max_p95` must be a time with its unit, such as `30s`"),
        ("gates: {max_p95: 5}", "error[EV301]: `max_p95` must be a time with its unit, such as `30s`"),
        ("gates: {max_p95: 5s, max_p95_ms: 5000}", "error[EV312]: `max_p95_ms` and `max_p95` exclude each other"),
        ("gates: {min_scor: 1}", "error[EV201]: `min_scor` is not a key of `gates`"),
        ("gates: 0.9", "error[EV301]: "),
    ],
)
def test_gates_of_a_suite_that_are_wrong(invoke: Invoke, many: Path, gates: str, message: str) -> None:
    many.write_text(MANY.format(gates=f"{gates}\n"))
    outcome = invoke("check")
    assert outcome.code == 2
    assert outcome.err.startswith(message) or outcome.out.startswith(message)


def test_gates_of_a_compiled_file_that_are_wrong(invoke: Invoke, project: Path) -> None:
    case = {"id": "gs-a-001", "description": "d", "input": {"message": "m"}, "expect": {"responseContains": ["a"]}}
    envelope = {"metadata": {"gates": {"minPassRate": 2}}, "cases": [case]}
    (project / "a.golden.json").write_text(json.dumps(envelope))
    outcome = invoke("check", "a.golden.json")
    assert outcome.code == 2
    assert "`minPassRate` is 2; it has to be between 0 and 1" in outcome.out + outcome.err


def test_how_much_is_shown(invoke: Invoke, many: Path) -> None:
    quiet = invoke("run", "-q", "--agent", "demo").out
    assert "many/b" in quiet
    assert "many/a" not in quiet
    verbose = invoke("run", "-v", "--agent", "demo").out
    assert re.search(r'^    ✓ evals/\S+:\d+:\d+  contains "', verbose, re.MULTILINE)
    slowest = invoke("run", "--durations", "2", "--agent", "demo").out
    assert slowest.count("many/") == 6
    assert "\n  SLOWEST (2)\n" in slowest


def test_settings_and_where_they_come_from(invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    (project / "evalc.toml").write_text(
        'concurrency = 4\n[agent]\nuse = "http://me:a-password@localhost/chat"\n'
        'headers = { Authorization = "Bearer a-secret-token" }\n'
    )
    outcome = invoke("run", "--show-settings", "--timeout", "5ms")
    assert outcome.code == 0
    lines = dict(line.split(" = ", 1) for line in outcome.out.splitlines())
    shown = {name.strip(): value for name, value in lines.items()}
    assert shown["concurrency"] == "4  # evalc.toml"
    assert shown["timeout"] == '"5ms"  # --timeout'
    assert shown["strict"] == "false  # default"
    assert shown["output_dir"] == '"evals/results"  # default'
    assert shown["openai.base_url"] == '"http://localhost:1/v1"  # the environment: OPENAI_BASE_URL'
    assert shown["agent.headers"] == '{"Authorization": "***"}  # evalc.toml'
    assert "a-password" not in outcome.out
    assert "a-secret-token" not in outcome.out


def test_variables_of_a_file_are_secrets_and_never_win(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {**os.environ, "MODE": "real"})
    (project / "telling.py").write_text(
        "import os\ndef agent(message):\n    return 'Paris ' + os.environ['A_TOKEN'] + os.environ['MODE']\n"
    )
    (project / ".env").write_text("A_TOKEN=planted-secret\nMODE=file\n")
    outcome = invoke("run", "--env-file", ".env", "--agent", "python:telling:agent", "--json")
    assert "planted-secret" not in outcome.out
    assert "real" in suite_of(outcome)["cases"][0]["details"]["response"]
    for file in (project / "evals" / "results").rglob("*"):
        assert file.is_dir() or b"planted-secret" not in file.read_bytes()
    assert invoke("run", "--env-file", "nope", "--agent", "demo").code == 2


def test_a_confidence_beside_a_gate(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "evals", "--agent", "demo", "--min-pass-rate", "0.5", "--confidence", "95%", "--json")
    assert outcome.code == 1
    (gate,) = json.loads(outcome.out)["gates"]
    assert (gate["verdict"], gate["confidence"], gate["moreCases"], gate["passed"]) == ("undecided", 0.95, 4, False)
    outcome = invoke("run", "evals", "--agent", "demo", "--min-pass-rate", "0.5", "--confidence", "0.95")
    assert "undecided at 95 %; about 4 cases more would decide" in outcome.out
    for wrong in ("95", "50%", "1", "sure"):
        assert invoke("run", "evals", "--agent", "demo", "--min-pass-rate", "0.5", "--confidence", wrong).code == 2
    outcome = invoke("run", "evals", "--agent", "demo", "--confidence", "95%")
    assert outcome.code == 2
    assert "this run has none" in outcome.err


@pytest.mark.parametrize(
    ("gate", "shown"),
    [
        ("min_pass_rate: 0", "min_pass_rate: 0"),
        ("min_score: 0.0", "min_score: 0"),
        ("macro_f1: 0", "macro_f1: 0"),
        ("recall: {celsius: 0}", "recall: {celsius: 0}"),
        ("precision: {celsius: 0}", "precision: {celsius: 0}"),
    ],
)
def test_gates_of_a_suite_that_no_outcome_misses(invoke: Invoke, project: Path, gate: str, shown: str) -> None:
    """Beside such a gate no case has to pass, so the suite would be green whatever the agent does."""
    path = project / "evals" / "weather.eval.yaml"
    path.write_text(f"gates: {{{gate}}}\ncriteria: [answer]\n" + SUITE)
    warning = f"warning[EV501]: `{shown}` cannot fail: no outcome is below 0"
    assert warning in invoke("check", "evals").out
    assert invoke("check", "evals", "--strict").code == 2
    path.write_text(
        f"gates: {{{gate.replace('0}', '1}') if '}' in gate else gate[:-1] + '1'}}}\ncriteria: [answer]\n" + SUITE
    )
    assert "EV501" not in invoke("check", "evals").out


def test_gates_of_a_suite_that_no_outcome_meets(invoke: Invoke, project: Path) -> None:
    path = project / "evals" / "weather.eval.yaml"
    path.write_text("gates: {min_pass_rate: 0.9, confidence: 95%}\n" + SUITE)
    outcome = invoke("check", "evals")
    assert outcome.code == 2
    assert "error[EV701]: 1 case cannot show a pass rate of 0.9 at 95 %, even if every one passes" in outcome.out
    assert "29 cases can, if all of them pass" in outcome.out
    path.write_text("gates: {fail_on_regression: true, confidence: 95%}\n" + SUITE)
    outcome = invoke("check", "evals")
    assert outcome.code == 0
    assert "warning[EV702]: 1 case cannot show a regression at 95 %: 5 that get worse are needed" in outcome.out
    assert invoke("check", "evals", "--strict").code == 2
