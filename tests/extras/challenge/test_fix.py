"""`--fix` writes lines that kill survivors, harm no good answer, and leaves everything else as it is."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalc
from evalc.base.source import Source
from evalc.extras import challenge
from evalc.extras.challenge import Inserted, strength, with_checks
from evalc.model.suite import Place
from tests.extras.challenge.conftest import Challenging

BLOCK = """\
# A suite with comments.
suite: a
eval:
  test_cases:
    - name: it   # the only one
      message: What is it?
      validate:
        - non-empty   # at least

# The end.
"""
ANSWER = "It is a train, number 9."


def fixed(challenged: Challenging, suite: str, *answers: str) -> str:
    """The text of the suite with the lines in it; the suite as it is where there are none."""
    finished = challenged(suite, answers)
    return finished.insertions[0].text if finished.insertions else dedent(suite)


def test_lines_are_put_below_the_last_check_and_comments_stay(challenged: Challenging) -> None:
    text = fixed(challenged, BLOCK, ANSWER)
    added = [line for line in text.splitlines() if line not in BLOCK.splitlines()]
    assert added
    assert all(line.startswith("        - ") for line in added)
    assert [line for line in text.splitlines() if line not in added] == BLOCK.splitlines()
    assert evalc.check(evalc.Source("it.eval.yaml", text)) == ()


def test_lines_that_all_hold_take_one_more_compilation(
    challenged: Challenging, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilations = []
    compile_ = vars(challenge)["compiled"]

    def counted(*args: Any, **options: Any) -> Any:
        compilations.append(args)
        return compile_(*args, **options)

    monkeypatch.setattr(challenge, "compiled", counted)
    assert fixed(challenged, BLOCK, ANSWER) != BLOCK
    assert len(compilations) == 1


def test_added_checks_stay_and_pass(challenged: Challenging) -> None:
    text = fixed(challenged, BLOCK, ANSWER)
    again = challenged(text, [ANSWER])
    assert again.strength.strength == 1
    assert again.insertions == []
    assert again.strength.not_challenged == ()  # its answer passes


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("- {name: it, message: a, validate: [json, non-empty]}", "[json, non-empty, 'contains \"x, y\"']}"),
        ("- {name: it, message: a}", "message: a, validate: ['contains \"x, y\"']}"),
        ("- name: it\n  message: a\n  expected: b", "expected: b\n  validate:\n    - contains \"x, y\"\n"),
        ("- name: it\n  validate: [json]\n  message: a", "[json, 'contains \"x, y\"']\n  message: a"),
        ("- name: it\n  validate:\n  - json\n  message: |\n    a\n", "  - json\n  - contains \"x, y\"\n  message: |\n"),
        ("- name: it\n  message: |\n    a\n    b\n", "    b\n  validate:\n    - contains \"x, y\"\n"),
    ],
)  # fmt: skip
def test_every_style_of_case(case: str, expected: str) -> None:
    source = Source("it.eval.yaml", case)
    column = case.index("it") + 1
    place = Place(file=source.name, line=1, column=column)
    assert expected in with_checks(source, {place: ['- contains "x, y"']}).text


@pytest.mark.parametrize(
    "text",
    [
        "base: &b [json]\ncases:\n- {name: it, validate: *b}",
        "- - {name: other}",
        "- name: it\n  validate: []",
        "- name: it\n  validate: json",
    ],
)
def test_where_no_line_can_be_put_nothing_is(text: str) -> None:
    at = text.find("it")
    source = Source("it.eval.yaml", text)
    line, column = source.position(at)
    place = Place(file=source.name, line=line, column=column)
    assert with_checks(source, {place: ["- json"]}) == Inserted(text, {}, frozenset({place}))


def test_line_ends_stay(challenged: Challenging, project: Path) -> None:
    text = "- name: it\r\n  validate:\r\n  - json\r\n"
    found = with_checks(Source("a", text), {Place(file="a", line=1, column=9): ["- non-empty"]})
    assert found.text == "- name: it\r\n  validate:\r\n  - json\r\n  - non-empty\r\n"


def test_rows_share_a_line_only_if_all_their_answers_pass_it(challenged: Challenging) -> None:
    suite = """\
    suite: a
    eval:
      test_cases:
        - name: city
          message: Trains to {{city}}?
          for_each: [{id: p, city: Paris}, {id: r, city: Rome}]
          validate:
            - contains "{{city}}"
    """
    call = evalc.ToolCall(name="find", params={}, success=True)
    answers = [
        evalc.AgentResponse(response=f"A train to {city} leaves at {hour}.", tool_calls=(call,))
        for city, hour in (("Paris", 9), ("Rome", 10))
    ]
    (insertion,) = challenged(suite, answers).insertions
    assert dict(insertion.lines) == {"a/city@p": ("- tools called [find]",)}


def test_a_line_that_would_make_another_check_redundant_is_not_written(challenged: Challenging) -> None:
    suite = """\
    suite: a
    eval:
      test_cases:
        - name: it
          message: What is it?
          validate: ['contains any of ["train", "boat"]']
    """
    text = fixed(challenged, suite, "It is the train.")
    assert {problem.code for problem in evalc.check(evalc.Source("it.eval.yaml", text))} == set()


def test_json_and_cases_without_answers_are_left_alone(challenged: Challenging) -> None:
    assert challenged(BLOCK).strength.cases[0].survivors
    assert challenged(BLOCK).insertions == []


def test_lines_of_many_rows_are_tried_on_few_answers(challenged: Challenging, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of one row fails on the next one: it is not tried on all of them."""
    asked: list[object] = []

    async def outcome_of(*of: Any) -> str:
        asked.append(of)
        return await strength.outcome_of(*of)

    monkeypatch.setattr(challenge, "outcome_of", outcome_of)
    rows = 40
    listed = ", ".join(f"{{id: c{number}, city: Town{number}}}" for number in range(rows))
    suite = f"""\
    suite: a
    eval:
      test_cases:
        - name: city
          message: Trains to {{{{city}}}}?
          for_each: [{listed}]
          validate: [non-empty]
    """
    answers = [f"There is a train to Town{number} on track {number + 100}." for number in range(rows)]
    challenged(suite, answers)
    assert rows < len(asked) < 20 * rows
