"""Makes checks of the parse trees of `rule:` texts, by the type of the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from evalc.grammar.atoms import end_of, literal_of, signed_of, start_of, trimmed
from evalc.grammar.check_nodes import CheckBuilder, same, unit_of
from evalc.grammar.lalr import Stumble, read
from evalc.grammar.nodes import LONGEST_REMEMBERED, REMEMBERED, CheckLine, Parsed, PatternAtom, parsed
from evalc.grammar.unexpected import spoken, unexpected
from evalc.model import checks as c

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token


def rule_check(type_: str, text: str) -> Parsed[CheckLine]:
    """The check that `rule: TEXT` of a type means; the type is a start symbol of the grammar."""
    if type_ == "regex" and text[:1] not in ("", "/"):
        return Parsed(_of_pattern(text), ())  # for what is plainly no literal, and the most usual, lark is not asked
    return _remembered(type_, text) if len(text) <= LONGEST_REMEMBERED else _by_tree(type_, text)


def _by_tree(type_: str, text: str) -> Parsed[CheckLine]:
    tree = read("rule", type_, text)
    if isinstance(tree, Stumble):
        return Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    build = CheckBuilder()
    check = _CHECKS[type_](build, cast("list[Token]", tree.children))
    return parsed(CheckLine(start=start_of(tree), end=end_of(tree), check=check, atoms=build.atoms), build.faults)


_remembered = lru_cache(REMEMBERED)(_by_tree)


def _of_pattern(text: str) -> CheckLine:
    """The pattern that a whole text is."""
    return CheckLine(start=0, end=len(text), check=c.Regex(pattern=text), atoms={"/pattern": _plain_pattern(text)})


def _plain_pattern(text: str) -> PatternAtom:
    return PatternAtom(start=0, end=len(text), pattern=text, pattern_at=0, literal=False)


def _length(build: CheckBuilder, tokens: list[Token]) -> c.Check:
    least, most = _min_max(build, tokens)
    return c.Length(min=least, max=most, unit=unit_of(tokens[-1]))


def _tool_count(build: CheckBuilder, tokens: list[Token]) -> c.Check:
    least, most = _min_max(build, tokens)
    return c.ToolCount(min=least, max=most)


def _min_max(build: CheckBuilder, tokens: list[Token]) -> tuple[int | None, int | None]:
    """The bounds of `MIN : NUMBER , MAX : NUMBER`, in either order and either alone."""
    bounds = {name.type: build.count(number) for name, number in _pairs(tokens)}
    return bounds.get("MIN"), bounds.get("MAX")


def _pairs(tokens: list[Token]) -> Iterable[tuple[Token, Token]]:
    """Each `MIN` or `MAX`, and its number."""
    return zip(tokens[::4], tokens[2::4], strict=False)


def _json(build: CheckBuilder, tokens: list[Token]) -> c.Check:
    if tokens[0].type == "JSON_MODE":
        return c.Json(mode=cast("c.JsonMode", same(tokens[0])))
    build.atoms["/schema"] = trimmed(tokens[2])
    return c.Json()


def _number(build: CheckBuilder, tokens: list[Token]) -> c.Check:
    if len(tokens) == 1:
        exactly = signed_of(tokens[0], build.faults)
        return c.Number(min=exactly, max=exactly)
    bounds = {name.type: signed_of(number, build.faults) for name, number in _pairs(tokens)}
    return c.Number(min=bounds.get("MIN"), max=bounds.get("MAX"))


def _count(build: CheckBuilder, tokens: list[Token]) -> c.Check:
    if len(tokens) == 1:
        exactly = build.count(tokens[0])
        return c.Count(min=exactly, max=exactly)
    least, most = _min_max(build, tokens)
    return c.Count(min=least, max=most)


def _structure(build: CheckBuilder, tokens: list[Token]) -> c.Check:
    if tokens[0].type == "FIELDS":
        return c.Structure(fields=build.fields([*tokens[2::2]], "/fields"))
    headings = tuple(trimmed(heading) for heading in tokens[2::2])
    build.atoms |= {f"/headings/{index}": heading for index, heading in enumerate(headings)}
    return c.Structure(headings=tuple(heading.value for heading in headings))


def _regex(build: CheckBuilder, tokens: list[Token]) -> c.Check:
    (token,) = tokens
    atom = literal_of(token, build.faults) if token.type == "LITERAL" else _plain_pattern(str(token))
    build.atoms["/pattern"] = atom
    return c.Regex(pattern=atom.pattern, flags=atom.flags)


_CHECKS: Final[dict[str, Callable[[CheckBuilder, list[Token]], c.Check]]] = {
    "length": _length,
    "tool_count": _tool_count,
    "json": _json,
    "number": _number,
    "count": _count,
    "structure": _structure,
    "regex": _regex,
    "latency": lambda build, tokens: c.Latency(max=build.duration(tokens[-2], tokens[-1])),
    "tokens": lambda build, tokens: c.Tokens(max=build.count(tokens[-1])),
    "cost": lambda build, tokens: c.Cost(max=build.number(tokens[-1])),
}

RULE_TYPES: Final = frozenset(_CHECKS)
"""The types whose rule is a text of this language; every other type takes its rule literally."""
