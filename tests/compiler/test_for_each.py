"""`for_each`: rows of lists, CSV and JSON Lines become cases, and their mistakes are reported at the row."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import evalc
from evalc.base.errors import UsageError
from evalc.compiler import ir
from evalc.compiler.compiled import CompiledSuite
from evalc.compiler.emit.case import CaseEmitter
from evalc.compiler.emit.suite import MOST_KEPT
from evalc.compiler.pipeline import CompileOptions, compile_sources
from evalc.dsl.build_case import CASE
from evalc.model.case import Case
from evalc.model.json import short_hash
from evalc.model.suite import Place

LIST = """suite: s
eval:
  test_cases:
    - name: a
      message: "{city}: {n}"
      inputs: {n: 0}
      for_each: %s
      validate: ['contains "{city}"']
""".replace("{city}", "{{city}}").replace("{n}", "{{n}}", 1)


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalc.toml").touch()
    monkeypatch.chdir(tmp_path)


def compiled(text: str) -> CompiledSuite:
    compilation = evalc.compile(evalc.Source("s.eval.yaml", text))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    (suite,) = compilation.suites
    return suite


def sent(suite: CompiledSuite) -> list[tuple[str, str]]:
    return [(case.id, case.input.message) for case in suite.cases()]


def places(text: str) -> list[str]:
    found = evalc.check(evalc.Source("s.eval.yaml", text))
    return [f"{p.source.name}:{p.start.line}:{p.start.column} {p.code}" for p in found]


PARIS_AND_ROME = [("s/a@Paris", "Paris: 0"), ("s/a@Rome", "Rome: 1")]


def test_the_rows_of_a_list() -> None:
    suite = compiled(LIST % "{key: city, rows: [{city: Paris}, {city: Rome, n: 1}]}")
    assert sent(suite) == PARIS_AND_ROME
    assert sent(suite) == PARIS_AND_ROME, "a second time"
    assert len(suite) == 2
    assert [case.expect.response_contains for case in suite.cases()] == [("Paris",), ("Rome",)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "city,n\nParis,0\n\nRome,1\n"),
        ("r.csv", "\ufeffcity,n\r\nParis,0\r\nRome,1"),
        ("r.jsonl", '{"city": "Paris"}\n\n{"city": "Rome", "n": 1}\n'),
        ("r.json", '[{"city": "Paris"},\n  {\n    "city": "Rome",\n    "n": 1\n  }\n]\n'),
    ],
)
def test_the_rows_of_a_file(name: str, content: str) -> None:
    Path(name).write_text(content, encoding="utf-8", newline="")
    assert sent(compiled(LIST % f"{{file: {name}, key: city}}")) == PARIS_AND_ROME


def test_names_of_rows() -> None:
    assert [i for i, _ in sent(compiled(LIST % "[{city: P, id: x}, {city: Q, id: y}]"))] == ["s/a@x", "s/a@y"]
    assert [i for i, _ in sent(compiled(LIST % "[{city: P, name: x}]"))] == ["s/a@x"]
    numbered = LIST % "[{city: P}, {city: Q}]"
    assert [i for i, _ in sent(compiled(numbered))] == ["s/a@1", "s/a@2"]
    assert places(numbered) == ["s.eval.yaml:7:7 EV216"]


def test_values_of_json_lines_keep_their_types_and_those_of_csv_are_texts() -> None:
    Path("r.jsonl").write_text('{"id": 1, "city": "P", "n": 1.50, "flag": true, "list": [1, null]}\n')
    (case,) = compiled(LIST % "r.jsonl").cases()
    assert case.input.inputs == {"id": 1, "city": "P", "n": 1.5, "flag": True, "list": [1, None]}
    assert case.input.message == "P: 1.50"
    Path("r.csv").write_text("id,city,n\n1,P,1.50\n")
    (case,) = compiled(LIST % "r.csv").cases()
    assert case.input.inputs == {"id": "1", "city": "P", "n": "1.50"}


def test_the_ending_of_a_file_may_be_in_capitals() -> None:
    Path("R.CSV").write_text("id,city\n1,P\n")
    assert sent(compiled(LIST % "R.CSV")) == [("s/a@1", "P: 0")]


def test_cells_are_never_templates() -> None:
    Path("r.csv").write_text("id,city\n1,{{n}}\n")
    assert sent(compiled(LIST % "r.csv")) == [("s/a@1", "{{n}}: 0")]


HEAD = "city,n\nParis,1\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.csv", HEAD + "Rome\n", "r.csv:3:1 EV613"),
        ("r.csv", HEAD + '"Ro\nme",2\nOslo\n', "r.csv:5:1 EV613"),
        ("r.csv", HEAD + ",2\n", "r.csv:3:1 EV215"),
        ("r.csv", HEAD + "Paris,2\n", "r.csv:3:1 EV206"),
        ("r.csv", HEAD + '"open,2\n', "r.csv:3:1 EV613"),
        ("r.csv", "city,city\nParis,1\n", "r.csv:1:6 EV206"),
        ("r.csv", "city,\nParis,1\n", "r.csv:1:6 EV613"),
        ("r.csv", "city,n\n", "s.eval.yaml:7:24 EV612"),
        ("r.csv", "", "s.eval.yaml:7:24 EV612"),
        ("r.jsonl", '{"city": "P"}\n{"city": }\n', "r.jsonl:2:10 EV613"),
        ("r.jsonl", '{"city": "P"}\n[1]\n', "r.jsonl:2:1 EV613"),
        ("r.jsonl", '{"city": NaN}\n', "r.jsonl:1:1 EV613"),
        ("r.jsonl", '{"city": "\\ud83d\\ude00", "n": "\\ud83d"}\n', "r.jsonl:1:32 EV129"),
        ("r.jsonl", '{"city": "P", "city": "Q"}\n', "r.jsonl:1:1 EV613"),
        ("r.jsonl", '{"city": "P", "n": 1e999}\n', "r.jsonl:1:20 EV119"),
        ("r.jsonl", '{"city": ' + "[" * 100_000 + "\n", "r.jsonl:1:1 EV613"),
        ("r.json", '[{"city": "P"}, {"city": }]', "r.json:1:26 EV613"),
        ("r.json", '[\n  {"city": "P"}, [1]\n]', "r.json:2:18 EV613"),
        ("r.json", '[{"city": "P"},\n {"city":\n  NaN}]', "r.json:2:2 EV613"),
        ("r.json", '[{"city": "P"}, {"city": "P"}]', "r.json:1:26 EV206"),
        ("r.json", '[{"city": "P", "n": 1e999}]', "r.json:1:21 EV119"),
        ("r.json", '{"city": "P"}', "r.json:1:1 EV613"),
        ("r.json", "[" * 100_000, "r.json:1:1 EV613"),
        ("r.json", "[]", "s.eval.yaml:7:24 EV612"),
        ("r.json", f'[{{"city": "P", "n": {"9" * 5000}}}]', "r.json:1:21 EV119"),
        ("r.txt", "city\nP\n", "s.eval.yaml:7:24 EV612"),
    ],
)
def test_mistakes_in_rows(name: str, content: str, said: str) -> None:
    Path(name).write_text(content, newline="")
    assert places(LIST % f"{{file: {name}, key: city}}") == [said]


def test_bytes_that_are_no_text() -> None:
    Path("r.csv").write_bytes(b"city,n\nParis,1\nM\xfcnchen,2\n")
    assert places(LIST % "{file: r.csv, key: city}") == ["r.csv:3:2 EV605"]
    Path("r.csv").write_bytes(b"city,n\nPa\0ris,1\n")
    assert places(LIST % "{file: r.csv, key: city}") == ["r.csv:2:3 EV613"]
    Path("r.csv").write_bytes(b"city,n\n" + b"x" * 2_000_000)
    assert places(LIST % "{file: r.csv, key: city}") == ["r.csv:2:1 EV613"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("nowhere.csv", "7:17 EV600"),
        ("../x.csv", "7:17 EV608"),
        ("[]", "7:7 EV309"),
        ("", "7:7 EV309"),
        ("[1]", "7:18 EV301"),
        ("{key: city}", "7:18 EV202"),
        ("{rows: [{city: a}], file: x.csv}", "7:18 EV312"),
        ("{key: city, rows: [{city: ''}]}", "7:37 EV215"),
        ("{key: city, rows: [{city: null}]}", "7:37 EV215"),
        ("{key: o.z, rows: [{city: x, o: {z: }}]}", "7:36 EV215"),
        ("[{id: null, city: x}]", "7:19 EV215"),
        ("{key: city, rows: [{city: a}, {city: a}]}", "7:48 EV206"),
    ],
)
def test_mistakes_of_for_each(rows: str, said: str) -> None:
    assert f"s.eval.yaml:{said}" in places(LIST % rows)


@pytest.mark.parametrize(
    ("rows", "said"), [("{rows: r.csv}", "7:24 EV301"), ("{from: r.csv}", "7:18 EV201"), ("[1]", "7:18 EV301")]
)
def test_where_rows_cannot_be_read_no_name_is_unknown(rows: str, said: str) -> None:
    assert places(LIST % rows) == [f"s.eval.yaml:{said}"]


def test_only_the_first_faults_of_many_rows_are_reported_one_by_one() -> None:
    Path("r.csv").write_text(HEAD + "Rome\n" * 500)
    found = evalc.check(evalc.Source("s.eval.yaml", LIST % "{file: r.csv, key: city}"))
    assert [problem.code for problem in found] == ["EV613"] * 10 + ["EV614"]
    assert found[-1].finding.message() == "490 more problems in these rows"


def test_a_name_that_no_column_has_is_reported_once_at_its_place() -> None:
    Path("r.csv").write_text("id,town\n1,P\n2,Q\n")
    assert places(LIST % "r.csv") == ["s.eval.yaml:5:19 EV205", "s.eval.yaml:8:31 EV205"]
    in_a_list = LIST % "[{id: 1, town: P}, {id: 2, town: Q}]"
    assert places(in_a_list) == ["s.eval.yaml:5:19 EV205", "s.eval.yaml:8:31 EV205"]


def test_a_row_and_a_case_cannot_share_an_id() -> None:
    text = LIST % "{key: city, rows: [{city: P}]}" + "    - {name: a@P, message: hi, validate: [non-empty]}\n"
    assert places(text) == ["s.eval.yaml:9:14 EV206"]


def test_rows_are_held_to_the_declared_inputs() -> None:
    Path("r.csv").write_text("id,count,extra\n1,3,a\n2,many,b\n")
    text = """prompt: "{{count}} {{word}}"
