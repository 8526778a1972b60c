"""The gate on regressions: it stays red until the agent is mended, or somebody accepts what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke, Outcome

SUITE = """\
suite: cities
eval:
  test_cases:
    - {name: paris, message: Paris?, validate: [contains "Paris"]}
    - {name: rome, message: Rome?, validate: [contains "Rome"]}
"""
AGENTS = """\
def good(message):
    return message

def broken(message):
    return "Paris" if "Paris" in message else "no idea"

def other(message):
    return {"response": message, "toolCalls": []}
"""


@pytest.fixture(autouse=True)
def cities(project: Path) -> Path:
    (project / "evals" / "weather.eval.yaml").unlink()
    (project / "evals" / "cities.eval.yaml").write_text(SUITE)
    (project / "gated_agents.py").write_text(AGENTS)
    return project


def gated(invoke: Invoke, agent: str, *more: str) -> Outcome:
    return invoke("run", "--agent", f"python:gated_agents:{agent}", "--fail-on-regression", *more)


def last_line_of(outcome: Outcome, word: str) -> str:
    return next(line for line in outcome.out.splitlines()[::-1] if word in line).strip()


def test_a_red_run_never_becomes_the_baseline(invoke: Invoke) -> None:
    codes = [gated(invoke, agent).code for agent in ("good", "broken", "broken", "other", "broken")]
    assert codes == [0, 1, 1, 0, 1]


def test_the_baseline_is_of_the_same_agent(invoke: Invoke) -> None:
    good = json.loads(invoke("run", "--agent", "python:gated_agents:good", "--json").out)["runId"]
    gated(invoke, "other")
    assert last_line_of(gated(invoke, "broken"), "without a baseline").startswith("⚠")
    assert last_line_of(gated(invoke, "good"), "compared with") == f"compared with the run {good}"


def test_latest_elsewhere_is_the_newest_run(invoke: Invoke) -> None:
    gated(invoke, "good")
    gated(invoke, "broken")
    assert "1/2 passed" in invoke("show").out
    assert "1/2 passed" in invoke("show", "latest").out


def test_without_a_baseline_every_case_has_to_pass(invoke: Invoke) -> None:
    outcome = gated(invoke, "broken")
    assert outcome.code == 1
    assert "without a baseline every case has to pass (`evalc accept` makes a run the baseline)" in outcome.out
    assert gated(invoke, "broken").code == 1


def test_an_accepted_baseline_comes_first(invoke: Invoke, cities: Path) -> None:
    assert gated(invoke, "good").code == 0
    accepted = invoke("accept")
    assert accepted.code == 0
    assert accepted.out.startswith("wrote evals/baseline.json: 2 cases of the run ")
    for folder in (cities / "evals" / "results").iterdir():  # as in a fresh clone
        if folder.is_dir():
            (folder / "cities.labeled.json").unlink()
    for _ in range(2):
        outcome = gated(invoke, "broken")
        assert outcome.code == 1
        assert "REGRESSIONS (1) since evals/baseline.json" in outcome.out
        assert last_line_of(outcome, "compared with") == "compared with evals/baseline.json"
    assert gated(invoke, "good").code == 0
    named = invoke("run", "--agent", "python:gated_agents:broken", "--baseline", "latest")
    assert "REGRESSIONS (1) since evals/baseline.json" in named.out


def test_what_is_accepted_may_go_on_failing(invoke: Invoke) -> None:
    gated(invoke, "broken")
    assert "2 cases of the run" in (said := invoke("accept").out)
    assert said.endswith(", 1 of which may keep failing\n")
    assert gated(invoke, "broken").code == 0


def test_a_run_of_some_cases_leaves_the_others_as_they_were(invoke: Invoke, cities: Path) -> None:
    invoke("run", "--agent", "python:gated_agents:good", "--filter", "cities/rome")
    first = invoke("accept")
    assert "wrote evals/baseline.json: 1 case of the run " in first.out
    assert first.err == (
        "warning: this run left out some of the cases, which will be new to a comparison with this baseline\n"
    )
    invoke("run", "--agent", "python:gated_agents:broken")
    invoke("accept")
    invoke("run", "--agent", "python:gated_agents:good", "--filter", "cities/paris")
    again = invoke("accept")
    assert again.out.endswith(" and 1 from before, 1 of which may keep failing\n")
    assert ": 1 case of the run " in again.out
    assert again.err == ""
    assert len(json.loads((cities / "evals" / "baseline.json").read_text())["suites"][0]["cases"]) == 2


def test_the_file_is_small_sorted_and_has_a_case_a_line(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "broken")
    invoke("accept")
    text = (cities / "evals" / "baseline.json").read_text()
    lines = text.splitlines()
    assert [line.split('"')[1] for line in lines[2:4]] == ["cities/paris", "cities/rome"]
    suite = json.loads(text)["suites"][0]
    assert (suite["tool"], suite["tier"], suite["cases"]["cities/rome"]["status"]) == ("cities", "labeled", "failed")
    assert "agent" not in suite
    before = text
    gated(invoke, "broken")
    invoke("accept")
    assert (cities / "evals" / "baseline.json").read_text() == before


def test_new_changed_and_removed_cases_are_named(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    changed = SUITE.replace("name: rome", "name: roma").replace('contains "Paris"', 'contains "Pari"')
    (cities / "evals" / "cities.eval.yaml").write_text(changed)
    outcome = gated(invoke, "good")
    assert outcome.code == 0
    for heading, case in (("NEW", "cities/roma"), ("CHANGED", "cities/paris"), ("NO LONGER RUN", "cities/rome")):
        assert f"  {heading} (1) since evals/baseline.json\n    - {case}\n" in outcome.out


def test_a_case_that_was_renamed_does_not_hide_a_regression(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    (cities / "evals" / "cities.eval.yaml").write_text(SUITE.replace("name: rome", "name: roma"))
    outcome = gated(invoke, "broken")
    assert outcome.code == 1
    assert "1 regression, none is allowed" in outcome.out


def test_a_case_that_was_removed_does_not_hide_another(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    (cities / "evals" / "cities.eval.yaml").write_text("\n".join(SUITE.splitlines()[:3] + SUITE.splitlines()[4:]))
    outcome = gated(invoke, "broken")
    assert outcome.code == 1
    assert "NO LONGER RUN (1)" in outcome.out


def test_a_part_that_is_accepted_leaves_the_rest(invoke: Invoke, cities: Path) -> None:
    gated(invoke, "good")
    invoke("accept")
    invoke("run", "evals/cities.eval.yaml::rome", "--agent", "python:gated_agents:broken")
    invoke("accept")
    suite = json.loads((cities / "evals" / "baseline.json").read_text())["suites"][0]
    assert {name: case["status"] for name, case in suite["cases"].items()} == {
        "cities/paris": "passed",
        "cities/rome": "failed",
    }


def test_several_agents_each_have_their_own(invoke: Invoke, cities: Path) -> None:
    both = ("--agent", "python:gated_agents:good", "--agent", "python:gated_agents:broken")
    invoke("run", *both)
    invoke("accept")
    suites = json.loads((cities / "evals" / "baseline.json").read_text())["suites"]
    assert [suite["agent"] for suite in suites] == ["python:gated_agents:broken", "python:gated_agents:good"]
    assert invoke("run", *both, "--fail-on-regression").code == 0


def test_the_gate_of_a_suite_uses_it_too(invoke: Invoke, cities: Path) -> None:
    (cities / "evals" / "cities.eval.yaml").write_text(
        SUITE.replace("eval:", "gates: {fail_on_regression: true}\neval:")
    )
    codes = [
        invoke("run", "--agent", f"python:gated_agents:{agent}").code for agent in ("good", "broken", "broken", "good")
    ]
    assert codes == [0, 1, 1, 0]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"baseline": 1}', "<<<<<<< HEAD\n", '{"baseline": 1, "suites": [{"tool": 1}]}']
)
def test_a_broken_baseline_is_no_green_gate(invoke: Invoke, cities: Path, content: str) -> None:
    (cities / "evals" / "baseline.json").write_text(content)
    outcome = gated(invoke, "good")
    assert outcome.code == 2
    assert outcome.err.startswith("error: the baseline `")
    invoke("run", "--agent", "python:gated_agents:good")
    assert invoke("accept").code == 2


def test_there_is_nothing_to_accept(invoke: Invoke) -> None:
    outcome = invoke("accept")
    assert (outcome.code, outcome.out) == (2, "")
    assert "is neither a run with results in" in outcome.err
