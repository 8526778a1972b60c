"""`judge` checks: entries of the rubric, each with a dimension of its own, and what is wrong with some of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import evalc
from tests.support.checking import case_of, found


def compiled(text: str) -> dict[str, Any]:
    """The one case of a suite that has no errors."""
    compilation = evalc.compile(evalc.Source("example.eval.yaml", text))
    assert [str(problem) for problem in compilation.problems if problem.severity == "error"] == []
    (case,) = msgspec.json.decode(b"".join(compilation.suites[0].encode()))["cases"]
    assert isinstance(case, dict)
    return case


def rubric(validate: str, **more: str) -> list[dict[str, Any]]:
    dimensions = compiled(case_of(validate, **more))["rubric"]
    assert isinstance(dimensions, list)
    return dimensions


def test_a_question_is_a_dimension_that_has_to_be_reached() -> None:
    assert rubric("""['judge "Is the tone kind?"']""") == [
        {"dimension": "is-the-tone-kind", "criteria": "Is the tone kind?", "minScore": 1}
    ]
    assert rubric("""['judge "Is it kind?" >= 4/5']""") == [
        {"dimension": "is-it-kind", "maxScore": 5, "criteria": "Is it kind?", "minScore": 4}
    ]


def test_the_dimension_of_a_linked_question_is_its_criterion() -> None:
    suite = "tool: t\n"
    text = f"""{suite}eval:
  criteria: ["tone (1): Kind"]
  test_cases:
    - name: a
      message: hi
      validate:
        - contains "x" for tone
        - judge "Is it kind?" >= 4/5 for tone
        - {{type: judge, rule: Is it warm?, min: 2, scale: 3, criterion: tone, weight: 2}}
"""
    case = compiled(text)
    assert [dimension["dimension"] for dimension in case["rubric"]] == ["tone", "tone-2"]
    assert case["criteria"][0]["checks"] == [
        {"at": ["/expect/responseContains/0"]},
        {"at": ["/rubric/0"]},
        {"at": ["/rubric/1"], "weight": 2},
    ]


def test_dimensions_are_distinct_in_a_case() -> None:
    validate = """['judge "Is it kind?"', 'judge "Is it kind"', 'judge "優しいか"', 'judge "!?"']"""
    block = "rubric: [{dimension: is-it-kind, criteria: x}], "
    names = [dimension["dimension"] for dimension in rubric(validate, more=block)]
    assert names == ["is-it-kind", "is-it-kind-2", "is-it-kind-3", "judge", "judge-2"]


def test_a_long_question_is_cut_between_words() -> None:
    (dimension,) = rubric("""['judge "Does the answer hedge where a careful adviser would have hedged?"']""")
    assert dimension["dimension"] == "does-the-answer-hedge-where-a-careful"
    (dimension,) = rubric(f"""['judge "{"a" * 100}"']""")
    assert dimension["dimension"] == "a" * 40


def test_a_judge_in_a_composition_stands_among_the_checks() -> None:
    case = compiled(case_of("""['contains "x" or judge "Is it kind?"']"""))
    assert "rubric" not in case
    assert case["expect"]["checks"] == [
        {
            "type": "any_of",
            "checks": [
                {"type": "contains", "value": "x"},
                {"type": "judge", "dimension": "is-it-kind", "criteria": "Is it kind?", "minScore": 1},
            ],
        }
    ]


def test_templates_are_filled() -> None:
    (dimension,) = rubric("""['judge "Does it greet {{who}}?"']""", more="inputs: {who: Ann}, ")
    assert dimension["criteria"] == "Does it greet Ann?"


def test_a_case_that_only_has_a_judge_asserts_something() -> None:
    assert found(case_of("""['judge "Is it kind?"']""")) == []


MISTAKES = {
    """['judge " "']""": ["1:62 EV309"],
    """['judge "{{seed:x}}?"']""": ["1:63 EV405"],
    """['judge "x?" >= 6/5']""": ["1:55 EV502"],
    """['judge "x?" >= 1/0']""": ["1:55 EV502"],
    """['judge "x?" >= 0/5']""": ["1:55 EV501"],
    """['json or judge "x?" >= 0/5']""": ["1:55 EV501"],
    "[{type: judge, rule: x?, scale: 5}]": ["1:56 EV202"],
    "[{type: judge, rule: x?, min: 4}]": ["1:56 EV202"],
    "[{type: judge, rule: x?, min: , scale: 5}]": ["1:79 EV309"],
    "[{type: judge, rule: x?, min: a, scale: 5}]": ["1:84 EV301"],
    "[{type: judge, min: 1, scale: 5}]": ["1:56 EV202"],
}


@pytest.mark.parametrize("validate", MISTAKES)
def test_mistakes(validate: str) -> None:
    assert found(case_of(validate)) == MISTAKES[validate]


def test_a_link_to_a_dimension_that_is_not_there() -> None:
    case = {
        "id": "a/b",
        "description": "d",
        "difficulty": "edge",
        "input": {"message": "hi"},
        "rubric": [{"dimension": "tone", "criteria": "Is it kind?", "minScore": 1}],
        "criteria": [{"name": "c", "checks": [{"at": ["/rubric/0"]}, {"at": ["/rubric/1"]}]}],
    }
    text = msgspec.json.encode([case]).decode()
    (problem,) = (problem for problem in evalc.check(evalc.Source("a.json", text)) if problem.severity == "error")
    assert problem.code == "EV212"
    assert text[problem.span.start : problem.span.end] == '"/rubric/1"'
