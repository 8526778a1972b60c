"""Whole runs against a fake server: from a prompt file and a configuration to results that hold no key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalc
from tests.runtime.agents.model.apis import CHAT, Called, TestedApi
from tests.support.servers import Behaviour, Exchange, answers, in_turn, serving

KEY = "sk-planted/key+0123456789"

PROMPT_FILE = """\
id: review
role: You are an expert {{language}} reviewer.
instructions: [Be short., "Keep {{ this | as it is }}."]
prompt: "Review this {{language}}: {{code}}"
inputs: [language, code]
eval:
  test_cases:
    - name: first
      inputs: {language: Python, code: x = 1}
      validate: [contains "fine", no tool errors]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    (tmp_path / "evalc.toml").write_text("")
    return tmp_path


def run(project: Path, suite: str, behaviour: Behaviour, *, api: TestedApi = CHAT, more: str = "") -> tuple[Any, Any]:
    """The run's only suite as its file has it, and the first request's JSON."""
    name = "a.golden.json" if suite.startswith("{") else "a.eval.yaml"
    (project / name).write_text(suite)
    with serving(behaviour) as server:
        table = f'[openai]\nbase_url = "{server.url}"\napi = "{api.choice}"\n[anthropic]\nbase_url = "{server.url}"\n'
        (project / "evalc.toml").write_text(f'agent = "{api.provider}:tiny"\n{table}{more}')
        evalc.run(project / name)
        (result,) = (project / "evals/results").glob("*/*.json")
        return json.loads(result.read_bytes()), server.requests[0].json


def test_role_and_instructions_are_the_system_prompt(project: Path, api: TestedApi) -> None:
    result, sent = run(project, PROMPT_FILE, answers(api.answer("It is fine.", [])), api=api)
    system = "You are an expert Python reviewer.\n\n- Be short.\n- Keep {{ this | as it is }}."
    assert system in (sent.get("system"), sent[api.conversation][0]["content"])
    assert sent[api.conversation][-1] == {"role": "user", "content": "Review this Python: x = 1"}
    (case,) = result["cases"]
    assert (case["status"], case["assertionsRun"], case["assertionsSkipped"]) == ("passed", 1, 0)
    assert case["details"]["usage"] == {"inputTokens": 10, "outputTokens": 2}
    assert "estimatedCostUsd" not in result["summary"]


def test_the_configured_system_prompt_goes_before_them(project: Path) -> None:
    _, sent = run(project, PROMPT_FILE, answers(CHAT.answer("fine", [])), more='[model]\nsystem_prompt = "Other."\n')
    assert sent["messages"][0] == {"role": "system", "content": "Other."}


@pytest.mark.parametrize("reason", ["length", "content_filter", "max_tokens"])
def test_an_answer_that_was_cut_short_is_warned_of(project: Path, reason: str) -> None:
    answer = CHAT.answer("It is fine, bu", [])
    answer["choices"][0]["finish_reason"] = reason
    result, _ = run(project, PROMPT_FILE.replace('"fine", ', '"fine", not contains "bad", '), answers(answer))
    assert result["cases"][0]["status"] == "passed"
    (warning,) = result["warnings"]
    assert warning.startswith(f"the model was cut short (`{reason}`): 3 assertions checked on a part of its answer")


def test_a_whole_answer_is_not_warned_of(project: Path, api: TestedApi) -> None:
    result, _ = run(project, PROMPT_FILE, answers(api.answer("It is fine.", [])), api=api)
    assert not any("cut short" in warning for warning in result.get("warnings", ()))


def test_compiled_files_carry_the_system_prompt(project: Path) -> None:
    compiled = {
        "metadata": {"toolName": "review", "tier": "golden"},
        "cases": [
            {
                "id": "gs-review-001",
                "description": "d",
                "input": {"message": "m", "system": "Be kind."},
                "expect": {"responseContains": ["fine"]},
            }
        ],
    }
    _, sent = run(project, json.dumps(compiled), answers(CHAT.answer("fine", [])))
    assert sent["messages"] == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "m"}]


