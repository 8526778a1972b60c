"""Reads the texts of `rule:` that are small languages of their own, by the type of the rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from evalc.check.tree import Bounds, Check, Measure, Measured, Of, Test
from evalc.grammar.atoms import end_of, literal_of, start_of, trimmed
from evalc.grammar.lalr import Stumble, read
from evalc.grammar.nodes import LONGEST_REMEMBERED, REMEMBERED, Atom, Parsed, PatternAtom, ReadCheck, parsed
from evalc.grammar.read_check import CheckBuilder, required_field, without_places, written
from evalc.grammar.unexpected import spoken, unexpected

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token, Tree


def read_rule(type_: str, text: str) -> Parsed[ReadCheck]:
    """The check that `rule: TEXT` means beside `type: TYPE`, one of `RULE_TYPES`.

    A `regex` rule is a literal where it is wholly `/pattern/flags` as ECMAScript writes it (inner slashes escaped or
    in a class, flags of letters only); any other text is taken as a pattern literally.
    """
    if type_ == "regex" and text[:1] not in ("", "/"):  # for what is plainly no literal, and the most usual
        check, places = without_places(Test("matches", (written(_plain_pattern(text), text), "")))
        return Parsed(ReadCheck(0, len(text), check, places), ())
    return _remembered(type_, text) if len(text) <= LONGEST_REMEMBERED else _by_tree(type_, text)


def _by_tree(type_: str, text: str) -> Parsed[ReadCheck]:
    tree = read("rule", type_, text)
    if isinstance(tree, Stumble):
        return Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    build = CheckBuilder()
    check, places = without_places(_CHECKS[type_](build, cast("list[Token]", tree.children)))
    return parsed(ReadCheck(start_of(tree), end_of(tree), check, places), build.faults)


_remembered = lru_cache(REMEMBERED)(_by_tree)


def _plain_pattern(text: str) -> Atom:
    return PatternAtom(start=0, end=len(text), pattern=text, pattern_at=0, literal=False)


def _bounds(build: CheckBuilder, tokens: list[Token], of: Measured | None) -> Bounds:
    """The bounds of `MIN : NUMBER , MAX : NUMBER`, in either order and either alone, or of a number by itself."""
    if tokens[0].type == "NUMBER":
        exactly = build.digits(tokens[0], of)
        return Bounds(exactly, exactly)
    pairs = zip(tokens[::4], tokens[2::4], strict=False)
    return Bounds(**{name.type.lower(): build.digits(number, of) for name, number in pairs})


def _measure(of: Measured, bounds: Bounds) -> Check:
    return Of(Measure(of), Test("between", bounds))


def _length(build: CheckBuilder, tokens: list[Token]) -> Check:
    of = cast("Measured", str(tokens[-1])) if tokens[-1].type == "UNIT" else "chars"
    return _measure(of, _bounds(build, tokens, of))


def _json(_build: CheckBuilder, tokens: list[Token]) -> Check:
    if tokens[0].type == "JSON_MODE":
        return Test("json", (str(tokens[0]), None))
    path = trimmed(tokens[2])
    return Test("json", ("strict", written(path, path.value)))


def _structure(build: CheckBuilder, tokens: list[Token]) -> Check:
    if tokens[0].type == "FIELDS":
        fields = [cast("Tree", field) for field in cast("list[Any]", tokens[2::2])]
        return Test("structure", (tuple(required_field(build, field) for field in fields), ()))
    headings = map(trimmed, tokens[2::2])
    return Test("structure", ((), tuple(written(heading, heading.value) for heading in headings)))


def _regex(build: CheckBuilder, tokens: list[Token]) -> Check:
    (token,) = tokens
    if token.type != "LITERAL":
        return Test("matches", (written(_plain_pattern(str(token)), str(token)), ""))
    atom = literal_of(token, build.faults)
    return Test("matches", (written(atom, atom.pattern), atom.flags))


_CHECKS: Final[dict[str, Callable[[CheckBuilder, list[Token]], Check]]] = {
    "length": _length,
    "tool_count": lambda build, tokens: _measure("calls", _bounds(build, tokens, "calls")),
    "json": _json,
    "number": lambda build, tokens: Test("between", _bounds(build, tokens, None)),
    "count": lambda build, tokens: _measure("items", _bounds(build, tokens, "items")),
    "structure": _structure,
    "regex": _regex,
    "latency": lambda build, tokens: _measure("ms", Bounds(max=build.digits(tokens[-2], "ms", tokens[-1]))),
    "tokens": lambda build, tokens: _measure("tokens", Bounds(max=build.digits(tokens[-1], "tokens"))),
    "cost": lambda build, tokens: _measure("dollars", Bounds(max=build.digits(tokens[-1], "dollars"))),
}

RULE_TYPES: Final = frozenset(_CHECKS)
"""The types whose rule is a text of this language; every other type takes its rule literally."""
