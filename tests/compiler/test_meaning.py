"""Findings of meaning: they follow the user's word where the suite can be lowered, and eval JSON runs with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc

SUITE = """\
suite: s
eval:
  test_cases:
    - name: a
      message: hi
      validate: [contains "sorry", not contains "sorry"]
"""
ECHO = evalc.ScriptedAgent({"hi": "hi"})


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def case(expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "ls-a-001",
        "description": "a",
        "difficulty": "edge",
        "input": {"message": "hi"},
        "expect": expect,
        **more,
    }


def written(*cases: dict[str, Any]) -> str:
    Path("a.labeled.json").write_text(json.dumps({"metadata": {"toolName": "a", "tier": "labeled"}, "cases": cases}))
    return "a.labeled.json"


def findings(path: str, **flags: Any) -> list[tuple[str, str]]:
    return [(problem.code, problem.severity) for problem in evalc.check(path, **flags)]


@pytest.mark.parametrize(
    ("expect", "code"),
    [
        ({"responseContains": ["x"], "responseNotContains": ["x"]}, "EV503"),
        ({"minLength": 10, "maxLength": 5}, "EV502"),
        ({"responseMatches": ["a^b"]}, "EV502"),
    ],
)
def test_eval_json_that_cannot_pass_runs_with_a_warning(expect: dict[str, Any], code: str) -> None:
    path = written(case(expect))
    assert (code, "warning") in findings(path)
    assert {severity for _, severity in findings(path)} == {"warning"}
    assert (code, "error") in findings(path, strict=True)
    run = evalc.run(path, agent=ECHO)
    assert (run.exit_code, run.summary.failed) == (1, 1)


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard", "adversarial", None])
def test_the_difficulties_of_other_generators_are_warnings(difficulty: str | None) -> None:
    entry = case({"responseContains": ["hi"]}, difficulty=difficulty)
    if difficulty is None:
        del entry["difficulty"]
    path = written(entry)
    assert {severity for _, severity in findings(path)} == {"warning"}
    assert evalc.run(path, agent=ECHO).exit_code == 0


def test_a_case_that_passes_where_its_tool_is_not_called_is_a_warning() -> None:
    checks = 'tool search.q equals "a", tool search.q equals "b"'
    text = SUITE.replace('contains "sorry", not contains "sorry"', checks)
    Path("a.eval.yaml").write_text(text)
    assert findings("a.eval.yaml") == [("EV427", "warning"), ("EV503", "warning")]
    assert evalc.run("a.eval.yaml", agent=ECHO).summary.total_cases == 1


def test_severity_moves_them_for_run_and_compile() -> None:
    Path("a.eval.yaml").write_text(SUITE)
    with pytest.raises(evalc.SourceError):
        evalc.run("a.eval.yaml", agent=ECHO)
    assert not evalc.compile("a.eval.yaml").suites
    Path("evalc.toml").write_text('severity = {EV503 = "warning"}\n')
    assert findings("a.eval.yaml") == [("EV503", "warning")]
    assert len(evalc.compile("a.eval.yaml").suites) == 1
    assert evalc.run("a.eval.yaml", agent=ECHO).summary.failed == 1
    Path("evalc.toml").write_text('severity = {EV503 = "off"}\n')
    assert evalc.compile("a.eval.yaml").problems == ()


def test_a_comment_silences_them() -> None:
    Path("a.eval.yaml").write_text(SUITE.replace('"sorry"]', '"sorry"] # evalc: ignore[EV503]'))
    assert findings("a.eval.yaml") == []
    assert evalc.run("a.eval.yaml", agent=ECHO).summary.failed == 1


@pytest.mark.parametrize("code", ["EV402", "EV412", "EV409"])
def test_a_case_that_cannot_be_lowered_stays_an_error(code: str) -> None:
    checks = {
        "EV402": "'tools called [a]', 'tools one of [[a]]'",
        "EV412": "latency <= 1s, latency <= 2s",
        "EV409": "non-empty",
    }
    text = SUITE.replace('contains "sorry", not contains "sorry"', checks[code])
    Path("a.eval.yaml").write_text(text.replace("      message: hi\n", "") if code == "EV409" else text)
    Path("evalc.toml").write_text(f'severity = {{{code} = "off"}}\n')
    compilation = evalc.compile("a.eval.yaml")
    assert (code, "error") in [(problem.code, problem.severity) for problem in compilation.problems]
    assert not compilation.suites
