"""`evalc coverage`: what no case looks at."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke

TOOLS = """\
[
  {"name": "find_train", "description": "Finds train connections between two cities on some day",
   "inputSchema": {"properties": {"from": {"type": "string"}, "to": {"type": "string"}}}},
  {"name": "find_bus", "description": "Finds coach connections between two cities on some day", "inputSchema": {}},
  {"name": "cancel", "description": "Cancels a booking", "inputSchema": {}}
]
"""
SUITE = """\
suite: trips
eval:
  criteria: ["right (1): It is right", "kind (1): It is kind"]
  test_cases:
    - name: train
      message: A train to Rome.
      difficulty: {difficulty}
      validate:
        - tools called [find_train] for right
        - tool find_train.to equals "{{{{seed:trips[0].to}}}}" for right
"""
SEED = {"trips": [{"to": "Rome", "hours": 4}], "name": "x"}


@pytest.fixture
def covered(invoke: Invoke, project: Path) -> Invoke:
    (project / "tools.json").write_text(TOOLS)
    (project / "seed.json").write_text(json.dumps(SEED))
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.format(difficulty="straightforward"))

    return partial(invoke, "coverage", "evals", "--tools", "tools.json", "--seed-manifest", "seed.json")


def test_uncovered_parts_are_named(covered: Invoke) -> None:
    found = json.loads(covered("--json").out)
    parts = {part["kind"]: (part["covered"], part["total"], part["missing"]) for part in found["parts"]}
    assert parts == {
        "tools": (1, 3, ["find_bus", "cancel"]),
        "arguments": (1, 2, ["find_train.from"]),
        "toolPairs": (0, 1, ["find_train and find_bus"]),
        "seedValues": (1, 3, ["trips[0].hours", "name"]),
        "criteria": (1, 2, ["kind of trips (labeled)"]),
    }
    assert (found["covered"], found["total"], found["coverage"]) == (4, 11, round(4 / 11, 12))
    (train, bus, _) = found["tools"]
    assert train["tiers"] == {"labeled": 1}
    assert train["difficulties"] == {"straightforward": 1}
    assert bus["cases"] == 0


def test_an_ambiguous_case_distinguishes_tools(covered: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(SUITE.format(difficulty="ambiguous"))
    parts = {part["kind"]: part["missing"] for part in json.loads(covered("--json").out)["parts"]}
    assert parts["toolPairs"] == []


def test_the_report_and_the_gate(covered: Invoke, invoke: Invoke, project: Path) -> None:
    outcome = covered("--min-coverage", "0.3")
    assert outcome.code == 0
    assert "  find_train      1  to\n" in outcome.out
    assert "1 of 3 tools that a case expects to be called" in outcome.out
    assert outcome.out.startswith("coverage 0.36: cases test 4 of 11 parts\n")
    assert covered("--min-coverage", "0.5").code == 1
    assert covered("--min-coverage", "nan").code == 2
    (project / "evals" / "weather.eval.yaml").write_text(
        "eval: {test_cases: [{name: a, message: b, validate: [json]}]}"
    )
    (project / "none.json").write_text("[]")
    outcome = invoke("coverage", "evals", "--min-coverage", "0", "--tools", "none.json")
    assert outcome.code == 1
    assert "there is nothing to cover" in outcome.out


def test_without_a_tool_registry_there_is_no_total(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(
        """\
suite: trips
eval:
  criteria: ["right (1): It is right"]
  test_cases: [{name: train, message: A train., validate: ["tools called [find_train] for right"]}]
"""
    )
    outcome = invoke("coverage", "evals")
    assert outcome.code == 0
    assert outcome.out.startswith("no total: without a tool registry")
    assert "--tools FILE" in outcome.out
    assert "coverage 1" not in outcome.out
    found = json.loads(invoke("coverage", "evals", "--json").out)
    assert (found["coverage"], found["unknown"]) == (None, ["tools", "arguments", "toolPairs"])
    outcome = invoke("coverage", "evals", "--min-coverage", "0")
    assert outcome.code == 1
    assert "there is no coverage to reach: no total" in outcome.err
    (project / "none.json").write_text("[]")
    (project / "evals" / "weather.eval.yaml").write_text(
        """\
