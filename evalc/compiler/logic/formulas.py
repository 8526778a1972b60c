"""The assertion of a check as a formula: facts about texts and tool calls, joined by `All` and `Some`.

Negation occurs only at facts, as `holds=False`. Texts are templates as `templates` encodes them: what
follows about them follows whatever their tokens turn out to be.
"""

from __future__ import annotations

from typing import Literal, assert_never

import msgspec

from evalc.model.checks import FieldType

Place = tuple[str, ...]
"""The text that a fact is about: the response, or one place of its JSON, and so on inwards."""

Unit = Literal["chars", "words", "lines", "bytes", "calls", "tokens", "ms", "dollars"]

Measured = Literal["number", "items"]
"""The quantity of a JSON value that is compared with a limit: its number, or how many items it has."""


class _Atom(msgspec.Struct, frozen=True, gc=False):
    """Something that is so, or is not."""


class Has(_Atom, frozen=True, gc=False):
    """The text contains this one."""

    text: str


class HasFolded(_Atom, frozen=True, gc=False):
    """The text, case-folded, contains this one, which is case-folded."""

    text: str


class Is(_Atom, frozen=True, gc=False):
    """The text is this one."""

    text: str


class Begins(_Atom, frozen=True, gc=False):
    """The text starts with this one."""

    text: str


class Matches(_Atom, frozen=True, gc=False):
    """The pattern matches somewhere in the text."""

    pattern: str
    flags: str = ""


class Exceeds(_Atom, frozen=True, gc=False):
    """There is more than this of what the unit counts. `length 3..10` exceeds 2 and does not exceed 10."""

    unit: Unit
    limit: int | float


class IsJson(_Atom, frozen=True, gc=False):
    """The text is JSON, in the sense of the mode."""

    mode: str


class HasField(_Atom, frozen=True, gc=False):
    """The JSON of the text has a value at the path, of the type if there is one."""

    path: str
    type: FieldType | None = None


class HasPlace(_Atom, frozen=True, gc=False):
    """`at` finds something at the path."""

    path: str


class AtLeast(_Atom, frozen=True, gc=False):
    """The JSON value is a number, or an array with a number of items, that is not less."""

    of: Measured
    limit: int | float


class AtMost(_Atom, frozen=True, gc=False):
    """The JSON value is a number, or an array with a number of items, that is not more."""

    of: Measured
    limit: int | float


class IsValue(_Atom, frozen=True, gc=False):
    """The JSON value is this one, written as JSON."""

    value: bytes


class HasHeading(_Atom, frozen=True, gc=False):
    """The Markdown of the text has the heading, which is trimmed and case-folded."""

    text: str


class IsSimilar(_Atom, frozen=True, gc=False):
    """The text is at least so similar to this one."""

    text: str
    threshold: int | float


class NotSent(_Atom, frozen=True, gc=False):
    """The parameter was not sent, so that its text is `undefined`."""


class Calls(_Atom, frozen=True, gc=False):
    """The tools called, in order, are exactly these."""

    names: tuple[str, ...]


class CallsSet(_Atom, frozen=True, gc=False):
    """The set of the tools called is this one, which is not empty."""

    names: frozenset[str]


class CallsTool(_Atom, frozen=True, gc=False):
    """The tool was called."""

    name: str


class CallsEach(_Atom, frozen=True, gc=False):
    """Each tool was called at least as often as its name is here; two names or more, sorted."""

    names: tuple[str, ...]


class CallsInOrder(_Atom, frozen=True, gc=False):
    """The tools were called in this order, with anything in between; two names or more."""

    names: tuple[str, ...]


class CallsOnly(_Atom, frozen=True, gc=False):
    """No other tool was called."""

    names: frozenset[str]


class Unknown(_Atom, frozen=True, gc=False):
    """A fact that only a run can decide, known by the check as JSON."""

    check: bytes


Atom = (
    Has
    | HasFolded
    | Is
    | Begins
    | Matches
    | Exceeds
    | IsJson
    | HasField
    | HasPlace
    | AtLeast
    | AtMost
    | IsValue
    | HasHeading
    | IsSimilar
    | NotSent
    | Calls
    | CallsSet
    | CallsTool
    | CallsEach
    | CallsInOrder
    | CallsOnly
    | Unknown
)


class Fact(msgspec.Struct, frozen=True, gc=False):
    """An atom, said of a place, or denied."""

    atom: Atom
    holds: bool = True
    place: Place = ()


class All(msgspec.Struct, frozen=True, gc=False):
    """Every part holds. No parts: always so."""

    parts: tuple[Formula, ...]


class Some(msgspec.Struct, frozen=True, gc=False):
    """At least one part holds. No parts: never so."""

    parts: tuple[Formula, ...]


class OfParam(msgspec.Struct, frozen=True, gc=False):
    """A formula about the text of a parameter of the first call of a tool. Of a tool not called it says nothing.

    So neither it nor its negation fails then. Beside others, in `All` and `Some`, it is left out.
    """

    tool: str
    param: str
    formula: Formula


Formula = Fact | All | Some | OfParam


def negation(formula: Formula) -> Formula:
    """The formula that holds where this one does not."""
    match formula:
        case Fact():
            return Fact(formula.atom, not formula.holds, formula.place)
        case All():
            return Some(tuple(map(negation, formula.parts)))
        case Some():
            return All(tuple(map(negation, formula.parts)))
        case OfParam():
            return OfParam(formula.tool, formula.param, negation(formula.formula))
        case _:
            assert_never(formula)


def is_certain(formula: Formula) -> bool:
    """Whether every run says yes or no to it: no part of it may be left out, or end in an error."""
    match formula:
        case Fact():
            return not isinstance(formula.atom, Unknown)
        case All() | Some():
            return all(map(is_certain, formula.parts))
        case OfParam():
            return False
        case _:
            assert_never(formula)


def size(formula: Formula) -> int:
    """The number of its facts."""
    match formula:
        case Fact():
            return 1
        case All() | Some():
            return sum(map(size, formula.parts))
        case OfParam():
            return size(formula.formula)
        case _:
            assert_never(formula)


def depth(formula: Formula) -> int:
    """How many joints lie above its deepest fact."""
    match formula:
        case Fact():
            return 0
        case All() | Some():
            return 1 + max(map(depth, formula.parts), default=0)
        case OfParam():
            return depth(formula.formula)
        case _:
            assert_never(formula)
