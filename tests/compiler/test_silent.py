"""Mistakes that were once not reported, and findings that were once reported too eagerly."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

import evalc
from evalc.compiler import names
from evalc.dsl.document_kind import looks_like_eval

CASE = """eval:
  test_cases:
    - name: a
      message: hi
      validate: [contains "x"]
"""


def codes(text: str) -> list[str]:
    return [problem.code for problem in evalc.check(evalc.Source("s.eval.yaml", text))]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"prompts: {{a: {{file: }}}}\n{CASE}", "EV309"),
        (f"prompts: {{a: }}\n{CASE}", "EV309"),
        (f"prompts: {{a: ' '}}\n{CASE}", "EV309"),
        (f"include: ['']\n{CASE}", "EV309"),
        (f"{CASE}      for_each: {{rows: }}\n", "EV309"),
        (f"{CASE}      for_each: {{file: }}\n", "EV309"),
        (f"{CASE}      expect: {{noToolErrors: []}}\n", "EV301"),
        (f"{CASE}      expect: {{minLength: []}}\n", "EV301"),
        (f"{CASE}      expect: {{responseContains: []}}\n", "EV501"),
        (f"{CASE}      expect: {{checks: []}}\n", "EV501"),
    ],
)
def test_empty_values(text: str, code: str) -> None:
    assert codes(text) == [code]


def test_a_default_that_is_no_number_of_json() -> None:
    text = CASE.replace("hi", '"{{n}}"')
    assert codes(f"inputs: [{{name: n, default: .inf}}]\n{text}") == ["EV119"]


def test_an_input_that_nothing_uses() -> None:
    declared = "inputs: [{name: n, required: false}]\n"
    assert codes(declared + CASE) == ["EV217"]

    assert codes(declared + CASE.replace("hi", '"hi {{n}}"')) == []
    made_of_inputs = CASE.replace("message: hi", "inputs: {n: 1}")
    assert codes(declared + made_of_inputs) == ["EV410"]


CRITERIA = "eval:\n  criteria: [%s]\n" + CASE.removeprefix("eval:\n")


def test_odd_weights_are_reported_beside_other_mistakes() -> None:
    broken = CRITERIA.replace("message", "mesage")
    assert codes(broken % "{name: a, weight: 0.1}") == ["EV305", "EV201"]
    assert codes(CRITERIA % "{name: a, weight: x}, {name: b, weight: 0.1}") == ["EV301"]
    assert codes(CRITERIA % "{weight: 0.9}, {name: b, weight: 0.1}") == ["EV202"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eval:\n  - [", True),
        ('{"metadata": {"x": [1]}, "cases": [,', True),
        ('{"report": {"cases": [,', True),
        ('{"a": "\\"cases\\":", "b": [,', False),
        ('[{"cases": ,', True),
        ("x: 1\ny:\n  test_cases: [", True),
    ],
)
def test_the_meaning_of_a_broken_text_is_suggested(text: str, expected: bool) -> None:
    assert looks_like_eval(text) is expected


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Weather in {city}?", ["EV224"]),
        ("Weather in ${ city }?", ["EV224"]),
        ('"{{city}} and {city}"', ["EV224"]),
        ("Weather in {town}?", []),
        ('"{{city}} {{ city }}"', []),
        ('"{{city}} #1 # {city}"  # {city}', ["EV224"]),
        ("|\n        # Weather in {city}\n        {{city}}", ["EV224"]),
        ("hi {{city}}  # {city}", []),
    ],
)
def test_names_in_the_braces_of_another_language_are_plain_text(said: str, found: list[str]) -> None:
    head = "eval:\n  test_cases:\n    # {city} in a comment\n    - name: a\n      inputs: {city: Oslo}\n"
    rest = f"      message: {said}\n      validate: [contains 'x']\n"
    assert codes(head + rest) == found


def test_braces_of_another_suite_in_the_file_are_none_of_a_suite_s_inputs() -> None:
    one = "suite: %s\neval:\n  test_cases:\n    - name: a\n      inputs: {%s: Oslo}\n      message: '{city} {{%s}}'\n"
    rest = "      validate: [non-empty]\n"
    texts = [one % (name, given, given) + rest for name, given in (("a", "town"), ("b", "city"), ("c", "x"))]
    (problem,) = evalc.check(evalc.Source("s.eval.yaml", "---\n".join(texts)))
    assert str(problem).startswith("s.eval.yaml:14:17: warning[EV224]")


def test_the_line_of_an_input_s_uses_is_searched_for_comments_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = Mock(finditer=Mock(side_effect=names._COMMENT.finditer))
    monkeypatch.setattr(names, "_COMMENT", searched)
    said = "{{city}} {city} " * 200
    case = f"{{name: a, inputs: {{city: Oslo}}, message: '{said}', validate: [non-empty]}}"
    assert codes(f"inputs: [city]\neval: {{test_cases: [{case}]}}\n") == ["EV224"] * 200
    assert searched.finditer.call_count == 1
