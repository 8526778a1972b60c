"""Bare templates in a case: rows and inputs give operands, and what does not fit is reported at its cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.check.tree import NO_TOOL, Asked, Blank
from evalc.compiler import ir
from evalc.compiler.emit.blanks import UNFILLED, Given, Misfit, fitted, operand_of
from evalc.compiler.emit.check import checks_of as made
from evalc.compiler.emit.emission import Emission
from evalc.diagnostics import Finding
from evalc.ecma import to_json
from evalc.model.json import is_same

SUITE = """suite: s
eval:
  test_cases:
    - name: a
      message: hi
      validate: [non-empty]
"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalc.toml").touch()
    monkeypatch.chdir(tmp_path)


class Blanks:
    """Fills a bare template in every case that is compiled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.operands: list[Any] = []
        self.blank = Blank("{{n}}", "number")

        def checks_of(emission: Emission) -> tuple[tuple[ir.Check, ...], tuple[ir.Link, ...]]:
            def report(_start: int, _end: int, finding: Finding) -> None:
                emission.problems.add(emission.case.tree.source, emission.case.tree.span, finding)

            self.operands.append(operand_of(emission, self.blank, report))
            return made(emission)

        monkeypatch.setattr("evalc.compiler.emit.case.checks_of", checks_of)

    def fill(self, asks: Asked, more: str, template: str = "{{n}}", scale: float = 1) -> tuple[list[Any], list[str]]:
        """The operands, and what was reported."""
        self.operands, self.blank = [], Blank(template, asks, scale)
        found = evalc.check(evalc.Source("s.eval.yaml", SUITE + more))
        said = [f"{p.source.name}:{p.start.line}:{p.start.column} {p.code}" for p in found if p.severity == "error"]
        return self.operands, said


@pytest.fixture
def blanks(monkeypatch: pytest.MonkeyPatch) -> Blanks:
    return Blanks(monkeypatch)


def test_cells_of_csv_are_read_as_the_place_asks(blanks: Blanks) -> None:
    Path("r.csv").write_text('id,n\n1,5\n2,007\n3,"[""a""]"\n')
    table = "      for_each: r.csv\n"
    assert blanks.fill("any", table) == ([5, "007", ["a"]], [])
    assert blanks.fill("text", table) == (["5", "007", '["a"]'], [])
    operands, said = blanks.fill("number", table)
    assert operands[0] == 5
    assert set(operands[1:]) == {UNFILLED}
    assert said == ["r.csv:3:3 EV181", "r.csv:4:3 EV181"]


def test_values_of_json_lines_keep_their_types(blanks: Blanks) -> None:
    Path("r.jsonl").write_text('{"id": 1, "n": 5}\n{"id": 2, "n": "5"}\n{"id": 3, "n": [1]}\n{"id": 4, "n": 1.50}')
    table = "      for_each: r.jsonl\n"
    assert blanks.fill("any", table) == ([5, "5", [1], 1.5], [])
    texts, said = blanks.fill("text", table)
    assert ([each for each in texts if each is not UNFILLED], said) == (["5", "5", "1.50"], ["r.jsonl:3:16 EV181"])
    _, said = blanks.fill("number", table)
    assert said == ["r.jsonl:2:16 EV181", "r.jsonl:3:16 EV181"]


def test_rows_and_inputs_of_an_eval_file_have_the_types_of_yaml(blanks: Blanks) -> None:
    assert blanks.fill("any", "      for_each: [{id: 1, n: 5}, {id: 2, n: '5'}, {id: 3, n: true}]\n") == (
        [5, "5", True],
        [],
    )
    assert blanks.fill("any", "      inputs: {n: {deep: [2]}}\n", "{{n.deep[0]}}") == ([2], [])
    assert blanks.fill("flag", "      inputs: {n: 5}\n")[1] == ["s.eval.yaml:4:13 EV181"]
    assert blanks.fill("flag", "      for_each: [{id: 1, n: 5}]\n")[1] == ["s.eval.yaml:7:29 EV181"]


def test_a_path_gives_an_operand_and_leads_nowhere_at_its_row(blanks: Blanks) -> None:
    Path("r.jsonl").write_text('{"id": 1, "o": {"n": 5}}\n{"id": 2, "o": {}}\n{"id": 3}\n')
    operands, said = blanks.fill("number", "      for_each: r.jsonl\n", "{{o.n}}")
    assert operands[0] == 5
    assert said == ["r.jsonl:2:16 EV180", "r.jsonl:3:1 EV208"]


def test_no_block_is_advised_where_none_can_stand() -> None:
    Path("r.jsonl").write_text('{"id": 1, "n": 2, "o": {"n": 5}}\n{"id": 2, "o": {"m": 5}}\n')
    head = SUITE.replace("- name: a\n", "- name: a{{id}}\n      for_each: r.jsonl\n")
    for check, advised in ("at x == {{n}}", False), ("at x == {{o.n}}", False), ('contains "{{n}} {{o.n}}"', True):
        problems = evalc.check(evalc.Source("s.eval.yaml", head.replace("[non-empty]", f"['{check}']")))
        assert {problem.code for problem in problems} <= {"EV180", "EV208"}
        assert problems
        assert [("#if" in problem.finding.help()) for problem in problems] == [advised] * len(problems)


def test_an_input_that_a_row_lacks_is_reported_once_for_texts_and_values(blanks: Blanks) -> None:
    Path("r.jsonl").write_text('{"id": 1, "n": 2, "o": {"n": 5}}\n{"id": 2, "o": {"m": 5}}\n')
    head = SUITE.replace("- name: a\n", "- name: a{{id}}\n      for_each: r.jsonl\n")
    checks = "['contains \"{{n}} {{o.n}}\"', 'at x == {{n}}', 'at y == {{o.n}}']"
    problems = evalc.check(evalc.Source("s.eval.yaml", head.replace("[non-empty]", checks)))
    assert sorted(problem.code for problem in problems) == ["EV180", "EV208"]
    assert not any("#if" in problem.finding.help() for problem in problems)


def test_an_empty_cell_is_an_error_unless_its_row_is_skipped(blanks: Blanks) -> None:
    Path("r.csv").write_text("id,n,why\n1,5,\n2,,down\n3, ,\n")
    table = '      for_each: r.csv\n      skip: "{{why}}"\n'
    asked: tuple[Asked, ...] = ("number", "any", "items", "flag")
    for asks in asked:
        said = blanks.fill(asks, table)[1]
        assert said[-1] == "r.csv:4:3 EV181"
        assert not any(place.startswith("r.csv:3") for place in said)
    assert blanks.fill("text", table) == (["5", "", " "], [])


def test_a_skipped_row_may_lack_what_others_have(blanks: Blanks) -> None:
    lacking = ('{"id": 2, "n": null, "why": "down"}', '{"id": 2, "why": "down"}', '{"id": 2, "n": {}, "why": "down"}')
    for row in lacking:
        Path("r.jsonl").write_text(f'{{"id": 1, "n": {{"m": 5}}}}\n{row}\n')
        operands, said = blanks.fill("number", '      for_each: r.jsonl\n      skip: "{{why}}"\n', "{{n.m}}")
        assert (operands, said) == ([5, UNFILLED], [])


def test_a_number_is_in_the_unit_that_follows_it(blanks: Blanks) -> None:
    assert blanks.fill("number", "      inputs: {n: 1.5}\n", scale=1000) == ([1500], [])


@pytest.mark.parametrize("asks", ["number", "whole", "any", "text"])
def test_a_token_stays_for_the_run(blanks: Blanks, asks: Asked) -> None:
    assert blanks.fill(asks, "", "{{seed:a.b}}") == (["{{seed:a.b}}"], [])


def test_a_token_has_neither_unit_nor_items(blanks: Blanks) -> None:
    asked: tuple[tuple[Asked, float], ...] = (("number", 1000), ("items", 1), ("flag", 1))
    for asks, scale in asked:
        operands, said = blanks.fill(asks, "", "{{seed:a.b}}", scale)
        assert (operands, said) == ([UNFILLED], ["s.eval.yaml:4:13 EV405"])


@pytest.mark.parametrize(
    ("template", "code"), [("{{m}}", "EV205"), ("{{#if n}}", "EV150"), ("{{else}}", "EV152"), ("{{n m}}", "EV155")]
)
def test_a_template_that_gives_no_value_is_reported(blanks: Blanks, template: str, code: str) -> None:
    operands, said = blanks.fill("number", "      inputs: {n: 1}\n", template)
    assert (operands, said) == ([UNFILLED], [f"s.eval.yaml:4:13 {code}"])


def test_a_value_that_does_not_fit_is_described(blanks: Blanks) -> None:
    Path("r.jsonl").write_text(json.dumps({"id": 1, "n": "12 EUR"}))
    blanks.blank = Blank("{{n}}", "number")
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", f"{SUITE}      for_each: r.jsonl\n"))
    assert problem.finding.message() == "`n` is the text `12 EUR`, and a number is needed here"


@pytest.mark.parametrize("line", ["tool {{n}} not called", "tools not called [{{n}}]", "no call of {{n}} has a >= 0"])
def test_a_tool_has_one_name_that_is_not_empty(line: str) -> None:
    for value in ("''", "[book]", "{a: book}"):
        text = (
            "suite: s\neval:\n  test_cases:\n    - name: a\n      message: hi\n"
            f"      for_each: [{{id: r, n: {value}}}]\n      validate: ['{line}']\n"
        )
        assert [problem.code for problem in evalc.check(evalc.Source("s.eval.yaml", text))] == ["EV181"]


@pytest.mark.parametrize("asks", ["text", "name", "any", "items", "names"])
def test_texts_of_rows_are_no_tokens(blanks: Blanks, asks: Asked) -> None:
    value = '"{{seed:x}}"' if asks in ("text", "name", "any") else '["{{seed:x}}"]'
    assert blanks.fill(asks, f"      for_each: [{{id: 1, n: {value}}}]\n") == ([UNFILLED], ["s.eval.yaml:4:13 EV415"])


@pytest.mark.parametrize(
    "check",
    [
        "'tools not called [\"{{t}}\"]'",
        "tools not called [{{t}}]",
        "tools not called {{l}}",
        "tool {{t}} not called",
        "tool '{{t}}' called 2 times",
        "no call of '{{t}}' fails",
        "{type: tools_not_called, rule: ['{{t}}']}",
        "{type: tools_not_called, rule: ['']}",
        "{type: call_has, which: no, tool: '', args: {a: 1}}",
        "{type: tool_param, tool: ' ', param: p, op: notExists}",
        "tools not called [' ']",
        "tool '  ' not called",
        "tool x.'{{t}}' not exists",
        "tool x.'' not exists",
        "{type: tool_param, tool: x, param: ' ', op: notExists}",
        "not has headings '{{t}}'",
    ],
)
def test_a_blank_text_names_nothing(check: str) -> None:
    Path("r.jsonl").write_text(json.dumps({"id": 1, "t": " ", "l": ["a", " "]}) + "\n")
    text = SUITE.replace("[non-empty]", f"\n        - {check}")
    text = text.replace("message", "for_each: r.jsonl\n      message")
    errors = [each.code for each in evalc.check(evalc.Source("s.eval.yaml", text)) if each.severity == "error"]
    assert errors in (["EV181"], ["EV309"], ["EV131"])


# --- what a place takes ----------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e15, 1e15) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
ASKED: tuple[Asked, ...] = ("number", "whole", "items", "names", "sets", "flag", "any")


def of_cell(asks: Asked, cell: str, scale: float = 1) -> Any:
    return fitted(Blank("{{x}}", asks, scale), Given(cell, cell, is_cell=True))


def of_json(asks: Asked, value: Any, scale: float = 1) -> Any:
    return fitted(Blank("{{x}}", asks, scale), Given(json.dumps(value), value))


@given(st.text())
def test_where_a_text_is_asked_a_cell_is_what_it_is(cell: str) -> None:
    assert of_cell("text", cell) == cell


@given(st.text())
def test_where_any_value_fits_a_cell_is_the_text_or_a_value_that_is_written_like_it(cell: str) -> None:
    value = of_cell("any", cell)
    if cell.strip():
        assert (
            value == cell if isinstance(value, str) and value == cell else cell in (to_json(value), json.dumps(value))
        )


@given(JSON)
def test_where_any_value_fits_a_cell_as_javascript_writes_a_value_is_that_value(value: Any) -> None:
    found = of_cell("any", to_json(value))
    assert is_same(found, value)


AS_TEXTS = "007|1.10|1e5|1.0|-0|+5| 5|5 |NaN|nan|Infinity|1e999|True|NULL|12 EUR|0x1|1_000|٣|[1,  2]|[1|'a'|{{n}}"


@pytest.mark.parametrize("cell", [*AS_TEXTS.split("|"), '{"a":1,"a":1}', "[" * 100_000])
def test_where_any_value_fits_other_cells_stay_texts(cell: str) -> None:
    assert of_cell("any", cell) == cell


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        *(("5", 5), ("-1.5", -1.5), ("true", True), ("null", None), ("[1,2]", [1, 2]), ('["a", "b"]', ["a", "b"])),
        *(('{"a": [1]}', {"a": [1]}), ("9007199254740993", 9007199254740993), ('"5"', "5"), ("1e+21", 1e21)),
    ],
)
def test_where_any_value_fits_json_is_a_value(cell: str, value: Any) -> None:
    found = of_cell("any", cell)
    assert (found, type(found)) == (value, type(value))


@given(JSON)
def test_values_of_json_keep_their_types(value: Any) -> None:
    assert of_json("any", value) is value
    is_filled = isinstance(value, list) and bool(value)
    assert isinstance(of_json("items", value), Misfit) is not is_filled
    assert isinstance(of_json("flag", value), Misfit) is not isinstance(value, bool)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    assert isinstance(of_json("number", value), Misfit) is not is_number
    if is_number:
        assert of_json("number", value) == value


@given(st.lists(st.lists(st.text(min_size=1, max_size=3), max_size=3), max_size=3))
def test_names_of_tools_are_texts_and_an_empty_set_is_no_tool(value: list[list[str]]) -> None:
    for names in value:
        assert of_json("names", names) == tuple(names)
    assert of_json("sets", value) == tuple(tuple(names) or (NO_TOOL,) for names in value)


@given(JSON)
def test_a_cell_fits_where_the_value_that_it_writes_fits(value: Any) -> None:
    for asks in ASKED[:-1]:
        in_json, in_cell = of_json(asks, value), of_cell(asks, json.dumps(value))
        assert isinstance(in_json, Misfit) is isinstance(in_cell, Misfit)
        assert isinstance(in_json, Misfit) or is_same(in_json, in_cell)


@given(st.sampled_from(ASKED), st.text(st.sampled_from(" \t\n\r\u00a0")))
def test_an_empty_cell_fits_texts_alone(asks: Asked, cell: str) -> None:
    found = of_cell(asks, cell)
    assert isinstance(found, Misfit)
    assert found.is_empty
    assert of_cell("text", cell) == cell
    assert of_json("any", "") == ""


@pytest.mark.parametrize(
    ("asks", "cell", "required", "found"),
    [
        ("number", "12 EUR", "a number", "the text `12 EUR`"),
        ("number", "007", "a number", "the text `007`"),
        ("number", "true", "a number", "true"),
        ("number", "NaN", "a number", "the text `NaN`"),
        ("number", "9" * 400, "a number", "the number 9"),
        ("whole", "2.5", "a whole number", "the number 2.5"),
        ("whole", "1.000", "a whole number", "the text `1.000`"),
        ("whole", "-1", "a whole number", "the number -1"),
        ("items", "smoke", "a list that is not empty", "the text `smoke`"),
        ("items", "[]", "a list that is not empty", "an empty list"),
        ("names", "[1]", "a list of names", "a list of 1 item"),
        ("names", '[""]', "a list of names", "a list of 1 item"),
        ("sets", '["a"]', "a list of lists of names", "a list of 1 item"),
        ("sets", '[[""]]', "a list of lists of names", "a list of 1 item"),
        ("flag", "TRUE", "`true` or `false`", "the text `TRUE`"),
        ("flag", "1", "`true` or `false`", "the number 1"),
    ],
)
def test_a_cell_that_does_not_fit_is_said_in_words(asks: Asked, cell: str, required: str, found: str) -> None:
    misfit = of_cell(asks, cell)
    assert isinstance(misfit, Misfit)
    assert misfit.required == required
    assert misfit.found.startswith(found)
    assert not misfit.is_empty


@pytest.mark.parametrize(
    ("cell", "scale", "value"),
    [
        *(("4.35", 1000, 4350), ("0.1", 1000, 100), ("1.5", 60_000, 90_000), ("70", 0.01, 0.7), ("29", 0.01, 0.29)),
        *(("5.0", 1, 5), (" 5 ", 1, 5), ("1e3", 1, 1000), ("9007199254740993", 1, 9007199254740993)),
    ],
)
def test_a_number_is_in_the_unit_of_its_place(cell: str, scale: float, value: float) -> None:
    found = of_cell("number", cell, scale)
    assert (found, type(found)) == (value, type(value))
