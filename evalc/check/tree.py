"""The tree of a check: the steps to its subject, and a test of what is there.

`at total <= 240` is `Of(At("total"), Test("between", Bounds(max=240)))`, and `any call of book has city "Paris"` is
`Of(Call("book", "any"), Of(At("city"), Test("equals", "Paris")))`. Without a step the subject is the response.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, Literal, get_args

import msgspec

from evalc.model.answer import NOT_LOOKED_AT

Which = Literal["any", "every", "no"]
Asked = Literal["text", "name", "number", "whole", "items", "names", "sets", "flag", "any"]
"""The kind of value that must fill a bare template."""

NO_TOOL: Final = "__none__"
"""The only name in an acceptable set of no tools (contract, toolsAcceptable)."""

NO_TOOL_NAMES: Final = frozenset(
    (
        *("is", "are", "was", "were", "be", "been", "does", "did", "do", "should", "must", "has", "have", "had"),
        *("not", "never", "no", "none", "nothing", "zero", "any", "anything", "something", "it"),
    )
)
"""Words that name a tool only in quotes or in a list: the author of `tool was not called` means no tool `was`."""

BELOW: Final = rf"^(?:(?!\.|(?:{'|'.join(NOT_LOOKED_AT)})/)[^/\\]+/)*(?!\.\.?$)[^/\\]+$"
"""The path of a file that an agent may write in the folder of its attempt, and that is looked at."""


class Node(msgspec.Struct, frozen=True, gc=False):
    """A step, a check, or a part of an operand."""


# --- steps -----------------------------------------------------------------------------------------------------------


class Turn(Node, frozen=True):
    """To a turn of the conversation, by its number from 1."""

    number: int


class At(Node, frozen=True):
    """To a place in a JSON value: in the response, in the arguments of a call, in a result."""

    path: str


class Items(Node, frozen=True):
    """To items of lists, which the path names with `[]`: `items[]`, `orders[].lines[]`."""

    path: str
    which: Which


class Call(Node, frozen=True):
    """To calls of a tool. `first` is the contract's: where there is no call, nothing is asked."""

    tool: str
    which: Which | Literal["first"] | int = "any"


class File(Node, frozen=True):
    """To the text of a file that the agent wrote, by its path in the folder of the attempt."""

    path: str


class Argument(Node, frozen=True):
    """To an argument of a call by its whole name, as the text that JavaScript makes of it (contract, toolParams)."""

    name: str


class Result(Node, frozen=True):
    """To what a call gave back."""


class Failure(Node, frozen=True):
    """To the error of a call that failed."""


class Tools(Node, frozen=True):
    """To the names of the tools called, in order."""


class Measure(Node, frozen=True):
    """To a number: of a text, a list, or the run. `tool` narrows `calls` to the calls of one tool."""

    of: Measured
    tool: str = ""


OfText = Literal["chars", "words", "lines", "bytes", "sentences", "tokens"]
OfRun = Literal["calls", "errors", "ms", "total_tokens", "input_tokens", "output_tokens", "dollars"]
Measured = Literal[OfText, "items", OfRun]
OF_TEXT: Final = frozenset[str](get_args(OfText))
"""The measures of a text; `tokens` is the contract's estimate for the response."""

Step = Turn | At | Items | File | Call | Argument | Result | Failure | Tools | Measure


# --- operands --------------------------------------------------------------------------------------------------------


class Blank(Node, frozen=True):
    """A bare template (`{{n}}`) in place of a value; `asks` says how the value that fills it is read.

    A number that fills it is multiplied by `scale` (`{{n}}s` is in milliseconds).
    """

    template: str
    asks: Asked
    scale: float = 1


class Bounds(Node, frozen=True):
    """The numbers allowed: `min` and `max` are inside, `above` and `below` are not.

    Each is a number, or a seed token that a number replaces when the eval runs; a `Blank` until it is filled.
    """

    min: Any = None
    max: Any = None
    above: Any = None
    below: Any = None


# --- checks ----------------------------------------------------------------------------------------------------------


class Test(Node, frozen=True):
    """A predicate of the subject, one of `PREDICATES`, with its operand (see there)."""

    __test__: ClassVar = False  # it is no class of tests, wherever pytest meets it

    predicate: str
    operand: Any = None
    ignoring_case: bool = False


class Of(Node, frozen=True):
    """A check of what a step leads to."""

    step: Step
    check: Check


class Not(Node, frozen=True):
    """The check does not hold, though it can be asked."""

    check: Check


class All(Node, frozen=True):
    """All of the checks hold."""

    checks: tuple[Check, ...]


class Some(Node, frozen=True):
    """At least one of the checks holds."""

    checks: tuple[Check, ...]


Check = Test | Of | Not | All | Some


def parts_of(check: Check) -> Sequence[tuple[Check, str]]:
    """The checks that a check is made of, each with the JSON pointer to it in the check's record."""
    match check:
        case Test():
            return ()
        case Of() | Not():
            return ((check.check, "/check"),)
        case All() | Some():
            return [(part, f"/checks/{index}") for index, part in enumerate(check.checks)]


def within(check: Check) -> Sequence[Check]:
    """A check and all checks in it, outer ones first."""
    found = [check]
    for part, _ in parts_of(check):
        found += within(part)
    return found


def asks(check: Check, *predicates: str) -> bool:
    """Whether the check tests one of the predicates anywhere: `asks(check, "judge")`."""
    while not isinstance(check, Test):
        if isinstance(check, All | Some):
            return any(asks(part, *predicates) for part in check.checks)
        check = check.check
    return check.predicate in predicates


def conjuncts(check: Check) -> tuple[Check, ...]:
    """The checks of an `and`; any other check is the only one."""
    return check.checks if isinstance(check, All) else (check,)


def steps_of(check: Check) -> tuple[tuple[Step, ...], Check]:
    """The steps that a check begins with, and the check behind them."""
    steps: list[Step] = []
    while isinstance(check, Of):
        steps.append(check.step)
        check = check.check
    return tuple(steps), check


# --- compositions in their simplest form -----------------------------------------------------------------------------


def some_of(checks: Iterable[Check]) -> Check:
    """`or`: nested ones are flattened; texts of which the response contains one become one synonym group."""
    flat = _flat(Some, checks)
    if len(flat) == 1:
        return flat[0]
    values = [_contained(check) for check in flat]
    if None in values:
        return Some(flat)
    return Test("contains_any", tuple(dict.fromkeys(value for group in values for value in group or ())))


def _flat(op: type[All | Some], checks: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(part for check in checks for part in (check.checks if isinstance(check, op) else (check,)))


def _contained(check: Check) -> tuple[Any, ...] | None:
    match check:
        case Test("contains", str() as value, False):
            return (value,)
        case Test("contains_any", tuple() as values, False) if all(isinstance(value, str) for value in values):
            return values
        case _:
            return None


def all_of(checks: Iterable[Check]) -> Check:
    """`and`: nested ones are flattened."""
    flat = _flat(All, checks)
    return flat[0] if len(flat) == 1 else All(flat)


def negated(check: Check) -> Check:
    """`not`: twice is not at all."""
    return check.check if isinstance(check, Not) else Not(check)
