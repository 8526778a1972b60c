"""Checks of tool calls, sentence by sentence of the contract."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import check_of
from evalc.check.tree import Check
from evalc.model.answer import ToolCall, ToolMode
from tests.runtime.checks.conftest import Ask, check_in


def calls(*names: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name=name, success=True) for name in names)


def sent(**params: Any) -> tuple[ToolCall, ...]:
    return (ToolCall(name="t", params=params), ToolCall(name="t", params={"p": "second"}))


def test_tools_called_compares_in_order(ask: Ask) -> None:
    check = check_of({"type": "tools_called", "names": ("a", "b")})
    assert ask(check, tool_calls=calls("a", "b")).outcome == "passed"
    assert ask(check, tool_calls=calls("b", "a")).message == "expected [a, b] but got [b, a]"
    assert ask(check, tool_calls=calls("a", "b", "b")).outcome == "failed"


def test_no_tools_called_asserts_that_none_was(ask: Ask) -> None:
    assert ask(check_of({"type": "tools_called", "names": ()})).outcome == "passed"
    assert (
        ask(check_of({"type": "tools_called", "names": ()}), tool_calls=calls("a")).message == "expected [] but got [a]"
    )


def test_tools_include_counts_and_leaves_room_for_others(ask: Ask) -> None:
    check = check_of({"type": "tools_include", "names": ("a", "b", "a")})
    assert ask(check, tool_calls=calls("a", "x", "a", "b")).outcome == "passed"
    found = ask(check, tool_calls=calls("b", "a"))
    assert found.message == "expected at least [a, b, a] but got [b, a]: [a] is missing"
    assert ask(check).message == "expected at least [a, b, a] but got []: [a, a, b] are missing"


def test_tools_in_order_are_a_subsequence(ask: Ask) -> None:
    check = check_of({"type": "tools_in_order", "names": ("a", "b", "a")})
    assert ask(check, tool_calls=calls("x", "a", "a", "b", "x", "a")).outcome == "passed"
    found = ask(check, tool_calls=calls("b", "a", "a"))
    assert found.message == "expected [a, b, a] in this order but got [b, a, a]: no 'b' after [a]"
    assert ask(check).message == "expected [a, b, a] in this order but got []: no 'a'"


def test_tools_only_forbids_all_others(ask: Ask) -> None:
    check = check_of({"type": "tools_only", "names": ("a", "b")})
    assert ask(check, tool_calls=calls("b", "b")).outcome == "passed"
    assert ask(check).outcome == "passed"
    found = ask(check, tool_calls=calls("a", "c", "d"))
    assert found.message == "expected only [a, b] but got [a, c, d]: 'c' is another tool"


@pytest.mark.parametrize(
    ("sets", "called", "outcome"),
    [
        ([("a", "b")], ("b", "a"), "passed"),
        ([("a", "b")], ("b", "a", "a"), "passed"),
        ([("a",), ("b",)], ("b",), "passed"),
        ([("a",), ("b",)], ("a", "b"), "failed"),
        ([("__none__",)], (), "passed"),
        ([("__none__",)], ("a",), "failed"),
        ([("__none__",)], ("__none__",), "failed"),
        ([("a",), ("__none__",)], (), "passed"),
        ([("a",), ("__none__",)], ("a",), "passed"),
        ([("a",)], (), "failed"),
        ([("a", "__none__")], (), "failed"),
        ([()], (), "passed"),
        ([], (), "failed"),
    ],
)
def test_tools_acceptable(ask: Ask, sets: list[tuple[str, ...]], called: tuple[str, ...], outcome: str) -> None:
    assert (
        ask(check_of({"type": "tools_acceptable", "sets": tuple(sets)}), tool_calls=calls(*called)).outcome == outcome
    )


def test_tools_acceptable_says_what_would_have_done(ask: Ask) -> None:
    check = check_of({"type": "tools_acceptable", "sets": (("a",), ("__none__",))})
    assert ask(check, tool_calls=calls("b")).message == "expected [a] or no tool but got [b]"


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_tools_acceptable_compares_sets(allowed: list[str], called: list[str]) -> None:
    verdict = Ask()(check_of({"type": "tools_acceptable", "sets": (tuple(allowed),)}), tool_calls=calls(*called))
    assert (verdict.outcome == "passed") == (set(allowed) == set(called))


def test_tools_not_called(ask: Ask) -> None:
    check = check_of({"type": "tools_not_called", "names": ("x", "y")})
    assert ask(check, tool_calls=calls("a")).outcome == "passed"
    assert ask(check, tool_calls=calls("a", "y")).message == "expected no call of 'y' but got [a, y]"


def test_tool_count(ask: Ask) -> None:
    assert ask(check_of({"type": "tool_count", "min": 1, "max": 2}), tool_calls=calls("a", "b")).outcome == "passed"
    assert ask(check_of({"type": "tool_count", "min": 1})).message == "expected at least 1 tool call, found 0"
    assert ask(check_of({"type": "tool_count", "max": 1}), tool_calls=calls("a", "a")).outcome == "failed"


def param(assertion: str, value: str | tuple[str, ...] | None = None) -> Check:
    return check_of({"type": "tool_param", "tool": "t", "paramName": "p", "assertion": assertion, "value": value})


@pytest.mark.parametrize(
    ("actual", "text"),
    [
        ("x", "x"),
        (150.0, "150"),
        (1e21, "1e+21"),
        (True, "true"),
        (None, "null"),
        ([1, [2, None]], "1,2,"),
        ({"a": 1}, "[object Object]"),
    ],
)
def test_params_compare_as_javascript_s_strings(ask: Ask, actual: object, text: str) -> None:
    assert ask(param("equals", text), tool_calls=sent(p=actual)).outcome == "passed"


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        (param("equals", "Paris"), "passed"),
        (param("equals", "paris"), "failed"),
        (param("equals", "second"), "failed"),
        (param("contains", "ari"), "passed"),
        (param("contains", ""), "passed"),
        (param("oneOf", ("Rome", "Paris")), "passed"),
        (param("oneOf", ("Rome", "Par")), "failed"),
        (param("matches", "^P.*s$"), "passed"),
        (param("matches", "^p"), "failed"),
        (param("matches", "{{seed:pattern}}"), "passed"),
        (param("exists"), "passed"),
        (param("notExists"), "failed"),
        (param("equals"), "error"),
        (param("oneOf"), "error"),
        (param("equals", "{{seed:gone}}"), "skipped"),
        (param("oneOf", ("{{seed:gone}}", "Paris")), "passed"),
        (param("oneOf", ("{{seed:gone}}", "Rome")), "failed"),
        (param("oneOf", ("{{seed:gone}}",)), "skipped"),
        (param("oneOf", ()), "failed"),
    ],
)
def test_param_assertions_look_at_the_first_call(ask: Ask, check: Check, outcome: str) -> None:
    assert ask(check, tool_calls=sent(p="Paris"), seed={"pattern": "^Pa"}).outcome == outcome


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        (param("equals", "undefined"), "passed"),
        (param("contains", "defined"), "passed"),
        (param("oneOf", ("undefined",)), "passed"),
        (param("matches", "^undefined$"), "passed"),
        (param("exists"), "failed"),
        (param("notExists"), "passed"),
    ],
)
def test_a_missing_param_is_undefined(ask: Ask, check: Check, outcome: str) -> None:
    assert ask(check, tool_calls=sent(q=1)).outcome == outcome


def test_a_param_sent_as_null_exists(ask: Ask) -> None:
    assert ask(param("exists"), tool_calls=sent(p=None)).outcome == "passed"
    assert ask(param("notExists"), tool_calls=sent(p=None)).message == "expected no t.p but it was sent"


def test_params_of_a_tool_that_was_not_called_are_not_asserted(ask: Ask) -> None:
    assert ask(param("equals", "x"), tool_calls=calls("other")).outcome == "not_applicable"


def test_a_param_s_message_says_both_texts(ask: Ask) -> None:
    verdict = ask(param("equals", "Paris"), tool_calls=sent(p="London"))
    assert verdict.message == "expected t.p to equal 'Paris' but got 'London'"


@pytest.mark.parametrize(
    ("success", "mode", "stubs", "outcome"),
    [
        ((), "executed", None, "passed"),
        ((True, True), "executed", None, "passed"),
        ((True, False), "executed", None, "failed"),
        ((None, False), "executed", None, "failed"),
        ((True, None), "executed", None, "not_applicable"),
        ((False,), "routing", None, "not_applicable"),
        ((), "routing", None, "not_applicable"),
        ((False,), "stubbed", {"t0": {}}, "passed"),
        ((True, True), "stubbed", {"t0": {}}, "failed"),
        ((True,), "stubbed", {}, "failed"),
        ((), "stubbed", {}, "passed"),
        ((False,), "executed", {"t0": {}}, "passed"),
        ((True,), "routing", {}, "failed"),
    ],
)
def test_no_tool_errors(
    ask: Ask, success: tuple[bool | None, ...], mode: ToolMode, stubs: dict[str, Any] | None, outcome: str
) -> None:
    made = tuple(ToolCall(name=f"t{index}", success=value) for index, value in enumerate(success))
    assert ask(check_of({"type": "no_tool_errors"}), tool_calls=made, tool_mode=mode, stubs=stubs).outcome == outcome


def test_a_stubbed_call_that_passes_scores_1(ask: Ask) -> None:
    verdict = ask(check_of({"type": "no_tool_errors"}), tool_calls=calls("t"), tool_mode="stubbed", stubs={"t": {}})
    assert (verdict.outcome, verdict.score) == ("passed", 1.0)


def test_arguments_that_are_no_object_fail_a_stubbed_call(ask: Ask) -> None:
    made = (ToolCall(name="t", arguments="[1]"),)
    verdict = ask(check_of({"type": "no_tool_errors"}), tool_calls=made, tool_mode="stubbed", stubs={"t": {}})
    assert verdict.message == "expected a JSON object as arguments of 't' but got '[1]'"


def test_an_error_of_a_stub_fails(ask: Ask) -> None:
    made = (ToolCall(name="t", success=False, error="down"),)
    verdict = ask(check_of({"type": "no_tool_errors"}), tool_calls=made, tool_mode="stubbed", stubs=["t"])
    assert verdict.message == "expected no failing tool call but 't' failed: down"
    by_names = ask(check_of({"type": "no_tool_errors"}), tool_calls=made, tool_mode="executed", stubs=["t"])
    assert by_names.outcome == "passed"
    unknown = ask(check_of({"type": "no_tool_errors"}), tool_calls=made, tool_mode="executed", stubs=["u"])
    assert (unknown.message, len(unknown.notes)) == ("expected only tools with a stub but 't' has none", 1)


def test_calls_under_another_name_are_an_error(ask: Ask) -> None:
    verdict = ask(check_of({"type": "tool_count", "max": 0}), reports_calls=False, near_calls="tools_used")
    assert verdict.outcome == "error"
    assert "the answer has `tools_used` and no `toolCalls`" in (verdict.message or "")


def test_an_answer_without_a_word_about_tools_counts_as_one_without_calls(ask: Ask) -> None:
    verdict = ask(check_of({"type": "tool_count", "max": 0}), reports_calls=False)
    assert verdict.outcome == "passed"
    assert [note.effect for note in verdict.notes] == ["checked as if there were none"]


def test_no_tool_errors_notes_what_it_could_not_check(ask: Ask) -> None:
    unsaid = ask(check_of({"type": "no_tool_errors"}), tool_calls=(ToolCall(name="t"),))
    assert [note.effect for note in unsaid.notes] == ["not checked"]
    by_names = ask(check_of({"type": "no_tool_errors"}), tool_calls=calls("t"), stubs={"t": {}})
    assert [note.effect for note in by_names.notes] == ["checked by the names of the stubs"]
    assert (
        ask(check_of({"type": "no_tool_errors"}), tool_calls=calls("t"), stubs={"t": {}}, tool_mode="stubbed").notes
        == ()
    )


def test_the_calls_of_one_tool_are_counted_by_its_name(ask: Ask) -> None:
    check = check_of({"type": "tool_count", "tool": "book", "min": 2})
    verdict = ask(check, tool_calls=(ToolCall(name="book"), ToolCall(name="pay")))
    assert verdict.message == "expected at least 2 calls of 'book', found 1"


@pytest.mark.parametrize(
    ("line", "is_about_calls"),
    [
        ("tools called [a]", True),
        ("any call of a has x 1", True),
        ("tool count == 1", True),
        ("tool errors == 1", True),
        ("not tools called []", True),
        ('contains "x"', False),
        ("length > 5 words", False),
        ("at a exists", False),
    ],
)
def test_checks_of_calls_say_where_an_agent_reports_none(line: str, is_about_calls: bool, ask: Ask) -> None:
    verdict = ask(check_in(line), reports_calls=False)
    assert (verdict.outcome, bool(verdict.notes)) == ("failed", is_about_calls)
