"""Parses a text of one of the small languages into its node, or says what is wrong with it.

A `rule:` text is read by the type of its rule. No text raises. Parses are remembered by text, since suites repeat
themselves; the table of a language is loaded by the first one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, cast, final

from evalc.check.forms import Placed
from evalc.check.tree import At, Bounds, Check, Measure, Measured, Of, Test
from evalc.diagnostics import Fault, Finding
from evalc.grammar import nodes as n
from evalc.grammar.lalr import Stumble, Token, Tree, read
from evalc.grammar.read_check import MAX_LINE, Reader, Unit, read_check, settled
from evalc.grammar.unexpected import spoken, unexpected

_Build = Callable[[Reader, list[Token]], Check]

OPENS_TEMPLATE: Final = re.compile(r"\{\{\s*[#/A-Za-z_]")
"""The beginning of a template in a pattern, where braces may as well be its own."""
MAX_TEMPLATE: Final = 1_000_000
"""The most characters of a text that holds tags; a text without any may have any length."""


def parse_place(text: str) -> str | None:
    """The path that `at PATH` names; None for any other text."""
    match read_check(f"{text} non-empty").node:
        case n.ReadCheck(check=Of(At(path), Test("non_empty"))):
            return path
        case _:
            return None


# --- rules -----------------------------------------------------------------------------------------------------------


def parse_rule(type_: str, text: str) -> n.Parsed[n.ReadCheck]:
    """The check that `rule: TEXT` means beside `type: TYPE`, one of `RULE_TYPES`.

    A `regex` rule is a literal where it is wholly `/pattern/flags` as ECMAScript writes it (inner slashes escaped or
    in a class, flags of letters only); any other text is taken as a pattern literally.
    """
    if len(text) > MAX_LINE:
        return n.too_long(text, MAX_LINE)
    if type_ == "regex" and text[:1] not in ("", "/"):  # for what is plainly no literal, nothing is parsed
        return n.Parsed(n.ReadCheck(0, len(text), Test("matches", (text, "")), (_pattern_place(text),)), ())
    return _rule(text, type_)


@n.remembered
def _rule(text: str, type_: str) -> n.Parsed[n.ReadCheck]:
    tree = read("rule", type_, text)
    if isinstance(tree, Stumble):
        return n.Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    reader = Reader(text)
    check = _CHECKS[type_](reader, cast("list[Token]", tree.children))
    return n.parsed(settled(n.ReadCheck(tree.start_pos, tree.end_pos, check, ())), reader.faults)


def _pattern_place(text: str) -> n.PatternAtom:
    return n.PatternAtom(start=0, end=len(text), pattern=text, pattern_at=0, literal=False)


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
    text = n.trimmed(token)
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


# --- templates -------------------------------------------------------------------------------------------------------

_WRITTEN: Final = r"[A-Za-z_][\w.-]*(?:\[[0-9]{1,9}\](?:\.[\w.-]*)?)*"
"""A name as templates write it, perhaps a path: `order.items[0].sku`."""
_NAME: Final = re.compile(rf"{_WRITTEN}(?=\s*\}}\}})")
_ANY_TAG: Final = re.compile(r"\{\{(?P<inside>(?:[^{}]|\{(?!\{)|\}(?!\}))*)(?P<close>\}\})?")
_HELPER: Final = re.compile(r"\s*[#/]\s*(\w*)")
_OPENER: Final = re.compile(r"(?<!\\)\{\{(?=\s*#)")
_HELPERS: Final = ("if", "unless", "each")
_ONE: Final = "|".join(_HELPERS)
_SOURCES: Final[Mapping[str, Literal["seed", "snapshot"]]] = {"SEED": "seed", "SNAPSHOT": "snapshot"}
_BLOCK_TAG: Final = re.compile(
    rf"(?P<literal>\\\{{\{{)|\{{\{{\s*(?:#(?P<open>{_ONE})\s+{_WRITTEN}|/(?P<close>{_ONE}))\s*\}}\}}"
    r"|\{\{"  # of `{{{/if}}` the first two, as the grammar reads them: what is left closes nothing
)
_ELLIPSIS_AT: Final = 37


def parse_template(text: str, *, lenient: bool = False) -> n.Parsed[n.Template]:
    """A text with templates in it.

    Where it is `lenient`, braces that open no tag and tags that close none are texts. So checks are read; in a prompt
    they are faults.
    """
    if "{{" not in text:
        parts = (n.Words(start=0, end=len(text), value=text),) if text else ()
        return n.Parsed(n.Template(start=0, end=len(text), parts=parts), ())
    return _template(text, lenient) if len(text) <= MAX_TEMPLATE else n.too_long(text, MAX_TEMPLATE)


@n.remembered
def _template(text: str, lenient: bool) -> n.Parsed[n.Template]:
    tree = read("template", "template", text)
    if isinstance(tree, Stumble):
        return n.parsed(None, _block_faults(text, tree.at, lenient=lenient))
    reader = _Reader(text, lenient=lenient)
    try:
        parts = reader.parts(tree, n.MAX_DEPTH)
    except n.TooDeep as stop:
        return n.parsed(None, [*reader.faults, stop.fault])
    return n.parsed(n.Template(start=0, end=len(text), parts=parts), reader.faults)


@final
class _Reader:
    """From trees to parts, gathering faults on the way."""

    def __init__(self, text: str, *, lenient: bool) -> None:
        self.faults: list[Fault] = []
        self._text = text
        self._lenient = lenient
        self._unknown = 0  # how many blocks begin with an unknown helper

    def parts(self, tree: Tree, depth: int) -> tuple[n.Part, ...]:
        return tuple(
            self._token(child) if isinstance(child, str) else self._block(child, depth) for child in tree.children
        )

    def _block(self, tree: Tree, depth: int) -> n.Part:
        opener, *bodies = tree.children
        opener = cast("Token", opener)
        if depth == 0:
            raise n.TooDeep(opener.start_pos, opener.end_pos)
        start, end = opener.start_pos, tree.end_pos
        name = _block_name(opener)
        branches = [self.parts(body, depth - 1) for body in bodies if not isinstance(body, str)]
        if tree.type == "each":
            return n.Each(start=start, end=end, name=name, body=branches[0])
        otherwise = branches[1] if len(branches) > 1 else ()
        return n.If(
            start=start, end=end, name=name, negated=tree.type == "unless", then=branches[0], otherwise=otherwise
        )

    def _token(self, token: Token) -> n.Part:
        start, end = token.start_pos, token.end_pos
        match token.type:
            case "WORDS":
                return n.Words(start=start, end=end, value=str(token))
            case "ESCAPED":
                return n.Words(start=start, end=end, value="{{")
            case "VARIABLE":
                name = token[2:-2].strip()
                at = start + token.index(name)
                return n.Variable(start=at, end=at + len(name), name=name)
            case "SEED" | "SNAPSHOT":
                path = token[token.index(":") + 1 : -2].strip()
                return n.TemplateToken(start, end, source=_SOURCES[token.type], path=path, text=str(token))
            case _:
                return self._literal(token, start, end)

    def _literal(self, token: Token, start: int, end: int) -> n.Part:
        """Braces or a tag that mean nothing here: a fault, or where they may, a text."""
        if not self._lenient and len(self.faults) < n.MAX_FAULTS:
            self.faults += self._bad_braces(start) if token.type == "BRACES" else self._stray(token, start, end)
        return n.Words(start=start, end=end, value=str(token))

    def _bad_braces(self, start: int) -> Iterator[Fault]:
        self._unknown += _OPENER.match(self._text, start) is not None
        yield _bad_tag(self._text, start)

    def _stray(self, token: Token, start: int, end: int) -> Iterator[Fault]:
        """A tag outside of any block, unless it is part of a block that an unknown helper begins."""
        if not self._unknown:
            yield Fault(start, end, Finding("EV152", tag=str(token)))
        elif token.type != "ELSE":
            self._unknown -= 1


def _block_name(opener: Token) -> n.Variable:
    name = _NAME.search(opener, opener.index("#") + 1)
    assert name is not None, "the grammar lets no block begin without a name"  # noqa: S101
    at = opener.start_pos
    return n.Variable(start=at + name.start(), end=at + name.end(), name=name.group())


# --- what is wrong ---------------------------------------------------------------------------------------------------


def _bad_tag(text: str, at: int) -> Fault:
    """The fault of the `{{` at an offset, which opens no tag that the grammar knows."""
    tag = _ANY_TAG.match(text, at)
    assert tag is not None, "it stands on two braces"  # noqa: S101
    inside, closed = tag["inside"], tag["close"] is not None
    if closed and not inside.strip():
        return Fault(at, tag.end(), Finding("EV154"))
    helper = _HELPER.match(inside)
    if helper and helper[1] and helper[1] not in _HELPERS:
        meant = "each" if "each" in helper[1].lower() else ""
        finding = Finding("EV153", helper=helper[1], meant=meant, known=_HELPERS)
        return Fault(at + 2 + helper.start(1), at + 2 + helper.end(1), finding)
    return Fault(at, tag.end() if closed else at + 2, Finding("EV155", tag=_short(tag.group()), closed=closed))


def _block_faults(text: str, at: int, *, lenient: bool) -> list[Fault]:
    """The faults of the blocks of a text that does not parse at a tag or at its end."""
    opened = _open_blocks(text, at)
    if len(opened) > n.MAX_DEPTH:
        return [n.TooDeep(*opened[n.MAX_DEPTH].span()).fault]
    tag = _ANY_TAG.match(text, at)
    unknown = [] if lenient else _unknown_helpers(text, opened[-1].end() if opened else 0, at)
    if tag is not None and unknown:
        return unknown[: n.MAX_FAULTS]  # the tag is one of their blocks
    if tag is None:
        return [Fault(*opener.span(), Finding("EV150", helper=opener["open"])) for opener in opened]
    if tag["inside"].strip() == "else":
        return [Fault(*tag.span(), Finding("EV152", tag=tag.group()))]
    return [Fault(*tag.span(), Finding("EV151", helper=opened[-1]["open"], tag=_short(tag.group())))]


def _unknown_helpers(text: str, start: int, end: int) -> list[Fault]:
    """The blocks between two offsets that helpers begin which there are not."""
    faults = (_bad_tag(text, opener.start()) for opener in _OPENER.finditer(text, start, end))
    return [fault for fault in faults if fault.finding.code == "EV153"]


def _open_blocks(text: str, end: int) -> list[re.Match[str]]:
    """The opening tags that are open at an offset up to which the blocks nest well."""
    opened: list[re.Match[str]] = []
    for tag in _BLOCK_TAG.finditer(text, 0, end):
        if tag["open"]:
            opened.append(tag)
        elif tag["close"] and opened:
            opened.pop()
    return opened


def _short(tag: str) -> str:
    return tag if len(tag) <= _ELLIPSIS_AT + 3 else tag[:_ELLIPSIS_AT] + "..."


# --- criteria --------------------------------------------------------------------------------------------------------


def parse_criterion(text: str) -> n.Parsed[n.CriterionLine]:
    """A criterion in its one-line form; a weight in percent comes out as a fraction."""
    if len(text) > MAX_LINE:
        return n.too_long(text, MAX_LINE)
    tree = read("criterion", "criterion", text)
    if isinstance(tree, Stumble):
        return n.Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    faults: list[Fault] = []
    name, *rest = cast("list[Token]", tree.children)
    weight = description = None
    for token in rest:
        match token.type:
            case "NUMBER":
                weight = n.Number(token.start_pos, token.end_pos, n.number_of(token, faults))
            case "PERCENT" if weight is not None:
                weight = n.Number(start=weight.start, end=token.end_pos, value=weight.value / 100)
            case "DESCRIPTION":
                description = n.trimmed(token)
    last = description.end if description else rest[-1].end_pos if rest else n.trimmed(name).end
    return n.parsed(n.CriterionLine(name.start_pos, last, n.trimmed(name), weight, description), faults)
