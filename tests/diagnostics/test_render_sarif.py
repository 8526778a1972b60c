"""SARIF 2.1.0: the shape that the standard demands, and what a code host needs of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source, Span
from evalc.diagnostics.catalogue import entries
from evalc.diagnostics.problem import Finding, Problem
from evalc.diagnostics.render_sarif import render_sarif
from tests.diagnostics.problems import problem_at


def closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": required | optional,
        "required": list(required),
        "additionalProperties": False,
    }


def some(items: dict[str, Any], least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least}


TEXT = {"type": "string", "minLength": 1}
POSITION = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["error", "warning"]}
MESSAGE = closed({"text": TEXT})
# Only what RFC 3986 lets stand in a reference.
URI = {"type": "string", "pattern": r"^(file:///)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})*$", "minLength": 1}
ARTIFACT = closed({"uri": URI}, uriBaseId={"const": "%SRCROOT%"})
REGION = closed(dict.fromkeys(("startLine", "startColumn", "endLine", "endColumn"), POSITION))
RULE = closed(
    {
        "id": {"type": "string", "pattern": r"^EV\d{3}$"},
        "name": {"type": "string", "pattern": r"^[A-Z][A-Za-z0-9]+$"},
        "shortDescription": MESSAGE,
        "fullDescription": MESSAGE,
        "help": closed({"text": TEXT, "markdown": TEXT}),
        "defaultConfiguration": closed({"level": LEVEL}),
    }
)
REPLACEMENT = closed({"deletedRegion": REGION, "insertedContent": MESSAGE})
FIX = closed({"artifactChanges": some(closed({"artifactLocation": ARTIFACT, "replacements": some(REPLACEMENT, 1)}), 1)})
RESULT = closed(
    {
        "ruleId": TEXT,
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": MESSAGE,
        "locations": some(closed({"physicalLocation": closed({"artifactLocation": ARTIFACT, "region": REGION})}), 1),
        "partialFingerprints": closed({"primaryLocationLineHash": TEXT}),
    },
    fixes=some(FIX, 1),
)
DRIVER = closed({"name": {"const": "evalc"}, "version": {"const": evalc.__version__}, "rules": some(RULE)})
RUN = closed(
    {
        "tool": closed({"driver": DRIVER}),
        "columnKind": {"const": "unicodeCodePoints"},
        "results": some(RESULT),
    }
)
LOG = closed({"$schema": TEXT, "version": {"const": "2.1.0"}, "runs": some(RUN, 1)})
"""The part of SARIF that evalc writes, narrower than the standard's schema wherever that leaves a choice."""


def log_of(*problems: Problem) -> Any:
    """The log, of the shape that it must have, with every rule index pointing to the result's rule."""
    log = json.loads(render_sarif(problems))
    jsonschema.validate(log, LOG)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert len(run["results"]) == len(problems)
    return run


def unknown(name: str = "containz", file: str = "a.yaml", text: str = "eval:\n  - 𝄞 containz\n") -> Problem:
    return problem_at(Source(file, text), "containz", Finding("EV203", name=name, known=("contains",)))


def test_one_problem() -> None:
    run = log_of(unknown())
    (result,) = run["results"]
    assert result["message"]["text"] == "`containz` is not a check\ndid you mean `contains`?\nthe checks are contains"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 15},
    }
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("EV203", "UnknownCheck")
    assert rule["shortDescription"]["text"] == "A check that does not exist."
    assert "Cure:\n\n````\neval:\n" in rule["help"]["markdown"]


def test_no_problem_is_a_run_without_results() -> None:
    assert log_of()["results"] == []


@pytest.mark.parametrize("code", [code for code, entry in entries().items() if entry.example])
def test_every_example_of_the_catalogue(code: str) -> None:
    text = entries()[code].example
    problems = evalc.check(Source("a.json" if text.startswith("{") else "a.eval.yaml", text))
    run = log_of(*problems)
    assert [result["level"] for result in run["results"]] == [problem.severity for problem in problems]


def test_a_fix_is_in_the_log() -> None:
    (problem,) = evalc.check(
        Source("a.eval.yaml", "eval: {test_cases: [{name: a, message: hi, tags: smoke, validate: [non-empty]}]}")
    )
    (result,) = log_of(problem)["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == "[smoke]"
    assert change["replacements"][0]["deletedRegion"] == result["locations"][0]["physicalLocation"]["region"]


def test_files_are_named_from_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("evals/a b.yaml", str(tmp_path / "c:d.yaml"), "../e.yaml", "/else/f#?.yaml", "\udcff.yaml", "\ud800.yaml")
    places = [unknown(file=name) for name in names]
    locations = [each["locations"][0]["physicalLocation"]["artifactLocation"] for each in log_of(*places)["results"]]
    assert [location["uri"] for location in locations] == [
        "evals/a%20b.yaml",
        "c%3Ad.yaml",
        "../e.yaml",
        "file:///else/f%23%3F.yaml",
        "%FF.yaml",
        "%5Cud800.yaml",
    ]
    assert ["uriBaseId" in location for location in locations] == [True, True, True, False, True, True]


def test_fingerprints_outlive_a_change_above_and_distinguish_equal_lines() -> None:
    def prints(text: str) -> list[str]:
        source = Source("a.yaml", text)
        finding = Finding("EV203", name="containz", known=())
        at = [index for index in range(len(text)) if text.startswith("containz", index)]
        problems = [Problem(source=source, span=Span(i, i + 8), finding=finding, severity="error") for i in at]
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in log_of(*problems)["results"]]

    before = prints("- containz\n- containz\n")
    assert len(set(before)) == 2
    assert prints("# new\n\n  - containz\n  - containz\n") == before
    assert prints("- containz 'x'\n")[0] not in before


def test_nothing_in_a_message_is_a_link_or_a_placeholder() -> None:
    (result,) = log_of(unknown(name="[x](https://example.org) {0}"))["results"]
    assert result["message"]["text"].startswith(r"`[x\](https://example.org) {{0}}` is")


@given(name=st.text(), file=st.text(min_size=1))
def test_any_names_give_a_sound_log_in_ascii(name: str, file: str) -> None:
    assert render_sarif([unknown(name=name, file=file)]).isascii()
    assert len(log_of(unknown(name=name, file=file))["results"]) == 1
