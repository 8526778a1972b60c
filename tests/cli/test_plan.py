"""`evalc plan`: what a run can show, before it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import evalc
from evalc.runtime.agents.base import Usage
from tests.cli.conftest import Invoke

ROWS = ", ".join(f"{{id: c{number}}}" for number in range(50))
MANY = f"""\
suite: many
gates: {{min_pass_rate: 0.9, confidence: 95%}}
eval:
  test_cases:
    - {{name: c, message: "{{{{id}}}}", for_each: [{ROWS}], validate: [non-empty]}}
"""


def test_what_so_many_cases_can_show(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(MANY)
    outcome = invoke("plan", "evals")
    assert (outcome.code, outcome.err) == (0, "")
    assert "a pass rate of 0.9 at 95 % holds from 49 of 50 passes on, and fails up to 40" in outcome.out
    assert "this many cases: a regression shows once 5 cases got worse (10 %); one of 13.1 % shows" in outcome.out
    assert "no earlier run says what a case costs" in outcome.out


def test_the_plan_as_json_with_the_costs_of_the_latest_run(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(MANY.replace("confidence: 95%", "confidence: 90%"))
    answer = evalc.AgentResponse(response="fine", usage=Usage(cost_usd=0.01))
    run = evalc.run("evals", agent=evalc.ScriptedAgent(default=answer))
    found = json.loads(invoke("plan", "evals", "--json").out)
    (suite,) = found["suites"]
    assert found["costsOf"] == run.run_id
    assert (suite["cases"], suite["attempts"], suite["gate"]["confidence"]) == (50, 50, 0.9)
    assert [(option["cases"], option["changed"]) for option in suite["options"]] == [(50, 4), (100, 4), (200, 4)]
    assert [option["costUsd"] for option in suite["options"]] == pytest.approx([0.5, 1, 2])


def test_too_few_cases_show_nothing(invoke: Invoke) -> None:
    outcome = invoke("plan", "evals", "--confidence", "95%")
    assert "this many cases: no regression can be shown" in outcome.out
    assert invoke("plan", "evals", "--confidence", "20%").code == 2
    assert invoke("plan", "nothing.eval.yaml").code == 2
