"""Evals of Agent Skills from the command line: as they stand, with and without the skill, and by a coding agent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalc.model.answer import MOST_WRITTEN
from tests.cli.conftest import Invoke

AGENT = """\
import json, os, sys
message = json.load(sys.stdin)["message"]
has_skill = os.path.exists(".agents/skills/tables/SKILL.md")
calls = [{"name": "Skill", "params": {"skill": "tables"}}] if has_skill and "table" in message else []
print(json.dumps({"response": f"Read {sorted(os.listdir())}." + " One row." * bool(calls), "toolCalls": calls}))
"""
JUDGE = "def judge(query): return int('One row' in query['response']), 'looks for the row'\n"
EVALS = {
    "skill_name": "tables",
    "evals": [
        {
            "id": 1,
            "prompt": "Clean the table data.csv",
            "expected_output": "A cleaned table",
            "files": ["evals/data.csv"],
            "expectations": ["Says how many rows there are", "The response is at most 50 words."],
        },
        {"id": 2, "prompt": "Hello", "files": [], "expectations": ["The response mentions 'Read'."]},
    ],
}
QUERIES = [
    {"query": "clean my table", "should_trigger": True},
    {"query": "tidy up this spreadsheet", "should_trigger": True},
    {"query": "write a poem", "should_trigger": False},
]
CONFIG = """\
paths = ["tables/evals"]
judge = "python:judging.py:judge"
agent = ["with-skill", "without-skill"]

[agents.with-skill]
use = "command:python agent.py"

[agents.without-skill]
use = "command:python agent.py"
skills = []
"""


@pytest.fixture(autouse=True)
def skill(project: Path) -> Path:
    folder = project / "tables"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tables\ndescription: Cleans tables.\n---\n")
    (folder / "evals" / "data.csv").write_text("a,b\n1,2\n")
    (folder / "evals" / "evals.json").write_text(json.dumps(EVALS, indent=2))
    (folder / "evals" / "trigger-eval.json").write_text(json.dumps(QUERIES, indent=2))
    for name, text in {"agent.py": AGENT, "judging.py": JUDGE, "evalc.toml": CONFIG}.items():
        (project / name).write_text(text)
    return folder


def test_a_check_says_which_sentences_are_checks(invoke: Invoke) -> None:
    outcome = invoke("check")
    assert (outcome.code, outcome.out) == (
        0,
        "all good: 2 suites\nchecks were made of 2 sentences (-v lists them); a judge decides 1 other\n",
    )
    assert invoke("check", "-v").out.splitlines()[2:4] == [
        "tables/evals/evals.json:13:9: words <= 50",
        'tables/evals/evals.json:21:9: contains "Read" ignoring case',
    ]


def test_with_and_without_the_skill(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "tables/evals/evals.json")
    assert outcome.code == 1
    assert "response: Read ['evals']." in outcome.out
    _, _, table = outcome.out.partition("═══ 2 agents side by side\n")
    paired = "passed by with-skill alone: 1, by without-skill alone: 0; may be chance (McNemar's exact test, p = 1)"
    assert paired in table
    assert [line.split() for line in table.splitlines()[:4]] == [
        ["with-skill", "without-skill"],
        ["tables/eval-1", "✓", "✗"],
        ["tables/eval-2", "✓", "✓"],
        ["passed", "2/2", "1/2"],
    ]
    assert invoke("report", "-o", "report.html").code == 0
    page = (project / "report.html").read_text()
    assert "with-skill" in page
    assert "without-skill" in page


def test_a_run_goes_on_with_the_same_skills_alone(invoke: Invoke, project: Path) -> None:
    configured = CONFIG.replace("skills = []", 'skills = ["tables"]')
    (project / "evalc.toml").write_text(configured)
    invoke("run", "tables/evals/trigger-eval.json", "--agent", "without-skill")
    (journal,) = project.glob("**/journal.jsonl")
    lines = journal.read_text().splitlines(keepends=True)
    assert json.loads(lines[0])["options"]["asked"]["agents.without-skill.skills"] == ["tables"]
    journal.write_text("".join(lines[:2]))
    for result in journal.parent.glob("*.json"):
        result.unlink()
    (project / "evalc.toml").write_text(CONFIG)
    refused = invoke("run", "--resume", "latest")
    assert (refused.code, "skills" in refused.err) == (2, True)
    (project / "evalc.toml").write_text(configured)
    assert invoke("run", "--resume", "latest").code == 1


def test_triggers_are_classes(invoke: Invoke, project: Path) -> None:
    outcome = invoke("run", "tables/evals/trigger-eval.json", "--agent", "with-skill")
    assert outcome.code == 1
    assert "accuracy 0.67" in outcome.out
    assert "triggered taken for not triggered: 1 case" in outcome.out
    (result,) = project.glob("**/results/*/tables-triggers.labeled.json")
    classes = json.loads(result.read_text())["summary"]["labels"]["classes"]
    assert [(each["name"], each["recall"]["value"], each["precision"]["value"]) for each in classes] == [
        ("not triggered", 1.0, 0.5),
        ("triggered", 0.5, 1.0),
    ]


def test_no_registry_needs_the_tool_that_loads_skills(invoke: Invoke, project: Path) -> None:
    (project / "tools.json").write_text('[{"name": "search", "description": "-"}]')
    assert invoke("check", "tables/evals/trigger-eval.json", "--tools", "tools.json").out == "all good: 1 suite\n"


def test_evals_need_no_import(invoke: Invoke) -> None:
    outcome = invoke("import", "tables/evals/evals.json")
    assert outcome.code == 2
    assert "evals of an Agent Skill need no import" in outcome.err
    assert "`evalc check` and `evalc run` take the file as it stands" in outcome.err


WRITER = """\
import json, sys
sys.stdin.read()
open("out.csv", "w").write("rows,1\\n")
print(json.dumps({"response": "I wrote out.csv and chart.png."}))
"""
READER = """\
def judge(query):
    written = {each["path"]: each.get("text") for each in query["written"]}
    return int(written == {"out.csv": "rows,1\\n"}), f"it wrote {', '.join(written)}"
