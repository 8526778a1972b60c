"""Decides whether one formula implies another. `False` means "not known".

`RULES` says what an atom entails; everything else is logic. A rule is used in both directions: that "dog" in a text
puts "do" in it also means that no "do" leaves no "dog".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, get_args

import msgspec

from evalc.compiler.logic.formulas import (
    All,
    AtLeast,
    AtMost,
    Atom,
    Begins,
    Calls,
    CallsEach,
    CallsInOrder,
    CallsOnly,
    CallsSet,
    CallsTool,
    Exceeds,
    Fact,
    Formula,
    Has,
    HasField,
    HasFolded,
    HasHeading,
    Is,
    IsJson,
    IsSimilar,
    IsValue,
    Matches,
    NotSent,
    OfParam,
    Some,
    Unit,
    is_certain,
    negation,
)
from evalc.compiler.logic.texts import (
    beginning,
    cannot_begin_json,
    is_fixed,
    is_so,
    least,
    least_folded,
    matched_inside,
    pieces,
)
from evalc.compiler.patterns import examine
from evalc.model.json import EVERY, is_number, is_same, steps

_UNDEFINED: Final = "undefined"


def implies(first: Formula, second: Formula) -> bool:
    """Whether a run that passes `first` passes `second`."""
    if isinstance(first, Fact) and isinstance(second, Fact):
        return _follows(first, second)
    if isinstance(second, All):
        return all(implies(first, part) for part in second.parts)
    if isinstance(first, Some):
        return all(implies(part, second) for part in first.parts)
    if isinstance(second, Some) and any(implies(first, part) for part in second.parts):
        return True
    if isinstance(first, All):
        return any(implies(part, second) for part in first.parts if is_certain(part))
    if isinstance(first, OfParam) and isinstance(second, OfParam):
        same = (first.tool, first.param) == (second.tool, second.param)
        return same and implies(first.formula, second.formula)
    return False


def touches(first: Formula, second: Formula) -> bool:
    """Whether a part of one implies anything of a part of the other. If not, nothing about either follows from both."""
    if isinstance(first, Fact) and isinstance(second, Fact):
        if (type(first.atom), type(second.atom)) not in _COMPARABLE or first.place != second.place:
            return False
        denied = Fact(second.atom, not second.holds, second.place)
        return _follows(first, second) or _follows(second, first) or _follows(first, denied)
    if isinstance(first, All | Some):
        return any(touches(part, second) for part in first.parts)
    if isinstance(second, All | Some):
        return any(touches(first, part) for part in second.parts)
    if isinstance(first, OfParam) and isinstance(second, OfParam):
        return (first.tool, first.param) == (second.tool, second.param) and touches(first.formula, second.formula)
    if isinstance(first, OfParam):
        return implies(second, Fact(CallsTool(first.tool), False))
    return isinstance(second, OfParam) and touches(second, first)


def always(formula: Formula) -> bool:
    """Whether no run fails the formula."""
    match formula:
        case Fact():
            return _settled(formula.atom) is formula.holds
        case All():
            return all(map(always, formula.parts))
        case Some():
            parts = [part for part in formula.parts if is_certain(part)]
            return any(map(always, parts)) or any(
                implies(negation(part), Some((*parts[:at], *parts[at + 1 :]))) for at, part in enumerate(parts)
            )
        case OfParam():
            return always(formula.formula)


def never(formula: Formula) -> bool:
    """Whether no run passes the formula."""
    return always(negation(formula))


def _settled(atom: Atom) -> bool | None:
    """The verdict that every run gives of the atom; None if they differ."""
    match atom:
        case Has(text="") | HasFolded(text="") | Begins(text=""):
            return True
        case Exceeds(limit=limit):
            return True if limit < 0 else None
        case IsSimilar(threshold=threshold):
            return None if 0 < threshold <= 1 else threshold <= 0
        case Matches():
            return {"matches": True, "fails": False, None: None}[examine(atom.pattern, atom.flags).always]
        case _:
            return None


def _follows(first: Fact, second: Fact) -> bool:
    if first.place != second.place:
        return False
    if first.atom == second.atom:
        return first.holds is second.holds
    if first.holds and _entails(first.atom, second.atom, holds=second.holds):
        return True
    return not second.holds and _entails(second.atom, first.atom, holds=not first.holds)


def _entails(atom: Atom, other: Atom, *, holds: bool) -> bool:
    """Whether the other atom `holds`, or does not, wherever this one does."""
    kind = type(atom)
    if kind is Is and isinstance(atom, Is):
        if is_fixed(atom.text):
            return is_so(other, atom.text) is holds or (
                holds and isinstance(other, IsSimilar) and atom.text == other.text and other.threshold <= 1
            )
        kind = Begins
    elif kind is NotSent:
        return is_so(other, _UNDEFINED) is holds
    elif kind is Calls and isinstance(atom, Calls):
        return _is_called(atom.names, other) is holds
    rule = RULES.get((kind, type(other), holds))
    return rule is not None and rule(atom, other)


# --- texts -----------------------------------------------------------------------------------------------------------


def _clash(one: Begins, other: Begins) -> bool:
    start, end = beginning(one.text), beginning(other.text)
    return not start.startswith(end) and not end.startswith(start)


def _part_matches(part: Has | Begins | Is, pattern: Matches) -> bool:
    """Whether the pattern matches in a part of the text, so that it matches in the whole."""
    inside, from_start = examine(pattern.pattern, pattern.flags).local
    if inside:
        return matched_inside(pattern.pattern, pattern.flags, pieces(part.text))
    starts = from_start and not isinstance(part, Has)
    return starts and matched_inside(pattern.pattern, pattern.flags, [beginning(part.text)])


def _required(pattern: Matches) -> tuple[str, ...]:
    return () if "i" in pattern.flags else examine(pattern.pattern, pattern.flags).required


def _more(one: Exceeds, other: Exceeds) -> bool:
    """Whether exceeding one limit exceeds the other: a word ends at a space, a character has four bytes at most."""
    if one.unit == other.unit:
        return one.limit >= other.limit
    count = int(one.limit) + 1  # of the units that are converted there are whole numbers only
    conversion = _CONVERSIONS.get((one.unit, other.unit))
    return conversion is not None and count > 0 and conversion(count) > other.limit


_CONVERSIONS: Final[dict[tuple[Unit, Unit], Callable[[int], int]]] = {
    ("words", "chars"): lambda words: 2 * words - 1,
    ("words", "bytes"): lambda words: 2 * words - 1,
    ("lines", "chars"): lambda lines: lines,
    ("lines", "bytes"): lambda lines: lines,
    ("chars", "bytes"): lambda chars: chars,
    ("bytes", "chars"): lambda size: -(-size // 4),
}


# --- JSON ------------------------------------------------------------------------------------------------------------

_WEAKER_MODES: Final = {"object": ("strict", "lenient"), "array": ("strict", "lenient"), "strict": ("lenient",)}


def _is_same_field(one: HasField, other: HasField) -> bool:
    return one.path == other.path and (other.type is None or (one.type, other.type) == ("integer", "number"))


def _is_other_field(one: HasField, other: HasField) -> bool:
    """The one value of a path has one type; a path to every item may lead to none at all."""
    return (
        one.path == other.path
        and ("every", EVERY) not in steps(one.path)
        and one.type is not None
        and other.type is not None
        and {one.type, other.type} != {"integer", "number"}
    )


# --- tool calls ------------------------------------------------------------------------------------------------------


def _is_called(names: tuple[str, ...], other: Atom) -> bool | None:
    """Whether the atom holds where exactly these tools were called."""
    match other:
        case Calls():
            return names == other.names
        case CallsSet():
            return set(names) == other.names
        case CallsTool():
            return other.name in names
        case CallsEach():
            return _is_more(names, other.names)
        case CallsInOrder():
            return _is_within(other.names, names)
        case CallsOnly():
            return other.names.issuperset(names)
        case Exceeds(unit="calls"):
            return len(names) > other.limit
        case _:
            return None


def _is_more(names: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether each of the others is among the names, as often as among the others."""
    return Counter(others) <= Counter(names)


