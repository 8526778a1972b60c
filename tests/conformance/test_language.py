"""The language as data: each text means what its case says or is refused at its place; no production is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalc
from tests.conformance.documents import Entry, documents, with_key
from tests.conformance.productions import unreached
from tests.support.calm import offered

_INPUTS = {"name": "Ann", "yes": True, "no": False, "items": ["a", "b"]}


@pytest.fixture(scope="module", autouse=True)
def calm() -> Iterator[None]:
    """The package whose check some of the lines call."""
    with offered():
        yield


def written(entry: Entry) -> dict[str, Any]:
    """A suite, as data, in which the text of a case stands in its place."""
    text = entry["text"]
    suite: dict[str, Any] = {"criteria": ["name", "a name"]}
    case: dict[str, Any] = {"name": "a", "message": "hi", "inputs": entry.get("inputs", _INPUTS), "validate": ["json"]}
    match entry["language"]:
        case "check":
            case["validate"] = [text]
        case "rule":
            case["validate"] = [{"type": entry["type"], "rule": text}]
        case "criterion":
            suite["criteria"] = [text]
        case "template":
            case["message"] = text
        case "text":
            case["validate"] = [{"type": "contains", "rule": text}]
    return {"suite": "s", "eval": {**suite, "test_cases": [case]}}


@with_key("means")
def test_a_text_means_what_is_said(entry: Entry, tmp_path: Path) -> None:
    (tmp_path / "evalc.toml").touch()
    (tmp_path / "s.json").write_text('{"type": "object"}')
    file = tmp_path / "s.eval.yaml"
    file.write_text(json.dumps(written(entry)))
    compilation = evalc.compile(file)
    assert not compilation.has_errors
    envelope = json.loads(b"".join(compilation.suites[0].encode()))
    (case,) = envelope["cases"]
    match entry["language"]:
        case "check" | "rule":
            linked = [criterion["name"] for criterion in case["criteria"] if "checks" in criterion]
            found = {key: case[key] for key in ("expect", "rubric") if case.get(key)}
            assert {**found, **({"criterion": linked[0]} if linked else {})} == entry["means"]
        case "criterion":
            assert envelope["metadata"]["criteria"] == [entry["means"]]
        case "template":
            assert case["input"]["message"] == entry["means"]
        case _:
            assert case["expect"]["responseContains"] == [entry["means"]]


@with_key("rejected")
def test_an_invalid_sentence_is_refused_at_its_place(entry: Entry) -> None:
    text = json.dumps(written(entry), ensure_ascii=False)
    at = text.index(json.dumps(entry["text"], ensure_ascii=False)) + 1
    problems = [problem for problem in evalc.check(evalc.Source("s.eval.yaml", text)) if problem.severity == "error"]
    (problem,) = problems
    column = len(json.loads(f'"{text[at : problem.span.start]}"')) + 1
    assert {"code": problem.code, "column": column} == entry["rejected"]


def test_every_production_of_the_grammars_is_reached() -> None:
    (document,) = (document for document in documents() if document.name == "language")
    assert unreached(document.cases) == [], "write a case for these into specs/conformance/language.json"
