"""Paths of templates into nested inputs and rows: what they give, and what is said where they lead nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.base.source import Span
from evalc.compiler.compiled import CompiledSuite
from evalc.compiler.fill import Astray, astray, fill, readings, value_of
from evalc.compiler.rows import _JSON, _node
from evalc.dsl.nodes import Node
from evalc.grammar.parse import parse_template
from evalc.model.case import Case


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalc.toml").touch()
    monkeypatch.chdir(tmp_path)


def written(message: str, more: str = "", validate: str = "[non-empty]") -> evalc.Source:
    text = f"suite: s\neval:\n  test_cases:\n    - name: a\n      message: {json.dumps(message)}\n"
    return evalc.Source("s.eval.yaml", f"{text}      validate: {validate}\n{more}")


def compiled(source: evalc.Source) -> CompiledSuite:
    compilation = evalc.compile(source)
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    (suite,) = compilation.suites
    return suite


def cases(source: evalc.Source) -> list[Case]:
    return list(compiled(source).cases())


def said(source: evalc.Source) -> list[str]:
    found = evalc.check(source)
    return [f"{p.source.name}:{p.start.line}:{p.start.column} {p.code}" for p in found if p.severity == "error"]


def inputs_of(data: dict[str, object]) -> dict[str, Node]:
    return {name: _node(_JSON.decode(json.dumps(value)), Span(0, 0)) for name, value in data.items()}


def filled(text: str, data: dict[str, object]) -> str:
    template = parse_template(text).node
    assert template is not None
    return fill(template, inputs_of(data))


ORDER: dict[str, object] = {
    "order": {"items": [{"sku": "A1", "tags": ["x", "y"]}, {"sku": "B2", "tags": []}], "total": 261, "note": None},
    "order.id": "dotted",
    "a[0]": "in brackets",
    "grid": [[1, 2], [3, 4]],
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("{{order.items[0].sku}}", "A1"),
        ("{{order.items.1.sku}}", "B2"),
        ("{{ order.total }}", "261"),
        ("{{order.note}}", ""),
        ("{{grid[1][0]}}", "3"),
        ("{{order.items[0].tags}}", '["x", "y"]'),
        ("{{order.id}}", "dotted"),
        ("{{a[0]}}", "in brackets"),
        ("{{#each order.items}}{{this.sku}};{{/each}}", "A1;B2;"),
        ("{{#each order.items}}{{#each this.tags}}{{this}}{{/each}}{{/each}}", "xy"),
        ("{{#each order.items}}{{#if this.tags}}{{this.sku}}{{/if}}{{/each}}", "A1"),
        ("{{#if order.items[2]}}more{{else}}two{{/if}}", "two"),
        ("{{#unless order.coupon}}none{{/unless}}", "none"),
    ],
)
def test_a_path_gives_what_is_there(text: str, result: str) -> None:
    assert filled(text, ORDER) == result
    template = parse_template(text).node
    assert template is not None
    assert list(astray(template.parts, inputs_of(ORDER))) == []


NAMES = st.text(st.sampled_from("ab.-_"), min_size=1, max_size=5).map("x".__add__)


@given(NAMES, st.integers())
def test_an_input_with_dots_in_its_name_is_meant_before_a_path(name: str, value: int) -> None:
    others: dict[str, object] = {root: {"a": {"b": "no"}} for root, _ in readings(name)}
    assert filled(f"{{{{{name}}}}}", {**others, name: value}) == str(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("a", "b-c", "d_1")), inner, max_size=3)
    ),
    max_leaves=12,
)


def _paths(value: object, at: str) -> list[tuple[str, object]]:
    found = [(at, value)]
    if isinstance(value, dict):
        found += [each for key, inner in value.items() for each in _paths(inner, f"{at}.{key}")]
    if isinstance(value, list):
        found += [each for index, inner in enumerate(value) for each in _paths(inner, f"{at}[{index}]")]
    return found


@given(JSON)
def test_every_place_in_a_value_has_a_path_and_nothing_has_one_beyond(value: object) -> None:
    inputs = inputs_of({"v": value})
    for path, inner in _paths(value, "v"):
        node = value_of(path, inputs)
        assert node == inputs_of({"v": inner})["v"]
        template = parse_template(f"{{{{{path}.nowhere}}}}").node
        assert template is not None
        ((_, found),) = astray(template.parts, inputs)
        assert found == Astray("v", path, node, "nowhere")


def test_a_path_fills_messages_checks_and_patterns_of_each_row() -> None:
    rows = [
        {"id": "p", "order": {"items": [{"sku": "A+1"}], "n": 2}},
        {"id": "q", "order": {"items": [{"sku": "B"}], "n": "07"}, "note": "late"},
    ]
    Path("r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    validate = """['contains "{{order.items[0].sku}}"', 'not matches /{{order.items[0].sku}}-{{order.n}}/']"""
    message = "Where is {{order.items[0].sku}}{{#if note}} ({{note}}){{/if}}?"
    first, second = cases(written(message, "      for_each: r.jsonl\n", validate))
    assert first.input.message == "Where is A+1?"
    assert second.input.message == "Where is B (late)?"
    assert first.expect.response_contains == ("A+1",)
    assert second.expect.response_contains == ("B",)


WHERE = "Where is {{order.items[0].sku}}?"


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ('{"id": 2, "order": "A1"}', "2:20 EV180"),
        ('{"id": 2, "order": {"items": []}}', "2:30 EV180"),
        ('{"id": 2, "order": {"items": [{"skuu": 1}]}}', "2:31 EV180"),
        ('{"id": 2, "order": null}', "2:20 EV180"),
        ('{"id": 2, "oder": {}}', "2:1 EV208"),
    ],
)
def test_a_row_without_what_a_text_asks_for_is_named_at_its_place(row: str, place: str) -> None:
    Path("r.jsonl").write_text(f'{{"id": 1, "order": {{"items": [{{"sku": "A1"}}]}}}}\n{row}\n')
    assert said(written(WHERE, "      for_each: r.jsonl\n")) == [f"r.jsonl:{place}"]
    in_a_check = written("hi", "      for_each: r.jsonl\n", f"['contains \"{WHERE}\"']")
    assert said(in_a_check) == [f"r.jsonl:{place}"]


def test_a_cell_of_csv_is_a_text_without_places() -> None:
    Path("r.csv").write_text('id,order\n1,"{""sku"": 1}"\n')
    assert said(written("{{order.sku}}", "      for_each: r.csv\n")) == ["r.csv:2:3 EV180"]
    Path("r.csv").write_text("id,order.sku\n1,A1\n")
    (case,) = cases(written("{{order.sku}}", "      for_each: r.csv\n"))
    assert case.input.message == "A1"


MISSPELT = "`order.nubmer` is not an input (case `a`)"


def test_a_misspelt_path_is_reported_once_at_the_text() -> None:
    rows = "      for_each: [{id: 1, order: {number: 1}}, {id: 2, order: {number: 2}}]\n"
    (problem,) = [p for p in evalc.check(written("{{order.nubmer}}", rows)) if p.severity == "error"]
    assert (problem.code, problem.start.line, problem.finding.message()) == ("EV205", 5, MISSPELT)
    (problem,) = [p for p in evalc.check(written("{{ordr.number}}", rows)) if p.severity == "error"]
    assert (problem.code, problem.start.line) == ("EV205", 5)


def test_an_item_that_lacks_a_key_is_named_at_the_row() -> None:
    Path("r.jsonl").write_text('{"id": 1, "items": [{"sku": "A"}, {"name": "B"}]}\n')
    text = "{{#each items}}{{this.sku}}{{/each}}"
    assert said(written(text, "      for_each: r.jsonl\n")) == ["r.jsonl:1:35 EV180"]
    assert said(written("{{this.sku}}", "      for_each: r.jsonl\n")) == ["s.eval.yaml:5:19 EV205"]


def test_a_path_into_an_input_of_a_case_is_reported_at_the_text() -> None:
    assert said(written("{{order.items[3]}}", "      inputs: {order: {items: [1]}}\n")) == ["s.eval.yaml:5:19 EV180"]
    assert said(written("{{order.items[0]}}", "      inputs: {order: {items: [1]}}\n")) == []


def test_a_prompt_may_take_a_path_of_a_declared_input() -> None:
    head = "prompt: 'Where is {{order.sku}}?'\ninputs: [{name: order, required: true}]\n"
    text = head + "eval:\n  test_cases:\n    - {name: a, inputs: {order: {sku: A1}}, validate: [non-empty]}\n"
    (case,) = cases(evalc.Source("s.eval.yaml", text))
    assert case.input.message == "Where is A1?"
    undeclared = text.replace("inputs: [{name: order, required: true}]\n", "")
    (case,) = cases(evalc.Source("s.eval.yaml", undeclared))
    assert case.input.message == "Where is A1?"
