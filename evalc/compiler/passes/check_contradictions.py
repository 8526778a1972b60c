"""Reports checks that contradict others of their case, or that the others imply.

Each finding holds for every answer of an agent whose tokens resolve. What one check says alone is `check_vacuity`'s.
A contradiction counts across criteria, because a case passes when every check does. A check that others imply is
redundant only where it counts for the same criteria as they do: a criterion's score is the share of its own checks.
`non-empty` and `tools not called` are guards: they come first and say plainly what went wrong, so they may be implied.
One that several cases share (by `defaults`, `use` or `for_each`) is redundant only where it is so in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, final

from evalc.check.tree import Bounds, Call, Check, Measure, Not, Of, Test, Tools
from evalc.compiler import ir
from evalc.compiler.patterns import examine
from evalc.diagnostics.problem import Diagnostics, Finding

_MOST_COMPARED: Final = 200
"""How many checks are compared here, each with each; of more, logic compares the first."""


@final
class Contradictions:
    """Reports the checks of each case that contradict, repeat or imply each other; the cases come in pieces."""

    def __init__(self) -> None:
        self._redundant: dict[ir.Where, Finding] = {}
        self._deciding: set[ir.Where] = set()  # what decides something in some case

    def check(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report the contradictions within cases, and remember what is redundant in them."""
        for case in suite.cases:
            found: dict[ir.Where, Finding] = {}
            if not are_unrelated([*map(_check_of, case.checks)]):
                from evalc.compiler.logic.compare import compared  # noqa: PLC0415 - for start-up: most are unrelated

                found = compared(suite, case, problems)
            for where, finding in found.items():
                self._redundant.setdefault(where, finding)
            places = map(_where, case.checks)
            self._deciding.update(places if not found else set(places) - found.keys())

    def finish(self, suite: ir.Suite, problems: Diagnostics) -> None:
        """Report what is redundant in all the cases that have a check from there."""
        for where, finding in self._redundant.items():
            if where not in self._deciding:
                problems.add(*suite.place(where), finding)


_check_of, _where = attrgetter("check"), attrgetter("where")


def are_unrelated(checks: Sequence[Check]) -> bool:
    """Whether no check contradicts, repeats or implies another one for certain; `False` means "not known"."""
    topics: dict[str, Any] = {}
    spoken_of: list[str] = []
    if len(checks) > _MOST_COMPARED:
        return False
    for check in checks:
        test = check.check if type(check) is Not else check
        texts: tuple[str, ...] | None = None
        if type(test) is Test and not test.ignoring_case:
            operand = test.operand
            if test.predicate == "contains" and type(operand) is str:
                texts = (operand,)
            elif test is check and test.predicate in _OF_TEXTS:
                texts = _OF_TEXTS[test.predicate](operand)
        if texts is None:
            topic = _topic_of(check)
            if not topic or topic in topics:
                return False
            topics[topic] = check
            continue
        if not texts:
            return False
        for text in texts:
            if "{{" in text:
                return False
            for other in spoken_of:
                if text in other or other in text:
                    return False
        spoken_of += texts
    length = topics.get("length")
    return length is None or _is_for_itself(length.check.operand, spoken_of, non_empty="non_empty" in topics)


def _needed(operand: tuple[Any, str]) -> tuple[str, ...]:
    """The texts that occur in whatever a pattern matches."""
    pattern, flags = operand
    examined = examine(pattern, flags) if isinstance(pattern, str) and "i" not in flags else None
    return () if examined is None or (examined.literal and examined.literal[1] != "has") else examined.required


_OF_TEXTS: Final[Mapping[str, Callable[[Any], tuple[str, ...]]]] = {
    "contains_any": lambda values: values if all(isinstance(value, str) for value in values) else (),
    "matches": _needed,
}
"""The texts that the operands of such predicates speak of; none where that is not known."""


def _topic_of(check: Check) -> str:
    """The topic of a check: two that bear on each other share it. It is empty where it is not known."""
    match check:
        case Of(Measure("chars"), Test("between")):
            return "length"
        case Of(Measure("calls") | Call()) | Of(Tools(), Test("called" | "not_called" | "include" | "only")):
            return "calls"
        case Of(Measure("ms" | "dollars" | "tokens" as of)):
            return of
        case Of(Tools(), Test("no_errors" as predicate)) | Test("non_empty" as predicate):
            return predicate
        case Test(predicate):
            from evalc.compiler.logic.formula import READ  # noqa: PLC0415 - for start-up, as above

            return "" if predicate in READ else predicate
        case _:
            return ""


def _is_for_itself(length: Bounds, texts: Iterable[str], *, non_empty: bool) -> bool:
    """Whether none of the texts is too long for the most that is allowed, or brings the least that is asked for."""
    least, most = length.min or 0, length.max
    if length.above is not None or length.below is not None or isinstance(least, str) or isinstance(most, str):
        return False
    if most is None:
        return bool(least > non_empty) and max(map(len, texts), default=0) < least
    return bool(most >= 1) and max(map(len, texts), default=0) <= most
