"""`evalc import`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.runtime.agents.model.apis import CHAT
from tests.support.servers import answers, serving

CASE = {
    "id": "ls-get-weather-001",
    "description": "asks",
    "difficulty": "edge",
    "input": {"message": "Hi"},
    "expect": {"responseContains": ["Paris"]},
}
PROMPTFOO = "prompts: [Hi]\ntests:\n  - vars: {a: 1}\n    assert:\n      - {type: is-json, value: {type: object}}\n"


@pytest.fixture
def tool_forge(project: Path) -> Path:
    path = project / "get-weather.labeled.json"
    path.write_text(json.dumps({"metadata": {"toolName": "get_weather", "tier": "labeled"}, "cases": [CASE]}))
    return path


DATASET = "cases: [{name: a, inputs: hi, evaluators: [Equals: x]}]\n"
EVAL_SET = '[{"query": "hi", "expected_tool_use": [], "reference": "x"}]'


@pytest.mark.parametrize(
    ("name", "text", "tool"),
    [
        ("d.yaml", DATASET, "pydantic-evals"),
        ("d.json", '{"cases": [{"inputs": "hi", "evaluators": [{"Equals": "x"}]}]}', "pydantic-evals"),
        ("e.json", EVAL_SET, "adk"),
        ("e.json", json.dumps({"evalCases": [{"evalId": "a", "conversation": []}]}), "adk"),
        ("p.yaml", PROMPTFOO, "promptfoo"),
    ],
)
def test_a_file_of_another_tool_is_named_and_run_with_from(
    invoke: Invoke, project: Path, name: str, text: str, tool: str
) -> None:
    (project / name).write_text(text)
    checked = invoke("check", name)
    assert checked.code == 2
    assert f"it is a file of {tool}: `evalc import {name}` makes an eval file of it, and `--from {tool}`" in checked.out
    assert "did you mean" not in checked.out
    assert invoke("check").out == "all good: 1 suite; skipped 1 other file\n"
    if "conversation" not in text:
        assert invoke("run", name, "--from", tool, "--agent", "demo").out.count("/1 passed") == 2


def test_no_file_is_written_twice(invoke: Invoke, project: Path) -> None:
    for name, least in (("x-y", 9), ("x_y", 0)):
        assertion = {"type": "python", "value": f"len(output.split('a')) > {least}"}
        (project / f"{name}.yaml").write_text(json.dumps({"prompts": ["Hi"], "tests": [{"assert": [assertion]}]}))
    outcome = invoke("import", "x-y.yaml", "x_y.yaml", "-o", "out/")
    assert (outcome.code, "two of the files would be imported into one" in outcome.err) == (2, True)
    assert not (project / "out").exists()


@pytest.mark.usefixtures("tool_forge")
def test_it_prints(invoke: Invoke) -> None:
    outcome = invoke("import", "get-weather.labeled.json")
    hint = "nothing is written: `-o get-weather.labeled.eval.yaml` writes it to a file\n"
    assert (outcome.code, outcome.err) == (0, hint)
    assert outcome.out.endswith('      validate: [contains "Paris"]\n')
    asked_for = invoke("import", "get-weather.labeled.json", "-o", "-")
    assert (asked_for.code, asked_for.out, asked_for.err) == (0, outcome.out, "")
    (checked,) = (invoke("check", "-", stdin=outcome.out),)
    assert checked.code == 0


@pytest.mark.usefixtures("tool_forge")
def test_it_writes_into_a_folder_and_never_over_a_file_unasked(invoke: Invoke, project: Path) -> None:
    outcome = invoke("import", "get-weather.labeled.json", "-o", "new/")
    assert (outcome.code, outcome.out) == (0, "wrote new/get-weather.labeled.eval.yaml (1 case)\n")
    written = project / "new" / "get-weather.labeled.eval.yaml"
    written.write_text("mine")
    again = invoke("import", "get-weather.labeled.json", "-o", "new/")
    assert (again.code, again.out) == (2, "")
    assert again.err == "error: `new/get-weather.labeled.eval.yaml` exists; overwrite it with `--force`\n"
    assert written.read_text() == "mine"
    assert invoke("import", "get-weather.labeled.json", "-o", "new", "--force").code == 0
    assert written.read_text() != "mine"


@pytest.mark.usefixtures("tool_forge")
def test_a_file_of_a_given_name(invoke: Invoke, project: Path) -> None:
    assert invoke("import", "get-weather.labeled.json", "-o", "evals/mine.yaml").code == 0
    assert (project / "evals" / "mine.yaml").read_text().startswith("# Imported from get-weather.labeled.json.\n")


def test_standard_input(invoke: Invoke, tool_forge: Path) -> None:
    assert "suite: get_weather\n" in invoke("import", "-", stdin=tool_forge.read_text()).out


def test_files_beside_the_suite(invoke: Invoke, project: Path) -> None:
    (project / "promptfooconfig.yaml").write_text(PROMPTFOO)
    printed = invoke("import", "promptfooconfig.yaml")
    assert (printed.code, printed.out) == (2, "")
    assert "files next to it" in printed.err
    outcome = invoke("import", "promptfooconfig.yaml", "-o", "out/a.eval.yaml")
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) == 2
    assert invoke("check", "out").code == 0


def test_parts_that_are_left_out_are_warnings(invoke: Invoke, project: Path) -> None:
    (project / "p.yaml").write_text(PROMPTFOO.replace("value: {type: object}}", "}") + "      - {type: python}\n")
    outcome = invoke("import", "p.yaml")
    assert outcome.code == 0
    assert "warning[EV651]: not imported: `python`" in outcome.err
    assert " --> p.yaml:6:16" in outcome.err
    assert "# not imported: `python`" in outcome.out


def test_it_says_how_many_tests_came_over(invoke: Invoke, project: Path) -> None:
    tests = (
        "{assert: [{type: is-json}]}",
        "{assert: [{type: is-json}, {type: bleu}]}",
        "{assert: [{type: bleu}]}",
    )
    (project / "p.yaml").write_text(f"prompts: [Hi]\ntests: [{', '.join(tests)}]\n")
    outcome = invoke("import", "p.yaml", "-o", "out/")
    assert (outcome.code, outcome.out) == (0, "wrote out/p.eval.yaml (2 cases)\n")
    assert outcome.err.endswith("1 of 3 tests came over whole, 1 weaker, 1 lost\n")
    assert invoke("import", "p.yaml", "-o", "out/", "--force", "--strict").code == 1


def test_a_file_that_fails_does_not_stop_the_others(invoke: Invoke, tool_forge: Path, project: Path) -> None:
    (project / "p.yaml").write_text("prompts: [Hi]\ntests: [{vars: {a: 1}}]\n")
    outcome = invoke("import", "p.yaml", tool_forge.name, "-o", "out/")
    assert (outcome.code, outcome.out) == (2, "wrote out/get-weather.labeled.eval.yaml (1 case)\n")
    assert "error[EV656]: nothing of this file came over: no test asserts anything" in outcome.err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("prompts: [Hi]\ntests: []\n", "it has no tests that can be read"),
        ("prompts: [exec:x]\ntests: [{assert: [{type: is-json}]}]\n", "none of its prompts can be taken over"),
        ("prompts: [Hi]\ntests: [{assert: [{type: bleu}]}]\n", "no assertion has a counterpart"),
    ],
)
def test_why_nothing_comes_over(invoke: Invoke, project: Path, text: str, why: str) -> None:
    (project / "p.yaml").write_text(text)
    assert f"error[EV656]: nothing of this file came over: {why}\n" in invoke("import", "p.yaml").err


CODE = """\
prompts: ["Is {{word}} a word?"]
tests:
  - vars: {word: fox}
    assert:
      - {type: javascript, value: output.trim().length > 3}
