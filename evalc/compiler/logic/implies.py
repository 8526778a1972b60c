"""Decides whether one formula implies another. `False` means "not known".

`RULES` says what a predicate entails about another one of the same subject; everything else is logic. A rule is used in
both directions: that "dog" in a text puts "do" in it also means that no "do" leaves no "dog".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product, starmap
from typing import Any, Final, NamedTuple

import msgspec

from evalc.check.predicates import is_within_order
from evalc.check.tree import Argument, Call, Measure, Not, Test, Turn
from evalc.check.values import folded, text_of
from evalc.compiler.examine import examine
from evalc.compiler.logic import formula as f
from evalc.compiler.logic.known import decides, is_known, is_so
from evalc.ecma import trim


def implies(first: f.Formula, second: f.Formula) -> bool:
    """Whether a run that passes `first` passes `second`."""
    if isinstance(first, f.Fact) and isinstance(second, f.Fact):
        return follows(first, second)
    if isinstance(second, f.Every):
        return all(implies(first, part) for part in second.parts)
    if isinstance(first, f.Either):
        return all(implies(part, second) for part in first.parts)
    if isinstance(second, f.Either) and any(implies(first, part) for part in second.parts):
        return True
    if isinstance(first, f.Every):
        proofs = [id(part) for part in first.parts if implies(part, second)]
        return bool(proofs) and any(id(part) in proofs for part in _counting(first))
    return False


class Spoken(NamedTuple):
    """The facts of a formula, that there are the calls and items which they are about, and its topics.

    Formulas bear on each other only if they share a topic, or `None` is a topic of one.
    """

    facts: Sequence[f.Fact]
    groups: Sequence[f.Fact]
    topics: frozenset[Any]

    @classmethod
    def of(cls, formula: f.Formula) -> Spoken:
        """The facts, groups and topics of a formula."""
        facts = f.facts_of(formula)
        groups = [f.there_is(group) for group in {*map(_group, facts)} if group is not None]
        return cls(facts, groups, frozenset(topic for fact in facts for topic in _topics_of(fact)))

    def touches(self, other: Spoken) -> bool:
        """Whether a fact of one says anything about a fact of the other, or about its call or its items."""
        if self.topics.isdisjoint(other.topics) and None not in self.topics and None not in other.topics:
            return False
        pairs = (*product(self.facts, (*other.facts, *other.groups)), *product(self.groups, other.facts))
        return any(starmap(_touches, pairs))


def _topics_of(fact: f.Fact) -> Sequence[Any]:
    """The text of a turn or of the whole, its JSON, the calls, or a number of the run."""
    if fact.predicate == "sure":
        return (None,)  # every fact of its group says that much
    turn = fact.subject[:1] if fact.subject and isinstance(fact.subject[0], Turn) else ()
    text, json = (*turn, "text"), (*turn, f.JSON)
    match fact.subject[len(turn) :]:
        case ():
            return (text, json) if fact.predicate in ("equals", "json") else (text,)
        case (f.Json(), *_):
            return (json,)
        case (f.Times() | Measure("chars" | "words" | "lines" | "bytes" | "sentences" | "tokens"), *_):
            return text, json
        case (Measure(of), *_) if of not in ("calls", "errors"):
            return ((*turn, of),)
        case _:
            return ((*turn, f.TOOLS),)


def _touches(one: f.Fact, other: f.Fact) -> bool:
    pairs = ((one, other, True), (one, other, False), (other, one, True), (other, one, False))
    return _is_same(one, other) or any(starmap(_entails, pairs))


def always(formula: f.Formula) -> bool:
    """Whether no run fails the formula."""
    match formula:
        case f.Fact():
            return _settled(formula) is formula.holds
        case f.Every(parts):
            return all(map(always, parts))
        case f.Either():
            parts = _counting(formula)
            return any(map(always, parts)) or any(
                implies(f.negation(part), f.Either((*parts[:at], *parts[at + 1 :]))) for at, part in enumerate(parts)
            )


def never(formula: f.Formula) -> bool:
    """Whether no run passes the formula."""
    return always(f.negation(formula))


# --- parts that may be left out --------------------------------------------------------------------------------------


def group_of(formula: f.Formula) -> f.Subject | None:
    """The first call of a tool, the items or calls of an `every`, or the number of the run, that all facts are about.

    None if the facts differ. If there is none in a run, or an agent does not report the number, nothing is asked, and
    the check does not apply.
    """
    groups = set(map(_left_out_with, f.facts_of(formula)))
    return groups.pop() if len(groups) == 1 else None


def _group(fact: f.Fact) -> f.Subject | None:
    if not fact.subject:
        return None
    if fact.predicate in ("every", "not every"):
        return fact.subject
    for at, step in enumerate(fact.subject, 1):
        if isinstance(step, Call) and step.which == "first":
            return fact.subject[:at]
    return None


def is_asked(formula: f.Formula) -> bool:
    """Whether every run asks all of it or none of it, so that no part is left out alone."""
    facts = f.facts_of(formula)
    return not any(map(_may_be_unsure, facts)) and len(set(map(_left_out_with, facts))) < 2


def _may_be_unsure(fact: f.Fact) -> bool:
    """Whether the answer to a fact, or to the same of an item or a call, may be unknown."""
    if isinstance(fact.operand, f.Formula):
        return any(map(_may_be_unsure, f.facts_of(fact.operand)))
    return fact.predicate == "unknown"


def _left_out_with(fact: f.Fact) -> f.Subject | None:
    """The group of a fact, or the number that is left out where an agent does not report it."""
    return fact.subject if fact.subject and f.is_optional(fact.subject[-1]) else _group(fact)


def _counting(formula: f.Every | f.Either) -> tuple[f.Formula, ...]:
    """The parts that count in every run; all of them if they can only be left out together."""
    together = set(map(_left_out_with, f.facts_of(formula)))
    counting = together if len(together) == 1 else {None}
    return tuple(p for p in formula.parts if is_asked(p) and set(map(_left_out_with, f.facts_of(p))) <= counting)


# --- facts -----------------------------------------------------------------------------------------------------------


def follows(first: f.Fact, second: f.Fact) -> bool:
    """Whether the second fact holds wherever the first one does."""
    if _group(first) not in (None, _group(second)):
        return False
    if _is_same(first, second):
        return first.holds is second.holds
    if first.holds and _entails(first, second, second.holds):
        return True
    return not second.holds and _entails(second, first, not first.holds)


def _is_same(one: f.Fact, other: f.Fact) -> bool:
    """Whether they say the same, apart from a denial; 1 and true are different here, and equal in Python."""
    if one.predicate != other.predicate or one.subject != other.subject or one.folded != other.folded:
        return False
    equal = bool(one.operand == other.operand)
    return equal and (isinstance(one.operand, str | frozenset) or repr(one.operand) == repr(other.operand))


def _settled(fact: f.Fact) -> bool | None:
    """Whether every run confirms or refutes the fact, taken as not denied; None if runs differ."""
    match fact:
        case f.Fact(_, "sure"):
            return True
        case f.Fact(_, "any", operand) if never(operand):
            return False
        case f.Fact((*_, Call()), "no", operand) if _is_refused(operand):
            return True
        case f.Fact((*_, Measure()), "over", (limit, _)):
            return True if limit < 0 and (f.is_text(fact.subject[:-1]) or f.TOOLS in fact.subject) else None
        case f.Fact(_, "similar", (_, threshold)) if threshold > 1:
            return False
        case f.Fact(_, "matches", (pattern, flags)) if examine(pattern, flags).always == "fails":
            return False
        case _:
            asked = f.is_text(fact.subject) or _takes_nothing(fact)
            return True if asked and _is_of_any_text(fact, fact) else None


def _is_refused(formula: f.Formula) -> bool:
    """Whether a test among the parts of a call fails of every value, so that no value leaves it without an answer.

    A test that asks for a type says so before it fails, and a value of another type leaves it without one.
    """
    parts = formula.parts if isinstance(formula, f.Every) else (formula,)
    before = (None, *(part.predicate if isinstance(part, f.Fact) else None for part in parts))
    return any(
        part == f.Either(()) and asked not in ("is_a", "exists") for asked, part in zip(before, parts, strict=False)
    )


def _takes_nothing(fact: f.Fact) -> bool:
    """Whether an argument that was not sent counts as the text `undefined`, as in fields of the contract."""
    compares = fact.predicate in ("contains", "equals", "matches") and not fact.folded
    return compares and isinstance(fact.subject[-1], Argument)


def _is_of_any_text(_: f.Fact, fact: f.Fact) -> bool:
    """Whether the fact holds of every text."""
    match fact.predicate:
        case "contains" | "starts_with" | "ends_with":
            return bool(fact.operand == "")
        case "similar":
            return bool(fact.operand[1] <= 0)
        case _:
            return fact.predicate == "matches" and examine(*fact.operand).always == "matches"


def _entails(fact: f.Fact, other: f.Fact, holds: bool) -> bool:
    """Whether the other fact holds, or does not, wherever this one holds; both are taken as not denied."""
    if other.predicate == "sure":
        return holds and _left_out_with(fact) == _left_out_with(other)
    subject, deeper = fact.subject, other.subject
    if subject == deeper:
        rule = _RULES.get((fact.predicate, other.predicate, holds))
        if rule is not None and rule(fact, other):
            return True
    if deeper[: len(subject)] == subject and is_known(fact) and decides(fact, other) is holds:
        return True
    if fact.predicate == "over" and isinstance(subject[-1], f.Times):
        times = subject[-1]
        return _entails(f.Fact(subject[:-1], "contains", times.text, times.folded), other, holds)
    if other.predicate == "over" and isinstance(deeper[-1], Measure | f.Times):
        return _counts(fact, other, holds)
    return _is_of_type(fact, other, holds)


# --- types -----------------------------------------------------------------------------------------------------------

_JSON_TYPES: Final = ("string", "boolean", "array", "object", "null")
_NUMBER: Final = frozenset({"integer", "fraction"})
_ALL: Final = _NUMBER.union(_JSON_TYPES)
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    **{type_: frozenset({type_}) for type_ in ("integer", *_JSON_TYPES)},
    **dict.fromkeys(("number", "over"), _NUMBER),
    **dict.fromkeys(("sorted", "unique", "sortable"), frozenset({"array"})),
    "format": frozenset({"string"}),
    "empty": frozenset({"null", "string", "array", "object"}),
}
"""The types of the values that have a type, or of which a predicate may be so; any type where none is given."""


def _subject_of(fact: f.Fact) -> f.Subject:
    """The subject whose type the fact gives: that a text is JSON is something of its JSON."""
    return (*fact.subject, f.JSON) if fact.predicate == "json" else fact.subject


def _types_at(fact: f.Fact, depth: int) -> frozenset[str]:
    """The types that the value after so many steps may have if the fact holds."""
    subject = _subject_of(fact)
    if not _is_asked_there(fact):
        return _ALL
    if len(subject) == depth:
        return _TYPES.get(fact.operand if fact.predicate in ("is_a", "json") else fact.predicate, _ALL)
    match subject[depth]:
        case ("key", str()):
            return _TYPES["object"]
        case ("index", int()) | Measure("items"):
            return _TYPES["array"]
        case ("every", str()) if fact.predicate in ("any", "every"):
            return _TYPES["array"]
        case Measure():
            return _TYPES["string"]
        case _:
            return _ALL


def _is_of_type(fact: f.Fact, other: f.Fact, holds: bool) -> bool:
    """Whether a fact of a value gives it a type, or a place in it, that the other fact asks for or rules out."""
    subject, deeper = _subject_of(fact), _subject_of(other)
    if not subject or subject[:1] != deeper[:1]:
        return False
    parted = (at for at, (one, two) in enumerate(zip(subject, deeper, strict=False)) if one != two)
    depth = next(parted, min(len(subject), len(deeper)))
    if holds and other.predicate == "exists":
        return len(deeper) == depth and _is_there(fact, depth)
    if f.is_text(subject[:depth]):
        return False
    types = _types_at(fact, depth)
    if not holds:
        return types.isdisjoint(_types_at(other, depth))
    return len(deeper) == depth and other.predicate == "is_a" and types <= _TYPES[other.operand]


def _is_there(fact: f.Fact, depth: int) -> bool:
    """Whether there is a value after so many steps if the fact holds.

    A response that is not JSON is a text; the text of an argument that was not sent is `undefined`.
    """
    if not _is_asked_there(fact):
        return False
    last = fact.subject[-1] if fact.subject and len(fact.subject) == depth else None
    if last == f.JSON and fact.predicate != "exists":
        return "string" not in _types_at(fact, depth) if fact.predicate != "is" else not isinstance(fact.operand, str)
    return last is None or not _takes_nothing(fact) or is_so("undefined", fact) is False


def _is_asked_there(fact: f.Fact) -> bool:
    """Whether the fact can hold only of a value that exists."""
    if fact.predicate == "unknown":
        test = fact.operand.check if isinstance(fact.operand, Not) else fact.operand
        return isinstance(test, Test) and (not fact.subject or not isinstance(fact.subject[-1], Argument))
    return fact.predicate != "no" and not fact.predicate.startswith("not ")


# --- texts -----------------------------------------------------------------------------------------------------------

Rule = Callable[[f.Fact, f.Fact], bool]


def _says(fact: f.Fact, other: f.Fact) -> bool:
    """Whether a text has the other one at the same end, or within it, as the predicates say."""
    if (fact.folded and not other.folded) or not isinstance(other.operand, str):
        return False
    text = text_of(fact.operand)
    return _COMPARE[other.predicate](text.casefold() if other.folded else text, other.operand)


_COMPARE: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "contains": str.__contains__,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "equals": str.__eq__,
    "has": str.__eq__,
}


def _texts_in(fact: f.Fact) -> Iterator[f.Fact]:
    """The texts that occur in every value of which the fact holds."""
    if fact.predicate in _PARTS:
        yield fact
    elif fact.predicate == "matches" and "i" not in fact.operand[1]:
        for text in examine(*fact.operand).required:
            yield f.Fact(fact.subject, "contains", text)


def _fills(fact: f.Fact, _: f.Fact) -> bool:
    """Whether a value with such a text in it is not empty."""
    texts = (f.without_tokens(text_of(text.operand)) for text in _texts_in(fact))
    return any(trim(text) and not any(text in empty for empty in ("[]", "{}", "null")) for text in texts)


def _differs(part_of: Callable[[str], str], is_part: Callable[[str, str], bool]) -> Rule:
    """Whether the certain beginnings, or ends, of two texts differ as far as both go."""

    def differs(fact: f.Fact, other: f.Fact) -> bool:
        one, two = (part_of(folded(each.operand, fact.folded or other.folded)) for each in (fact, other))
        return not is_part(one, two) and not is_part(two, one)

    return differs


def _is_inside_no_list(fact: f.Fact, other: f.Fact) -> bool:
    """Whether a text, other than the JSON of a list, contains the other one."""
    text = fact.operand
    edge, bracket = (f.end(text)[-1:], "]") if fact.predicate == "ends_with" else (f.beginning(text)[:1], "[")
    inside = msgspec.structs.replace(other, predicate="contains")
    return edge not in ("", bracket) and _says(fact, inside)


def _part_matches(fact: f.Fact, other: f.Fact) -> bool:
    """Whether the pattern matches in a part of the text, and so in the whole."""
    if fact.folded or (fact.predicate == "contains" and not f.is_textual(fact.subject)):
        return False
    inside, from_start = examine(*other.operand).local
    if inside:
        parts = f.pieces(fact.operand)
    else:
        parts = [f.beginning(fact.operand)] if from_start and fact.predicate in _STARTS else []
    return any(is_so(part, other) for part in parts if part)


# --- numbers ---------------------------------------------------------------------------------------------------------


def _is_more(fact: f.Fact, other: f.Fact) -> bool:
    (limit, inclusive), (other_limit, other_inclusive) = fact.operand, other.operand
    return bool(limit > other_limit or (limit == other_limit and (other_inclusive or not inclusive)))


_CONVERSIONS: Final[Mapping[tuple[str, str], Callable[[int], int]]] = {
    ("words", "chars"): lambda words: 2 * words - 1,
    ("words", "bytes"): lambda words: 2 * words - 1,
    ("lines", "chars"): lambda lines: lines,
    ("lines", "bytes"): lambda lines: lines,
    ("chars", "bytes"): lambda chars: chars,
    ("bytes", "chars"): lambda size: -(-size // 4),
    ("calls", "calls"): lambda of_one_tool: of_one_tool,
}
"""How counts of different units bound each other: a word ends at a space, a character has at most four bytes."""


def _counts(fact: f.Fact, other: f.Fact, holds: bool) -> bool:
    """Whether a fact of a text, or of the tools called, makes a number always, or never, as large as required."""
    *base, measured = other.subject
    subject, limit = tuple(base), other.operand[0]
    is_same = fact.subject == subject
    if not holds or limit < 0:
        rules_out = is_same and fact.predicate in _ALLOW and measured.tool and measured.tool not in fact.operand
        return bool(rules_out and limit >= 1)
    if isinstance(measured, f.Times):
        known = is_same and fact.predicate in _PARTS and (measured.folded or not fact.folded) and measured.text != ""
        return known and (fact.operand.casefold() if measured.folded else fact.operand).count(measured.text) >= limit
    if fact.predicate == "over" and fact.subject[:-1] == subject and isinstance(fact.subject[-1], Measure):
        conversion = _CONVERSIONS.get((fact.subject[-1].of, measured.of))
        return bool(conversion and not measured.tool and fact.operand[0] > 0 and conversion(fact.operand[0]) >= limit)
    if is_same and fact.predicate in _NEED:
        names = tuple(fact.operand)
        return bool((names.count(measured.tool) if measured.tool else len(names)) >= limit)
    if measured.of not in ("chars", "words", "lines", "bytes") or not f.is_text(subject):
        return False
    if not is_same:
        is_of_json = fact.subject[: len(base) + 1] == (*subject, f.JSON)
        return limit <= 1 and is_of_json and _is_there(fact, len(base) + 1)
    if fact.predicate in ("json", "heading"):
        return bool(limit <= 1)
    return any(f.least(text.operand, measured.of, text.folded) >= limit for text in _texts_in(fact))


# --- rules -----------------------------------------------------------------------------------------------------------


def _is_field(fact: f.Fact, other: f.Fact) -> bool:
    (path, type_), (other_path, other_type) = fact.operand, other.operand
    return path == other_path and other_type in (None, "number" if type_ == "integer" else None)


def _is_like(fact: f.Fact, other: f.Fact) -> bool:
    """Whether the formula about an item implies the other one about it."""
    return implies(fact.operand, other.operand)


def _is_unlike(fact: f.Fact, other: f.Fact) -> bool:
    return implies(fact.operand, f.negation(other.operand))


_NEED: Final = ("set", "in_order", "before")
_ALLOW: Final = ("set", "only")
_PARTS: Final = ("contains", "has", "starts_with", "ends_with", "equals")
_STARTS: Final = ("starts_with", "equals")
_ENDS: Final = ("ends_with", "equals")
_OF_ANY_TEXT: Final = ("contains", "starts_with", "ends_with", "matches", "similar")

RULES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...], bool, Rule], ...]] = (
    ((*_PARTS, "matches"), ("contains",), True, lambda a, b: any(_says(text, b) for text in _texts_in(a))),
    (("contains", *_STARTS, "ends_with"), ("matches",), True, _part_matches),
    ((*_PARTS, "matches"), ("empty",), False, _fills),
    (("starts_with", "ends_with"), ("has",), True, _is_inside_no_list),
    (("has",), ("has",), True, _says),
    (("equals",), ("equals",), True, _says),
    (_STARTS, ("starts_with",), True, _says),
    (_ENDS, ("ends_with",), True, _says),
    (_STARTS, _STARTS, False, _differs(f.beginning, str.startswith)),
    (_ENDS, ("ends_with",), False, _differs(f.end, str.endswith)),
    (_STARTS, ("json",), False, lambda a, b: not a.folded and f.cannot_begin_json(f.beginning(a.operand), b.operand)),
    (("similar",), ("similar",), True, lambda a, b: a.operand[0] == b.operand[0] and a.operand[1] >= b.operand[1]),
    (("exists",), _OF_ANY_TEXT, True, _is_of_any_text),
    (("json",), ("json",), True, lambda _, b: b.operand == "strict"),
    (("json",), ("json",), False, lambda a, b: {a.operand, b.operand} == {"object", "array"}),
    (("field",), ("field",), True, _is_field),
    (("over",), ("over",), True, _is_more),
    (("sorted",), ("sortable",), True, lambda a, b: a.operand[1] == b.operand),
    (_NEED, _ALLOW, False, lambda a, b: not b.operand.issuperset(a.operand)),
    (_ALLOW, ("only",), True, lambda a, b: a.operand <= b.operand),
    (("in_order", "before"), ("in_order",), True, lambda a, b: is_within_order(b.operand, a.operand)),
    (("before",), ("before",), False, lambda a, b: a.operand == b.operand[::-1]),
    (("any", "every"), ("any",), True, _is_like),
    (("every",), ("every",), True, _is_like),
    (("any", "every"), ("no", "not any"), False, _is_like),
    (("every",), ("not every",), False, _is_like),
    (("every",), ("any", "every"), False, _is_unlike),
    (("any",), ("every",), False, _is_unlike),
)
"""The predicates that a predicate entails or rules out for the same subject."""
_RULES: Final = {(one, other, holds): rule for some, others, holds, rule in RULES for one in some for other in others}
