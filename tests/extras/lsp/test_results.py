"""Verdicts above cases: of the suite, the tier, the case and the agents that the newest run had."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from typer.testing import CliRunner

from evalc.ecma.regexp import compile_pattern
from evalc.extras.lsp import filter_of
from tests.extras.lsp.editor import Editor
from tests.support.command_line import app

AGENTS = "def good(message):\n    return 'yes'\n\n\ndef bad(message):\n    return 'no'\n\n\nworse = bad\n"
CASE = 'eval: {test_cases: [{name: one, message: hi, validate: [contains "%s"]%s}]}\n'


@pytest.fixture
def project(editor: Editor, root: Path) -> Path:
    for file in root.rglob("*.eval.yaml"):
        file.unlink()
    (root / "evalc.toml").write_text('agent = "python:lens_agents:good"\n')
    (root / "lens_agents.py").write_text(AGENTS)
    return root


def run(folder: Path, *arguments: str) -> None:
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, ["run", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception


def verdicts(editor: Editor, name: str) -> list[str]:
    commands = [lens.command for lens in editor.lenses(name) if lens.command is not None]
    return [command.title for command in commands if command.command == "evalc.show"]


def test_a_suite_of_the_same_name_and_another_tier_lends_no_verdict(editor: Editor, project: Path) -> None:
    (project / "s.eval.yaml").write_text("suite: s\ntier: golden\n" + CASE % ("yes", ""))
    (project / "t.eval.yaml").write_text("suite: s\n" + CASE % ("never", ""))
    (project / "u.eval.yaml").write_text("suite: s\n" + CASE % ("never", ", tier: golden, id: s/two"))
    run(project, "t.eval.yaml")
    run(project, "s.eval.yaml")
    for name, expected in (("s.eval.yaml", ["passed"]), ("t.eval.yaml", ["failed"]), ("u.eval.yaml", [])):
        editor.open(name)
        assert [said.split(",")[0] for said in verdicts(editor, name)] == expected


def test_the_newest_run_counts_with_all_of_its_agents(editor: Editor, project: Path) -> None:
    (project / "s.eval.yaml").write_text("suite: s\n" + CASE % ("yes", ""))
    run(project, "s.eval.yaml")
    run(project, "s.eval.yaml", "--agent", "python:lens_agents:bad", "--agent", "python:lens_agents:worse")
    editor.open("s.eval.yaml")
    assert [said.split(",")[0] for said in verdicts(editor, "s.eval.yaml")] == ["0 of 2 passed"]


def test_a_case_whose_id_looks_like_a_row_of_another_is_one_of_its_own(editor: Editor, project: Path) -> None:
    cases = [
        f'{{name: {name}, id: "{id_}", message: hi, validate: [contains "{text}"]}}'
        for name, id_, text in (("one", "r/b", "yes"), ("two", "r/b@x", "never"))
    ]
    (project / "r.eval.yaml").write_text(f"suite: r\neval: {{test_cases: [{', '.join(cases)}]}}\n")
    run(project)
    editor.open("r.eval.yaml")
    assert [said.split(",")[0] for said in verdicts(editor, "r.eval.yaml")] == ["passed", "failed"]
    chosen = [compile_pattern(filter_of("r/b", ("r/b", "r/b@x"))[1:-1]).test(id_) for id_ in ("r/b", "r/b@x", "r/b@xy")]
    assert chosen == [True, False, True]


def test_a_case_whose_id_rows_fill_has_the_verdict_of_all_of_its_rows(editor: Editor, project: Path) -> None:
    rows = "[{sku: A1, text: yes}, {sku: A2, text: never}]"
    checks = """['contains "{{text}}"']"""
    case = f'{{name: a, id: "order-{{{{sku}}}}", message: hi, for_each: {rows}, validate: {checks}}}'
    (project / "r.eval.yaml").write_text(f"suite: r\neval: {{test_cases: [{case}]}}\n")
    run(project)
    editor.open("r.eval.yaml")
    assert verdicts(editor, "r.eval.yaml") == ["1 of 2 passed"]
    pattern = compile_pattern(filter_of("order-{{sku}}", ("order-{{sku}}",))[1:-1])
    assert [pattern.test(id_) for id_ in ("order-A1", "order-A1@prompt", "other-A1")] == [True, True, False]


def test_a_command_of_a_lens_runs_its_case_alone(editor: Editor, project: Path) -> None:
    cases = [
        f'{{name: {name}, id: "{id_}", message: hi, expected: yes}}' for name, id_ in (("one", "r/b"), ("two", "r/b@x"))
    ]
    (project / "r.eval.yaml").write_text(f"suite: r\neval: {{test_cases: [{', '.join(cases)}]}}\n")
    editor.open("r.eval.yaml")
    params = lsp.ExecuteCommandParams("evalc.run", [editor.uri("r.eval.yaml"), "r/b"])
    said = editor.wait(editor.client.workspace_execute_command_async(params))
    assert "1 of 2 cases selected" in str(said)
