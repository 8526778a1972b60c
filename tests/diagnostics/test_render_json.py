"""The JSON form of problems, as the command line documents it."""

from __future__ import annotations

import json

from evalc.base.source import Source, Span
from evalc.diagnostics.problem import Finding, Problem
from evalc.diagnostics.render_json import render_json


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
