"""`evalc plan`: what a run can show, before it is run."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.model.answer import Usage
from evalc.model.numbers import percent
from tests.cli.conftest import Invoke

ROWS = ", ".join(f"{{id: c{number}}}" for number in range(50))
MANY = f"""\
suite: many
gates: {{min_pass_rate: 0.9, confidence: 95%}}
eval:
  test_cases:
    - {{name: c, message: "{{{{id}}}}", for_each: [{ROWS}], validate: [non-empty]}}
"""


def test_power_of_so_many_cases(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(MANY)
    outcome = invoke("plan", "evals")
    assert (outcome.code, outcome.err) == (0, "")
    assert (
        outcome.out
        == """\
What these cases can show, at 95 % confidence

The smallest fall of the pass rate, in points, that four of five runs show:

  suite  cases  now  with 2x  with 4x  cost
  many      50   22       14       10  -

No fall shows before 5 cases got worse, and more if others got better.
many: its gate, a pass rate of 0.9 at 95 %, is met from 49 of 50 passes on and is missed up to 40.
To show a fall of 10 points, add 150 or fewer to many.

Noise: 18 % of the verdicts change between two runs of the same agent; this is assumed, since there are too few earlier
runs: each case passes nine times in ten. `evalc run --repeat 5` measures it.
No earlier run says what a case costs.
"""
    )


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


def sometimes(share: float, seed: int) -> evalc.ScriptedAgent:
    draw = random.Random(seed)
    return evalc.ScriptedAgent(default=lambda _: "fine" if draw.random() < share else "")


def noise_of_plan(invoke: Invoke) -> dict[str, Any]:
    (suite,) = json.loads(invoke("plan", "evals", "--json").out)["suites"]
    noise: dict[str, Any] = suite["noise"]
    return noise


def test_the_power_goes_by_the_flips_between_earlier_runs(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(MANY)
    assert noise_of_plan(invoke) == {"source": "assumed", "passes": 0.9, "flips": 0.18, "of": 0}
    runs = [evalc.run("evals", agent=sometimes(0.8, seed)) for seed in range(3)]
    passed = [[case.passed for suite in run.suites for case in suite.cases] for run in runs]
    flips = [before != after for one, other in pairwise(passed) for before, after in zip(one, other, strict=True)]
    noise = noise_of_plan(invoke)
    assert (noise["source"], noise["of"]) == ("runs", 100)
    assert noise["flips"] == pytest.approx(sum(flips) / 100)
    assert f"as 100 verdicts of earlier runs show; {percent(noise['passes'])} pass" in invoke("plan", "evals").out


def test_the_power_goes_by_the_attempts_of_an_earlier_run(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(MANY)
    evalc.run("evals", agent=sometimes(0.8, 1), repeat=4)
    noise = noise_of_plan(invoke)
    assert (noise["source"], noise["of"]) == ("attempts", 200)
    assert noise["flips"] == pytest.approx(2 * 0.8 * 0.2, abs=0.1)
    assert noise["passes"] == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize("how", ["selected", "stopped", "rescored", "repeated", "cut short", "changed"])
def test_runs_that_say_nothing_of_the_noise_are_left_out(invoke: Invoke, project: Path, how: str) -> None:
    file = project / "evals" / "weather.eval.yaml"
    file.write_text(MANY)
    first = evalc.run("evals", agent=sometimes(0.8, 1))
    match how:
        case "selected":
            evalc.run("evals", agent=sometimes(0.8, 2), last_failed=first.run_id)
        case "stopped":
            evalc.run("evals", agent=sometimes(0.0, 2), maxfail=40)
        case "rescored":
            invoke("rescore", first.run_id)
        case "repeated":
            file.write_text(MANY.replace("message:", "repeat: 2, message:"))
            evalc.run("evals", agent=sometimes(0.8, 2))
        case "cut short":
            evalc.run("evals", agent=sometimes(0.5, 2), repeat=5, stop_when_sure=True)
        case _:
            file.write_text(MANY.replace("{{id}}", "again {{id}}"))
            evalc.run("evals", agent=sometimes(0.8, 2))
    assert noise_of_plan(invoke)["source"] == "assumed"


def test_too_few_cases_show_nothing(invoke: Invoke) -> None:
    outcome = invoke("plan", "evals", "--confidence", "95%")
    assert "  weather      1  none     none     none  -\n" in outcome.out
    assert "add more than 3 to weather." in outcome.out
    assert invoke("plan", "evals", "--confidence", "20%").code == 2
    assert invoke("plan", "nothing.eval.yaml").code == 2