inputs: [{name: count, type: integer}, {name: word, required: true}]
eval:
  test_cases:
    - {name: a, for_each: r.csv, inputs: {word: x}, validate: ['contains "{{extra}}"']}
"""
    assert places(text) == ["r.csv:3:3 EV314"]


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        content = "".join(f"c{number},{number}\n" for number in range(rows))
        (tmp_path / "r.csv").write_text("city,n\n" + content)
        tracemalloc.start()
        evalc.check(evalc.Source("s.eval.yaml", LIST % "{file: r.csv, key: city}"))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(6000) < peak(2000) + 2_000_000


@pytest.mark.parametrize("rows", ["", "Rome,1\n", "Rome,1,2\n", None])
def test_a_long_table_that_changes_behind_the_compiler_is_not_read_as_a_shorter_one(rows: str | None) -> None:
    Path("r.csv").write_text(HEAD + "".join(f"city{n},{n}\n" for n in range(MOST_KEPT)))
    suite = compiled(LIST % "{file: r.csv, key: city}")
    assert sum(1 for _ in suite.cases()) == MOST_KEPT + 1
    if rows is None:
        Path("r.csv").unlink()
    else:
        Path("r.csv").write_text(HEAD + rows)
    with pytest.raises(UsageError, match=r"the table `r.csv` has changed since it was compiled"):
        list(suite.cases())


def test_a_failed_run_names_the_row_and_the_check(tmp_path: Path) -> None:
    Path("r.csv").write_text("city,n\nParis,1\nRome,2\n")
    *_, last = compiled(LIST % "{file: r.csv, key: city}").located()
    assert str(last.places["/id"]) == "r.csv:3:1"
    assert str(last.places["/expect/responseContains/0"]) == "s.eval.yaml:8:18"


WHOLE = """\
suite: whole
tool: t
prompts: {short: "Ask {{q}}.", long: "Ask {{q}} at length{{#if more}} about {{more}}{{/if}}."}
inputs: [q, {name: more, required: false}]
rules: {polite: ['not contains "{{q}}!!"', 'contains any of ["{{q}}", "please"]']}
defaults: {tags: [d], validate: [{use: polite}, latency <= 9s]}
eval:
  criteria: [a (0.5), b (0.5)]
  test_cases:
    - name: plain
      inputs: {q: one}
      validate: [contains "one" for a]
    - name: rows
      description: "Row {{q}}"
      expected: "{{more}}"
      stubs: {t: {x: 1}}
      files: [r.jsonl]
      skill: .
      max_turns: 2
      repeat: 3
      require: 2/3
      for_each: {file: r.jsonl, key: q}
      validate:
        - contains "{{q}}" for a
        - length 1..300 chars
        - non-empty
        - {any_of: ['contains "more {{more}}"', 'matches "^{{q}}"'], criterion: b, weight: 2}
        - tool t.p equals "{{q}}"
        - at x[0] contains "{{q}}"
        - judge "Is {{q}} right?" for b
        - contains "{{seed:x}}"
    - name: labelled
      id: own
      message: "{{q}}?"
      label: {expected: "{{q}}", from: response}
      threshold: 0.5
      difficulty: edge
      expected_failure: "known {{q}}"
      allow: {silent: "as {{q}}"}
      for_each: {file: r.jsonl, key: q}
    - name: turns
      turns: [{say: "First {{q}}", validate: ['contains "{{q}}"']}, {say: "Then {{more}}"}]
      skip: "not {{q}}"
      for_each: {file: r.jsonl, key: q}
      validate: [non-empty]
    - name: played
      user: {goal: "{{q}}", persona: "p {{more}}", facts: {f: "{{q}}"}, opens: "o {{q}}", stop_when: "s {{q}}"}
      archived: "since {{q}}"
      for_each: {file: r.jsonl, key: q}
      validate: [non-empty]
    - name: told
      messages: [{role: system, content: "Be {{more}}"}, {role: user, content: "{{q}}"}]
      for_each: {file: r.jsonl, key: q}
      inherit: false
      expect: {responseContains: ["{{q}}"]}
    - name: regressed
      tier: regression
      created_at: "2026-01-02T03:04:05Z"
      bug_ref: "BUG-{{q}}"
      for_each: {file: r.jsonl, key: q}
      validate: ['contains "{{q}}"']
    - name: rated
      tier: rubric
      tags: ["{{q}}"]
      rubric: [{dimension: d, criteria: "about {{q}}"}]
      reference_data: {a: "{{q}}"}
      for_each: {file: r.jsonl, key: q}
