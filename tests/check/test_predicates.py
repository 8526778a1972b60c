"""The texts of a check, in the order in which they stand, and the check with them changed."""

from evalc.check.forms import check_of
from evalc.check.predicates import PREDICATES, mapped, texts_of
from evalc.check.tree import Test, within
from tests.check.test_forms import RECORDS


def test_each_predicate_has_a_form() -> None:
    checks = [check_of(record) for record in RECORDS]
    tests = [part for check in checks for part in within(check) if isinstance(part, Test)]
    assert {test.predicate for test in tests} == PREDICATES.keys()


def test_the_texts_of_a_check_are_those_that_are_changed() -> None:
    check = check_of({"type": "call_has", "tool": "t", "args": {"a": {"equals": "x"}, "b": {"matches": "y"}}})
    assert [text for _, text in texts_of(check)] == ["t", "a", "x", "b", "y"]
    loud = mapped(check, lambda role, text: text if role.names else str(text).upper())
    assert [text for _, text in texts_of(loud)] == ["T", "a", "X", "b", "Y"]


def test_a_check_whose_texts_stay_is_the_same_one() -> None:
    for record in RECORDS:
        check = check_of(record)
        assert mapped(check, lambda _, text: text) is check
