"""Checks see exactly what is kept: a run that is checked again comes to the same verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke, invoke, project

__all__ = ["invoke", "project"]

AGENT = """\
class Celsius(float):
    pass
SAID = {said}
def answer(message):
    return {{"response": "ok", "toolCalls": [{{"name": "t", "success": True, "params": {{"p": SAID}}}}]}}
"""
CHECKS = ('equals "NaN"', 'equals "null"', 'equals "1.5"', "exists", 'contains "n"', "not exists", 'matches "/[0-9]/"')


@pytest.mark.parametrize(
    "said", ['float("nan")', '-float("inf")', "[float('nan'), 1.5]", "(1, 2)", "Celsius(1.5)", "10**30", "1e300"]
)
def test_parameters_that_only_python_knows(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.syspath_prepend(str(project))
    name = f"kept_{abs(hash(said))}"
    (project / f"{name}.py").write_text(AGENT.format(said=said))
    cases = "".join(
        f"    - {{name: c{number}, message: hi, validate: ['tool t.p {check}']}}\n"
        for number, check in enumerate(CHECKS)
        if not check.startswith("matches")
    )
    (project / "evals" / "weather.eval.yaml").write_text(f"suite: weather\neval:\n  test_cases:\n{cases}")
    run = invoke("run", "--agent", f"python:{name}:answer")
    again = invoke("rescore", "latest")
    marks = [
        [line.split()[:2] for line in outcome.out.splitlines() if " weather/c" in line] for outcome in (run, again)
    ]
    assert len(marks[0]) == len(CHECKS) - 1
    assert marks[0] == marks[1]


def test_an_integer_that_is_too_long_is_named(invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(project))
    (project / "kept_long.py").write_text(AGENT.format(said="10**5000"))
    run = invoke("run", "--agent", "python:kept_long:answer")
    assert run.code == 3
    assert "`toolCalls[0].params.p` is an integer of about 5001 digits, which is too long" in run.out


GROUNDED = """\
def answer(message):
    calls = [{"name": "t", "result": {"temperature": 16.6, "key": "s3cr3t-word"}}, {"name": "u", "error": "no room 42"}]
    return {"response": "17 degrees, room 42", "toolCalls": calls}
"""


def test_results_of_tools_are_kept_without_secrets_and_checked_again(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(project))
    monkeypatch.setenv("TOOL_KEY", "s3cr3t-word")
    (project / "kept_grounded.py").write_text(GROUNDED)
    evals = project / "evals" / "weather.eval.yaml"
    evals.write_text("eval:\n  test_cases:\n    - {name: c, message: hi, validate: [numbers from tools]}\n")
    assert invoke("run", "--agent", "python:kept_grounded:answer").code == 0
    evals.write_text(evals.read_text().replace("tools]", "tools, not numbers from message]"))
    assert invoke("rescore", "latest").code == 0
    (project / "evalc.toml").write_text('secrets = ["TOOL_KEY"]\n')
    assert invoke("run", "--agent", "python:kept_grounded:answer").code == 0
    *_, result = sorted((project / "evals" / "results").glob("*/weather*.json"))
    calls = json.loads(result.read_text())["cases"][0]["details"]["toolCalls"]
    assert calls[0]["result"]["temperature"] == 16.6
    assert "s3cr3t" not in result.read_text()
    assert (calls[1]["error"], calls[1]["success"]) == ("no room 42", False)