"""


def test_cases_of_a_table_are_the_same_each_time_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"q": "two"}, {"q": "th(r)ee", "more": "x"}, {"q": "4", "more": "a b"}, {"q": "five", "more": ""}]
    (tmp_path / ".git").mkdir()
    (tmp_path / "r.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "whole.eval.yaml").write_text(WHOLE)

    def suites() -> list[tuple[str, str, list[Case], list[dict[str, Place]]]]:
        compilation = evalc.compile(tmp_path / "whole.eval.yaml")
        assert not compilation.has_errors
        found = []
        for suite in compilation.suites:
            located = list(suite.located())
            assert suite.file_hash == short_hash(b"".join(suite.encode()))
            cases, places = [each.case for each in located], [dict(each.places) for each in located]
            found.append((suite.file_name, suite.file_hash, cases, places))
        return found

    unused = {key for key in CASE.keys if f"\n    - {key}: " not in WHOLE and f"\n      {key}: " not in WHOLE}
    assert unused == {"prompt_id"}  # whose prompt is that of the suite's
    kept = suites()
    assert [len(each) for _, _, each, _ in kept] == [26, 8, 8]
    monkeypatch.setattr("evalc.compiler.emit.suite.MOST_KEPT", 0)
    assert suites() == kept


def test_a_mistake_of_a_later_row_names_the_row(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("q,i\na,x\nb,\n")
    (tmp_path / "a.eval.yaml").write_text(
        "eval:\n  test_cases:\n"
        "    - {name: a, message: hi, expected: '{{i}}', for_each: {file: r.csv, key: q}}\n"
        "    - {name: b, message: hi, validate: ['judge \"{{i}}\"'], for_each: {file: r.csv, key: q}}\n"
        "    - {name: c, message: hi, validate: ['judge \"{{j}}\"'], for_each: {file: r.csv, key: q}}\n"
        "    - {name: d, message: hi, for_each: {file: r.csv, key: q}}\n"
    )
    found = {
        (each.code, each.start.line): None if each.row is None else each.row[0].position(each.row[1].start).line
        for each in evalc.check(tmp_path / "a.eval.yaml")
        if each.severity == "error"
    }
    assert found == {("EV401", 3): 3, ("EV309", 4): 3, ("EV205", 5): None, ("EV401", 6): None}


@pytest.mark.parametrize("later", ['contains "Z"', 'starts with "Z"'])
@pytest.mark.parametrize("rows", [3, 2500])
def test_the_hash_that_is_made_on_the_way_is_that_of_the_compiled_file(rows: int, later: str) -> None:
    Path("r.csv").write_text("city\n" + "".join(f"c{number}\n" for number in range(rows)))
    text = LIST % "{file: r.csv, key: city}" + f"    - {{name: b, message: hi, validate: ['{later}']}}\n"
    (suite,) = compile_sources([evalc.Source("s.eval.yaml", text)], CompileOptions(hashed=True)).suites
    assert suite.to_suite().file_hash == short_hash(b"".join(suite.encode()))
    assert len(suite) == rows + 1


def test_each_row_of_a_long_table_is_read_and_made_once_before_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("r.csv").write_text("city\n" + "".join(f"c{number}\n" for number in range(2500)))
    made: list[str] = []
    emit = CaseEmitter.emit

    def counted(*args: Any, **options: Any) -> ir.Case:
        case = emit(*args, **options)
        made.append(case.id)
        return case

    monkeypatch.setattr(CaseEmitter, "emit", counted)
    source = evalc.Source("s.eval.yaml", LIST % "{file: r.csv, key: city}")
    (suite,) = compile_sources([source], CompileOptions(hashed=True)).suites
    assert suite.to_suite().file_hash
    assert len(made) == 2500


@pytest.mark.parametrize("kept", [MOST_KEPT, 0])
def test_a_path_that_a_row_fills_may_make_a_check_of_another_kind(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalc.compiler.emit.suite.MOST_KEPT", kept)
    suite = compiled(
        "suite: s\neval:\n  test_cases:\n    - name: a\n      message: '{{path}}'\n"
        "      for_each: [{path: town}, {path: city}]\n"
        '      validate: [\'any call of book has "{{path}}" contains "Pa", city contains "ris"\']\n'
    )
    types = [check["type"] for case in suite.cases() for check in case.expect.checks or ()]
    assert types == ["call_has", "call"]  # a mapping cannot hold two tests of the same kind at one path
    assert suite.metadata.requires == ("checks.call", "checks.call_has")