suite: trips
eval:
  criteria: ["right (1): It is right"]
  test_cases: [{name: train, message: A train., validate: [contains "train" for right]}]
"""
    )
    assert "coverage 1.00: cases test 1 of 1 parts" in invoke("coverage", "evals", "--tools", "none.json").out


def test_unreadable_input_is_an_error(invoke: Invoke) -> None:
    assert invoke("coverage", "evals", "--seed-manifest", "nowhere.json").code == 2
    assert invoke("coverage", "nothing.eval.yaml").code == 2


PROMPT = """\
suite: greeting
prompt: |
  Say hello{{#if name}} to {{name}}{{else}} to the world{{/if}}.
  {{#unless short}}Be polite.{{/unless}}
  {{#each facts}}Mention {{this}}{{#if loud}}!{{/if}}{{/each}}
inputs:
  - {name: name, required: false}
  - {name: short, default: false}
  - {name: facts, required: false}
  - {name: loud, required: false}
eval:
  test_cases:
    - {name: a, inputs: {name: Ada}, validate: [json]}
    - {name: own, message: Hello, validate: [json]}
    - {name: later, skip: not yet, inputs: {facts: [x], loud: true}, validate: [json]}
"""


def test_branches_of_prompts_that_no_case_renders(invoke: Invoke, project: Path) -> None:
    (project / "evals" / "weather.eval.yaml").write_text(PROMPT)
    found = json.loads(invoke("coverage", "evals", "--json").out)
    prompts, part = found["parts"]
    assert (prompts["kind"], prompts["covered"], prompts["total"]) == ("prompts", 1, 1)
    assert (part["kind"], part["covered"], part["total"]) == ("promptBranches", 2, 7)
    assert part["missing"] == [
        "evals/weather.eval.yaml:3:12: {{#if name}} not taken",
        "evals/weather.eval.yaml:4:3: {{#unless short}} not taken",
        "evals/weather.eval.yaml:5:3: {{#each facts}} with an item",
        "evals/weather.eval.yaml:5:34: {{#if loud}} taken",
        "evals/weather.eval.yaml:5:34: {{#if loud}} not taken",
    ]
    more = PROMPT + "    - {name: b, inputs: {short: true, facts: [x], loud: true}, validate: [json]}\n"
    (project / "evals" / "weather.eval.yaml").write_text(more)
    _, part = json.loads(invoke("coverage", "evals", "--json").out)["parts"]
    assert part["missing"] == ["evals/weather.eval.yaml:5:34: {{#if loud}} not taken"]


@pytest.mark.parametrize(
    ("cases", "missing"),
    [
        ("{name: a, inputs: {x: 1}, validate: [latency <= 3s, cost <= $0.01]}", ["evals/weather.eval.yaml:2:9"]),
        ("{name: a, inputs: {x: 1}, skip: later, validate: [json]}", ["evals/weather.eval.yaml:2:9"]),
        ("{name: a, inputs: {x: 1}, validate: [latency <= 3s, not latency <= 1ms]}", []),
        ("{name: a, inputs: {x: 1}, validate: [latency <= 3s, tokens <= 9]}", []),
        ("{name: a, inputs: {x: 1}, expected: three, validate: [latency <= 3s]}", []),
    ],
)
def test_prompts_whose_instructions_no_case_would_miss(
    invoke: Invoke, project: Path, cases: str, missing: list[str]
) -> None:
    text = f"suite: a\nprompt: Count {{{{x}}}}.\ninputs: [x]\neval:\n  test_cases:\n    - {cases}\n"
    (project / "evals" / "weather.eval.yaml").write_text(text)
    (part,) = json.loads(invoke("coverage", "evals", "--json").out)["parts"]
    assert (part["kind"], part["total"], part["missing"]) == ("prompts", 1, missing)
