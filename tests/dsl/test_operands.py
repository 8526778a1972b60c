"""Checks as mappings with a `type`: each of their texts has the place where it is written."""

from __future__ import annotations

import pytest

from evalc.base.source import Source
from evalc.check.predicates import texts_of
from evalc.diagnostics import Diagnostics
from evalc.dsl import kinds as k
from evalc.dsl.build_check import build_checks
from evalc.dsl.build_expect import EXPECT
from evalc.dsl.nodes import Mapping
from evalc.dsl.read_yaml import read_yaml
from evalc.dsl.tree import CheckLeaf, CheckTree
from evalc.dsl.walk import Fields, Yaml

MAPPINGS = [
    "{type: contains, rule: hint}",
    "{rule: hint, type: contains, at: a.b}",
    "{type: contains_any, rule: [rain, 5, umbrella], at: a}",
    "{type: value, rule: {a: [one, null, {b: two}], c: three}}",
    "{type: tools_acceptable, rule: [[search], [book, pay], none, []]}",
    "{op: oneOf, value: [Paris, Rome], param: city, tool: get_weather, type: tool_param}",
    "{type: call_has, args: {c: {max: 3, contains: P, equals: Q, one_of: [x, y], min: 1}, a.b: {matches: v}}, tool: t}",
    "{type: call_has, which: 2, tool: book, args: {city: Paris, days: 3, c: [x, [y]], d: {exists: true, matches: z}}}",
    "{type: judge, scale: 5, min: 4, rule: Kind?}",
]
FIELDS = [
    "{toolsCalled: [a, b]}",
    "{toolsAcceptable: [[a], none]}",
    "{toolParams: [{value: x, paramName: p, tool: t, assertion: equals}]}",
    "{responseContains: [a, b]}",
    "{responseContainsAny: [[a, b], [c]]}",
    "{regexPattern: a.c}",
    "{requiredKeys: [a]}",
]


def fields_of(text: str, problems: Diagnostics | None = None) -> Fields:
    source = Source("a.yaml", text)
    problems = Diagnostics() if problems is None else problems
    (node,) = read_yaml(source, lambda span, finding: problems.add(source, span, finding))
    assert isinstance(node, Mapping)
    return Fields(Yaml(source, problems), node, k.keyed("a suite", ("validate", "expect")))


def written(source: Source, tree: CheckTree) -> list[tuple[str, str]]:
    """The texts of a check, each with what the source has at its place."""
    leaf = tree.body
    assert isinstance(leaf, CheckLeaf)
    places = [leaf.places[index] for index in range(len(leaf.places))]
    texts = [text for _, text in texts_of(leaf.check)]
    return [
        (str(text), source.text[place.start : place.end]) for text, place in zip(texts, places, strict=True) if text
    ]


@pytest.mark.parametrize("check", MAPPINGS)
def test_each_text_of_a_mapping_has_its_place(check: str) -> None:
    fields = fields_of(f"validate:\n  - {check}\n")
    (tree,) = build_checks(fields, "validate")
    texts = written(fields.source, tree)
    assert texts
    assert all(text == at or (text, at) == ("__none__", "none") or at == "[]" for text, at in texts)


@pytest.mark.parametrize("block", FIELDS)
def test_each_text_of_a_field_of_expect_has_its_place(block: str) -> None:
    fields = fields_of(f"expect: {block}\n")
    for tree in EXPECT.read(fields, "expect"):
        assert all(text == at or (text, at) == ("__none__", "none") for text, at in written(fields.source, tree))


@pytest.mark.parametrize("written_null", ["", "null", "~", "[]"])
@pytest.mark.parametrize(
    "type_", ["tools_called", "contains_any", "value", "contains", "tools_acceptable", "length"], ids=str
)
def test_only_a_literal_rule_may_be_null(type_: str, written_null: str) -> None:
    fields = fields_of(f"validate:\n  - type: {type_}\n    rule: {written_null}\n")
    trees = build_checks(fields, "validate")
    may_be = {
        "tools_called": ["[]"],
        "tools_acceptable": ["[]"],
        "value": ["null", "~", "[]"],
        "contains": ["null", "~"],
    }
    assert bool(trees) is (written_null in may_be.get(type_, []))
    assert fields.partial is not bool(trees)


@pytest.mark.parametrize(
    "check",
    [
        "{type: numbers_from, rule: []}",
        "{type: quotes_from, rule: []}",
        "{type: tool_param, tool: book, param: city, op: oneOf, value: }",
        "{type: tool_param, tool: book, param: city, op: oneOf, value: null}",
        "{type: tool_param, tool: book, param: city, op: equals, value: }",
    ],
)
def test_a_check_without_an_operand_is_reported_and_left_out(check: str) -> None:
    problems = Diagnostics()
    fields = fields_of(f"validate:\n  - {check}\n", problems)
    assert not build_checks(fields, "validate")
    assert fields.partial
    assert [problem.code for problem in problems] == ["EV309"]
