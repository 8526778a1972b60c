"""What is checked is what is kept: a run that is checked again comes to the same verdicts."""

from __future__ import annotations

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
    marks = [[line.split()[:2] for line in told.out.splitlines() if " weather/c" in line] for told in (run, again)]
    assert len(marks[0]) == len(CHECKS) - 1
    assert marks[0] == marks[1]


def test_an_integer_that_is_too_long_is_named(invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(project))
    (project / "kept_long.py").write_text(AGENT.format(said="10**5000"))
    run = invoke("run", "--agent", "python:kept_long:answer")
    assert run.code == 3
    assert "`toolCalls[0].params.p` is an integer of about 5001 digits, which is too long" in run.out
