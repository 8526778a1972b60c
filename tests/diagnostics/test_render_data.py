"""Problems for programs: the JSON that the command line documents, commands for GitHub, and the shape of SARIF."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.base.source import Source, Span
from evalc.base.terminal import visible
from evalc.diagnostics import Finding, Problem
from evalc.diagnostics.catalogue import entries
from evalc.diagnostics.render import render_github, render_json, render_sarif
from tests.diagnostics.problems import problem_at


def test_every_key_of_a_problem() -> None:
    source = Source("a.yaml", "eval:\n  - 天: containz\n")
    at = source.text.index("containz")
    finding = Finding("EV203", name="containz", known=("contains", "regex"))
    problem = Problem(source=source, span=Span(at, at + 8), finding=finding, severity="error")
    text = render_json([problem, problem])
    assert json.loads(text)[0] == {
        "code": "EV203",
        "severity": "error",
        "message": "`containz` is not a check",
        "file": "a.yaml",
        "line": 2,
        "column": 8,
        "endLine": 2,
        "endColumn": 16,
        "help": "did you mean `contains`? the checks are contains, regex",
        "fixable": False,
    }
    assert len(json.loads(text)) == 2
    assert text.endswith("]\n")


def test_no_problem_is_an_empty_array() -> None:
    assert render_json([]) == "[]\n"


def test_characters_that_utf8_cannot_hold_are_escaped() -> None:
    source = Source("a\udcff.json", "x")
    finding = Finding("EV203", name="\ud800", known=("contains",))
    text = render_json([Problem(source=source, span=Span(0, 1), finding=finding, severity="error")])
    assert text.isascii()
    assert json.loads(text)[0]["file"] == "a\udcff.json"
    assert json.loads(text)[0]["help"] == "the checks are contains"


def command_for(name: str, finding: Finding) -> str:
    source = Source(name, "eval:\n  - containz\n")
    return render_github([Problem(source=source, span=Span(10, 18), finding=finding, severity=finding.entry.severity)])


def read_back(command: str) -> tuple[str, dict[str, str], str]:
    """A command as the runner reads it."""
    match = re.fullmatch(r"::(\w+) ([^\r\n]*?)::([^\r\n]*)\n", command)
    assert match is not None
    pairs = (pair.split("=", 1) for pair in match[2].split(","))
    unescaped = {key: value.replace("%3A", ":").replace("%2C", ",") for key, value in pairs}
    return match[1], {key: _plain(value) for key, value in unescaped.items()}, _plain(match[3])


def _plain(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def test_an_error_and_a_warning() -> None:
    assert command_for("a.yaml", Finding("EV203", name="containz", known=("contains",))) == (
        "::error file=a.yaml,line=2,endLine=2,col=5,endColumn=13,title=EV203::"
        "`containz` is not a check%0Adid you mean `contains`?%0Athe checks are contains\n"
    )
    warning = command_for("a.yaml", Finding("EV501", check="`length >= 0`", why="nothing is shorter"))
    assert warning.startswith("::warning file=a.yaml,line=2,")


def test_no_problem_is_no_command() -> None:
    assert render_github([]) == ""


def test_hostile_names_and_texts() -> None:
    name = "a,line=9::b%0A:\n::set-env name=X::\r.yaml"
    kind, properties, message = read_back(
        command_for(name, Finding("EV203", name="x\n::error::y\r%0A\x1b[2J", known=()))
    )
    assert (kind, properties["file"], properties["line"]) == ("error", visible(name), "2")
    assert message.startswith("`x\\n::error::y\\r%0A\\x1b[2J` is not a check\n")


@given(name=st.text(min_size=1), word=st.text())
def test_annotations_read_back_as_written(name: str, word: str) -> None:
    finding = Finding("EV203", name=word, known=())
    kind, properties, message = read_back(command_for(name, finding))
    assert kind == "error"
    assert list(properties) == ["file", "line", "endLine", "col", "endColumn", "title"]
    assert properties["file"] == visible(Path(name).as_posix())
    assert message.count("\n") == 1


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
