"""The schema of the source language and the checker: they never disagree about the shape of a file."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, combinations
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import evalc
from evalc import base
from evalc.dsl.build_rule import CHECK_TYPES
from evalc.dsl.document_kind import Kind, kind_of_document
from evalc.dsl.nodes import Node
from evalc.dsl.read_yaml import read_yaml
from evalc.schema.published import SCHEMAS
from tests.schema.corpus import ROOT, Text, cures_of_findings, examples_of_findings, files, validator

# What is wrong with the shape of the data. Of the other codes, those of syntax (EV1xx) are about the text, which a
# schema does not see, but where a check on one line becomes a mapping or begins with no known word; EV204 to EV212 are
# about names that other parts of the file or other files declare; EV303 and on are about values, of which a schema
# knows limits and emptiness but not what a pattern, a time, a path or a slug is; EV4xx and EV5xx are about what the
# checks of a case mean together; EV6xx are about files.
STRUCTURAL = {"EV201", "EV202", "EV301", "EV302"}
ALSO_REJECTED = {"EV122", "EV163", "EV203", "EV303", "EV309", "EV312", "EV317", "EV414", "EV640"}


def by_name(text: Text) -> str:
    return text.name


@pytest.mark.parametrize("text", [*files()], ids=by_name)
def test_it_accepts_the_valid_files(text: Text) -> None:
    assert text.rejections() == []
    assert text.documents()


@pytest.mark.parametrize("text", [*cures_of_findings()], ids=by_name)
def test_it_accepts_the_cures(text: Text) -> None:
    assert text.rejections() == []
    assert text.documents()


def test_it_rejects_the_mistakes_that_a_schema_can_see() -> None:
    readable = [text for text in examples_of_findings() if not {p.code for p in text.problems()} & _NOT_READ]
    rejected = {text.name for text in readable if text.rejections()}
    assert rejected - _WITH_SYNTAX_ERRORS == STRUCTURAL | ALSO_REJECTED


_NOT_READ = {"EV100", "EV127"}
_WITH_SYNTAX_ERRORS = {"EV102", "EV103", "EV104", "EV107", "EV108", "EV109", "EV119", "EV125", "EV126", "EV130"}
"""Their examples are rejected for what is left of the file, or for the text that stands in for a number."""


def test_the_files_have_every_type_of_check() -> None:
    nodes = (node for text in files() for document in text.documents() for _, node in _nodes(document))
    types = {node["type"] for node in nodes if isinstance(node, dict) and isinstance(node.get("type"), str)}
    assert set(CHECK_TYPES) <= types


def test_every_kind_of_document_has_a_schema() -> None:
    """A new kind needs its branch in `evalc.schema.published`, by the rules of `kind_of_document`."""
    titles = {branch.get("title") for each in SCHEMAS["language"]()["$defs"].values() for branch in _branches(each)}
    assert {kind.value for kind in Kind} <= titles


def _branches(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [schema, *(schema[key] for key in ("then", "else") if key in schema)]


_DECIDING_KEYS = [
    *("id", "prompt", "prompts", "prompt_file", "prompt_id", "suite", "tool", "tier"),
    *("eval", "test_cases", "rules", "defaults", "include", "description"),
]


def test_the_kind_of_a_document_is_what_the_checker_takes_it_for() -> None:
    language = SCHEMAS["language"]()
    for keys in chain.from_iterable(combinations(_DECIDING_KEYS, size) for size in range(4)):
        document = dict.fromkeys(keys)
        kind = kind_of_document(_node(document)) or Kind.SUITE  # an empty file will most likely be a suite
        assert _chosen(language, document)["title"] == kind.value, keys


def _node(document: Any) -> Node | None:
    (node,) = read_yaml(evalc.Source("a.yaml", json.dumps(document)), lambda *_: None)
    return node


def _chosen(language: dict[str, Any], document: dict[str, None]) -> dict[str, Any]:
    """The schema that stands at the end of the conditions that hold for the document."""
    schema = language
    while "if" in schema:
        schema = schema["then" if Draft202012Validator(schema["if"]).is_valid(document) else "else"]
        if "$ref" in schema:
            schema = language["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


@pytest.mark.parametrize(
    ("inside", "sound", "mistaken"),
    [
        ("for_each", ["a.csv", [{"city": "Rome"}], {"key": "city", "rows": [{}]}], [None, [], ["Rome"], "", {}]),
        ("for_each", [{"file": "a.csv"}, {"file": None, "rows": [{}]}], [{"key": "a"}, {"file": "a", "rows": [{}]}]),
        ("require", [8, "8", "8/10", " 80 % ", "99.5%", None], [0.5, True, "most", "", "8/", -1, [8]]),
        ("repeat", [1, None], [0, 1.5, "often"]),
        ("inherit", [True, None], [1, "no"]),
        ("skip", ["why", "#17", None, "", " ", False, 0, 0.0, "no"], [True, 1, "yes", " True", ["why"]]),
        ("skip", ["not on Mondays", "no answer", "naïve"], [17, "17", 0.5, "None", "nan", "N/A", "<NA>", "-", "y"]),
        ("archived", ["why", None, ""], [True]),
        ("expected_failure", ["why", None, "off"], ["on"]),
        ("validate", [[{"use": "a"}, {"use": "a", "criterion": "b", "weight": 2}]], [[{"use": ""}], [{"use": None}]]),
        ("validate", [[{"not": {"use": "a"}}]], [[{"use": "a", "not": "json"}], [{"not": {"use": "a", "weight": 1}}]]),
        ("rubric", [[{"dimension": "a", "max_score": 5, "minScore": 3}]], [[{"max_score": 5}]]),
        ("rubric", [[{"dimension": "a", "min_score": None}]], [[{"dimension": "a", "max_score": 5, "maxScore": 5}]]),
    ],
)
def test_the_shapes_of_a_case(inside: str, sound: list[Any], mistaken: list[Any]) -> None:
    def in_a_case(value: Any) -> dict[str, Any]:
        return {"eval": {"test_cases": [{"name": "a", "message": "hi", inside: value}]}}

    _hold_against_the_checker([*map(in_a_case, sound)], [*map(in_a_case, mistaken)])


@pytest.mark.parametrize(
    ("inside", "sound", "mistaken"),
    [
        ("prompts", [{"a": "Hi", "b": {"file": "b.md"}, "c": {"id": "c"}}], [None, {}, [], {"a": {}}, {"a": ["Hi"]}]),
        ("prompts", [{"a": 1}], [{"a": {"file": "a.md", "id": "a"}}, {"a": {"text": "Hi"}}]),
        ("rules", [None, {}, {"a": ["json", {"use": "b"}]}], [[], {"a": None}, {"a": []}, {"a": "json"}]),
        ("defaults", [None, {}, {"tags": ["a"], "repeat": 2}], [[], {"name": "a"}, {"validate": []}, {"expect": []}]),
        ("include", ["a.eval.yaml", ["a.eval.yaml"]], [None, "", [], {}, [["a"]]]),
        ("inputs", [[{"name": "a", "options": [1, {"value": "b"}]}]], [[{"name": "a", "options": 1}]]),
        ("inputs", [[{"name": "a", "type": None}]], [[{"name": "a", "options": [{"label": "b"}]}]]),
    ],
)
def test_the_shapes_of_a_suite(inside: str, sound: list[Any], mistaken: list[Any]) -> None:
    def in_a_suite(value: Any) -> dict[str, Any]:
        return {"suite": "a", inside: value, "eval": {"test_cases": [{"name": "a"}]}}

    _hold_against_the_checker([*map(in_a_suite, sound)], [*map(in_a_suite, mistaken)])


def _hold_against_the_checker(sound: list[dict[str, Any]], mistaken: list[dict[str, Any]]) -> None:
    """The schema takes what is sound in its shape and nothing that is not; neither does the checker."""
    of_shape = STRUCTURAL | ALSO_REJECTED
    for document in sound:
        assert validator("language").is_valid(document), document
        assert not _errors("a.eval.yaml", document) & of_shape, document
    for document in mistaken:
        assert not validator("language").is_valid(document), document
        assert _errors("a.eval.yaml", document) & of_shape, document


def test_checks_of_installed_packages_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "names_offered", lambda group: ("polite",))
    case = {"name": "a", "message": "hi", "validate": [{"type": "polite", "rule": ["x"], "level": 2}]}
    document = {"eval": {"test_cases": [case]}}
    assert Draft202012Validator(SCHEMAS["language"]()).is_valid(document)
    assert not validator("language").is_valid(document)


def test_x_keys_are_free_everywhere_and_others_are_not() -> None:
    for text in files():
        for document in text.documents():
            of_a_library = kind_of_document(_node(document)) is Kind.PROMPT and "eval" not in document
            assert validator("language").is_valid(_with_key(document, "zz")) is of_a_library
            free = _with_key(document, "x-zz")
            assert validator("language").is_valid(free)


def _with_key(document: Any, key: str) -> Any:
    """The document with a key more: in its first case; where it has none, in its first input, else at its top."""
    changed = json.loads(json.dumps(document))
    block = changed.get("eval", changed)
    inner = block.get("test_cases") or block.get("inputs") or [changed]
    if isinstance(inner[0], str):
        inner[0] = {"name": inner[0]}
    inner[0][key] = 1
    return changed


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_changed_in_a_file_the_schema_and_the_checker_agree(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checker rejects what the schema rejects; the schema rejects what the checker calls a mistake of shape."""
    monkeypatch.chdir(ROOT)
    chance = random.Random(seed)
    compared = 0
    for text in files():
        for document in text.documents():
            changes = list(_changes(document))
            for change in chance.sample(changes, min(12, len(changes))):
                changed = change()
                errors = _errors(text.name, changed)
                rejection = next(validator("language").iter_errors(changed), None)
                assert rejection is None or errors, (changed, rejection)
                assert rejection is not None or not errors & STRUCTURAL, (changed, errors)
                compared += 1
    assert compared > 100


