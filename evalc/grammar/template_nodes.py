"""Makes the nodes of templates and of one-line criteria."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, cast, final

from evalc.diagnostics.problem import Fault, Finding
from evalc.grammar.atoms import number_of, trimmed
from evalc.grammar.lalr import Stumble, read
from evalc.grammar.nodes import (
    MAX_FAULTS,
    CriterionLine,
    Each,
    If,
    Number,
    Parsed,
    Part,
    Template,
    TemplateToken,
    Variable,
    Words,
    parsed,
)
from evalc.grammar.unexpected import spoken, unexpected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalc.grammar.lalr import Token, Tree

MAX_DEPTH: Final = 50
"""How deep blocks may nest."""

_WRITTEN: Final = r"[A-Za-z_][\w.-]*(?:\[[0-9]{1,9}\](?:\.[\w.-]*)?)*"
"""A name as templates write it, perhaps a path: `order.items[0].sku`."""
_NAME: Final = re.compile(rf"{_WRITTEN}(?=\s*\}}\}})")
_ANY_TAG: Final = re.compile(r"\{\{(?P<inside>(?:[^{}]|\{(?!\{)|\}(?!\}))*)(?P<close>\}\})?")
_HELPER: Final = re.compile(r"\s*[#/]\s*(\w*)")
_OPENER: Final = re.compile(r"(?<!\\)\{\{(?=\s*#)")
_BLOCK_TAG: Final = re.compile(
    rf"(?P<literal>\\\{{\{{)|\{{\{{\s*(?:#(?P<open>if|unless|each)\s+{_WRITTEN}|/(?P<close>if|unless|each))\s*\}}\}}"
    r"|\{\{"  # of `{{{/if}}` the first two, as the grammar reads them: what is left closes nothing
)
_ELLIPSIS_AT: Final = 37


class _TooDeep(Exception):
    """A block is nested too deep; holds the token that opens it."""


def template(text: str, *, lenient: bool) -> Parsed[Template]:
    """A whole template."""
    tree = read("template", "template", text)
    if isinstance(tree, Stumble):
        return parsed(None, _block_faults(text, tree.at, lenient=lenient))
    reader = _Reader(text, lenient=lenient)
    try:
        parts = reader.parts(tree, MAX_DEPTH)
    except _TooDeep as stop:
        (opener,) = stop.args
        return parsed(None, [*reader.faults, _too_deep(opener.start_pos, opener.end_pos)])
    return parsed(Template(start=0, end=len(text), parts=parts), reader.faults)


@final
class _Reader:
    """From trees to parts, gathering faults on the way."""

    def __init__(self, text: str, *, lenient: bool) -> None:
        self.faults: list[Fault] = []
        self._text = text
        self._lenient = lenient
        self._unknown = 0  # how many blocks begin with an unknown helper

    def parts(self, tree: Tree, depth: int) -> tuple[Part, ...]:
        return tuple(
            self._token(child) if isinstance(child, str) else self._block(child, depth) for child in tree.children
        )

    def _block(self, tree: Tree, depth: int) -> Part:
        opener, *bodies = tree.children
        opener = cast("Token", opener)
        if depth == 0:
            raise _TooDeep(opener)
        start, end = opener.start_pos, tree.end_pos
        name = _block_name(opener)
        branches = [self.parts(body, depth - 1) for body in bodies if not isinstance(body, str)]
        if tree.type == "each":
            return Each(start=start, end=end, name=name, body=branches[0])
        otherwise = branches[1] if len(branches) > 1 else ()
        return If(start=start, end=end, name=name, negated=tree.type == "unless", then=branches[0], otherwise=otherwise)

    def _token(self, token: Token) -> Part:
        start, end = token.start_pos, token.end_pos
        match token.type:
            case "WORDS":
                return Words(start=start, end=end, value=str(token))
            case "ESCAPED":
                return Words(start=start, end=end, value="{{")
            case "VARIABLE":
                name = token[2:-2].strip()
                at = start + token.index(name)
                return Variable(start=at, end=at + len(name), name=name)
            case "SEED":
                return _run_time_token(token, "seed")
            case "SNAPSHOT":
                return _run_time_token(token, "snapshot")
            case _:
                return self._literal(token, start, end)

    def _literal(self, token: Token, start: int, end: int) -> Part:
        """Braces or a tag that mean nothing here: a fault, or where they may, a text."""
        if not self._lenient and len(self.faults) < MAX_FAULTS:
            self.faults += self._bad_braces(start) if token.type == "BRACES" else self._stray(token, start, end)
        return Words(start=start, end=end, value=str(token))

    def _bad_braces(self, start: int) -> Iterator[Fault]:
        self._unknown += _OPENER.match(self._text, start) is not None
        yield _bad_tag(self._text, start)

    def _stray(self, token: Token, start: int, end: int) -> Iterator[Fault]:
        """A tag outside of any block, unless it is part of a block that an unknown helper begins."""
        if not self._unknown:
            yield Fault(start, end, Finding("EV152", tag=str(token)))
        elif token.type != "ELSE":
            self._unknown -= 1


def _run_time_token(token: Token, source: Literal["seed", "snapshot"]) -> TemplateToken:
    path = token[token.index(":") + 1 : -2].strip()
    return TemplateToken(token.start_pos, token.end_pos, source=source, path=path, text=str(token))


def _block_name(opener: Token) -> Variable:
    name = _NAME.search(opener, opener.index("#") + 1)
    assert name is not None, "the grammar lets no block begin without a name"  # noqa: S101
    at = opener.start_pos
    return Variable(start=at + name.start(), end=at + name.end(), name=name.group())


# --- what is wrong ---------------------------------------------------------------------------------------------------


def _bad_tag(text: str, at: int) -> Fault:
    """The fault of the `{{` at an offset, which opens no tag that the grammar knows."""
    tag = _ANY_TAG.match(text, at)
    assert tag is not None, "it stands on two braces"  # noqa: S101
    inside, closed = tag["inside"], tag["close"] is not None
    if closed and not inside.strip():
        return Fault(at, tag.end(), Finding("EV154"))
    helper = _HELPER.match(inside)
    if helper and helper[1] and helper[1] not in ("if", "unless", "each"):
        return Fault(at + 2 + helper.start(1), at + 2 + helper.end(1), _unknown_helper(helper[1]))
    return Fault(at, tag.end() if closed else at + 2, Finding("EV155", tag=_short(tag.group()), closed=closed))


def _unknown_helper(name: str) -> Finding:
    meant = "each" if "each" in name.lower() else ""
    return Finding("EV153", helper=name, meant=meant, known=("if", "unless", "each"))


def _block_faults(text: str, at: int, *, lenient: bool) -> list[Fault]:
    """The faults of the blocks of a text that does not parse at a tag or at its end."""
    opened = _open_blocks(text, at)
    if len(opened) > MAX_DEPTH:
        return [_too_deep(*opened[MAX_DEPTH].span())]
    tag = _ANY_TAG.match(text, at)
    unknown = [] if lenient else _unknown_helpers(text, opened[-1].end() if opened else 0, at)
    if tag is not None and unknown:
        return unknown[:MAX_FAULTS]  # the tag is one of their blocks
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


def _too_deep(start: int, end: int) -> Fault:
    return Fault(start, end, Finding("EV139", what="depth", limit=MAX_DEPTH))


def _short(tag: str) -> str:
    return tag if len(tag) <= _ELLIPSIS_AT + 3 else tag[:_ELLIPSIS_AT] + "..."


# --- criteria --------------------------------------------------------------------------------------------------------


def criterion_line(text: str) -> Parsed[CriterionLine]:
    """A whole one-line criterion."""
    tree = read("criterion", "criterion", text)
    if isinstance(tree, Stumble):
        return Parsed(None, (unexpected(text, tree, spoken(tree.expected)),))
    faults: list[Fault] = []
    name, *rest = cast("list[Token]", tree.children)
    weight = description = None
    for token in rest:
        match token.type:
            case "NUMBER":
                weight = Number(token.start_pos, token.end_pos, number_of(token, faults))
            case "PERCENT" if weight is not None:
                weight = Number(start=weight.start, end=token.end_pos, value=weight.value / 100)
            case "DESCRIPTION":
                description = trimmed(token)
    last = description.end if description else rest[-1].end_pos if rest else trimmed(name).end
    return parsed(CriterionLine(name.start_pos, last, trimmed(name), weight, description), faults)
