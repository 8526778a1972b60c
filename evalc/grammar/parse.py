"""Parses a text of one of the small languages into its node, or says what is wrong with it.

A `rule:` text is read by the type of its rule. No text raises. Parses are remembered by text, since suites repeat
themselves; the table of a language is loaded by the first one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from evalc.check.forms import Placed
from evalc.check.tree import At, Bounds, Check, Measure, Of, Test
from evalc.diagnostics.problem import Fault, Finding
from evalc.grammar.atoms import trimmed
from evalc.grammar.lalr import Following, Stumble, Tree, following, load, read
from evalc.grammar.nodes import (
    LONGEST_REMEMBERED,
    REMEMBERED,
    CriterionLine,
    Parsed,
    PatternAtom,
    ReadCheck,
    Template,
    Words,
    parsed,
)
from evalc.grammar.read_check import MAX_LINE, Reader, Unit, read_check, settled
from evalc.grammar.template_nodes import criterion_line, template
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


__all__ = [
    "OPENS_TEMPLATE",
    "RULE_TYPES",
    "Parsed",
    "follow_check",
    "parse_check",
    "parse_criterion",
    "parse_place",
    "parse_rule",
    "parse_template",
]

OPENS_TEMPLATE: Final = re.compile(r"\{\{\s*[#/A-Za-z_]")
"""The beginning of a template in a pattern, where braces may as well be its own."""
MAX_TEMPLATE: Final = 1_000_000
"""The most characters of a text that holds tags; a text without any may have any length."""


parse_check: Final = read_check


def follow_check(text: str) -> Following:
    """The continuations of the beginning of a one-line check; text after a mistake is ignored."""
    return following(load("check"), "line", text[:MAX_LINE])


def parse_place(text: str) -> str | None:
    """The path that `at PATH` names; None for any other text."""
    match parse_check(f"{text} non-empty").node:
        case ReadCheck(check=Of(At(path), Test("non_empty"))):
            return path
        case _:
            return None


def parse_rule(type: str, text: str) -> Parsed[ReadCheck]:  # noqa: A002 - the key of its mapping
    """The check that `rule: TEXT` means beside `type: TYPE`, one of `RULE_TYPES`.

    A `regex` rule is a literal where it is wholly `/pattern/flags` as ECMAScript writes it (inner slashes escaped or
    in a class, flags of letters only); any other text is taken as a pattern literally.

    Raises:
        ValueError: the type has no rule to parse.
    """
    if type not in RULE_TYPES:
        raise ValueError(f"the rule of a {type!r} check is not parsed")
    return read_rule(type, text) if len(text) <= MAX_LINE else _too_long(text)


def parse_criterion(text: str) -> Parsed[CriterionLine]:
    """A criterion in its one-line form; a weight in percent comes out as a fraction."""
    if len(text) <= LONGEST_REMEMBERED:
        return _criterion(text)
    return criterion_line(text) if len(text) <= MAX_LINE else _too_long(text)


def parse_template(text: str, *, lenient: bool = False) -> Parsed[Template]:
    """A text with templates in it.

    Where it is `lenient`, braces that open no tag and tags that close none are texts. So checks are read; in a prompt
    they are faults.
    """
    if "{{" not in text:
        parts = (Words(start=0, end=len(text), value=text),) if text else ()
        return Parsed(Template(start=0, end=len(text), parts=parts), ())
    if len(text) <= LONGEST_REMEMBERED:
        return _template(text, lenient)
    return template(text, lenient=lenient) if len(text) <= MAX_TEMPLATE else _too_long(text, MAX_TEMPLATE)


def _too_long(text: str, limit: int = MAX_LINE) -> Parsed[Any]:
    return Parsed(None, (Fault(limit, len(text), Finding("EV139", what="length", limit=limit)),))


_criterion = lru_cache(REMEMBERED)(criterion_line)


@lru_cache(REMEMBERED)
def _template(text: str, lenient: bool) -> Parsed[Template]:
    return template(text, lenient=lenient)
