"""Evals of Agent Skills: the suites that `evals.json` and `trigger-eval.json` are, and what is said of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.compiler.compiled import CompiledSuite
from evalc.model.case import Case, Label
from evalc.model.json import to_json

Write = Callable[..., Path]


@pytest.fixture
def skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a skill, which is the working folder."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "skills" / "tables"
    (folder / "evals" / "files").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: table-cleaner\ndescription: Cleans tables.\n---\nUse pandas.\n")
    (folder / "evals" / "files" / "sales.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return folder


def suite_of(folder: Path, data: object, name: str = "evals.json") -> CompiledSuite:
    path = folder / "evals" / name
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
    compilation = evalc.compile(path.relative_to(Path.cwd()))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    (suite,) = compilation.suites
    return suite


def cases_of(folder: Path, data: object, name: str = "evals.json") -> list[Case]:
    return list(suite_of(folder, data, name).cases())


def said(folder: Path, data: object, name: str = "evals.json") -> list[str]:
    path = folder / "evals" / name
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=1))
    found = evalc.check(path.relative_to(Path.cwd()))
    return [f"{p.start.line}:{p.start.column} {p.code}" for p in found]


def evals(*items: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"skill_name": "table-cleaner", "evals": [*items], **more}


def judged(case: Case) -> list[str]:
    return [dimension.criteria for dimension in case.rubric or ()]


def test_an_eval_is_a_case(skill: Path) -> None:
    suite = suite_of(
        skill,
        evals(
            {
                "id": 1,
                "prompt": "Clean evals/files/sales.csv for {{me}}.",
                "expected_output": "A cleaned table.",
                "files": ["evals/files/sales.csv"],
                "expectations": ["Names the dropped columns", "The response is at most 50 words."],
            }
        ),
    )
    (case,) = suite.cases()
    assert (suite.ir.name, suite.tier, case.id) == ("table-cleaner", "labeled", "table-cleaner/eval-1")
    assert case.input.message == "Clean evals/files/sales.csv for {{me}}."
    assert case.input.files == {"evals/files/sales.csv": "skills/tables/evals/files/sales.csv"}
    assert case.input.skill == "skills/tables"
    assert case.expected == "A cleaned table."
    assert judged(case) == ["Names the dropped columns"]
    assert b'{"type":"length","max":50,"unit":"words"}' in to_json(case.expect)


@pytest.mark.parametrize(
    "written",
    [
        {"assertions": ["Says {{x}}"]},
        {"expectations": ["Says {{x}}"]},
        {"assertions": [{"text": "Says {{x}}"}]},
        {"assertions": [{"id": "a", "text": "Says {{x}}", "type": "manual"}]},
        {"assertions": [{"name": "says-x", "description": "Says {{x}}"}]},
        {"expected_behavior": "Says {{x}}"},
        {"expected_output": "Says {{x}}"},
        {"expected_output": "Says {{x}}", "assertions": []},
    ],
)
def test_sentences_are_asked_of_a_judge_in_each_form(skill: Path, written: dict[str, Any]) -> None:
    (case,) = cases_of(skill, evals({"id": 1, "prompt": "Hi", **written}))
    assert judged(case) == ["Says {{x}}"]


def test_a_list_alone_is_a_suite_of_the_folder(skill: Path) -> None:
    suite = suite_of(skill, [{"id": "first", "prompt": "Hi", "expectations": ["Greets"]}])
    assert (suite.ir.name, [case.id for case in suite.cases()]) == ("table-cleaner", ["table-cleaner/first"])
    (skill / "SKILL.md").unlink()
    suite = suite_of(skill, [{"id": "first", "prompt": "Hi", "expectations": ["Greets"]}])
    assert suite.ir.name == "tables"
    assert [case.input.skill for case in suite.cases()] == [None]


def test_an_object_may_be_one_eval(skill: Path) -> None:
    data = {
        "skills": ["tables"],
        "query": "Clean it",
        "files": [],
        "expected_behavior": ["Says what it did", "At most 9 words"],
    }
    suite = suite_of(skill, data, "clean-up.json")
    (case,) = suite.cases()
    assert (suite.ir.name, case.id) == ("table-cleaner-clean-up", "table-cleaner-clean-up/eval-1")
    assert (case.input.message, judged(case)) == ("Clean it", ["Says what it did"])


def test_repeated_names_get_numbers(skill: Path) -> None:
    items = [{"id": n, "name": "same", "prompt": "Hi", "expectations": ["Greets"]} for n in (7, 9)]
    assert [case.id for case in cases_of(skill, evals(*items))] == ["table-cleaner/same", "table-cleaner/same-eval-2"]


@pytest.mark.parametrize("wrapped", [False, True])
def test_queries_have_labels(skill: Path, wrapped: bool) -> None:
    queries = [{"query": "clean it", "should_trigger": True}, {"query": "a poem", "should_trigger": False, "why": "-"}]
    data = {"skill_name": "table-cleaner", "queries": queries} if wrapped else queries
    suite = suite_of(skill, data, "trigger-eval.json")
    assert suite.ir.name == "table-cleaner-triggers"
    cases = list(suite.cases())
    assert [case.label for case in cases] == [
        Label(expected="triggered", source="skill table-cleaner"),
        Label(expected="not triggered", source="skill table-cleaner"),
    ]
    assert [[check.get("which", "any") for check in case.expect.checks or ()] for case in cases] == [["any"], ["no"]]


def test_a_query_may_name_the_skill(skill: Path) -> None:
    (case,) = cases_of(skill, [{"query": "review it", "should_trigger": "peer-review"}], "trigger-eval.json")
    assert case.label == Label(expected="triggered", source="skill peer-review")


def test_a_truth_in_quotes_names_no_skill(skill: Path) -> None:
    (case,) = cases_of(skill, [{"query": "a poem", "should_trigger": "false"}], "trigger-eval.json")
    assert case.label == Label(expected="not triggered", source="skill table-cleaner")


@pytest.mark.parametrize("path", ["a" * 300, "a\0b"])
def test_files_that_no_folder_can_hold(skill: Path, path: str) -> None:
    assert said(skill, evals({"id": 1, "prompt": "a", "files": [path], "assertions": ["b"]}))[0].endswith("EV643")
    for key in ("skill", "files"):
        text = json.dumps({"suite": "a", "test_cases": [{"name": "b", "message": "c", "validate": ["non-empty"]}]})
        suite = skill / "a.eval.yaml"
        suite.write_text(text.replace('"name"', f'"{key}": {json.dumps([path] if key == "files" else path)}, "name"'))
        assert next(problem.code for problem in evalc.check(suite)) in ("EV600", "EV608")


def test_files_are_found_from_the_skill_the_evals_and_the_project(skill: Path) -> None:
    (Path("shared")).mkdir()
    Path("shared/notes.txt").write_text("x")
    given = ["evals/files/sales.csv", "files/sales.csv", "shared/notes.txt", {"path": "evals/files", "purpose": "all"}]
    (case,) = cases_of(skill, evals({"id": 1, "prompt": "Hi", "expectations": ["Greets"], "files": given}))
    assert case.input.files == {
        "evals/files/sales.csv": "skills/tables/evals/files/sales.csv",
        "files/sales.csv": "skills/tables/evals/files/sales.csv",
        "shared/notes.txt": "shared/notes.txt",
        "evals/files": "skills/tables/evals/files",
    }


def test_a_compiled_file_says_the_same(skill: Path, tmp_path: Path) -> None:
    suite = suite_of(skill, evals({"id": 1, "prompt": "Hi", "expectations": ["Greets"], "files": ["files/sales.csv"]}))
    cases = [*suite.cases()]
    Path("compiled.labeled.json").write_bytes(b"".join(suite.encode()))
    (again,) = evalc.compile(Path("compiled.labeled.json")).suites
    assert [*again.cases()] == cases


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"assertions": ["Greets"], "must_have": ["a"]}, ["10:4 EV642"]),
        ({"assertions": ["Greets"], "notes": "-", "category": "x"}, []),
        ({"assertions": ["Greets"], "expectatons": ["Says bye"]}, ["10:4 EV201"]),
        ({"assertions": ["Greets", 7, {"kind": "x"}, ["a"]]}, ["10:5 EV301", "13:5 EV301"]),
        ({"assertions": ["Greets"], "files": ["no.csv"]}, ["11:5 EV643"]),
        ({"assertions": ["Greets"], "files": "a.csv"}, ["10:13 EV301"]),
        ({"assertions": ["Greets"], "files": [f"{'../' * 20}etc/passwd"]}, ["11:5 EV608"]),
        ({"assertions": ["Greets"], "files": ["/etc/passwd"]}, ["11:5 EV608"]),
        ({}, ["5:10 EV401"]),
    ],
)
def test_mistakes_are_reported_in_place(skill: Path, item: dict[str, Any], expected: list[str]) -> None:
    assert said(skill, evals({"id": 1, "prompt": "Hi", **item})) == expected


def test_the_name_in_the_manifest_is_that_of_the_label(skill: Path) -> None:
    data = {"skill_name": "The Tables!", "queries": [{"query": "clean it", "should_trigger": True}]}
    suite = suite_of(skill, data)
    (case,) = suite.cases()
    assert (suite.ir.name, case.label and case.label.skill) == ("The-Tables-triggers", "table-cleaner")
    (skill / "SKILL.md").unlink()
    data["skill_name"] = "tables"
    assert [case.label and case.label.skill for case in cases_of(skill, data)] == ["tables"]


def test_blank_values_are_left_out(skill: Path) -> None:
    item = {"id": "", "prompt": "Hi", "expected_output": " ", "files": None, "assertions": ["Greets"]}
    (case,) = cases_of(skill, evals(item, version=2, about="-", queries=[]))
    assert (case.id, case.expected, case.input.files) == ("table-cleaner/eval-1", None, None)
    assert said(skill, evals(item, gates={"min": 1})) == ["14:2 EV642"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (evals(), ["3:11 EV309"]),
        ({"skill_name": "x", "evals": [{"id": 1, "expected_output": "-", "prompt": ["a"]}]}, ["7:14 EV301"]),
        ([{"query": "x", "should_trigger": 3}], ["4:21 EV301"]),
        ('{"skill_name": "x", "evals": [{"prompt": "a", "assertions": ["b"]}', ["1:67 EV127"]),
    ],
)
def test_files_that_are_broken_are_said_to_be(skill: Path, data: object, expected: list[str]) -> None:
    assert [each for each in said(skill, data) if "EV640" not in each] == expected


def test_a_search_finds_them_and_leaves_other_json_alone(skill: Path) -> None:
    (skill / "evals" / "evals.json").write_text(json.dumps(evals({"id": 1, "prompt": "a", "expectations": ["b"]})))
    (skill / "grading.json").write_text(json.dumps({"expectations": [{"text": "b", "passed": True}]}))
    (skill / "queries.json").write_text(json.dumps([{"query": "SELECT 1"}]))
    compilation = evalc.compile(skill.parent)
    assert [suite.ir.name for suite in compilation.suites] == ["table-cleaner"]
    assert (compilation.inventory.judged, compilation.inventory.exact) == (1, ())


@pytest.mark.parametrize("broken", ['{"skill_name": "a", "evals": [', '[{"query": "a", "should_trigger": true}'])
def test_a_search_reports_those_that_cannot_be_read(skill: Path, broken: str) -> None:
    (skill / "evals" / "evals.json").write_text(broken)
    assert [problem.code for problem in evalc.check(skill.parent)] == ["EV127"]


def test_the_files_of_a_case_in_yaml(skill: Path) -> None:
    text = """\
