"""Labels: what the check of a label says and what counts as the class of an answer are one reading."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.compiler.emit.check import check_of_label
from evalc.model.answer import AgentResponse, ToolCall
from evalc.model.case import TRIGGERS, Label
from evalc.runtime.checks.judged import label_result
from tests.runtime.checks.conftest import Ask

_TEXTS = st.text(" \t\n\x1c\x85\xa0\u2003\ufeffnulabé.$^", max_size=6)
_CLASSES = (_TEXTS | st.sampled_from(["refund", "null", "3", "true"])).filter(lambda text: text.strip() != "")
_VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | _TEXTS | st.lists(_TEXTS, max_size=2)


@given(_CLASSES, st.sampled_from(["response", "at a", "at a.b[0]", "at [0]"]), st.data())
def test_the_check_of_a_label_passes_exactly_where_the_class_counts_as_right(
    expected: str, source: str, data: st.DataObject
) -> None:
    label = Label(expected=expected, source=source)
    spaces = st.text(" \n\x1c\x85\xa0\ufeff", max_size=2)
    near = st.builds(lambda before, after: before + expected + after, spaces, spaces)
    value = data.draw(near | _VALUES)
    shapes = [json.dumps({"a": value}), json.dumps({"a": {"b": [value]}}), json.dumps([value]), json.dumps(value)]
    response = data.draw(near | _TEXTS | st.sampled_from(shapes))
    counted = label_result(label, AgentResponse(response=response))
    passed = Ask()(check_of_label(label), response).outcome == "passed"
    assert passed is (counted.predicted == counted.expected), (passed, counted)


@pytest.mark.parametrize(
    ("source", "response", "label"),
    [
        ("response", " refund \n", "refund"),
        ("response", "\ufeffrefund", "refund"),
        ("response", "refund\x85", "refund\x85"),
        ("response", "  ", None),
        ("at intent", '{"intent": "refund "}', "refund "),
        ("at intent", '{"intent": " "}', None),
        ("at intent", '{"intent": null}', None),
        ("at intent", "{}", None),
        ("at intent", "refund", None),
        ("at n", '{"n": 3}', "3"),
        ("at classes", '{"classes": ["a", "b"]}', '["a","b"]'),
        ("at [0]", '["a"]', "a"),
        ("at a", "[" * 100_000, None),
        ("at intent", None, None),
    ],
)
def test_the_class_that_a_response_gives(source: str, response: str | None, label: str | None) -> None:
    answer = None if response is None else AgentResponse(response=response)
    assert label_result(Label(expected="refund", source=source), answer).predicted == label


@pytest.mark.parametrize("expected", TRIGGERS)
@pytest.mark.parametrize(
    ("calls", "reports", "predicted"),
    [
        (["tables"], True, "triggered"),
        (["pack:tables", "other"], True, "not triggered"),
        ([], True, "not triggered"),
        ([], False, None),
        (["tables"], False, "triggered"),
    ],
)
def test_whether_a_skill_was_loaded(expected: str, calls: list[str], reports: bool, predicted: str | None) -> None:
    label = Label(expected=expected, source="skill tables")
    made = tuple(ToolCall(name="Skill", params={"skill": name}) for name in calls)
    answer = AgentResponse(response="Hi", tool_calls=made, reports_calls=reports)
    assert label_result(label, answer).predicted == predicted
    if predicted is not None:
        outcome = Ask()(check_of_label(label), "Hi", tool_calls=made, reports_calls=reports).outcome
        assert outcome == ("passed" if predicted == expected else "failed")
    assert label_result(label, None).predicted is None
