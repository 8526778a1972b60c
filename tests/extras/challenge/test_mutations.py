"""Every fault in a recorded answer survives where a check is missing, and dies of the line that is proposed.

`labels.json` lists the mutants of the sample answers that a person took for as good as the answer they were made of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.dsl.quoting import quoted_line
from evalc.ecma import walk
from evalc.extras.challenge.mutations import Around, json_parts, mutations, names_in
from evalc.model.answer import AgentAnswer
from evalc.model.case import MUTATIONS, Case, Input
from evalc.model.json import values_at
from tests.extras.challenge.conftest import Challenging, Survivors

ANSWERS: Final = Path(__file__).parent / "answers.json"
LABELS: Final = Path(__file__).parent / "labels.json"
PAGE: Final = Path(__file__).parents[3] / "specs" / "challenge.md"


def suite_of(*checks: str) -> str:
    """A suite of two cases, of which the first has these checks."""
    items = "".join(f"\n        - {quoted_line(check)}" for check in checks)
    return f"""\
suite: trains
prompt: "Trains to {{{{city}}}}?"
inputs: [{{name: city, required: true}}]
eval:
  test_cases:
    - name: paris
      inputs: {{city: Paris}}
      validate:{items}
    - name: rome
      inputs: {{city: Rome}}
      expected_failure: there are none
      validate: [contains "track"]
