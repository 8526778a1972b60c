"""Laws of `any_of`, `all_of` and `not`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalc.check.forms import check_of, record_of
from evalc.check.tree import Check, Not, Some
from tests.runtime.checks.conftest import Ask

YES = check_of({"type": "contains", "value": "a"})
NO = check_of({"type": "contains", "value": "b"})
SKIP = check_of({"type": "contains", "value": "{{seed:gone}}"})
ERROR = check_of({"type": "cost", "max": 1})
NOTHING = check_of({"type": "no_tool_errors"})

UNASKED = check_of({"type": "at", "path": "x", "check": {"type": "number", "min": 1}})

LEAVES: st.SearchStrategy[Check] = st.sampled_from([YES, NO, SKIP, ERROR, NOTHING, UNASKED])
OPERANDS = st.lists(LEAVES, min_size=1, max_size=5).map(tuple)
TREES: st.SearchStrategy[Check] = st.recursive(
    LEAVES,
    lambda trees: st.one_of(
        st.lists(trees, min_size=1, max_size=3).map(
            lambda operands: check_of({"type": "any_of", "checks": tuple(map(record_of, operands))})
        ),
        st.lists(trees, min_size=1, max_size=3).map(
            lambda operands: check_of({"type": "all_of", "checks": tuple(map(record_of, operands))})
        ),
        trees.map(lambda operand: check_of({"type": "not", "check": record_of(operand)})),
    ),
    max_leaves=8,
)


def outcome(check: Check) -> str:
    return Ask()(check, "a", tool_mode="routing").outcome


def inverse(check: Check) -> Check:
    return check_of({"type": "not", "check": record_of(check)})


@given(OPERANDS)
def test_any_of_is_the_strong_or(operands: tuple[Check, ...]) -> None:
    outcomes = [outcome(operand) for operand in operands]
    expected = next((o for o in ("passed", "error", "failed", "skipped", "not_applicable") if o in outcomes), None)
    assert outcome(check_of({"type": "any_of", "checks": tuple(map(record_of, operands))})) == expected


@given(OPERANDS)
def test_all_of_is_the_strong_and(operands: tuple[Check, ...]) -> None:
    outcomes = [outcome(operand) for operand in operands]
    failures = ("failed", "error") if NO in operands else ("error", "failed")  # that cannot be asked decides nothing
    expected = next((o for o in (*failures, "passed", "skipped", "not_applicable") if o in outcomes), None)
    assert outcome(check_of({"type": "all_of", "checks": tuple(map(record_of, operands))})) == expected


@given(st.lists(TREES, min_size=1, max_size=3))
def test_de_morgan(trees: list[Check]) -> None:
    neither = inverse(check_of({"type": "any_of", "checks": tuple(map(record_of, trees))}))
    both_not = check_of({"type": "all_of", "checks": tuple(record_of(inverse(tree)) for tree in trees)})
    assert outcome(neither) == outcome(both_not)


def test_a_group_cannot_be_asked_where_the_other_parts_do_not_decide_it() -> None:
    for type_, other, decided in (("any_of", NO, YES), ("all_of", YES, NO)):
        group = check_of({"type": type_, "checks": (record_of(UNASKED), record_of(other))})
        assert (outcome(group), outcome(inverse(group))) == ("failed", "failed")
        group = check_of({"type": type_, "checks": (record_of(UNASKED), record_of(decided))})
        assert {outcome(group), outcome(inverse(group))} == {"failed", "passed"}


@given(TREES)
def test_two_negations_cancel(tree: Check) -> None:
    assert outcome(inverse(inverse(tree))) == outcome(tree)


@given(TREES, LEAVES)
def test_a_skipped_operand_is_left_out(tree: Check, other: Check) -> None:
    without = outcome(check_of({"type": "any_of", "checks": (record_of(tree), record_of(other))}))
    with_skip = outcome(check_of({"type": "any_of", "checks": (record_of(tree), record_of(SKIP), record_of(other))}))
    assert with_skip == ("skipped" if without == "not_applicable" else without)


def test_of_nothing_any_fails_and_all_holds() -> None:
    assert outcome(check_of({"type": "any_of", "checks": ()})) == "failed"
    assert outcome(check_of({"type": "all_of", "checks": ()})) == "passed"


def test_messages_name_what_failed(ask: Ask) -> None:
    failed = ask(
        check_of({"type": "any_of", "checks": (record_of(NO), record_of(SKIP), {"type": "equals", "value": "x"})}), "a"
    )
    assert failed.message == (
        "expected one of 3 checks to hold but none does: "
        "expected 'b' in response but not found; response is `a`, expected `x`"
    )
    assert failed.skipped_tokens == ("{{seed:gone}}",)
    assert (
        ask(check_of({"type": "all_of", "checks": (record_of(YES), record_of(NO))}), "a").message
        == "expected 'b' in response but not found"
    )
    negated = ask(check_of({"type": "not", "check": record_of(YES)}), "a").message
    assert negated == 'found "a" in response'
    unasked = Not(Some((check_of({"type": "number", "max": 5}), NO)))
    assert ask(unasked, "[]").message == "expected a number, found an empty list"
    assert str(ask(check_of({"type": "all_of", "checks": (record_of(YES), record_of(ERROR))}), "a").message).startswith(
        "what it cost is not known: "
    )


def test_notes_of_operands_are_kept_without_a_token(ask: Ask) -> None:
    operand = check_of({"type": "tool_count", "max": 0})
    verdict = ask(check_of({"type": "all_of", "checks": (record_of(operand),)}), reports_calls=False)
    assert verdict.notes == ask(operand, reports_calls=False).notes != ()


def test_a_whole_verifies_what_its_operands_verify(ask: Ask) -> None:
    empty, real = (
        check_of({"type": "contains", "value": "{{seed:empty}}"}),
        check_of({"type": "contains", "value": "a"}),
    )

    def verifies(check: Check) -> bool:
        verdict = ask(check, "a", seed={"empty": ""})
        assert verdict.outcome == "passed"
        return verdict.verifies

    assert not verifies(check_of({"type": "any_of", "checks": (record_of(NO), record_of(empty))}))
    assert not verifies(check_of({"type": "all_of", "checks": (record_of(empty), record_of(empty))}))
    assert verifies(check_of({"type": "all_of", "checks": (record_of(empty), record_of(real))}))
    assert verifies(check_of({"type": "any_of", "checks": (record_of(real), record_of(empty))}))
    assert verifies(check_of({"type": "not", "check": record_of(NO)}))


def test_a_whole_of_skips_names_its_tokens(ask: Ask) -> None:
    verdict = ask(
        check_of({"type": "all_of", "checks": (record_of(SKIP), {"type": "equals", "value": "{{snapshot:x}}"})}), "a"
    )
    assert verdict.outcome == "skipped"
    assert verdict.skipped_tokens == ("{{seed:gone}}", "{{snapshot:x}}")
