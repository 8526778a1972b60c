"""Laws of `any_of`, `all_of` and `not`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evalc.model import checks as c
from tests.runtime.checks.conftest import Ask

YES = c.Contains(value="a")
NO = c.Contains(value="b")
SKIP = c.Contains(value="{{seed:gone}}")
ERROR = c.Cost(max=1)
NOTHING = c.NoToolErrors()

LEAVES: st.SearchStrategy[c.Check] = st.sampled_from([YES, NO, SKIP, ERROR, NOTHING])
OPERANDS = st.lists(LEAVES, min_size=1, max_size=5).map(tuple)
TREES: st.SearchStrategy[c.Check] = st.recursive(
    LEAVES,
    lambda trees: st.one_of(
        st.lists(trees, min_size=1, max_size=3).map(lambda operands: c.AnyOf(checks=tuple(operands))),
        st.lists(trees, min_size=1, max_size=3).map(lambda operands: c.AllOf(checks=tuple(operands))),
        trees.map(lambda operand: c.Not(check=operand)),
    ),
    max_leaves=8,
)


def outcome(check: c.Check) -> str:
    return Ask()(check, "a", tool_mode="routing").outcome


def inverse(check: c.Check) -> c.Check:
    return c.Not(check=check)


@given(OPERANDS)
def test_any_of_is_the_strong_or(operands: tuple[c.Check, ...]) -> None:
    outcomes = [outcome(operand) for operand in operands]
    expected = next((o for o in ("passed", "error", "failed", "skipped", "not_applicable") if o in outcomes), None)
    assert outcome(c.AnyOf(checks=operands)) == expected


@given(OPERANDS)
def test_all_of_is_the_strong_and(operands: tuple[c.Check, ...]) -> None:
    outcomes = [outcome(operand) for operand in operands]
    expected = next((o for o in ("failed", "error", "passed", "skipped", "not_applicable") if o in outcomes), None)
    assert outcome(c.AllOf(checks=operands)) == expected


@given(st.lists(TREES, min_size=1, max_size=3))
def test_de_morgan(trees: list[c.Check]) -> None:
    neither = inverse(c.AnyOf(checks=tuple(trees)))
    both_not = c.AllOf(checks=tuple(map(inverse, trees)))
    assert outcome(neither) == outcome(both_not)


@given(TREES)
def test_two_negations_cancel(tree: c.Check) -> None:
    assert outcome(inverse(inverse(tree))) == outcome(tree)


@given(TREES, LEAVES)
def test_a_skipped_operand_is_left_out(tree: c.Check, other: c.Check) -> None:
    without = outcome(c.AnyOf(checks=(tree, other)))
    with_skip = outcome(c.AnyOf(checks=(tree, SKIP, other)))
    assert with_skip == ("skipped" if without == "not_applicable" else without)


def test_of_nothing_any_fails_and_all_holds() -> None:
    assert outcome(c.AnyOf(checks=())) == "failed"
    assert outcome(c.AllOf(checks=())) == "passed"


def test_messages_name_what_failed(ask: Ask) -> None:
    failed = ask(c.AnyOf(checks=(NO, SKIP, c.Equals(value="x"))), "a")
    assert failed.message == (
        "expected one of 3 checks to hold but none does: "
        "expected 'b' in response but not found; response is `a`, expected `x`"
    )
    assert failed.skipped_tokens == ("{{seed:gone}}",)
    assert ask(c.AllOf(checks=(YES, NO)), "a").message == "expected 'b' in response but not found"
    negated = ask(c.Not(check=YES), "a").message
    assert negated == 'found "a" in response'
    assert str(ask(c.AllOf(checks=(YES, ERROR)), "a").message).startswith("what it cost is not known: ")


def test_notes_of_operands_are_kept_without_a_token(ask: Ask) -> None:
    operand = c.ToolCount(max=0)
    verdict = ask(c.AllOf(checks=(operand,)), reports_calls=False)
    assert verdict.notes == ask(operand, reports_calls=False).notes != ()


def test_a_whole_verifies_what_its_operands_verify(ask: Ask) -> None:
    empty, real = c.Contains(value="{{seed:empty}}"), c.Contains(value="a")

    def verifies(check: c.Check) -> bool:
        verdict = ask(check, "a", seed={"empty": ""})
        assert verdict.outcome == "passed"
        return verdict.verifies

    assert not verifies(c.AnyOf(checks=(NO, empty)))
    assert not verifies(c.AllOf(checks=(empty, empty)))
    assert verifies(c.AllOf(checks=(empty, real)))
    assert verifies(c.AnyOf(checks=(real, empty)))
    assert verifies(c.Not(check=NO))


def test_a_whole_of_skips_names_its_tokens(ask: Ask) -> None:
    verdict = ask(c.AllOf(checks=(SKIP, c.Equals(value="{{snapshot:x}}"))), "a")
    assert verdict.outcome == "skipped"
    assert verdict.skipped_tokens == ("{{seed:gone}}", "{{snapshot:x}}")
