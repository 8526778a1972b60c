"""Whether a value has a predicate, by the predicate's name: what evaluation and logic both ask.

Predicates that need a model, an engine, a schema or the calls themselves are evaluated in `evalc.runtime.checks` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from evalc.check.tree import Test
from evalc.check.values import (
    CannotAsk,
    contains,
    equals,
    folded,
    has_format,
    is_a,
    is_between,
    is_empty,
    is_one_of,
    is_sorted,
    is_unique,
    is_within,
    occurrences,
    text_of,
)
from evalc.model.json import is_same

NO_TOOL: Final = "__none__"
"""What an acceptable set of no tools holds (contract, toolsAcceptable)."""


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
    """Whether it holds for one of the values; one that cannot be asked decides nothing if another one holds.

    Raises:
        CannotAsk: it holds for none, and one of them cannot be asked.
    """
    fault = None
    for value in values:
        try:
            if ask(value):
                return True
        except CannotAsk as error:
            fault = fault or error
    if fault is not None:
        raise fault
    return False


def in_all(ask: Callable[[Any], bool], values: Iterable[Any]) -> bool:
    """Whether it holds for all of the values; as in `in_any`, one for which it does not hold decides."""
    return not in_any(lambda value: not ask(value), values)


HOLDS: Final[Mapping[str, Callable[[Any, Any, bool], bool]]] = {
    "contains": lambda value, wanted, case: contains(value, wanted, ignoring_case=case),
    "contains_any": lambda value, wanted, case: in_any(lambda each: contains(value, each, ignoring_case=case), wanted),
    "contains_all": lambda value, wanted, case: in_all(lambda each: contains(value, each, ignoring_case=case), wanted),
    "occurs": lambda value, asked, case: is_between(occurrences(value, asked[0], ignoring_case=case), asked[1]),
    "equals": lambda value, wanted, case: equals(value, wanted, ignoring_case=case),
    "is": lambda value, wanted, _: is_same(value, wanted),
    "one_of": lambda value, wanted, case: is_one_of(value, wanted, ignoring_case=case),
    "starts_with": lambda value, wanted, case: folded(text_of(value), case).startswith(folded(wanted, case)),
    "ends_with": lambda value, wanted, case: folded(text_of(value), case).endswith(folded(wanted, case)),
    "between": lambda value, bounds, _: is_between(value, bounds),
    "within": lambda value, asked, _: is_within(value, *asked),
    "empty": lambda value, _, __: is_empty(value),
    "non_empty": lambda value, _, __: not is_empty(value),
    "is_a": lambda value, wanted, _: is_a(value, wanted),
    "format": lambda value, wanted, _: has_format(value, wanted),
    "sorted": lambda value, asked, _: is_sorted(value, descending=asked[0], by=asked[1] or ""),
    "unique": lambda value, _, __: is_unique(value),
    "called": lambda names, wanted, _: tuple(names) == wanted,
    "acceptable": lambda names, wanted, _: frozenset(names) in map(set_of, wanted),
    "not_called": lambda names, wanted, _: frozenset(wanted).isdisjoint(names),
    "include": lambda names, wanted, _: is_more(names, wanted),
    "in_order": lambda names, wanted, _: is_within_order(wanted, names),
    "only": lambda names, wanted, _: frozenset(wanted).issuperset(names),
    "before": lambda names, wanted, _: set(wanted) <= set(names) and names.index(wanted[0]) < names.index(wanted[1]),
}
