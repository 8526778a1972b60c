"""The schema of compiled files accepts what is compiled, and what others wrote by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evalc
from tests.schema.corpus import ROOT, Text, files, validator


@pytest.mark.parametrize("text", [*files()], ids=lambda text: text.name)
def test_it_accepts_what_is_compiled(text: Text, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    suites = evalc.compile(evalc.Source(text.name, text.content)).suites
    assert suites or "test_cases:" not in text.content
    for suite in suites:
        envelope = json.loads(b"".join(suite.encode()))
        assert [error.message for error in validator("case").iter_errors(envelope)] == []
        assert validator("case").is_valid(envelope["cases"])


def test_it_accepts_the_files_that_were_written_by_hand() -> None:
    twins = (path for path in ROOT.glob("specs/conformance/twins/*.json") if not path.name.endswith(".agents.json"))
    paths = [*ROOT.glob("examples/*/*.golden.json"), *twins]
    assert paths
    for path in paths:
        assert [error.message for error in validator("case").iter_errors(json.loads(path.read_text()))] == []


SOUND: dict[str, Any] = {"id": "gs-a-001", "description": "a", "input": {"message": "hi"}, "expect": {}}


@pytest.mark.parametrize(
    "change",
    [
        {"descripton": "misspelt"},
        {"input": {}},
        {"input": "hi"},
        {"difficulty": "grim"},
        {"expect": {"responseContains": "a text alone"}},
        {"expect": {"minLength": "many"}},
        {"expect": {"checks": [{"type": "containz", "value": "x"}]}},
        {"expect": {"checks": [{"type": "icontains"}]}},
        {"expect": {"checks": [{"type": "not", "check": {"type": "length", "unit": "pages"}}]}},
        {"maxTurns": 0},
        {"threshold": 1.5},
    ],
    ids=json.dumps,
)
def test_the_checker_rejects_what_the_schema_rejects(change: dict[str, Any]) -> None:
    sound = {**SOUND, "expect": {"responseNonEmpty": True}}
    assert validator("case").is_valid([sound])
    envelope = {"metadata": {"toolName": "a", "tier": "labeled"}, "cases": [{**sound, **change}]}
    assert not validator("case").is_valid(envelope)
    assert not validator("case").is_valid(envelope["cases"])
    problems = evalc.check(evalc.Source("a.labeled.json", json.dumps(envelope)))
    assert any(problem.severity == "error" for problem in problems)


def test_metadata_may_hold_what_other_generators_write() -> None:
    cases = [SOUND]
    assert validator("case").is_valid({"metadata": {"generator": "other", "toolVersion": None}, "cases": cases})
    assert not validator("case").is_valid({"metadata": {}, "cases": []})
