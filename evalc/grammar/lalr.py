"""Parses a text by a saved LALR table, or says where the text stops making sense.

What lark's parser does with such a table, and nothing else of lark: its grammars, its other parsers and what they
import take longer to load than a small file takes to be checked. A law holds that trees and places are lark's.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias, cast, final

import msgspec

END: Final = "$END"
"""The terminal that stands behind every text."""


@final
class Token(str):
    """A piece of the text that a terminal matches, and the offsets of its ends."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int


@final
class Tree:
    """What a rule matches."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Tree | Token]) -> None:
        self.data = data
        self.children = children


class Stumble(NamedTuple):
    """Where a text stops making sense, and terminals that could have stood there (`$END` for its end).

    Not always all of them: where what stands there would end what is before it, in a place where that is allowed,
    only what may follow that end is named. `(json` lacks a `)`; that `json` could go on is not said.
    """

    at: int
    expected: frozenset[str]


class Production(msgspec.Struct, frozen=True, array_like=True):
    """How a node is made of the last `size` values.

    Attributes:
        origin: what the rule is an expansion of.
        size: how many values it takes.
        label: the name of the node; None where its children take its place.
        bare: a single child takes the place of the node.
    """

    origin: str
    size: int
    label: str | None
    bare: bool


class State(msgspec.Struct, frozen=True, array_like=True):
    """What may follow in a state of the parser.

    Attributes:
        scanner: the index of the pattern that finds the next token.
        actions: by terminal or rule the state to go on in, or `~` of the index of the rule that ends there.
    """

    scanner: int
    actions: dict[str, int]


class Table(msgspec.Struct, frozen=True, dict=True):
    """The parser of a language as plain data.

    Attributes:
        made_from: the start symbols and the grammar.
        starts: the first and the last state for each start symbol.
        ignored: terminals that may stand anywhere and mean nothing.
    """

    made_from: str
    starts: dict[str, tuple[int, int]]
    ignored: frozenset[str]
    scanners: tuple[str, ...]
    rules: tuple[Production, ...]
    states: tuple[State, ...]

    @cached_property
    def compiled(self) -> dict[int, re.Pattern[str]]:
        """The scanners that were needed so far, by their index."""
        return {}

    def scanner_of(self, state: int) -> re.Pattern[str]:
        """The pattern of the tokens that may follow in a state: its last group is the terminal."""
        index = self.states[state].scanner
        scanner = self.compiled.get(index)
        if scanner is None:
            scanner = self.compiled[index] = re.compile(self.scanners[index])
        return scanner


_Value: TypeAlias = "Tree | Token | list[Tree | Token]"
"""What stands for a symbol that was read: a list, where its children take its place."""


def parse(table: Table, start: str, text: str) -> Tree | Stumble:
    """The parse tree of a whole text, or where it stumbles."""
    first, last = table.starts[start]
    stack = [first]
    values: list[_Value] = []
    at = 0
    while True:
        at, found = _scanned(table, stack[-1], text, at)
        if found is None and at < len(text):
            return Stumble(at, _expected(table, stack, last))
        terminal = END if found is None else found.lastgroup or ""
        if not _reduced(table, stack, values, terminal, last):
            return Stumble(at, _expected(table, stack, last))
        if found is None:
            return cast("Tree", values[0])  # a start symbol is a node of its own
        values.append(_token(found, terminal))
        stack.append(table.states[stack[-1]].actions[terminal])
        at = found.end()


class Following(NamedTuple):
    """What could follow a text: its tokens, as far as it makes sense, where the next would begin, and the terminals."""

    tokens: tuple[Token, ...]
    at: int
    terminals: frozenset[str]


def following(table: Table, start: str, text: str) -> Following:
    """What could stand behind a text that is still being written; behind a slip in it, nothing is read."""
    first, last = table.starts[start]
    stack = [first]
    tokens: list[Token] = []
    at = 0
    while True:
        at, found = _scanned(table, stack[-1], text, at)
        terminal = "" if found is None else found.lastgroup or ""
        if found is None or not _reduced(table, before := [*stack], None, terminal, last):
            return Following(tuple(tokens), at, _expected(table, stack, last))
        stack = before
        tokens.append(_token(found, terminal))
        stack.append(table.states[stack[-1]].actions[terminal])
        at = found.end()


def _scanned(table: Table, state: int, text: str, at: int) -> tuple[int, re.Match[str] | None]:
    """Where the next token of a state begins, behind what means nothing, and the token; None where there is none."""
    scanner = table.scanner_of(state)
    found = scanner.match(text, at)
    while found is not None and found.lastgroup in table.ignored:
        at = found.end()
        found = scanner.match(text, at)
    return at, found


def _token(found: re.Match[str], terminal: str) -> Token:
    token = Token(found[0])
    token.type = terminal
    token.start_pos, token.end_pos = found.span()
    return token


def _reduced(table: Table, stack: list[int], values: list[_Value] | None, terminal: str, last: int) -> bool:
    """Apply the rules that end before the terminal; whether it may stand there then. Without values, only try."""
    while True:
        if terminal == END and stack[-1] == last:
            return True
        action = table.states[stack[-1]].actions.get(terminal)
        if action is None:
            return False
        if action >= 0:
            return True
        rule = table.rules[~action]
        if values is not None:
            _apply(rule, values)
        if rule.size:
            del stack[-rule.size :]
        stack.append(table.states[stack[-1]].actions[rule.origin])


def _apply(rule: Production, values: list[_Value]) -> None:
    """Put the node of a rule in the place of the values that it is made of."""
    begin = len(values) - rule.size
    read = values[begin:]
    del values[begin:]
    # A list grows in place: what repeats is a list and one more each time.
    children = cast("list[Tree | Token]", read.pop(0)) if read and isinstance(read[0], list) else []
    for value in read:
        if isinstance(value, list):
            children += value
        else:
            children.append(value)
    if rule.label is None:
        values.append(children)
    elif rule.bare and len(children) == 1:
        values.append(children[0])
    else:
        values.append(Tree(rule.label, children))


def _expected(table: Table, stack: list[int], last: int) -> frozenset[str]:
    """The terminals that could stand next."""
    terminals = (symbol for symbol in table.states[stack[-1]].actions if symbol.isupper())
    return frozenset(terminal for terminal in terminals if _reduced(table, [*stack], None, terminal, last))