"""


def test_code_is_allowed_by_a_new_configuration(invoke: Invoke, project: Path) -> None:
    (project / "p.yaml").write_text(CODE)
    assert "files next to it" in invoke("import", "p.yaml").err
    outcome = invoke("import", "p.yaml", "-o", "new/")
    assert outcome.out.splitlines() == [
        "wrote new/p.checks.js",
        "wrote new/p.eval.yaml (1 case)",
        "wrote evalc.toml",
    ]
    assert (project / "evalc.toml").read_text() == 'checks = ["new/p.checks.js"]\n'
    assert invoke("check", "new").code == 0
    assert invoke("run", "new", "--agent", "demo").code == 0
    assert invoke("import", "p.yaml", "-o", "new/", "--force").err == ""


def test_models_are_named_by_a_new_configuration(invoke: Invoke, project: Path) -> None:
    models = "providers: [openai:x, {id: openai:y, label: Demo, config: {temperature: 0}}]\n"
    (project / "p.yaml").write_text(models + CODE)
    (project / "q.yaml").write_text("providers: [openai:z]\n" + CODE)
    assert invoke("import", "p.yaml", "-o", "new/").code == 0
    lines = (project / "evalc.toml").read_text().splitlines()
    assert lines[1:] == ['agents.demo-2 = { use = "openai:y", temperature = 0 }', 'agent = ["openai:x", "demo-2"]']
    suite = (project / "new/p.eval.yaml").read_text()
    assert "evalc.toml" not in suite
    assert invoke("import", "p.yaml", "-o", "new/", "--force").code == 0
    assert (project / "new/p.eval.yaml").read_text() == suite
    assert "new/p.eval.yaml" in invoke("run", "--dry-run", "new").out
    (project / "evalc.toml").unlink()
    assert invoke("import", "p.yaml", "q.yaml", "-o", "new/", "--force").code == 0
    assert "agent" not in (project / "evalc.toml").read_text()


def test_a_configuration_of_the_project_is_not_changed(invoke: Invoke, project: Path) -> None:
    (project / "evalc.toml").write_text("agent = 'demo'\n")
    (project / "p.yaml").write_text(CODE)
    outcome = invoke("import", "p.yaml", "-o", "new/")
    line = 'before a run, evalc.toml has to say: checks = ["new/p.checks.js"]'
    assert line in " ".join(outcome.err.split())
    assert (project / "evalc.toml").read_text() == "agent = 'demo'\n"
    assert '# for evalc.toml: checks = ["new/p.checks.js"]\n' in (project / "new/p.eval.yaml").read_text()


def test_meanings_are_compared_by_a_new_configuration(invoke: Invoke, project: Path) -> None:
    (project / "p.yaml").write_text(CODE.replace("javascript, value: output.trim().length > 3", "similar, value: fox"))
    assert invoke("import", "p.yaml", "-o", "new/").out.endswith("wrote evalc.toml\n")
    assert (project / "evalc.toml").read_text() == 'similarity = "embeddings"\n'


def test_python_runs_only_where_somebody_has_named_it(invoke: Invoke, project: Path) -> None:
    (project / "p.yaml").write_text(
        CODE.replace("javascript, value: output.trim().length > 3", "python, value: '1 > 0'")
    )
    outcome = invoke("import", "p.yaml", "-o", "new/")
    assert 'checks = ["new/p_checks.py"]' in " ".join(outcome.err.split())
    assert not (project / "evalc.toml").exists()
    refused = invoke("run", "p.yaml", "--from", "promptfoo", "--agent", "demo")
    assert (refused.code, "`p.eval.yaml` has checks in Python" in " ".join(refused.err.split())) == (2, True)


def test_code_in_javascript_runs_without_an_import(invoke: Invoke, project: Path) -> None:
    (project / "p.yaml").write_text(CODE)
    assert invoke("check", "p.yaml", "--from", "promptfoo").code == 0
    assert invoke("run", "p.yaml", "--from", "promptfoo", "--agent", "demo").code == 0
    assert not (project / "evalc.toml").exists()
    (project / "p.yaml").write_text(CODE.replace("> 3", "> 3000"))
    outcome = invoke("run", "p.yaml", "--from", "promptfoo", "--agent", "demo")
    assert (outcome.code, "p_output_trim_length_over_3000 does not hold" in outcome.out) == (1, True)


def test_code_that_the_configuration_names_is_read_once(invoke: Invoke, project: Path) -> None:
    (project / "p.yaml").write_text(CODE)
    assert invoke("import", "p.yaml", "-o", "new/").code == 0
    assert invoke("run", "p.yaml", "--from", "promptfoo", "--agent", "demo").code == 0
    (project / "ok.js").write_text("module.exports = (output) => output.length > 3;")
    (project / "evalc.toml").write_text('checks = ["ok.js"]')
    (project / "p.yaml").write_text(CODE.replace("output.trim().length > 3", "file://ok.js"))
    assert invoke("run", "p.yaml", "--from", "promptfoo", "--agent", "demo").code == 0


def test_several_files_want_a_folder(invoke: Invoke, tool_forge: Path, project: Path) -> None:
    (project / "p.yaml").write_text(PROMPTFOO)
    names = (tool_forge.name, "p.yaml")
    assert invoke("import", *names).err == "error: several files are imported into a folder: name it with `-o`\n"
    assert invoke("import", *names, "-o", "out").code == 0
    assert len(list((project / "out").iterdir())) == 3
    assert invoke("import", *names, "-o", "p.yaml").code == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [("a: 1\n", "EV652"), ("{", "EV1"), ('{"cases": [{}]}', "EV"), ("prompts: [x\n", "EV1"), ("tests: 5\n", "EV6")],
)
def test_errors_end_it_and_nothing_is_written(invoke: Invoke, project: Path, text: str, code: str) -> None:
    (project / "x.yaml").write_text(text)
    outcome = invoke("import", "x.yaml", "-o", "out/")
    assert outcome.code == 2
    assert f"error[{code}" in outcome.err
    assert not (project / "out").exists()


def test_the_tool_can_be_said(invoke: Invoke, tool_forge: Path) -> None:
    wrong = invoke("import", tool_forge.name, "--from", "promptfoo")
    assert (wrong.code, "error[EV652]: this is not a promptfoo configuration" in wrong.err) == (2, True)
    assert invoke("import", tool_forge.name, "--from", "tool-forge").code == 0
    assert invoke("import", tool_forge.name, "--from", "nothing").code == 2


def test_a_missing_file(invoke: Invoke) -> None:
    outcome = invoke("import", "nowhere.json")
    assert (outcome.code, "error[EV600]" in outcome.err) == (2, True)


def test_help(invoke: Invoke) -> None:
    outcome = invoke("import", "--help")
    assert outcome.code == 0
    assert all(word in outcome.out for word in ("--from", "tool-forge", "promptfoo", "--force"))


def test_check_and_run_read_a_configuration_as_if_it_were_imported(invoke: Invoke, project: Path) -> None:
    folder = project / "their"
    folder.mkdir()
    (folder / "promptfooconfig.yaml").write_text(PROMPTFOO.replace("}}\n", "}}\n      - {type: made-up}\n"))
    refused = invoke("check", "their/promptfooconfig.yaml")
    assert refused.code == 2
    assert "`evalc import their/promptfooconfig.yaml` makes an eval file of it, and `--from promptfoo`" in refused.out
    before = sorted(folder.iterdir())
    checked = invoke("check", "their/promptfooconfig.yaml", "--from", "promptfoo")
    assert (checked.code, checked.out) == (0, "all good: 1 suite\n")
    assert "made-up" in checked.err
    assert "0 of 1 tests came over whole, 1 weaker, 0 lost\n" in checked.err
    ran = invoke("run", "their/promptfooconfig.yaml", "--from", "promptfoo", "--agent", "demo", "--output-dir", "r")
    assert ran.code == 1
    assert "json matching a schema" in ran.out
    assert sorted(folder.iterdir()) == before


def test_a_run_of_a_configuration_asks_its_providers_unless_an_agent_is_named(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    providers = "providers: [{id: openai:chat:tiny, label: small, config: {temperature: 0}}]\n"
    (project / "p.yaml").write_text(providers + "prompts: [Hi]\ntests: [{assert: [{type: contains, value: fine}]}]\n")
    (project / "q.yaml").write_text("prompts: [Ho]\ntests: [{assert: [{type: contains, value: fine}]}]\n")
    with serving(answers(CHAT.answer("fine", []))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        ran = invoke("run", "p.yaml", "--from", "promptfoo")
    assert (ran.code, "running against small, as the configuration says\n" in ran.err) == (0, True)
    asked = json.loads(server.requests[0].body)
    assert (asked["model"], asked["temperature"]) == ("tiny", 0)
    assert invoke("run", "p.yaml", "--from", "promptfoo", "--agent", "demo").code == 1
    unclear = invoke("run", "p.yaml", "q.yaml", "--from", "promptfoo")
    assert (unclear.code, "no agent is named" in unclear.err) == (2, True)


INTERRUPTED = """\
import asyncio, os, signal
async def answer(message, asked=[]):
    asked.append(message)
    if len(asked) == 2:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
    return message