"""


CALLS = (
    evalc.ToolCall(name="find", params={"to": "Paris"}, success=True),
    evalc.ToolCall(name="book", params={"id": 7}, success=True),
)
PROSE = evalc.AgentResponse(response="The train to Paris leaves at 9. It is not full.", tool_calls=CALLS)
JSON = evalc.AgentResponse(response='{"to": "Paris", "price": 42, "full": false}')
NONE = evalc.AgentResponse(response="None.")

MISSED = [
    ("sentence-dropped", PROSE, ["non-empty"], ['- contains "at 9"', '- contains "full"']),
    ("number-changed", PROSE, ['contains "train"'], ['- contains "at 9"']),
    ("negated", PROSE, ['contains "train"'], ['- contains "is not full"']),
    ("entity-swapped", PROSE, ['contains "train"'], ['- contains "Paris"']),
    ("truncated", PROSE, ['contains "train"'], ['- contains "at 9"']),
    ("field-dropped", JSON, ["json"], ["- has fields to", "- has fields price", "- has fields full"]),
    ("number-changed", JSON, ["json"], ["- at price equals 42"]),
    ("negated", JSON, ["json"], ["- at full equals false"]),
    ("entity-swapped", JSON, ["json"], ['- at to equals "Paris"']),
    ("call-dropped", PROSE, ['contains "train"'], ["- tools called [find, book]"]),
    ("call-repeated", PROSE, ['contains "train"'], ["- tools called [find, book]"]),
    ("calls-reordered", PROSE, ['contains "train"'], ["- tools called [find, book]"]),
    ("calls-reordered", PROSE, ["tools include [find, book]", "tool count <= 2"], ["- tools in order [find, book]"]),
    (
        "argument-changed",
        PROSE,
        ['contains "train"'],
        ['- tool find.to equals "Paris"', "- any call of book has id 7"],
    ),
]


@pytest.mark.parametrize(("name", "answer", "checks", "lines"), MISSED)
def test_each_survives_where_nothing_notices_it_and_dies_of_the_proposed_lines(
    name: str, answer: evalc.AgentResponse, checks: list[str], lines: list[str], challenged: Challenging
) -> None:
    def missed(*more: str) -> list[str | None]:
        (case,) = challenged(suite_of(*checks, *more), [answer, NONE]).strength.cases
        return [survivor.line for survivor in case.survivors if survivor.challenger == name]

    found = missed()
    assert found
    assert set(found) <= set(lines)
    assert missed(*(line.removeprefix("- ") for line in dict.fromkeys(found) if line is not None)) == []


def test_none_survives_a_suite_that_says_everything(challenged: Challenging, survivors: Survivors) -> None:
    checks = ['equals "The train to Paris leaves at 9. It is not full."', "tools called [find, book]"]
    checks += ['tool find.to equals "Paris"', "any call of book has id 7"]
    finished = challenged(suite_of(*checks), [PROSE, NONE])
    assert survivors(finished) == {}
    assert finished.strength.strength == 1
    assert finished.strength.of is not None


def test_every_mutation_is_made_of_some_answer(challenged: Challenging) -> None:
    made = {
        challenger.name
        for answer in (PROSE, JSON)
        for case in challenged(suite_of("non-empty"), [answer, NONE]).strength.cases
        for challenger in case.challengers
    }
    assert made == MUTATIONS.keys()


def test_answers_that_do_not_pass_are_not_changed(challenged: Challenging) -> None:
    finished = challenged(suite_of('contains "ship"'), [PROSE, NONE])
    assert finished.strength.cases == ()
    assert [(each.id, each.reason) for each in finished.strength.not_challenged] == [
        ("trains/paris", "no recorded answer passes its checks"),
        ("trains/rome", "expected to fail: there are none"),
    ]


def test_an_allowed_fault_is_not_looked_for(challenged: Challenging, survivors: Survivors) -> None:
    suite = suite_of("non-empty").replace(
        "inputs: {city: Paris}", "inputs: {city: Paris}\n      allow: {number-changed: the time is not ours}"
    )
    assert "number-changed" not in survivors(challenged(suite, [PROSE, NONE]))


def test_a_line_passes_every_recorded_answer(challenged: Challenging, survivors: Survivors) -> None:
    repeated = suite_of("non-empty").replace("inputs: {city: Paris}", "inputs: {city: Paris}\n      repeat: 2")
    other = evalc.AgentResponse(response="At 10 there is one to Paris.")
    found = survivors(challenged(repeated, [PROSE, other, NONE]))
    assert found["entity-swapped"] == '- contains "Paris"'
    assert found["number-changed"] is None


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(JSONS, st.sampled_from([None, 2]), st.booleans())
def test_the_parts_of_a_json_text_stand_where_they_are_said_to(value: object, indent: int | None, ascii_: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    parts = json_parts(text)
    assert (parts is None) == (not isinstance(value, list | dict))
    for leaf in () if parts is None else parts.leaves:
        assert json.loads(text[leaf.start : leaf.end]) == leaf.value
    for member in () if parts is None else parts.members:
        left = json.loads(text[: member.start] + text[member.end :])
        assert left != value
        assert walk(left, "nothing.of.it") is not left


def test_the_path_of_each_part_leads_to_it() -> None:
    value = {"a": {"b.c": [1, {"": 2}]}, "d[]": 3}
    parts = json_parts(json.dumps(value))
    assert parts is not None
    assert {leaf.path: [*values_at(value, leaf.path)] for leaf in parts.leaves} == {
        'a["b.c"][0]': [1],
        'a["b.c"][1][""]': [2],
        '["d[]"]': [3],
    }


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_json(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        assert json_parts(text) is None


def mutants() -> Iterator[tuple[str, str, str]]:
    """The mutants of all sample answers: the answer's id, the fault and the difference."""
    samples: list[dict[str, Any]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    names = tuple(dict.fromkeys(name for sample in samples for name in names_in(sample["response"])))
    for sample in samples:
        calls = tuple(
            evalc.ToolCall(name=call["name"], params=call["params"], success=True) for call in sample.get("calls", ())
        )
        case = Case(id=sample["id"], description="", input=Input(message=sample["message"]))
        answer = AgentAnswer(1.0, evalc.AgentResponse(response=sample["response"], tool_calls=calls))
        for mutant in mutations(case, answer, Around(names=names)):
            yield sample["id"], mutant.challenger, mutant.difference


def test_the_page_states_the_rate_of_the_sample() -> None:
    made = list(mutants())
    same = [tuple(label) for label in json.loads(LABELS.read_text(encoding="utf-8"))]
    assert set(same) <= set(made)
    said = re.search(r"(\d+) of (\d+) mutants \((\d+) %\)", PAGE.read_text(encoding="utf-8"))
    assert said is not None
    assert [int(number) for number in said.groups()] == [len(same), len(made), round(100 * len(same) / len(made))]
