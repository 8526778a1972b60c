"""`evalc challenge`, on the command line."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from tests.cli.conftest import SUITE, Invoke


def test_suites_are_challenged(invoke: Invoke) -> None:
    outcome = invoke("challenge", "evals")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Lines that would notice more\n" in outcome.out
    assert re.search(
        r"- not json +1 fault, unproved", outcome.out
    )  # no recorded answer shows that a good one passes it
    assert "`--fix`" not in outcome.out
    assert outcome.out.startswith("strength 0.")


def test_the_json_that_other_tools_read(invoke: Invoke) -> None:
    outcome = invoke("challenge", "--json", "evals")
    found = json.loads(outcome.out)
    assert {"strength", "cases", "checks"} <= found.keys()
    (case,) = found["cases"]
    assert {"id", "mutants", "killed", "strength", "survivors"} <= case.keys()
    assert case["id"] == "weather/paris"
    assert case["killed"] + len(case["survivors"]) == case["mutants"]
    assert found["strength"] == case["strength"] == round(case["killed"] / case["mutants"], 12)
    assert {survivor.keys() >= {"challenger", "difference", "line", "proved"} for survivor in case["survivors"]} == {
        True
    }


def test_a_gate_on_the_strength(invoke: Invoke, project: Path) -> None:
    assert invoke("challenge", "evals", "--min-strength", "0.1").code == 0
    assert invoke("challenge", "evals", "--min-strength", "1").code == 1
    for wrong, why in (("2", "is between 0 and 1"), ("-1", "is between 0 and 1"), ("nan", "is not a number")):
        outcome = invoke("challenge", "evals", "--min-strength", wrong)
        assert (outcome.code, outcome.out) == (2, "")
        assert why in outcome.err
    (project / "evals" / "weather.eval.yaml").write_text(
        SUITE.replace("      message", "      skip: not now\n      message")
    )
    outcome = invoke("challenge", "evals", "--min-strength", "0")
    assert outcome.code == 1
    assert "nothing was challenged" in outcome.err


def test_a_run_is_challenged_and_its_suite_mended(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo").code == 0
    path = project / "evals" / "weather.eval.yaml"
    outcome = invoke("challenge", "latest")
    assert outcome.code == 0
    assert path.read_text() == SUITE
    weak = float(outcome.out.split()[1].rstrip(":"))
    preview = invoke("challenge", "latest", "--fix", "--diff")
    assert "evals/weather.eval.yaml: weather/paris: would add - " in preview.err
    assert path.read_text() == SUITE
    outcome = invoke("challenge", "latest", "--fix")
    assert "evals/weather.eval.yaml: weather/paris: added - " in outcome.err
    mended = path.read_text()
    assert mended != SUITE
    path.write_text(SUITE)
    assert invoke("challenge", "latest", "--diff").out == preview.out
    subprocess.run(["patch", "-p0"], input=preview.out, text=True, check=True, stdout=subprocess.DEVNULL)
    assert path.read_text() == mended
    assert invoke("run", "--agent", "demo").code == 0
    outcome = invoke("challenge", "latest", "--fix")
    assert outcome.err.endswith("nothing to fix\n")
    assert float(outcome.out.split()[1].rstrip(":")) > weak
    assert path.read_text() == mended


def test_lines_against_broken_agents_need_recorded_answers(invoke: Invoke, project: Path) -> None:
    outcome = invoke("challenge", "evals", "--fix")
    assert outcome.code == 2
    assert "there is no run: `evalc run` records some" in outcome.err
    assert invoke("run", "--agent", "demo").code == 0
    assert "would notice it: - not json" in invoke("challenge", "evals", "-v").out
    outcome = invoke("challenge", "evals", "--fix")
    assert outcome.code == 0
    assert "added - not json" in outcome.err
    assert "- not json" in (project / "evals" / "weather.eval.yaml").read_text()


def test_a_run_that_ended_before_its_journal_proves_nothing_and_stops_nothing(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "--agent", "demo").code == 0
    for journal in project.rglob("journal.jsonl"):
        journal.write_text("")
    outcome = invoke("challenge", "evals", "-v")
    assert outcome.code == 0
    assert "unproved: - not json" in outcome.out


def test_a_challenge_without_cases_is_an_error(invoke: Invoke, project: Path) -> None:
    assert invoke("challenge", "nothing.eval.yaml").code == 2
    outcome = invoke("challenge", "latest")
    assert outcome.code == 2
    assert "there is no run in" in outcome.err
    (project / "evals" / "weather.eval.yaml").write_text("eval: {test_cases: 5}")
    outcome = invoke("challenge", "evals")
    assert (outcome.code, outcome.out) == (2, "")
    assert "error[EV" in outcome.err


def test_no_agent_is_needed(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text('agentEndpoint = "http://localhost:1"\n[agent.headers]\nX = "${NOT_SET}"\n')
    assert invoke("challenge", "evals").code == 0


def test_a_judge_decides_what_no_check_can(invoke: Invoke, project: Path) -> None:
    (project / "gentleness.py").write_text("def kind(query):\n    return 1 if 'help' in query['response'] else 0\n")
    (project / "evals" / "weather.eval.yaml").write_text(
        """\
suite: kindness
eval:
  test_cases:
    - {name: it, message: Hello, validate: ['judge "Is it kind?" >= 1/1']}
"""
    )
    found = json.loads(invoke("challenge", "evals", "--json").out)
    assert (found["mutants"], found["undecided"] > 0) == (0, True)
    found = json.loads(invoke("challenge", "evals", "--json", "--judge", "python:gentleness:kind").out)
    survivors = {survivor["challenger"] for survivor in found["cases"][0]["survivors"]}
    assert "refusal" in survivors
    assert "silent" not in survivors


def test_a_confidence_that_is_meant_for_runs_changes_nothing(invoke: Invoke, project: Path) -> None:
    assert invoke("run", "evals", "--agent", "demo").code == 0
    (project / "evalc.toml").write_text("confidence = 0.95\n")
    assert invoke("challenge", "latest").code == 0
    assert invoke("rescore", "latest").code == 0
