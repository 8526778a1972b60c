"""Limits of 0: those that mean 0 fail what is above it, and import keeps them; those of the contract assert nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.diagnostics import Diagnostics
from evalc.extras.importers import import_tool_forge

ANSWER = {
    "response": "hello",
    "toolCalls": [{"name": "a", "success": True, "durationMs": 1, "params": {}}],
    "usage": {"costUsd": 0.1},
}
AGENT = evalc.ScriptedAgent({"hi": ANSWER})


def written(expect: dict[str, Any]) -> str:
    case = {"id": "ls-a-001", "description": "a", "difficulty": "edge", "input": {"message": "hi"}, "expect": expect}
    return json.dumps({"metadata": {"toolName": "a", "tier": "labeled"}, "cases": [case]})


@pytest.mark.parametrize("field", ["maxToolCalls", "maxLength", "maxCost"])
def test_a_limit_of_0_means_0(field: str, tmp_path: Path) -> None:
    source = evalc.Source("a.labeled.json", written({field: 0, "toolsNotCalled": ["x"]}))
    (suite,) = evalc.run(source, agent=AGENT, output_dir=tmp_path).suites
    assert str(suite.cases[0].error).startswith(field)
    made = import_tool_forge(source, Diagnostics())
    assert made is not None
    imported = evalc.compile(made.write(tmp_path))
    (case,) = next(iter(imported.suites)).cases()
    assert json.loads(evalc.compile(source).suites[0].encode_line())["cases"][0]["expect"][field] == 0
    assert (
        getattr(case.expect, {"maxToolCalls": "max_tool_calls", "maxLength": "max_length"}.get(field, "max_cost")) == 0
    )


@pytest.mark.parametrize("field", ["maxLatencyMs", "maxTokens"])
def test_those_of_the_contract_assert_nothing_at_0(field: str, tmp_path: Path) -> None:
    source = evalc.Source("a.labeled.json", written({field: 0, "toolsNotCalled": ["x"]}))
    assert [problem.code for problem in evalc.check(source)] == ["EV501"]
    assert evalc.run(source, agent=AGENT, output_dir=tmp_path).exit_code == 0
    text = f"eval: {{test_cases: [{{name: a, message: hi, expect: {{{field}: 0, responseNonEmpty: true}}}}]}}\n"
    yaml = evalc.Source("a.eval.yaml", text)
    assert [problem.code for problem in evalc.check(yaml)] == ["EV501"]
    assert evalc.run(yaml, agent=AGENT, output_dir=tmp_path).exit_code == 0


def test_a_line_with_a_limit_of_0(tmp_path: Path) -> None:
    text = "eval: {test_cases: [{name: a, message: hi, validate: [LINE]}]}\n"
    for line in ("tool count == 0", "cost <= $0", "tokens <= 0", "length <= 0 chars"):
        run = evalc.run(evalc.Source("a.eval.yaml", text.replace("LINE", line)), agent=AGENT, output_dir=tmp_path)
        assert run.summary.failed == 1, line
