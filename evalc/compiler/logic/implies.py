"""Decides whether one formula implies another. `False` means "not known".

`RULES` says what a predicate entails of another one of the same subject; everything else is logic. A rule is used in
both directions: that "dog" in a text puts "do" in it also means that no "do" leaves no "dog".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from evalc.check.holds import is_within_order
from evalc.check.tree import Argument, Call, Measure, Not, Test
from evalc.check.values import text_of
from evalc.compiler.logic.formula import (
    JSON,
    TOOLS,
    Either,
    Every,
    Fact,
    Formula,
    Subject,
    Times,
    facts_of,
    is_text,
    is_textual,
    negation,
    there_is,
)
from evalc.compiler.logic.known import decides, is_known, is_so
from evalc.compiler.logic.texts import beginning, cannot_begin_json, end, least, pieces, without_tokens
from evalc.compiler.patterns import examine
from evalc.ecma.text import trim
from evalc.model.json import to_json


def implies(first: Formula, second: Formula) -> bool:
    """Whether a run that passes `first` passes `second`."""
    if isinstance(first, Fact) and isinstance(second, Fact):
        return follows(first, second)
    if isinstance(second, Every):
        return all(implies(first, part) for part in second.parts)
    if isinstance(first, Either):
        return all(implies(part, second) for part in first.parts)
    if isinstance(second, Either) and any(implies(first, part) for part in second.parts):
        return True
    if isinstance(first, Every):
        return any(implies(part, second) for part in _counting(first))
    return False


def touches(first: Formula, second: Formula) -> bool:
    """Whether a part of one implies anything of a part of the other. If not, nothing about either follows from both."""
    return any(_touches(one, other) for one in facts_of(first) for other in facts_of(second))


def _touches(one: Fact, other: Fact) -> bool:
    if follows(one, other) or follows(other, one) or follows(one, _denied(other)) or follows(other, _denied(one)):
        return True
    groups = _group(one), _group(other)
    if groups[0] == groups[1] or None not in groups:
        return False
    group, fact = (groups[1], one) if groups[0] is None else (groups[0], other)
    return group is not None and follows(fact, _denied(there_is(group)))


def always(formula: Formula) -> bool:
    """Whether no run fails the formula."""
    match formula:
        case Fact():
            return _settled(formula) is formula.holds
        case Every(parts):
            return all(map(always, parts))
        case Either():
            parts = _counting(formula)
            return any(map(always, parts)) or any(
                implies(negation(part), Either((*parts[:at], *parts[at + 1 :]))) for at, part in enumerate(parts)
            )


def never(formula: Formula) -> bool:
    """Whether no run passes the formula."""
    return always(negation(formula))


# --- parts that may be left out --------------------------------------------------------------------------------------


def group_of(formula: Formula) -> Subject | None:
    """The first call, or the items or calls of which every one is asked, that all facts are about; None if they differ.

    Where there are none, nothing is asked, and the check does not apply.
    """
    groups = set(map(_group, facts_of(formula)))
    return groups.pop() if len(groups) == 1 else None


def _group(fact: Fact) -> Subject | None:
    if fact.predicate in ("every", "not every"):
        return fact.subject
    for at, step in enumerate(fact.subject, 1):
        if isinstance(step, Call) and step.which == "first":
            return fact.subject[:at]
    return None


def is_asked(formula: Formula) -> bool:
    """Whether every run says yes or no to it, or to no part of it: no part of it alone is left out."""
    facts = facts_of(formula)
    return all(fact.predicate != "unknown" for fact in facts) and len(set(map(_group, facts))) < 2


def _counting(formula: Every | Either) -> tuple[Formula, ...]:
    """The parts that count in every run; all of them if they are left out together."""
    group = group_of(formula)
    return tuple(part for part in formula.parts if is_asked(part) and group_of(part) == group)


# --- facts -----------------------------------------------------------------------------------------------------------


def follows(first: Fact, second: Fact) -> bool:
    """Whether the second fact is so wherever the first one is."""
    if _group(first) not in (None, _group(second)):
        return False
    if _is_same(first, second):
        return first.holds is second.holds
    if first.holds and _entails(first, second, second.holds):
        return True
    return not second.holds and _entails(second, first, not first.holds)


def _denied(fact: Fact) -> Fact:
    return Fact(fact.subject, fact.predicate, fact.operand, fact.folded, not fact.holds)


def _is_same(one: Fact, other: Fact) -> bool:
    """Whether they say the same but for a denial; true is not 1, which are equal in Python."""
    if one.predicate != other.predicate or one.subject != other.subject or one.folded != other.folded:
        return False
    written = not isinstance(one.operand, str | frozenset)
    return bool(one.operand == other.operand) and (not written or to_json(one.operand) == to_json(other.operand))


def _settled(fact: Fact) -> bool | None:
    """The verdict that every run gives of the fact, taken as not denied; None if they differ."""
    match fact:
        case Fact(_, "sure"):
            return True
        case Fact((*_, Measure()), "over", (limit, _)):
            return True if limit < 0 and (is_text(fact.subject[:-1]) or TOOLS in fact.subject) else None
        case Fact(_, "similar", (_, threshold)) if threshold > 1:
            return False
        case Fact(_, "matches", (pattern, flags)) if examine(pattern, flags).always == "fails":
            return False
        case _:
            asked = is_text(fact.subject) or _takes_nothing(fact)
            return True if asked and _is_of_any_text(fact, fact) else None


def _takes_nothing(fact: Fact) -> bool:
    """Whether an argument that was not sent is asked as the text `undefined`, as fields of the contract ask it."""
    compares = fact.predicate in ("contains", "equals", "matches") and not fact.folded
    return compares and isinstance(fact.subject[-1], Argument)


def _is_of_any_text(_: Fact, fact: Fact) -> bool:
    """Whether the fact is so of every text."""
    match fact.predicate:
        case "contains" | "starts_with" | "ends_with":
            return bool(fact.operand == "")
        case "similar":
            return bool(fact.operand[1] <= 0)
        case _:
            return fact.predicate == "matches" and examine(*fact.operand).always == "matches"


def _entails(fact: Fact, other: Fact, holds: bool) -> bool:
    """Whether the other one is so, or is not, wherever this one is: both taken as not denied."""
    if other.predicate == "sure":
        return holds and _group(fact) == _group(other)
    subject, deeper = fact.subject, other.subject
    if subject == deeper:
        rule = RULES.get((fact.predicate, other.predicate, holds))
        if rule is not None and rule(fact, other):
            return True
    if deeper[: len(subject)] == subject and is_known(fact) and decides(fact, other) is holds:
        return True
    if other.predicate == "over" and isinstance(deeper[-1], Measure | Times):
        return _counts(fact, other, holds)
    return _is_of_type(fact, other, holds)


# --- types -----------------------------------------------------------------------------------------------------------

_ALL: Final = frozenset({"string", "integer", "fraction", "boolean", "array", "object", "null"})
_NUMBER: Final = frozenset({"integer", "fraction"})
_STRUCTURED: Final = frozenset({"array", "object"})
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "number": _NUMBER,
    **{type_: frozenset({type_}) for type_ in ("string", "integer", "boolean", "array", "object", "null")},
    "is_a": _ALL,
    "over": _NUMBER,
    "within": _NUMBER,
    "format": frozenset({"string"}),
    "empty": frozenset({"null", "string", "array", "object"}),
    **dict.fromkeys(("sorted", "unique", "sortable"), frozenset({"array"})),
    "strict": _ALL,
}
"""The types of the values that have a type, or of which a predicate may be so."""


def _subject_of(fact: Fact) -> Subject:
    """Return what the fact says a type of: that a text is JSON is something of its JSON."""
    return (*fact.subject, JSON) if fact.predicate == "json" else fact.subject


def _types_at(fact: Fact, depth: int) -> frozenset[str]:
    """The types that the value after so many steps may have where the fact is so."""
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


def _is_of_type(fact: Fact, other: Fact, holds: bool) -> bool:
    """Whether a fact of a value gives it a type, or a place in it, that the other fact asks for or rules out."""
    subject, deeper = _subject_of(fact), _subject_of(other)
    depth = next((at for at, (a, b) in enumerate(zip(subject, deeper, strict=False)) if a != b), None)
    depth = min(len(subject), len(deeper)) if depth is None else depth
    if holds and other.predicate == "exists":
        return len(deeper) == depth and _is_there(fact, depth)
    if is_text(subject[:depth]):
        return False
    types = _types_at(fact, depth)
    if not holds:
        return types.isdisjoint(_types_at(other, depth))
    return len(deeper) == depth and other.predicate == "is_a" and types <= _TYPES[other.operand]


def _is_there(fact: Fact, depth: int) -> bool:
    """Whether there is something after so many steps where the fact is so.

    A response that is no JSON is a text; the text of an argument that was not sent is `undefined`.
    """
    if not _is_asked_there(fact):
        return False
    last = fact.subject[-1] if fact.subject and len(fact.subject) == depth else None
    if last == JSON and fact.predicate != "exists":
        return "string" not in _types_at(fact, depth) if fact.predicate != "is" else not isinstance(fact.operand, str)
    return last is None or not _takes_nothing(fact) or is_so("undefined", fact) is False


def _is_asked_there(fact: Fact) -> bool:
    """Whether the fact can only be so of something that is there."""
    if fact.predicate == "unknown":
        test = fact.operand.check if isinstance(fact.operand, Not) else fact.operand
        return isinstance(test, Test) and (not fact.subject or not isinstance(fact.subject[-1], Argument))
    return fact.predicate != "no" and not fact.predicate.startswith("not ")


# --- texts -----------------------------------------------------------------------------------------------------------


def _text(fact: Fact, other: Fact) -> str:
    """The text of a fact as the other one compares it."""
    text = text_of(fact.operand)
    return text.casefold() if other.folded else text


def _compares(fact: Fact, other: Fact) -> bool:
    """Return whether what is compared with case folded says anything of the other fact."""
    return other.folded or not fact.folded


def _is_inside(fact: Fact, other: Fact) -> bool:
    return _compares(fact, other) and other.operand in _text(fact, other)


def _starts(fact: Fact, other: Fact) -> bool:
    return _compares(fact, other) and _text(fact, other).startswith(other.operand)


def _ends(fact: Fact, other: Fact) -> bool:
    return _compares(fact, other) and _text(fact, other).endswith(other.operand)


def _starts_otherwise(fact: Fact, other: Fact) -> bool:
    one, two = beginning(_folded(fact, other)), beginning(_folded(other, fact))
    return not one.startswith(two) and not two.startswith(one)


def _ends_otherwise(fact: Fact, other: Fact) -> bool:
    one, two = end(_folded(fact, other)), end(_folded(other, fact))
    return not one.endswith(two) and not two.endswith(one)


def _folded(fact: Fact, other: Fact) -> str:
    text: str = fact.operand
    return text.casefold() if fact.folded or other.folded else text


def _is_item(fact: Fact, other: Fact) -> bool:
    """Whether an item that is one text is the other one, too."""
    if not isinstance(fact.operand, str) or not isinstance(other.operand, str):
        return False
    return _compares(fact, other) and _text(fact, other) == other.operand


def _is_inside_no_list(fact: Fact, other: Fact) -> bool:
    """Whether a text has another one in it, which is not the JSON of a list."""
    text = fact.operand
    listed = text[:1] in ("", "[", *_OPENING) if fact.predicate != "ends_with" else text[-1:] in ("", "]", *_OPENING)
    return not listed and isinstance(other.operand, str) and _is_inside(fact, other)


_OPENING: Final = (chr(0x10FE00), chr(0x10FE01))
"""The characters that tokens begin and end with, as `encode` writes them."""


def _part_matches(fact: Fact, other: Fact) -> bool:
    """Whether the pattern matches in a part of the text, so that it matches in the whole."""
    if fact.folded or (fact.predicate == "contains" and not is_textual(fact.subject)):
        return False
    inside, from_start = examine(*other.operand).local
    if inside:
        return _is_matched(pieces(fact.operand), other)
    starts = from_start and fact.predicate in ("starts_with", "equals")
    return starts and _is_matched([beginning(fact.operand)], other)


def _is_matched(parts: list[str], other: Fact) -> bool:
    return any(is_so(part, other) for part in parts if part)


def _required(fact: Fact) -> Iterator[Fact]:
    """The texts that are in whatever a pattern matches."""
    pattern, flags = fact.operand
    if "i" not in flags:
        for text in examine(pattern, flags).required:
            yield Fact(fact.subject, "contains", text)


def _requires(fact: Fact, other: Fact) -> bool:
    return any(_is_inside(text, other) for text in _required(fact))


def _fills(fact: Fact, _: Fact) -> bool:
    """Return whether what has this text in it is not empty."""
    text = without_tokens(text_of(fact.operand))
    return trim(text) != "" and not any(text in empty for empty in ("[]", "{}", "null"))


# --- numbers ---------------------------------------------------------------------------------------------------------


def _is_more(fact: Fact, other: Fact) -> bool:
    (limit, inclusive), (least, at_least) = fact.operand, other.operand
    return bool(limit > least or (limit == least and (at_least or not inclusive)))


def _near(fact: Fact) -> tuple[Fraction, Fraction]:
    by, of = (Fraction(repr(number)) for number in fact.operand)
    return of - by, of + by


_CONVERSIONS: Final[Mapping[tuple[str, str], Callable[[int], int]]] = {
    ("words", "chars"): lambda words: 2 * words - 1,
    ("words", "bytes"): lambda words: 2 * words - 1,
    ("lines", "chars"): lambda lines: lines,
    ("lines", "bytes"): lambda lines: lines,
    ("chars", "bytes"): lambda chars: chars,
    ("bytes", "chars"): lambda size: -(-size // 4),
}
"""So many of one unit are at least so many of another: a word ends at a space, a character has four bytes at most."""

_OF_WHOLE: Final = frozenset({"chars", "words", "lines", "bytes"})


def _counts(fact: Fact, other: Fact, holds: bool) -> bool:
    """Whether a fact of a text, or of the tools called, makes a number at least, or never, as large as asked."""
    *base, measured = other.subject
    subject = tuple(base)
    limit, _ = other.operand
    if isinstance(measured, Measure) and measured.of == "calls":
        return _counts_calls(fact, measured.tool, limit, subject, holds)
    if not holds or limit < 0:
        return False
    if isinstance(measured, Times):
        known = fact.subject == subject and fact.predicate in _PARTS and (measured.folded or not fact.folded)
        text = fact.operand if not known or not measured.folded else fact.operand.casefold()
        return known and measured.text != "" and text.count(measured.text) >= limit
    if fact.predicate == "over" and fact.subject[:-1] == subject and isinstance(fact.subject[-1], Measure):
        conversion = _CONVERSIONS.get((fact.subject[-1].of, measured.of))
        return conversion is not None and fact.operand[0] > 0 and conversion(fact.operand[0]) >= limit
    if measured.of not in _OF_WHOLE or not is_text(subject):
        return False
    if fact.subject != subject:
        return limit <= 1 and fact.subject[: len(subject) + 1] == (*subject, JSON) and _is_there(fact, len(subject) + 1)
    if fact.predicate in ("json", "heading"):
        return bool(limit <= 1)
    texts = _required(fact) if fact.predicate == "matches" else [fact] if fact.predicate in _PARTS else []
    return any(least(text.operand, measured.of, text.folded) >= limit for text in texts)


# --- tools -----------------------------------------------------------------------------------------------------------


def _counts_calls(fact: Fact, tool: str, limit: Any, subject: Subject, holds: bool) -> bool:
    """Whether there are at least so many calls of a tool, or of all of them, or fewer, wherever the fact is so."""
    if fact.predicate == "over" and fact.subject[:-1] == subject:
        return holds and not tool and fact.operand[0] >= limit
    if fact.subject != subject or fact.predicate not in ("set", "only", "in_order", "before"):
        return False
    names = fact.operand
    if not holds:
        return tool != "" and tool not in names and limit >= 1 and fact.predicate in ("set", "only")
    if fact.predicate == "only":
        return False
    return ((list(names).count(tool) if tool else len(names)) >= limit) is True


def _covers(fact: Fact, other: Fact) -> bool:
    return set(other.operand) <= set(fact.operand)


def _leaves_out(fact: Fact, other: Fact) -> bool:
    """Whether a tool that the first fact asks for is none of the other's."""
    return not _covers(other, fact)


