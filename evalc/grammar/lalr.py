"""Parses a text by the LALR table of its language, or says where the text stops making sense.

lark makes the tables of the grammar files, and `build_tables` saves them. What lark's parser does with such a table is
done here, and nothing else of lark, which evalc only needs to be built. A law holds that trees and places are lark's.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, TypeAlias, cast, final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

END: Final = "$END"
"""The terminal that ends every text."""


@final
class Token(str):
    """A piece of the text that a terminal matches, and the offsets of its ends."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str  # the terminal
    start_pos: int
    end_pos: int
    children: ClassVar[Sequence[Tree | Token]] = ()


@final
class Tree:
    """The match of a rule."""

    __slots__ = ("children", "type")

    def __init__(self, type: str, children: list[Tree | Token]) -> None:  # noqa: A002 - as tokens have one
        self.type = type  # the label of the rule
        self.children = children

    @property
    def first(self) -> Token:
        """The first token."""
        node: Tree | Token = self
        while isinstance(node, Tree):
            node = node.children[0]
        return node

    @property
    def start_pos(self) -> int:
        """Where the first token begins."""
        return self.first.start_pos

    @property
    def end_pos(self) -> int:
        """Where the last token ends."""
        node: Tree | Token = self
        while isinstance(node, Tree):
            node = node.children[-1]
        return node.end_pos


class Stumble(NamedTuple):
    """Where a text stops making sense, and terminals that were possible there (`$END` for its end).

    Not always all of them: if the end of what is before it is allowed there,
    only what may follow that end is named. `(json` lacks a `)`; that `json` could go on is not said.
    """

    at: int
    expected: frozenset[str]


class Production(msgspec.Struct, frozen=True, array_like=True):
    """How a node is made of the last `size` values."""

    origin: str  # what the rule is an expansion of
    size: int  # how many values it takes
    label: str | None  # the name of the node; None if its children take its place
    bare: bool  # a single child takes the place of the node


class Terminal(NamedTuple):
    """A terminal: its name, what its tokens look like."""

    name: str
    pattern: str
    begins: str  # the printable characters of ASCII that it may begin with


class Table(msgspec.Struct, frozen=True, dict=True):
    """The parser of a language as plain data."""

    starts: dict[str, tuple[int, int]]  # the first and the last state for each start symbol
    ignored: frozenset[str]  # terminals that are allowed anywhere and mean nothing
    terminals: tuple[Terminal, ...]  # the first to be tried first
    rules: tuple[Production, ...]
    # for each state by terminal or rule the state to go on in, or `~` of the index of the rule that ends there
    states: tuple[dict[str, int], ...]

    @cached_property
    def scanners(self) -> dict[tuple[int, str], re.Pattern[str]]:
        """The patterns that were needed so far, by state and next character."""
        return {}

    def scanner(self, state: int, character: str) -> re.Pattern[str]:
        """The pattern of the tokens that may follow in a state and begin so: its group is the terminal.

        Patterns are compiled when they are needed, and that takes long: few terminals begin with any one character.
        """
        if not " " <= character <= "~":
            character = ""  # so that there are only so many patterns; in every text
        scanner = self.scanners.get((state, character))
        if scanner is None:
            actions = self.states[state]
            patterns = (
                f"(?P<{name}>{pattern})"
                for name, pattern, begins in self.terminals
                if (name in actions or name in self.ignored) and character in begins
            )
            scanner = self.scanners[state, character] = re.compile("|".join(patterns) or _NOTHING)
        return scanner


_Value: TypeAlias = "Tree | Token | list[Tree | Token]"
"""The value of a symbol that was read: a list if its children take its place."""


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
        stack.append(table.states[stack[-1]][terminal])
        at = found.end()


class Following(NamedTuple):
    """The continuations of a text: its tokens up to a mistake, where the next would begin, and the terminals."""

    tokens: tuple[Token, ...]
    at: int
    terminals: frozenset[str]


def following(table: Table, start: str, text: str) -> Following:
    """The continuations of a text that is still being written, up to its first mistake."""
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
        stack.append(table.states[stack[-1]][terminal])
        at = found.end()


def _scanned(table: Table, state: int, text: str, at: int) -> tuple[int, re.Match[str] | None]:
    """Where the next token of a state begins, after ignored terminals, and the token; None if there is none."""
    while at < len(text):
        scanner = table.scanners.get((state, text[at])) or table.scanner(state, text[at])
        found = scanner.match(text, at)
        if found is None or found.lastgroup not in table.ignored:
            return at, found
        at = found.end()
    return at, None


def _token(found: re.Match[str], terminal: str) -> Token:
    token = Token(found[0])
    token.type = terminal
    token.start_pos, token.end_pos = found.span()
    return token


def _reduced(table: Table, stack: list[int], values: list[_Value] | None, terminal: str, last: int) -> bool:
    """Apply the rules that end before the terminal; whether it is allowed there then. Without values, only try."""
    while True:
        if terminal == END and stack[-1] == last:
            return True
        action = table.states[stack[-1]].get(terminal)
        if action is None:
            return False
        if action >= 0:
            return True
        rule = table.rules[~action]
        if values is not None:
            _apply(rule, values)
        if rule.size:
            del stack[-rule.size :]
        stack.append(table.states[stack[-1]][rule.origin])


def _apply(rule: Production, values: list[_Value]) -> None:
    """Put the node of a rule in the place of the values that it is made of."""
    if rule.size == 1 and (rule.label is None or (rule.bare and not isinstance(values[-1], list))):
        return  # the value stands for it
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
    """The terminals that could come next."""
    terminals = (symbol for symbol in table.states[stack[-1]] if symbol.isupper())
    return frozenset(terminal for terminal in terminals if _reduced(table, [*stack], None, terminal, last))


_NOTHING: Final = "(?!)"


# --- the tables of the languages -------------------------------------------------------------------------------------

Language = Literal["check", "rule", "criterion", "template"]


def read(language: Language, start: str, text: str) -> Tree | Stumble:
    """The parse tree of a whole text, or where it stumbles."""
    return parse(load(language), start, text)


@cache
def load(language: Language) -> Table:
    """The saved table of a language."""
    return msgspec.json.decode(table_path(language).read_bytes(), type=Table)


def table_path(language: Language) -> Path:
    """Where the saved table of a language lies."""
    return Path(__file__).with_name(f"{language}.table.json")
