"""From the parse tree of a `rule:` text to the check that it means, by the rule's type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from evalc.grammar.atoms import count_of, duration_of, end_of, field_of, literal_of, number_of, start_of, trimmed
from evalc.grammar.lalr import Stumble
from evalc.grammar.lark_tables import read
from evalc.grammar.nodes import (
    Check,
    Cost,
    Json,
    JsonMode,
    Latency,
    Length,
    Matches,
    Number,
    Regexp,
    Structure,
    Tokens,
    ToolCount,
    Unit,
)
from evalc.grammar.parsed import Parsed, parsed
from evalc.grammar.unexpected import spoken, unexpected

if TYPE_CHECKING:
    from evalc.diagnostics.problem import Fault
    from evalc.grammar.lalr import Token, Tree


def rule_check(type_: str, text: str) -> Parsed[Check]:
    """The check that `rule: TEXT` of a type means; the type is a start symbol of the grammar."""
    if type_ == "regex" and text[:1] not in ("", "/"):
        return Parsed(_pattern(text), ())  # for what is plainly no literal, and the most usual, lark is not asked
    tree = read("rule", type_, text)
    if isinstance(tree, Stumble):
        return Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    faults: list[Fault] = []
    tokens = cast("list[Token]", tree.children)
    return parsed(_CHECKS[type_](tokens, start_of(tree), end_of(tree), faults), faults)


def _length(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    unit = str(tokens[-1]) if tokens[-1].type == "UNIT" else "chars"
    least, most = _min_max(tokens, faults)
    return Length(start=start, end=end, min=least, max=most, unit=cast("Unit", unit))


def _tool_count(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    least, most = _min_max(tokens, faults)
    return ToolCount(start=start, end=end, min=least, max=most)


def _min_max(tokens: list[Token], faults: list[Fault]) -> tuple[Number | None, Number | None]:
    """The bounds of `MIN : NUMBER , MAX : NUMBER`, in either order and either alone."""
    bounds = {name.type: count_of(number, faults) for name, number in zip(tokens[::4], tokens[2::4], strict=False)}
    return bounds.get("MIN"), bounds.get("MAX")


def _json(tokens: list[Token], start: int, end: int, _faults: list[Fault]) -> Check:
    if tokens[0].type == "JSON_MODE":
        return Json(start=start, end=end, mode=cast("JsonMode", str(tokens[0])))
    schema = trimmed(tokens[2])
    return Json(start=start, end=schema.end, schema=schema)


def _structure(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    if tokens[0].type == "FIELDS":
        fields = tuple(field_of(cast("Tree", field), faults) for field in tokens[2::2])
        return Structure(start=start, end=end, fields=fields)
    headings = tuple(trimmed(heading) for heading in tokens[2::2])
    return Structure(start=start, end=headings[-1].end, headings=headings)


def _regex(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    (token,) = tokens
    if token.type == "LITERAL":
        return Matches(start=start, end=end, regexp=literal_of(token, faults))
    return _pattern(token)


def _pattern(text: str) -> Check:
    """The pattern that a whole text is."""
    regexp = Regexp(start=0, end=len(text), pattern=str(text), pattern_at=0, literal=False)
    return Matches(start=0, end=len(text), regexp=regexp)


def _latency(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Latency(start=start, end=end, max=duration_of(tokens[-2], tokens[-1], faults))


def _tokens(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Tokens(start=start, end=end, max=count_of(tokens[-1], faults))


def _cost(tokens: list[Token], start: int, end: int, faults: list[Fault]) -> Check:
    return Cost(start=start, end=end, max=number_of(tokens[-1], faults))


_CHECKS: Final[dict[str, Callable[[list[Token], int, int, list[Fault]], Check]]] = {
    "length": _length,
    "tool_count": _tool_count,
    "json": _json,
    "structure": _structure,
    "regex": _regex,
    "latency": _latency,
    "tokens": _tokens,
    "cost": _cost,
}

RULE_TYPES: Final = frozenset(_CHECKS)
"""The types whose rule is a text of this language; every other type takes its rule as it stands."""