# --- items and calls -------------------------------------------------------------------------------------------------


def _is_like(fact: Fact, other: Fact) -> bool:
    """Return whether what is so of an item makes the other formula so of it."""
    return implies(fact.operand, other.operand)


def _is_unlike(fact: Fact, other: Fact) -> bool:
    return implies(fact.operand, negation(other.operand))


_WIDER: Final = {"integer": "number"}
_WEAKER_MODES: Final = {"object": ("strict",), "array": ("strict",)}
_PARTS: Final = ("contains", "has", "starts_with", "ends_with", "equals")
_STARTS: Final = ("starts_with", "equals")
_ENDS: Final = ("ends_with", "equals")

Rule = Callable[[Fact, Fact], bool]
RULES: Final[Mapping[tuple[str, str, bool], Rule]] = {
    **{(part, "contains", True): _is_inside for part in _PARTS},
    **{(part, "matches", True): _part_matches for part in _PARTS if part != "has"},
    **{(part, "empty", False): _fills for part in _PARTS},
    **{(part, "has", True): _is_inside_no_list for part in ("starts_with", "ends_with")},
    **{(one, other, False): _starts_otherwise for one in _STARTS for other in _STARTS},
    **{(one, other, False): _ends_otherwise for one in _ENDS for other in ("ends_with",)},
    **{(one, "starts_with", True): _starts for one in _STARTS},
    **{(one, "ends_with", True): _ends for one in _ENDS},
    **{
        (one, "json", False): lambda a, b: not a.folded and cannot_begin_json(beginning(a.operand), b.operand)
        for one in _STARTS
    },
    ("equals", "equals", True): lambda a, b: _compares(a, b) and _text(a, b) == b.operand,
    ("has", "has", True): _is_item,
    ("matches", "contains", True): _requires,
    ("matches", "empty", False): lambda a, b: any(_fills(text, b) for text in _required(a)),
    ("similar", "similar", True): lambda a, b: a.operand[0] == b.operand[0] and a.operand[1] >= b.operand[1],
    ("json", "json", True): lambda a, b: b.operand in _WEAKER_MODES.get(a.operand, ()),
    ("json", "json", False): lambda a, b: {a.operand, b.operand} == {"object", "array"},
    ("field", "field", True): lambda a, b: (
        a.operand[0] == b.operand[0] and b.operand[1] in (None, _WIDER.get(a.operand[1]))
    ),
    ("over", "over", True): _is_more,
    ("within", "over", True): lambda a, b: _near(a)[0] > Fraction(repr(b.operand[0])),
    ("within", "over", False): lambda a, b: _near(a)[1] < Fraction(repr(b.operand[0])),
    ("within", "within", True): lambda a, b: _near(b)[0] <= _near(a)[0] and _near(a)[1] <= _near(b)[1],
    ("within", "within", False): lambda a, b: _near(b)[1] < _near(a)[0] or _near(a)[1] < _near(b)[0],
    ("sorted", "sortable", True): lambda a, b: a.operand[1] == b.operand,
    ("set", "set", False): lambda a, b: a.operand != b.operand,
    ("set", "only", True): lambda a, b: _covers(b, a),
    ("set", "only", False): lambda a, b: not _covers(b, a),
    ("set", "in_order", False): lambda a, b: not _covers(a, b),
    ("set", "before", False): lambda a, b: not _covers(a, b),
    ("only", "only", True): lambda a, b: _covers(b, a),
    ("in_order", "in_order", True): lambda a, b: is_within_order(b.operand, a.operand),
    ("in_order", "only", False): lambda a, b: not _covers(b, a),
    ("before", "only", False): lambda a, b: not _covers(b, a),
    ("before", "in_order", True): lambda a, b: a.operand == b.operand,
    ("before", "before", False): lambda a, b: a.operand == b.operand[::-1],
    **{
        ("exists", part, True): _is_of_any_text
        for part in ("contains", "starts_with", "ends_with", "matches", "similar")
    },
    ("any", "any", True): _is_like,
    ("every", "every", True): _is_like,
    ("every", "any", True): _is_like,
    ("every", "any", False): _is_unlike,
    ("every", "every", False): _is_unlike,
    ("any", "every", False): _is_unlike,
    **{(some, none, False): _is_like for some in ("any", "every") for none in ("no", "not any")},
    ("every", "not every", False): _is_like,
}
"""Rules by which a predicate entails another one of the same subject, or its denial."""
