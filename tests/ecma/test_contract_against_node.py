"""The contract's algorithms, written down in JavaScript, against evalc's verdicts: contradictory checks among them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import evalc
from tests.ecma.conftest import Node, drawn

NUMBER: Final = 3_000
WORDS: Final = ("rain", "sun", "18", "Paris", "a", "", "rain in Paris", "NaN", "true")
TOKENS: Final = ("{{seed:city}}", "{{seed:list[0]}}", "{{seed:gone}}", "{{seed:number}} degrees", "{{seed:object}}")
TOOLS: Final = ("get_weather", "search", "delete")
PATTERNS: Final = ("^rain", "rain$", "\\d+", "(?=sun)", "a^", "[A-Z]", "", "^$", "in.Paris")
VALUES: Final = ("Paris", 18, 1.5, 1e21, True, None, ["a", 1], {"a": [None]}, "", -0.0)
SEED: Final = {"city": "Paris", "list": ["rain"], "number": 18.0, "object": {"a": [1, "b"]}}

CONTRACT: Final = r"""
data.map(({expect, response, toolCalls, seed}) => {
  const UNRESOLVED = Symbol();
  const walk = (path) => {
    let value = seed;
    for (const segment of path.split(".")) {
      const indexed = segment.match(/^(\w+)\[(\d+)\]$/);
      value = indexed ? value?.[indexed[1]]?.[Number(indexed[2])] : value?.[segment];
      if (value === undefined || value === null) return UNRESOLVED;
    }
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  };
  const resolve = (text) => {
    let unresolved = false;
    const filled = text.replace(/\{\{seed:(.+?)\}\}/g, (_, path) => {
      const value = walk(path);
      if (value === UNRESOLVED) { unresolved = true; return ""; }
      return value;
    });
    return unresolved ? UNRESOLVED : filled;
  };
  const names = toolCalls.map((call) => call.name);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const sorted = (list) => [...new Set(list)].sort();
  if (expect.toolsCalled && !same(names, expect.toolsCalled)) return "toolsCalled";
  if (expect.toolsAcceptable) {
    const sets = expect.toolsAcceptable.map((set) => same(set, ["__none__"]) ? [] : set);
    if (!sets.some((set) => same(sorted(set), sorted(names)))) return "toolsAcceptable";
  }
  for (const name of expect.toolsNotCalled ?? []) if (names.includes(name)) return "toolsNotCalled";
  for (const {tool, paramName, assertion, value} of expect.toolParams ?? []) {
    const call = toolCalls.find((each) => each.name === tool);
    if (!call) continue;
    const actual = call.params[paramName];
    if (assertion === "exists") { if (actual === undefined) return "toolParams"; continue; }
    if (assertion === "notExists") { if (actual !== undefined) return "toolParams"; continue; }
    if (assertion === "oneOf") {
      const members = value.map(resolve).filter((member) => member !== UNRESOLVED);
      if (members.length && !members.includes(String(actual))) return "toolParams";
      continue;
    }
    const expected = resolve(value);
    if (expected === UNRESOLVED) continue;
    const holds = {
      equals: () => String(actual) === expected,
      contains: () => String(actual).includes(expected),
      matches: () => new RegExp(expected).test(String(actual)),
    };
    if (!holds[assertion]()) return "toolParams";
  }
  if (expect.noToolErrors && !toolCalls.every((call) => call.success === true)) return "noToolErrors";
  if (expect.responseNonEmpty && !(response.trim().length > 0)) return "responseNonEmpty";
  for (const value of expect.responseContains ?? []) {
    const expected = resolve(value);
    if (expected !== UNRESOLVED && !response.includes(expected)) return "responseContains";
  }
  for (const group of expect.responseContainsAny ?? []) {
    const members = group.map(resolve).filter((member) => member !== UNRESOLVED);
    if (members.length && !members.some((member) => response.includes(member))) return "responseContainsAny";
  }
  for (const value of expect.responseNotContains ?? []) {
    const expected = resolve(value);
    if (expected !== UNRESOLVED && response.includes(expected)) return "responseNotContains";
  }
  for (const pattern of expect.responseMatches ?? []) if (!new RegExp(pattern).test(response)) return "responseMatches";
  return null;
})
"""


def expectation(chance: Random) -> dict[str, Any]:
    """An `expect` of some of the contract's fields, which may well contradict each other."""

    def text() -> str:
        return chance.choice(WORDS + TOKENS)

    def tool() -> str:
        return chance.choice(TOOLS)

    def several(make: Callable[[], Any], most: int) -> list[Any]:
        return [make() for _ in range(chance.randint(0, most))]

    def tools() -> list[str]:
        return ["__none__"] if chance.random() < 0.3 else several(tool, 2)

    def parameter() -> dict[str, Any]:
        operation = chance.choice(("equals", "contains", "oneOf", "exists", "notExists", "matches"))
        entry: dict[str, Any] = {"tool": tool(), "paramName": chance.choice("ab"), "assertion": operation}
        match operation:
            case "oneOf":
                entry["value"] = several(text, 3) or ["rain"]
            case "matches":
                entry["value"] = chance.choice(PATTERNS)
            case "equals" | "contains":
                entry["value"] = text()
        return entry

    routing = chance.choice(("toolsCalled", "toolsAcceptable"))
    makers: dict[str, Callable[[], Any]] = {
        "toolsCalled": lambda: several(tool, 2),
        "toolsAcceptable": lambda: [tools(), tools()],
        "toolsNotCalled": lambda: several(tool, 2),
        "toolParams": lambda: several(parameter, 3),
        "noToolErrors": lambda: chance.random() < 0.7,
        "responseNonEmpty": lambda: chance.random() < 0.7,
        "responseContains": lambda: several(text, 2),
        "responseContainsAny": lambda: several(lambda: several(text, 2), 2),
        "responseNotContains": lambda: several(text, 2),
        "responseMatches": lambda: several(lambda: chance.choice(PATTERNS), 2),
    }
    del makers["toolsCalled" if routing == "toolsAcceptable" else "toolsAcceptable"]
    expect = {name: make() for name, make in makers.items() if chance.random() < 0.4}
    return expect if any(expect.values()) else {"responseNonEmpty": True}  # it has to assert something