def _errors(name: str, document: Any) -> set[str]:
    problems = Text(name, json.dumps(document, ensure_ascii=False)).problems()
    # That of a prompt which no case uses is only a warning. A key that may begin a line only the compiler reads.
    errors = [problem for problem in problems if problem.finding.entry.severity == "error"]
    return {"a check" if problem.finding.fields.get("what") == "a check" else problem.code for problem in errors}


_OTHER_VALUES: tuple[Any, ...] = (None, True, 12, 0.5, "word", "", [], {}, [[]], {"a": {}})


def _changes(document: Any) -> Iterator[Callable[[], Any]]:
    """Ways to change a document: a key more, a key less, another value."""
    for path, node in _nodes(document):
        if isinstance(node, dict):
            yield partial(_changed, document, path, {**node, "zz_unknown": 1})
            yield from (
                partial(_changed, document, path, {name: value for name, value in node.items() if name != key})
                for key in node
            )
        # An empty list in `expect` asserts nothing, of which the checker warns whatever the field is.
        others = [other for other in _OTHER_VALUES if other != [] or "expect" not in path] if path else []
        yield from (partial(_changed, document, path, other) for other in others)


def _nodes(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield path, node
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in children:
        yield from _nodes(value, (*path, key))


def _changed(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A copy of the document with another value at a place."""
    if not path:
        return value
    copy = json.loads(json.dumps(document))
    parent = copy
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return copy