suite: tables
test_cases:
  - name: table
    message: Clean {{file}}.
    files: ["files/{{file}}", ../SKILL.md]
    skill: ..
    validate: [non-empty]
    for_each: [{id: a, file: sales.csv}]
  - name: renamed
    message: Clean it.
    files: {input.csv: files/sales.csv}
    validate: [non-empty]
"""
    path = skill / "evals" / "tables.eval.yaml"
    path.write_text(text)
    (suite,) = evalc.compile(path).suites
    assert [case.input.files for case in suite.cases()] == [
        {"files/sales.csv": "skills/tables/evals/files/sales.csv", "SKILL.md": "skills/tables/SKILL.md"},
        {"input.csv": "skills/tables/evals/files/sales.csv"},
    ]
    for wrong, code in (
        ("[no.csv]", "EV600"),
        ("{../x: files/sales.csv}", "EV301"),
        ("[/etc/passwd]", "EV608"),
        ("7", "EV301"),
    ):
        path.write_text(text.replace("{input.csv: files/sales.csv}", wrong))
        assert [problem.code for problem in evalc.check(path)] == [code]


@pytest.mark.parametrize(
    ("sent", "codes"),
    [
        ({"files": {"a": "skills/tables/SKILL.md"}, "skill": "skills/tables"}, []),
        ({"files": {"a": "/etc/passwd"}}, ["EV608"]),
        ({"files": {"a": "../x"}}, ["EV608"]),
        ({"files": {"a": "out/passwd"}}, ["EV608"]),
        ({"files": {"../a": "skills/tables/SKILL.md"}}, ["EV608"]),
        ({"skill": "/etc"}, ["EV608"]),
    ],
)
def test_nothing_outside_the_project_is_named(skill: Path, sent: dict[str, Any], codes: list[str]) -> None:
    Path("out").symlink_to("/etc")
    files = [path for path in sent.get("files", {}).values() if path.startswith("out/")]
    for path in files:
        assert said(skill, evals({"id": 1, "prompt": "Hi", "assertions": ["x"], "files": [path]})) == ["11:5 EV608"]
    case = {"id": "t/a", "description": "a", "difficulty": "edge", "input": {"message": "Hi", **sent}}
    data = {"metadata": {"toolName": "t", "tier": "labeled"}, "cases": [{**case, "expect": {"responseNonEmpty": True}}]}
    Path("t.labeled.json").write_text(json.dumps(data))
    assert [p.code for p in evalc.check(Path("t.labeled.json")) if p.severity == "error"] == codes