STUBBED = """\
suite: stubs
eval:
  test_cases:
    - name: first
      message: What is the weather?
      stubs: {get_weather: {sky: clear}}
      validate: [no tool errors]
"""


def test_a_call_without_a_stub_fails_no_tool_errors(project: Path) -> None:
    said = [answers(CHAT.answer("", [Called("rm")])), answers(CHAT.answer("done", []))]
    result, _ = run(project, STUBBED, in_turn(said))
    (case,) = result["cases"]
    assert case["error"] == "noToolErrors: expected only tools with a stub but 'rm' has none"
    assert case["details"]["toolsCalled"] == ["rm"]


def test_unreadable_arguments_fail_no_tool_errors_and_are_kept(project: Path) -> None:
    said = [answers(CHAT.answer("", [Called("get_weather", "{oops")])), answers(CHAT.answer("done", []))]
    result, _ = run(project, STUBBED, in_turn(said))
    (case,) = result["cases"]
    assert case["error"].startswith("noToolErrors: expected a JSON object as arguments of")
    (call,) = case["details"]["toolCalls"]
    assert call == {"name": "get_weather", "success": False, "durationMs": None, "params": {}, "arguments": "{oops"}


def test_the_key_stands_in_no_file(project: Path, api: TestedApi, capsys: pytest.CaptureFixture[str]) -> None:
    async def echoes_the_key(exchange: Exchange) -> None:
        headers = exchange.request.headers
        key = headers.get("x-api-key") or headers["authorization"].removeprefix("Bearer ")
        assert key == KEY
        asked = exchange.request.json[api.conversation][-1]["content"]
        if "error" in asked:
            await exchange.respond(401, json.dumps({"error": {"message": "x" * 170 + f" wrong key {key}"}}).encode())
        elif "garbage" in asked:
            await exchange.respond(200, b'{"key": "' + key.encode() + b'"}')
        else:
            call = Called("tell", json.dumps({"key": key}))
            await exchange.respond(200, json.dumps(api.answer(f"Bearer {key}", [call])).encode())

    cases = "".join(
        f"    - {{name: {name}, message: {name}, validate: ['contains \"nothing\"']}}\n"
        for name in ("echo", "error", "garbage")
    )
    result, _ = run(project, f"suite: s\neval:\n  test_cases:\n{cases}", echoes_the_key, api=api)
    assert [case["status"] for case in result["cases"]] == ["failed", "error", "error"]
    written = b"".join(path.read_bytes() for path in project.rglob("*") if path.is_file())
    shown = capsys.readouterr()
    for form in (KEY, KEY.replace("/", "\\/"), KEY[:12]):
        assert form.encode() not in written
        assert form not in shown.out + shown.err


def test_the_environment_says_where_the_api_is_and_a_variable_may_be_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.eval.yaml").write_text(PROMPT_FILE)
    (project / "evalc.toml").write_text('[openai]\nkey_variable = "OTHER_KEY"\nheaders = {X-Team = "${TEAM}"}\n')
    monkeypatch.setenv("OTHER_KEY", "other-key")
    monkeypatch.setenv("TEAM", "blue")
    with serving(answers(CHAT.answer("fine", []))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        evalc.run(project / "a.eval.yaml", agent="openai:tiny")
    headers = server.requests[0].headers
    assert (headers["authorization"], headers["x-team"]) == ("Bearer other-key", "blue")


def test_a_missing_key_is_said_before_anything_runs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    (project / "a.eval.yaml").write_text(PROMPT_FILE)
    with pytest.raises(evalc.UsageError, match="`openai` needs a key: set the environment variable `OPENAI_API_KEY`"):
        evalc.run(project / "a.eval.yaml", agent="openai:gpt-x")