"""


def test_a_judge_sees_the_files_that_were_written(invoke: Invoke, project: Path) -> None:
    (project / "agent.py").write_text(WRITER)
    (project / "judging.py").write_text(READER)
    run = ("run", "tables/evals/evals.json", "-k", "eval-1", "--agent", "with-skill")
    assert invoke(*run).code == 0
    (result,) = project.glob("**/results/*/tables.labeled.json")
    assert json.loads(result.read_text())["cases"][0]["details"]["written"] == [
        {"path": "out.csv", "size": 7, "text": "rows,1\n"}
    ]
    assert invoke("rescore", "latest").code == 0
    assert invoke("report", "-o", "report.html").code == 0
    assert "out.csv" in (project / "report.html").read_text()
    (project / "agent.py").write_text(WRITER.replace("out.csv", "elsewhere.csv", 1))
    assert "it wrote elsewhere.csv" in invoke(*run).out
    assert invoke("run", "tables/evals/evals.json", "--agent", "with-skill", "--record", "kept").code == 1
    assert "it wrote elsewhere.csv" in invoke(*run[:-1], "replay:kept").out


CHECKS = """\
import evalc

@evalc.custom_check
def wrote(answer: evalc.Answer, *wanted: str) -> evalc.Outcome:
    paths = [file.path for file in answer.written or ()]
    return evalc.Outcome(passed={*wanted} <= {*paths}, reason=f"it wrote {paths}")
"""
SUITE = """\
suite: files
eval:
  test_cases:
    - {name: a, message: Hi, files: {data.csv: tables/evals/data.csv}, validate: ['check wrote("out.csv")']}
