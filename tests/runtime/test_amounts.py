"""Amounts beyond all reason: refused where they come from, never kept, and no end of the run that has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalc.base.errors import AgentProtocolError
from evalc.diagnostics.raised import outside
from evalc.model.answer import AgentResponse, ToolCall, Usage
from evalc.model.numbers import SHARE, WEIGHT, shown_number
from evalc.runtime.agents.wire import refuse_absurd
from evalc.runtime.run.attempts import combine
from evalc.runtime.store.journal import CaseRun
from tests.cli.conftest import Invoke, invoke, project
from tests.report.results import case
from tests.runtime.test_resume import case as case_of

__all__ = ["invoke", "project"]

HUGE = int("9" * 300)
AGENT = """\
import json
HUGE = int("9" * 300)
SAID = {said}
def answer(message):
    return {{"response": "It is 17 degrees.", **SAID}}
def judge(question):
    return 1
"""
ABSURD = (
    ('{"usage": {"costUsd": 2e15}}', "`usage.costUsd` is 2e+15"),
    ('{"usage": {"costUsd": HUGE}}', "`usage.costUsd` is an integer of about 301 digits"),
    ('{"usage": {"costUsd": 1e308}}', "`usage.costUsd` is 1e+308"),
    ('{"usage": {"costUsd": float("nan")}}', "`usage.costUsd` is nan"),
    ('{"usage": {"costUsd": float("inf")}}', "`usage.costUsd` is inf"),
    ('{"usage": {"costUsd": -0.1}}', "`usage.costUsd` is -0.1"),
    ('{"usage": {"inputTokens": 10**4000}}', "`usage.inputTokens` is an integer of about 4001 digits"),
    ('{"usage": {"output_tokens": -1}}', "`usage.outputTokens` is -1"),
    ('{"usage": {"output_tokens": 1.5}}', "`usage.outputTokens` is 1.5, not a whole number"),
    ('{"toolCalls": [{"name": "a", "durationMs": 1e300}]}', "`toolCalls[0].durationMs` is 1e+300"),
)


@pytest.mark.parametrize(("said", "why"), ABSURD)
def test_an_absurd_amount_is_an_error_of_its_case_and_the_run_can_be_read(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, said: str, why: str
) -> None:
    monkeypatch.syspath_prepend(str(project))
    name = f"absurd_{abs(hash(said))}"
    (project / f"{name}.py").write_text(AGENT.format(said=said))
    text = (project / "evals" / "weather.eval.yaml").read_text()
    (project / "evals" / "weather.eval.yaml").write_text(text.replace("message:", "repeat: 2\n      message:", 1))
    outcome = invoke("run", "--agent", f"python:{name}:answer")
    assert outcome.code == 3
    assert why in " ".join(outcome.out.split())
    (folder,) = (path for path in (project / "evals" / "results").iterdir() if path.is_dir())
    assert invoke("show").out == outcome.out
    assert invoke("run", "--resume", folder.name).code == 3
    assert invoke("rescore", folder.name).code == 3
    assert invoke("history").code == 0


def test_the_run_of_an_agent_that_says_nothing_sensible_goes_on(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "results").mkdir(parents=True)
    assert invoke("run", "--agent", "demo").code == 0


@pytest.mark.parametrize(
    "response",
    [
        AgentResponse(response="a", usage=Usage(input_tokens=10**12, output_tokens=0, cost_usd=1e6), duration_ms=1e10),
        AgentResponse(response="a", usage=Usage(), tool_calls=(ToolCall(name="a", duration_ms=0),)),
    ],
)
def test_amounts_that_may_be(response: AgentResponse) -> None:
    refuse_absurd(response)


def test_a_recorded_duration_is_looked_at_too() -> None:
    with pytest.raises(AgentProtocolError, match=r"`durationMs` is inf"):
        refuse_absurd(AgentResponse(response="a", duration_ms=float("inf")))


def test_a_sum_that_overflows_is_unknown() -> None:
    details = msgspec.structs.replace(case("a").details, usage={"costUsd": 1e308, "inputTokens": 2})
    result = msgspec.structs.replace(case("a"), details=details)
    combined = combine(case_of("a", repeat=2), [CaseRun(result), CaseRun(result)])
    assert combined.result.details.usage == {"inputTokens": 4}


@pytest.mark.parametrize("weight", ["1e308", "5e-324", "-1", "1" + "0" * 300])
def test_a_weight_beyond_all_reason_is_refused(invoke: Invoke, project: Path, weight: str) -> None:
    suite = project / "evals" / "w.eval.yaml"
    case_ = "{name: a, message: hi, validate: [{type: non_empty, criterion: tone, weight: W}]}"
    links = [{"name": "tone", "weight": 1, "checks": [{"at": ["/expect/responseNonEmpty"], "weight": "W"}]}]
    expect = {"responseNonEmpty": True}
    entry: dict[str, Any] = {"id": "a", "description": "a", "input": {"message": "hi"}, "expect": expect}
    compiled = {"cases": [{**entry, "difficulty": "straightforward", "criteria": links}]}
    for text in (
        f"suite: w\neval:\n  criteria: [tone]\n  test_cases:\n    - {case_}\n",
        f"suite: w\neval:\n  criteria: [{{name: tone, weight: W}}]\n  test_cases:\n    - {case_.replace('W', '1')}\n",
        json.dumps(compiled).replace('"W"', "W"),
    ):
        suite.unlink(missing_ok=True)
        suite = project / "evals" / ("w.labeled.json" if text.startswith("{") else "w.eval.yaml")
        suite.write_text(text.replace("W", weight))
        outcome = invoke("check", str(suite))
        assert (outcome.code, "EV303" in outcome.out) == (2, True), outcome.out


def test_weights_that_are_multiplied_are_refused_where_they_come_to_too_much(invoke: Invoke, project: Path) -> None:
    rules = "".join(f"  r{n}: [{{use: r{n + 1}, weight: 1000000000}}]\n" for n in range(40))
    case_ = "{name: a, message: hi, validate: [{use: r0, criterion: tone}]}"
    (project / "evals" / "w.eval.yaml").write_text(
        f"suite: w\nrules:\n{rules}  r40: [non-empty]\neval:\n  criteria: [tone]\n  test_cases: [{case_}]\n"
    )
    outcome = invoke("check", "evals/w.eval.yaml")
    assert (outcome.code, "the weight is an integer of about 361 digits" in outcome.out) == (2, True)


def test_a_number_is_not_shown_as_one_that_would_be_taken() -> None:
    shown = [
        finding.fields["value"] for number in (1.0000001, 1.5, -3) if (finding := outside("`threshold`", number, SHARE))
    ]
    assert shown == ["1.0000001", "1.5", "-3"]


def test_valid_and_invalid_weights() -> None:
    assert [weight for weight in (0, 1e-10, 1e-9, 1, 1e9, 1e10, float("nan")) if WEIGHT.takes(weight)] == [
        0,
        1e-9,
        1,
        1e9,
    ]
    assert [shown_number(number) for number in (1.5, 7, -(10**40))] == ["1.5", "7", "an integer of about 41 digits"]