def answer(chance: Random) -> dict[str, Any]:
    """A response and the calls before it."""
    calls = [
        {
            "name": chance.choice(TOOLS),
            "success": chance.random() < 0.8,
            "params": {name: chance.choice(VALUES) for name in "ab" if chance.random() < 0.6},
        }
        for _ in range(chance.randint(0, 2))
    ]
    response = " ".join(chance.choice(WORDS) for _ in range(chance.randint(0, 3)))
    return {"response": response, "toolCalls": calls}


def test_verdicts_are_those_of_the_contract(node: Node, tmp_path: Path) -> None:
    chance = drawn(12)
    asked = {f"a/{number}": (expectation(chance), answer(chance)) for number in range(NUMBER)}
    cases = [
        {"id": id_, "description": "d", "difficulty": "edge", "input": {"message": id_}, "expect": expect}
        for id_, (expect, _) in asked.items()
    ]
    file, seed = tmp_path / "a.labeled.json", tmp_path / "seed.json"
    file.write_text(json.dumps({"metadata": {"toolName": "a", "tier": "labeled"}, "cases": cases}))
    seed.write_text(json.dumps(SEED))
    problems = evalc.check(file)
    assert [str(problem) for problem in problems if problem.severity == "error"] == []
    assert {"EV502", "EV503"} <= {problem.code for problem in problems}

    agent = evalc.ScriptedAgent({id_: given for id_, (_, given) in asked.items()})
    run = evalc.run(file, agent=agent, output_dir=tmp_path / "out", seed_manifest=str(seed))
    found = {
        case.id: None if case.passed else str(case.error).partition(":")[0]
        for suite in run.suites
        for case in suite.cases
    }
    items = [{"expect": expect, "seed": SEED, **given} for expect, given in asked.values()]
    expected = dict(zip(asked, node(CONTRACT, items), strict=True))
    differing = {id_: (found[id_], expected[id_], asked[id_]) for id_ in asked if found[id_] != expected[id_]}
    assert differing == {}
    assert len({*expected.values()}) == 11  # every assertion decided some case, and some cases passed
