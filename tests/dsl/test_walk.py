"""A key that is wrong where it stands: near names, what other tools call it, and where it belongs."""

from __future__ import annotations

import pytest

import evalc
from evalc.diagnostics import Problem
from evalc.dsl.build_suite import LANGUAGE, SHARED, WITH_BLOCK
from evalc.dsl.kinds import Shape

SUITE = """\
{suite}suite: s
eval:
  {block}test_cases:
    - name: a
      {case}turns:
        - say: hi
          {turn}validate: [contains "x"]
"""


def unknown(**extra: str) -> Problem:
    indent = {"suite": 0, "block": 2, "case": 6, "turn": 10}
    lines = {place: f"{extra[place]}: x\n{' ' * indent[place]}" if place in extra else "" for place in indent}
    problems = evalc.check(evalc.Source("a.eval.yaml", SUITE.format(**lines)))
    (problem,) = [each for each in problems if each.code == "EV201"]
    return problem


@pytest.mark.parametrize("key", ["timeout", "dataset2", "judge", "env"])
@pytest.mark.parametrize("place", ["suite", "case"])
def test_a_name_that_differs_by_more_than_a_third_is_not_offered(key: str, place: str) -> None:
    problem = unknown(**{place: key})
    assert problem.finding.label() == ""
    assert "nearest" not in problem.finding.help()


@pytest.mark.parametrize(
    ("place", "key", "said"),
    [
        ("suite", "dataset", "`dataset` is called `for_each`, in a case"),
        ("suite", "message", "`message` belongs in a case"),
        ("suite", "vars", "`vars` is called `inputs`, in a suite"),
        ("suite", "min_pass_rate", "`min_pass_rate` belongs in `gates`"),
        ("block", "threshold", "`threshold` belongs in a suite"),
        ("block", "xfail", "`xfail` is called `expected_failure`, in a case"),
        ("case", "xfail", "`xfail` is called `expected_failure`, in a case"),
        ("case", "retries", "`retries` is called `repeat`, in a case"),
        ("case", "dataset", "`dataset` is called `for_each`, in a case"),
        ("case", "assert", "`assert` is called `validate`, in a case"),
        ("case", "vars", "`vars` is called `inputs`, in a case"),
        ("case", "msg", "`msg` is called `message`, in a case"),
        ("case", "input", "`input` is called `message`, in a case"),
        ("case", "content", "`content` is called `message`, in a case"),
        ("case", "should", "`should` is called `validate`, in a case"),
        ("case", "say", "`say` belongs in a turn"),
        ("turn", "user", "`user` is called `say`, in a turn"),
        ("turn", "expect", "`expect` is called `validate`, in a turn"),
        ("turn", "tags", "`tags` belongs in a case"),
    ],
)
def test_a_key_of_another_tool_or_place_is_named_with_its_place(place: str, key: str, said: str) -> None:
    assert unknown(**{place: key}).finding.help() == said


def test_a_mapping_is_no_message() -> None:
    text = SUITE.format(suite="", block="", case="input: {city: Rome}\n      ", turn="")
    (problem,) = [each for each in evalc.check(evalc.Source("a.eval.yaml", text)) if each.code == "EV201"]
    assert problem.finding.label() == "did you mean `inputs`?"


def test_a_misspelt_key_is_not_taken_for_one_of_another_place() -> None:
    assert unknown(case="descripton").finding.label() == "did you mean `description`?"


@pytest.mark.parametrize("shape", [*LANGUAGE, *WITH_BLOCK.values(), SHARED], ids=lambda shape: shape.what)
def test_names_in_other_tools_are_no_keys_beside_it_and_name_one_key(shape: Shape) -> None:
    words = [word for key in shape.keys.values() for word in key.aka]
    assert len(words) == len(set(words))
    assert shape.foreign is not None or not set(words) & set(shape.keys)