def _is_within(names: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether the names are among the others, in their order."""
    left = iter(others)
    return all(name in left for name in names)


def _is_within_limit(atom: IsValue, limit: AtLeast | AtMost) -> bool:
    """Whether the value is a number, or has so many items, as the limit allows."""
    value = msgspec.json.decode(atom.value)
    if limit.of == "items":
        value = len(value) if isinstance(value, list) else None
    if not is_number(value):
        return False
    return value >= limit.limit if isinstance(limit, AtLeast) else value <= limit.limit


RULES: Final[dict[tuple[type, type, bool], Callable[[Any, Any], bool]]] = {
    (Has, Has, True): lambda a, b: b.text in a.text,
    (Has, HasFolded, True): lambda a, b: b.text in a.text.casefold(),
    (Has, Exceeds, True): lambda a, b: least(a.text, b.unit) > b.limit,
    (Has, Matches, True): _part_matches,
    (Begins, Has, True): lambda a, b: b.text in a.text,
    (Begins, HasFolded, True): lambda a, b: b.text in a.text.casefold(),
    (Begins, Begins, True): lambda a, b: a.text.startswith(b.text),
    (Begins, Begins, False): _clash,
    (Begins, Is, False): _clash,
    (Begins, Exceeds, True): lambda a, b: least(a.text, b.unit) > b.limit,
    (Begins, Matches, True): _part_matches,
    (Begins, IsJson, False): lambda a, b: cannot_begin_json(beginning(a.text), b.mode),
    (HasFolded, HasFolded, True): lambda a, b: b.text in a.text,
    (HasFolded, Exceeds, True): lambda a, b: least_folded(a.text, b.unit) > b.limit,
    (Exceeds, Exceeds, True): _more,
    (Matches, Has, True): lambda a, b: any(b.text in text for text in _required(a)),
    (Matches, HasFolded, True): lambda a, b: any(b.text in text.casefold() for text in _required(a)),
    (Matches, Exceeds, True): lambda a, b: any(least(text, b.unit) > b.limit for text in _required(a)),
    (IsSimilar, IsSimilar, True): lambda a, b: a.text == b.text and a.threshold >= b.threshold,
    (IsJson, IsJson, True): lambda a, b: b.mode in _WEAKER_MODES.get(a.mode, ()),
    (IsJson, IsJson, False): lambda a, b: {a.mode, b.mode} == {"object", "array"},
    (IsJson, Exceeds, True): lambda _, b: b.unit in ("chars", "words", "lines", "bytes") and b.limit < 1,
    (IsJson, HasField, False): lambda a, b: a.mode == "array" and steps(b.path)[0][0] == "key",
    (HasField, HasField, True): _is_same_field,
    (HasField, HasField, False): _is_other_field,
    (AtLeast, AtLeast, True): lambda a, b: a.of == b.of and a.limit >= b.limit,
    (AtLeast, AtLeast, False): lambda a, b: a.of != b.of,
    (AtLeast, AtMost, False): lambda a, b: a.of != b.of or a.limit > b.limit,
    (AtMost, AtMost, True): lambda a, b: a.of == b.of and a.limit <= b.limit,
    (AtMost, AtMost, False): lambda a, b: a.of != b.of,
    (AtMost, AtLeast, False): lambda a, b: a.of != b.of or a.limit < b.limit,
    (IsValue, AtLeast, True): _is_within_limit,
    (IsValue, AtLeast, False): lambda a, b: not _is_within_limit(a, b),
    (IsValue, AtMost, True): _is_within_limit,
    (IsValue, AtMost, False): lambda a, b: not _is_within_limit(a, b),
    (IsValue, IsValue, True): lambda a, b: is_same(*map(msgspec.json.decode, (a.value, b.value))),
    (IsValue, IsValue, False): lambda a, b: not is_same(*map(msgspec.json.decode, (a.value, b.value))),
    (HasHeading, Exceeds, True): lambda _, b: b.unit in ("chars", "words", "lines", "bytes") and b.limit < 1,
    (CallsSet, CallsTool, True): lambda a, b: b.name in a.names,
    (CallsSet, CallsTool, False): lambda a, b: b.name not in a.names,
    (CallsSet, CallsSet, False): lambda a, b: a.names != b.names,
    (CallsSet, Exceeds, True): lambda a, b: b.unit == "calls" and len(a.names) > b.limit,
    (CallsSet, CallsEach, True): lambda a, b: _is_more(tuple(a.names), b.names),
    (CallsSet, CallsEach, False): lambda a, b: not a.names.issuperset(b.names),
    (CallsSet, CallsInOrder, False): lambda a, b: not a.names.issuperset(b.names),
    (CallsSet, CallsOnly, True): lambda a, b: a.names <= b.names,
    (CallsSet, CallsOnly, False): lambda a, b: not a.names <= b.names,
    (CallsTool, Exceeds, True): lambda _, b: b.unit == "calls" and b.limit < 1,
    (CallsTool, CallsOnly, False): lambda a, b: a.name not in b.names,
    (CallsEach, CallsTool, True): lambda a, b: b.name in a.names,
    (CallsEach, CallsEach, True): lambda a, b: _is_more(a.names, b.names),
    (CallsEach, CallsOnly, False): lambda a, b: not b.names.issuperset(a.names),
    (CallsEach, Exceeds, True): lambda a, b: b.unit == "calls" and len(a.names) > b.limit,
    (CallsInOrder, CallsTool, True): lambda a, b: b.name in a.names,
    (CallsInOrder, CallsEach, True): lambda a, b: _is_more(a.names, b.names),
    (CallsInOrder, CallsInOrder, True): lambda a, b: _is_within(b.names, a.names),
    (CallsInOrder, CallsOnly, False): lambda a, b: not b.names.issuperset(a.names),
    (CallsInOrder, Exceeds, True): lambda a, b: b.unit == "calls" and len(a.names) > b.limit,
    (CallsOnly, CallsOnly, True): lambda a, b: a.names <= b.names,
}
"""Rules by which an atom entails another or its negation. `Is` and `Calls` decide by themselves."""

_OF_TEXTS: Final = (Has, HasFolded, Is, Begins, Exceeds, IsJson, Matches, HasHeading, IsSimilar, NotSent)
_OF_CALLS: Final = (Calls, CallsSet, CallsTool, CallsEach, CallsInOrder, CallsOnly, Exceeds)
_COMPARABLE: Final = frozenset(
    pair
    for one, other in (
        *((kind, other) for kind, other, _ in RULES),
        *((kind, kind) for kind in get_args(Atom)),
        *((kind, other) for kind in (Is, NotSent) for other in _OF_TEXTS),
        *((Calls, other) for other in _OF_CALLS),
    )
    for pair in ((one, other), (other, one))
)