"""


def test_a_run_of_a_configuration_goes_on(invoke: Invoke, project: Path) -> None:
    tests = [{"vars": {"x": x}, "assert": [{"type": "contains", "value": x}]} for x in "abc"]
    (project / "p.yaml").write_text(json.dumps({"prompts": ["Say {{x}}"], "tests": tests}))
    (project / "stopping.py").write_text(INTERRUPTED)
    run = ("run", "p.yaml", "--from", "promptfoo", "--agent", "python:stopping.py:answer", "--concurrency", "1")
    outcome = invoke(*run)
    _, _, advice = outcome.err.partition("interrupted; what was finished is kept, and `evalc ")
    command = advice.partition("`")[0].split()
    assert (outcome.code, command[:5]) == (130, ["run", "p.yaml", "--from", "promptfoo", "--resume"])
    outcome = invoke(*command)
    assert (outcome.code, "1 of 3 cases were done before" in outcome.out) == (0, True)


def test_files_of_another_tool_that_cannot_be_imported_are_not_read(invoke: Invoke, project: Path) -> None:
    (project / "p.yaml").write_text("prompts: [Hi]\ntests: []\n")
    outcome = invoke("run", "p.yaml", "--from", "promptfoo", "--agent", "demo")
    assert outcome.code == 2
    assert "error[EV656]" in outcome.err
    fixing = invoke("check", "p.yaml", "--from", "promptfoo", "--fix")
    assert (fixing.code, "leave out `--fix`" in fixing.err) == (2, True)
