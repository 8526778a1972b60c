"""Runs in which no case ran: a warning, and red under `--strict` and wherever there is a gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

SKIPPED = """\
suite: weather
eval:
  test_cases:
    - {name: a, message: hi, skip: later, validate: [non-empty]}
    - {name: b, message: ho, archived: gone, validate: [non-empty]}
"""
CHECKS = {"sound": "non-empty", "bare": "tool search.city equals 'x'"}
"""A check that runs, and one of a call that is not made."""
WARNING = "no case ran, so nothing was verified: all 2 cases were skipped"


@pytest.fixture
def skipped(project: Path) -> Path:
    suite = project / "evals" / "weather.eval.yaml"
    suite.write_text(SKIPPED)
    return suite


def test_every_case_was_skipped(invoke: Invoke, skipped: Path) -> None:
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 0
    assert WARNING in outcome.out
    for gate in (["--strict"], ["--min-pass-rate", "0.5"], ["--fail-on-regression"], ["--max-p95", "100ms"]):
        outcome = invoke("run", "--agent", "demo", *gate)
        assert outcome.code == 1, gate
        assert WARNING in outcome.out


@pytest.mark.parametrize("flags", [(), ("-q",), ("-v",), ("--strict",), ("--min-pass-rate", "0.5", "-q")])
def test_the_last_line_says_that_nothing_ran(invoke: Invoke, skipped: Path, flags: tuple[str, ...]) -> None:
    out = invoke("run", "--agent", "demo", *flags).out
    assert out.splitlines()[-1].endswith(WARNING)
    assert out.count(WARNING) == 1
    assert invoke("show", "latest").out.splitlines()[-1].endswith(WARNING)


@pytest.mark.parametrize(
    "gates",
    [
        "gates: {min_pass_rate: 0}",
        "gates: {max_p95_ms: 5}",
        "gates: {fail_on_regression: true}",
        "gates: {fail_on_regression: true, confidence: 95%}",
        "gates: {macro_f1: 0}",
        "gates: {min_score: 0}",
        "threshold: 0",
    ],
)
def test_no_gate_of_a_suite_is_met_where_no_case_ran(invoke: Invoke, skipped: Path, gates: str) -> None:
    skipped.write_text(f"{gates}\n{SKIPPED}")
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 1, outcome.out + outcome.err


@pytest.mark.parametrize(
    "flags",
    [
        ("--min-pass-rate", "1"),
        ("--min-pass-rate", "0.5", "--confidence", "90%"),
        ("--min-pass-rate", "0.5", "--stop-when-sure"),
        ("--fail-on-regression",),
        ("--min-score", "0"),
    ],
)
def test_no_gate_is_met_where_no_case_verified_anything(invoke: Invoke, project: Path, flags: tuple[str, ...]) -> None:
    suite = project / "evals" / "weather.eval.yaml"
    suite.write_text(
        "suite: weather\neval:\n  test_cases:\n"
        + "".join(f"    - {{name: c{n}, message: hi, validate: ['contains \"{{{{seed:x}}}}\"']}}\n" for n in range(40))
    )
    outcome = invoke("run", "--agent", "demo", *flags)
    assert outcome.code == 1, outcome.out + outcome.err
    assert outcome.out.splitlines()[-1].endswith("nothing was verified: the assertions of all 40 cases were skipped")
    assert invoke("run", "--agent", "demo").code == 0


def test_strict_counts_the_cases_that_verified_nothing(invoke: Invoke, project: Path) -> None:
    suite = project / "evals" / "weather.eval.yaml"
    cases = [f"{{name: {name}, message: hi, validate: [{check}]}}" for name, check in CHECKS.items()]
    suite.write_text("suite: weather\neval:\n  test_cases:\n" + "".join(f"    - {case}\n" for case in cases))
    outcome = invoke("run", "--agent", "demo", "--strict")
    assert (outcome.code, outcome.out.splitlines()[-1]) == (1, "✗ failed: 1 of 2 cases verified nothing")


def test_a_rescore_without_a_recorded_response(invoke: Invoke, project: Path) -> None:
    suite = project / "evals" / "weather.eval.yaml"
    invoke("run", "--agent", "demo")
    suite.write_text(suite.read_text().replace("in Paris?", "in Rome?"))
    outcome = invoke("rescore", "latest")
    assert outcome.code == 1
    assert "no case ran, so nothing was verified: the only case was skipped" in outcome.out


def test_runs_that_may_be_empty_stay_green(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo").code == 0
    assert invoke("run", "--agent", "demo", "--last-failed=latest", "--strict").code == 0