"""


def test_a_check_of_ones_own_sees_the_files(invoke: Invoke, project: Path) -> None:
    for name, text in {"agent.py": WRITER, "checks.py": CHECKS, "files.eval.yaml": SUITE}.items():
        (project / name).write_text(text)
    (project / "evalc.toml").write_text('checks = ["checks.py"]\n')
    assert invoke("run", "files.eval.yaml", "--agent", "command:python agent.py").code == 0
    assert invoke("rescore", "latest").code == 0
    (project / "agent.py").write_text(WRITER.replace('"out.csv"', '"other.csv"'))
    outcome = invoke("run", "files.eval.yaml", "--agent", "command:python agent.py")
    assert "wrote: it wrote ['other.csv']" in outcome.out


TALKING = """\
import json, sys
for number, _ in enumerate(sys.stdin, 1):
    for path in (f"{number}.md", "all.md"):
        open(path, "a").write(f"turn {number} with k3y-of-mine\\n")
    print(json.dumps({"response": "Done."}), flush=True)
"""
TURNS = """\
suite: files
eval:
  test_cases:
    - name: a
      files: {data.csv: tables/evals/data.csv}
      turns:
        - {say: Begin., validate: ['check wrote("1.md")', 'not check wrote("2.md")', 'file "2.md" not exists']}
        - {say: Go on., validate: ['check wrote("1.md", "2.md", "all.md")']}
        - {say: End., validate: ['check wrote("3.md", "all.md")']}
      validate: [check wrote("3.md"), 'turn 2 file "2.md" contains "turn 2"', 'file "all.md" lines 3']
"""


def test_a_check_of_a_turn_sees_the_files_that_were_there_when_it_ended(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {"agent.py": TALKING, "checks.py": CHECKS, "files.eval.yaml": TURNS}.items():
        (project / name).write_text(text)
    (project / "evalc.toml").write_text('checks = ["checks.py"]\n')
    assert invoke("run", "files.eval.yaml", "--agent", "command:python agent.py").out.count("✓") == 2
    (result,) = project.glob("**/results/*/files.labeled.json")
    details = json.loads(result.read_text())["cases"][0]["details"]
    assert [file["path"] for file in details["written"]] == ["1.md", "2.md", "3.md", "all.md"]
    of_turns = [[file["path"] for file in turn.get("written", ())] for turn in details["turns"]]
    assert of_turns == [["1.md", "all.md"], ["1.md", "2.md", "all.md"], []]  # of the last, they are the case's
    assert invoke("rescore", "latest").code == 0
    monkeypatch.setenv("KEY_OF_MINE", "k3y-of-mine")
    (project / "evalc.toml").write_text('checks = ["checks.py"]\nsecrets = ["KEY_OF_MINE"]\n')
    assert invoke("run", "files.eval.yaml", "--agent", "command:python agent.py").code == 0
    assert "not rescored, since secrets were struck out of what their checks read" in invoke("rescore", "latest").out


KEEPING = """\
import json, os, sys
for number, _ in enumerate(sys.stdin, 1):
    if number == 2:
        os.remove("given/data.csv")
    print(json.dumps({"response": "Done."}), flush=True)
"""
REMOVED = """\
suite: files
eval:
  test_cases:
    - name: a
      files: {given: tables/evals}
      turns:
        - {say: Begin., validate: ['file "given/data.csv" exists']}
        - {say: Remove the data., validate: ['file "given/data.csv" not exists']}
      validate: ['file "given/evals.json" exists', 'file "given/other.csv" not exists']
    - name: b
      files: {data.csv: tables/evals/data.csv}
      message: Remove the data.
      validate: ['file "data.csv" not exists']
    - name: c
      files: {data.csv: tables/evals/data.csv}
      message: Change the data.
      validate: ['file "data.csv" not contains "secret"']
