"""Whether a value has a predicate, by the predicate's name: what evaluation and logic both ask.

Predicates that need a model, an engine, a schema or the calls themselves are evaluated in `evalc.runtime.checks` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from evalc.check import values as v
from evalc.check.tree import NO_TOOL, Test
from evalc.model.json import is_same


def holds(value: Any, test: Test) -> bool:
    """Whether a value, or the names of the tools called, has the predicate; it is one of `HOLDS`.

    Raises:
        CannotAsk: the value cannot be asked.
    """
    return HOLDS[test.predicate](value, test.operand, test.ignoring_case)


def is_within_order(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the names are among the others, in their order."""
    left = iter(others)
    return all(name in left for name in names)


def is_more(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each of the others is among the names, as often as among the others."""
    return Counter(others) <= Counter(names)


def set_of(names: Sequence[str]) -> frozenset[str]:
    """The tools of an acceptable set."""
    return frozenset(names) - {NO_TOOL} if len(names) == 1 else frozenset(names)


def in_any(ask: Callable[[Any], bool], values: Iterable[Any]) -> bool:
    """Whether it holds for one of the values; if it does, the others need not be asked.

    Raises:
        CannotAsk: it holds for none, and one of them cannot be asked.
    """
    fault = None
    for value in values:
        try:
            if ask(value):
                return True
        except v.CannotAsk as error:
            fault = fault or error
    if fault is not None:
        raise fault
    return False


def in_all(ask: Callable[[Any], bool], values: Iterable[Any]) -> bool:
    """Whether it holds for all of the values; as in `in_any`, one for which it does not hold decides."""
    return not in_any(lambda value: not ask(value), values)


HOLDS: Final[Mapping[str, Callable[[Any, Any, bool], bool]]] = {
    "contains": v.contains,
    "contains_any": lambda value, expected, case: in_any(lambda each: v.contains(value, each, case), expected),
    "contains_all": lambda value, expected, case: in_all(lambda each: v.contains(value, each, case), expected),
    "occurs": lambda value, asked, case: v.is_between(v.occurrences(value, asked[0], ignoring_case=case), asked[1]),
    "equals": lambda value, expected, case: v.equals(value, expected, ignoring_case=case),
    "is": lambda value, expected, _: is_same(value, expected),
    "one_of": lambda value, expected, case: v.is_one_of(value, expected, ignoring_case=case),
    "starts_with": lambda value, expected, case: v.folded(v.text_of(value), case).startswith(v.folded(expected, case)),
    "ends_with": lambda value, expected, case: v.folded(v.text_of(value), case).endswith(v.folded(expected, case)),
    "between": v.is_between,
    "within": lambda value, asked, _: v.is_within(value, *asked),
    "empty": lambda value, _, __: v.is_empty(value),
    "non_empty": lambda value, _, __: not v.is_empty(value),
    "is_a": lambda value, expected, _: v.is_a(value, expected),
    "format": lambda value, expected, _: v.has_format(value, expected),
    "sorted": lambda value, asked, _: v.is_sorted(value, descending=asked[0], by=asked[1] or ""),
    "unique": lambda value, _, __: v.is_unique(value),
    "called": lambda names, expected, _: tuple(names) == expected,
    "acceptable": lambda names, expected, _: frozenset(names) in map(set_of, expected),
    "not_called": lambda names, expected, _: frozenset(expected).isdisjoint(names),
    "include": lambda names, expected, _: is_more(names, expected),
    "in_order": lambda names, expected, _: is_within_order(expected, names),
    "only": lambda names, expected, _: frozenset(expected).issuperset(names),
    "before": lambda names, expected, _: (
        set(expected) <= set(names) and names.index(expected[0]) < names.index(expected[1])
    ),
}
