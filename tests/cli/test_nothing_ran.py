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
WARNING = "no case ran, so nothing was verified: all 2 cases skipped"


@pytest.fixture
def skipped(project: Path) -> Path:
    suite = project / "evals" / "weather.eval.yaml"
    suite.write_text(SKIPPED)
    return suite


def test_every_case_was_skipped(invoke: Invoke, skipped: Path) -> None:
    outcome = invoke("run", "--agent", "demo")
    assert outcome.code == 0
    assert WARNING in outcome.out
    for gate in (["--strict"], ["--min-pass-rate", "0.5"], ["--fail-on-regression"], ["--max-p95-ms", "100"]):
        outcome = invoke("run", "--agent", "demo", *gate)
        assert outcome.code == 1, gate
        assert WARNING in outcome.out


def test_a_rescore_without_a_recorded_response(invoke: Invoke, project: Path) -> None:
    suite = project / "evals" / "weather.eval.yaml"
    invoke("run", "--agent", "demo")
    suite.write_text(suite.read_text().replace("in Paris?", "in Rome?"))
    outcome = invoke("rescore", "latest")
    assert outcome.code == 0
    assert "no case ran, so nothing was verified: the only case skipped" in outcome.out
    assert invoke("rescore", "latest~1", "--strict").code == 1


def test_what_may_be_empty_stays_green(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo").code == 0
    assert invoke("run", "--agent", "demo", "--failed-from", "latest", "--strict").code == 0