"""


def test_a_file_that_the_agent_was_given_is_there_until_it_removes_it(invoke: Invoke, project: Path) -> None:
    (project / "agent.py").write_text(KEEPING)
    (project / "files.eval.yaml").write_text(REMOVED)
    outcome = invoke("run", "files.eval.yaml", "--agent", "command:python agent.py")
    assert "✓ files/a" in outcome.out
    assert "data.csv is `as the agent was given it`, expected it not to be there" in outcome.out
    assert "data.csv is as the agent was given it" in outcome.out
    (result,) = project.glob("**/results/*/files.labeled.json")
    turns = json.loads(result.read_text())["cases"][0]["details"]["turns"]
    assert ["given/data.csv" in turn.get("unchanged", ()) for turn in turns] == [True, False]
    assert "1/3 passed" in invoke("rescore", "latest").out


def test_files_are_asked_for_in_a_folder_of_more_than_are_listed(invoke: Invoke, project: Path) -> None:
    (project / "agent.py").write_text(KEEPING)
    (project / "many").mkdir()
    for number in range(MOST_WRITTEN + 1):
        (project / "many" / f"{number:03}.txt").touch()
    asked = """['file "many/100.txt" exists', 'file "many/000.txt" exists', 'file "other.txt" not exists']"""
    case = f"{{name: a, message: Begin., files: {{many: many}}, validate: {asked}}}"
    (project / "files.eval.yaml").write_text(f"suite: files\neval: {{test_cases: [{case}]}}\n")
    assert invoke("run", "files.eval.yaml", "--agent", "command:python agent.py").code == 0
    (result,) = project.glob("**/results/*/files.labeled.json")
    assert len(json.loads(result.read_text())["cases"][0]["details"]["unchanged"]) == MOST_WRITTEN
    again = " ".join(invoke("rescore", "latest").out.split())
    assert "many/100.txt: the run kept the paths of 100 files that the agent left as they were" in again
    assert "0/1 passed | 1 failed (1 error)" in again


def test_an_agent_without_a_folder_is_said_to_lack_the_files(invoke: Invoke) -> None:
    outcome = invoke("run", "tables/evals/evals.json", "--agent", "demo")
    assert "the case has files, and the agent works in no folder of its own" in outcome.out


def test_a_coding_agent_by_name(
    invoke: Invoke, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    outcome = invoke("run", "tables/evals/evals.json", "--agent", "claude-code")
    assert (outcome.code, outcome.err) == (2, "error: Claude Code is not installed: there is no program `claude`\n")
    programs = tmp_path_factory.mktemp("bin")
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "Read it. One row.", "usage": {}}
    (programs / "claude").write_text(f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(result)}'\n")
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.defpath}")
    outcome = invoke("run", "tables/evals/evals.json", "--agent", "claude-code:--model haiku", "--quiet")
    assert outcome.code == 0, outcome
    (project / "evalc.toml").write_text(CONFIG.replace("command:python agent.py", "codex"))
    assert invoke("run").err == "error: Codex is not installed: there is no program `codex`\n"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('use = "demo"\nskills = []', "`skills` is not a key of an agent of the kind `demo`"),
        ('use = "codex"\nskills = "tables"', "`skills` must be a list of texts"),
        ('use = "codex"\nskills = ["/etc"]', "/etc"),
    ],
)
def test_skills_are_configured_for_programs(invoke: Invoke, project: Path, table: str, said: str) -> None:
    (project / "evalc.toml").write_text(f"[agents.other]\n{table}\n")
    outcome = invoke("check", "tables/evals/evals.json", "--ignore", "EV420")
    assert outcome.code == 2
    assert said in outcome.out


def test_a_program_whose_case_asks_for_a_file_works_in_a_folder_of_its_own(invoke: Invoke, project: Path) -> None:
    (project / "agent.py").write_text(TALKING)
    cases = """[
    {name: a, message: Begin., validate: ['file "1.md" contains "turn"', 'file "2.md" not exists']},
    {name: b, message: Begin., validate: [contains "Done"]},
    ]"""
    (project / "files.eval.yaml").write_text(f"suite: files\neval: {{test_cases: {cases}}}\n")
    assert invoke("run", "files.eval.yaml::a", "--agent", "command:python agent.py").code == 0
    assert not [*project.glob("*.md")]
    assert invoke("run", "files.eval.yaml::b", "--agent", "command:python agent.py").code == 0
    assert {file.name for file in project.glob("*.md")} == {"1.md", "all.md"}
    outcome = invoke("run", "files.eval.yaml", "--agent", "demo")
    assert outcome.code == 3
    assert "1.md: only programs and coding agents have a folder in which they can write files" in outcome.out
