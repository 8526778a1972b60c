"""Verdicts that were wrong: checks that could not fail, answers that were misread, scores that nothing could reach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.base.errors import UsageError

ABUSE = "you stupid idiot"


def suite(validate: str, more: str = "", head: str = "") -> evalc.Source:
    return evalc.Source(
        "a.eval.yaml",
        f"{head}eval:\n  test_cases:\n    - name: a\n      message: hi\n{more}      validate:\n        - {validate}\n",
    )


def codes(source: evalc.Source) -> list[str]:
    return [f"{problem.severity} {problem.code}" for problem in evalc.check(source)]


# --- lists in the texts of checks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    ["'not contains \"{{banned}}\"'", "'contains \"{{banned}}\"'", "'equals \"{{banned}}\"'", "'matches /{{banned}}/'"],
)
@pytest.mark.parametrize("value", ["[stupid, idiot]", "{a: stupid}"])
def test_a_list_in_the_text_of_a_check_is_an_error(check: str, value: str) -> None:
    source = suite(check, f"      inputs: {{banned: {value}}}\n")
    assert codes(source) == ["error EV316"]
    assert "write a check for each item" in next(iter(evalc.check(source))).finding.help()


def test_a_list_in_the_text_of_a_row_is_reported_too(tmp_path: Path) -> None:
    rows = "      for_each: [{name: one, banned: [stupid, idiot]}, {name: two, banned: idiot}]\n"
    assert codes(suite("'not contains \"{{banned}}\"'", rows)) == ["error EV316"]


def test_each_item_is_a_text_and_a_judge_reads_json() -> None:
    inputs = "      inputs: {words: [a, b]}\n"
    assert codes(suite("'contains \"{{#each words}}{{this}}{{/each}}\"'", inputs)) == []
    assert "error EV316" not in codes(suite("'judge \"Does it use {{words}}?\" >= 1/1'", inputs))


# --- almost tokens ---------------------------------------------------------------------------------------------------

TYPOS = {
    "{{sed:a.b}}": "{{seed:a.b}}",
    "{{snapshott:q}}": "{{snapshot:q}}",
    "{{Seed:q}}": "{{seed:q}}",
    "{{seed:q}": "{{seed:q}}",
    "{{seed:a[x]}}": "",
}


@pytest.mark.parametrize("typo", TYPOS)
def test_almost_tokens_are_reported(typo: str) -> None:
    source = suite(f"'not contains \"{typo}\"'")
    assert codes(source) == ["error EV418"]
    meant = TYPOS[typo]
    assert next(iter(evalc.check(source))).finding.label() == (f"did you mean `{meant}`?" if meant else "")
    expect = {"responseNotContains": [typo]}
    case = {"id": "ls-a-001", "description": "a", "difficulty": "edge", "input": {"message": "hi"}, "expect": expect}
    data = {"metadata": {"toolName": "a", "tier": "labeled"}, "cases": [case]}
    (problem,) = evalc.check(evalc.Source("a.labeled.json", json.dumps(data)))
    assert (problem.code, problem.severity) == ("EV418", "warning")


@pytest.mark.parametrize("text", ["{{seed:a.b[0]}}", "{{ seed:a }}", "a {{ b", "{{name: x}}", "{{url:port}}"])
def test_texts_that_are_no_tokens_are_not_reported(text: str) -> None:
    assert codes(suite(f"'contains \"{text}\"'")) == []


# --- tokens that resolve to nothing to look for ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "check",
    ["contains", "contains any of", "starts with"],
)
def test_a_token_that_is_empty_verifies_nothing(check: str, tmp_path: Path) -> None:
    (tmp_path / "seed.json").write_text('{"name": ""}')
    text = '["{{seed:name}}"]' if check.endswith("of") else '"{{seed:name}}"'
    source = suite(f"'{check} {text}'")

    def run(**flags: Any) -> evalc.Run:
        agent = evalc.ScriptedAgent({"hi": "hello"})
        return evalc.run(source, agent=agent, seed_manifest=str(tmp_path / "seed.json"), output_dir=tmp_path, **flags)

    finished = run()
    (result,) = finished.suites
    assert (finished.exit_code, result.cases[0].status, result.cases[0].passed) == (0, "unverified", True)
    assert "resolves to an empty text: 1 assertion passed whatever the answer is" in result.warnings[0]
    assert run(strict=True).exit_code == 1


def test_a_seed_manifest_of_the_configuration_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalc.toml").write_text('seed_manifest = "gone.json"\n')
    with pytest.raises(UsageError, match=r"the seed manifest `.*gone.json` cannot be read"):
        evalc.run(suite('contains "{{seed:a}}"'.join("''")), agent=evalc.ScriptedAgent({"hi": "hello"}))


# --- tool calls under another name -----------------------------------------------------------------------------------

DELETED = [{"name": "delete_account", "success": True, "durationMs": 1, "params": {}}]


@pytest.mark.parametrize("key", ["toolcalls", "tool_call", "ToolCalls", "tools", "function_calls"])
@pytest.mark.parametrize("check", ["tools called []", "'tools not called [delete_account]'", "no tool errors"])
def test_calls_under_another_key_are_an_error(key: str, check: str, tmp_path: Path) -> None:
    agent = evalc.ScriptedAgent({"hi": {"response": "done", key: DELETED}})
    run = evalc.run(suite(check), agent=agent, output_dir=tmp_path)
    (case,) = next(iter(run.suites)).cases
    assert (run.exit_code, case.status) == (3, "error")
    assert f"the answer has `{key}` and no `toolCalls`" in str(case.error)


def test_calls_under_another_key_are_nothing_to_cases_without_tools(tmp_path: Path) -> None:
    agent = evalc.ScriptedAgent({"hi": {"response": "done", "tools": DELETED}})
    assert evalc.run(suite("non-empty"), agent=agent, output_dir=tmp_path).exit_code == 0


@pytest.mark.parametrize("key", ["params", "arguments", "args", "input", "parameters"])
@pytest.mark.parametrize("value", [{"id": 7, "force": True}, '{"id": 7, "force": true}'])
@pytest.mark.parametrize("check", ["no call of delete_account has force true", "tool delete_account.id not exists"])
def test_parameters_are_checked_whatever_they_are_called(key: str, value: object, check: str, tmp_path: Path) -> None:
    calls = [{"name": "delete_account", "success": True, key: value}]
    agent = evalc.ScriptedAgent({"hi": {"response": "done", "toolCalls": calls}})
    assert evalc.run(suite(check), agent=agent, output_dir=tmp_path).exit_code == 1


@pytest.mark.parametrize("answer", ["done", {"response": "done"}])
def test_an_agent_that_reports_no_calls_is_warned_of_once(answer: Any, tmp_path: Path) -> None:
    run = evalc.run(suite("tools called []"), agent=evalc.ScriptedAgent({"hi": answer}), output_dir=tmp_path)
    (result,) = run.suites
    assert run.exit_code == 0
    assert result.warnings == (
        "the agent reports no tool calls (its answers have no `toolCalls`): 1 assertion checked as if there were none",
    )
    reporting = evalc.ScriptedAgent({"hi": {"response": "done", "toolCalls": []}})
    (result,) = evalc.run(suite("tools called []"), agent=reporting, output_dir=tmp_path).suites
    assert result.warnings == ()


# --- thresholds and weights ------------------------------------------------------------------------------------------


def test_a_threshold_that_nothing_scores_is_an_error() -> None:
    assert codes(suite("non-empty", "      threshold: 0.8\n")) == ["error EV419"]
    assert codes(suite("non-empty", head="threshold: 0.8\n")) == ["error EV419"]
    assert codes(suite("non-empty", head="gates: {min_score: 0.8}\n")) == ["error EV419"]
    assert codes(suite("non-empty", head="gates: {min_pass_rate: 0.8}\n")) == []
    scored = "eval:\n  criteria: [a]\n  test_cases: [{name: a, message: hi, threshold: 0.8, validate: [non-empty]}]\n"
    assert codes(evalc.Source("a.eval.yaml", scored)) == []


@pytest.mark.parametrize(("written", "weight"), [("50%", 0.5), ("0.5", 0.5), ("1", 1), ("50 %", 0.5)])
def test_a_weight_behind_a_criterion_is_its_weight(written: str, weight: float) -> None:
    criteria = f"eval:\n  criteria: [politeness: {written}, clarity: 50%]\n"
    text = f"{criteria}  test_cases: [{{name: a, message: hi, expected: b}}]\n"
    compilation = evalc.compile(evalc.Source("a.eval.yaml", text))
    criterion = (compilation.suites[0].metadata.criteria or ())[0]
    assert (criterion.name, criterion.weight, criterion.description) == ("politeness", weight, None)
