"""No text makes the compiler raise, and every problem stands within its text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import evalc
from evalc.diagnostics.render import render_text
from tests.properties.test_compile import written
from tests.properties.trying import compiled_text, encoded
from tests.support.laws import examples
from tests.support.suites import suites

KEYS = """suite tier tool prompt prompt_file prompt_id inputs eval criteria test_cases name message messages validate
    expect type rule any_of all_of not criterion weight tool_param op value threshold max_turns stubs rubric tags id
    when answer sequence stubAnswers
    toolsCalled toolParams responseContains minLength metadata cases input checks at unlinked""".split()  # noqa: SIM905
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from(["", 'contains "x"', "{{x}}", "{{seed:a}}", "not", "(", "/a/g", "1e999", "labeled", "any_of", "~"]),
    st.text(max_size=5),
)
NESTED = st.recursive(
    VALUES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=25,
)


def check(name: str, text: str) -> None:
    problems = evalc.check(evalc.Source(name, text))
    assert isinstance(render_text(problems), str)
    for problem in problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(problem.source.text)


@given(text=st.text(st.characters(exclude_categories=["Cs"])), name=st.sampled_from(["x.eval.yaml", "x.json"]))
@settings(max_examples=examples(150))
def test_any_text(text: str, name: str) -> None:
    check(name, text)
    check(name, f"eval: {{test_cases: [{text}]}}")


@given(nested=NESTED, key=st.sampled_from(["eval", "test_cases", "cases", "validate", "expect"]))
@settings(max_examples=examples(200))
def test_any_data_in_any_place(nested: Any, key: str) -> None:
    case = {"name": "a", "message": "hi", "id": "a", "description": "b", "input": {"message": "hi"}, "expect": nested}
    suite = {
        "eval": {"eval": nested},
        "test_cases": {"eval": {"test_cases": nested}},
        "cases": {"metadata": {"toolName": "t", "tier": "labeled"}, "cases": nested},
        "validate": {"eval": {"test_cases": [{"name": "a", "message": "hi", "validate": nested}]}},
        "expect": {"cases": [case]},
    }[key]
    check("x.json" if key in {"cases", "expect"} else "x.eval.yaml", json.dumps(suite))


@given(suite=suites(), data=st.data())
@settings(max_examples=examples(120))
def test_a_suite_with_a_piece_cut_out_put_in_or_doubled(suite: dict[str, Any], data: st.DataObject) -> None:
    text = written(suite)
    name = "x.eval.yaml"
    if data.draw(st.booleans()):
        text, name = encoded(compiled_text(text)), "x.json"
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    end = min(end, start + 40)
    piece = data.draw(
        st.sampled_from(
            ["", text[start:end] * 2, "\t", "- ", ": ", "{", "]", '"', "'", "&a ", "*a", "|\n", "{{", "\\", "\x85"]
        )
    )
    check(name, text[:start] + piece + text[end:])
