"""Reads `rule:` texts, by the type of the rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from evalc.check.forms import Placed
from evalc.check.tree import Bounds, Check, Measure, Of, Test
from evalc.grammar.atoms import trimmed
from evalc.grammar.lalr import Stumble, Tree, read
from evalc.grammar.nodes import LONGEST_REMEMBERED, REMEMBERED, Parsed, PatternAtom, ReadCheck, parsed
from evalc.grammar.read_check import Reader, Unit, settled
from evalc.grammar.unexpected import spoken, unexpected

if TYPE_CHECKING:
    from evalc.check.tree import Measured
    from evalc.grammar.lalr import Token

    _Build = Callable[[Reader, list[Token]], Check]


def read_rule(type_: str, text: str) -> Parsed[ReadCheck]:
    """The check that `rule: TEXT` of a type means; the type is a start symbol of the grammar."""
    if type_ == "regex" and text[:1] not in ("", "/"):  # for what is plainly no literal, nothing is parsed
        place = _pattern_place(text)
        return Parsed(ReadCheck(0, len(text), Test("matches", (text, "")), (place,)), ())
    return _remembered(type_, text) if len(text) <= LONGEST_REMEMBERED else _by_tree(type_, text)


def _by_tree(type_: str, text: str) -> Parsed[ReadCheck]:
    tree = read("rule", type_, text)
    if isinstance(tree, Stumble):
        return Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    reader = Reader(text)
    check = _CHECKS[type_](reader, cast("list[Token]", tree.children))
    return parsed(settled(ReadCheck(tree.start_pos, tree.end_pos, check, ())), reader.faults)


_remembered = lru_cache(REMEMBERED)(_by_tree)


def _pattern_place(text: str) -> PatternAtom:
    return PatternAtom(start=0, end=len(text), pattern=text, pattern_at=0, literal=False)


def _between(unit: Unit) -> _Build:
    """Bounds `MIN : NUMBER , MAX : NUMBER`, in either order and either alone, or exactly one number."""

    def build(read: Reader, tokens: list[Token]) -> Check:
        counted = unit
        if tokens[-1].type == "UNIT":
            *tokens, word = tokens
            counted = cast("Unit", str(word))
        if len(tokens) == 1:
            return _measured(counted, read.bounds(tokens[0], counted))
        pairs = zip(tokens[::4], tokens[2::4], strict=False)
        return _measured(counted, Bounds(**{str(name): read.number(number, counted) for name, number in pairs}))

    return build


def _measured(unit: Unit, bounds: Bounds) -> Check:
    test = Test("between", bounds)
    return Of(Measure(cast("Measured", unit)), test) if unit else test


def _limit(unit: Unit) -> _Build:
    """The most that is allowed."""

    def build(read: Reader, tokens: list[Token]) -> Check:
        number = [token for token in tokens if token.type not in ("LE", "DOLLAR")]
        written = Tree("quantity", [*number]) if len(number) > 1 else number[0]
        return _measured(unit, Bounds(max=read.number(written, unit)))

    return build


def _json(_read: Reader, tokens: list[Token]) -> Check:
    if tokens[0].type == "JSON_MODE":
        return Test("json", (str(tokens[0]), None))
    return Test("json", ("strict", _trimmed(tokens[2])))


def _structure(read: Reader, tokens: list[Token]) -> Check:
    if tokens[0].type == "FIELDS":
        return Test("structure", (tuple(map(read.field, tokens[2::2])), ()))
    return Test("structure", ((), tuple(map(_trimmed, tokens[2::2]))))


def _trimmed(token: Token) -> Placed:
    text = trimmed(token)
    return Placed(text.value, text)


def _regex(read: Reader, tokens: list[Token]) -> Check:
    (token,) = tokens
    if token.type == "LITERAL":
        return Test("matches", read.pattern(token))
    return Test("matches", (Placed(str(token), _pattern_place(str(token))), ""))


_CHECKS: Final[dict[str, _Build]] = {
    "length": _between("chars"),
    "tool_count": _between("calls"),
    "json": _json,
    "number": _between(""),
    "count": _between("items"),
    "structure": _structure,
    "regex": _regex,
    "latency": _limit("ms"),
    "tokens": _limit("tokens"),
    "cost": _limit("dollars"),
}
RULE_TYPES: Final = frozenset(_CHECKS)
"""The types whose rule is a text of this language; every other type takes its rule literally."""
