"""Parses a text by the LALR table of its language, or says where the text stops making sense.

Tables are made of the grammar files by lark, and saved beside them. What lark's parser does with such a table is done
here, and nothing else of lark: its grammars, its other parsers and what they import take longer to load than a small
file takes to be checked. A law holds that trees and places are lark's. The only file that imports lark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast, final

import msgspec

if TYPE_CHECKING:
    import lark
    from lark.grammar import Rule as LarkRule
    from lark.grammar import Terminal
    from lark.lexer import BasicLexer, ContextualLexer
    from lark.parsers.lalr_analysis import IntParseTable

END: Final = "$END"
"""The terminal that ends every text."""


@final
class Token(str):
    """A piece of the text that a terminal matches, and the offsets of its ends."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int


@final
class Tree:
    """The match of a rule."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Tree | Token]) -> None:
        self.data = data
        self.children = children


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


class State(msgspec.Struct, frozen=True, array_like=True):
    """The actions of a state of the parser."""

    scanner: int  # the index of the pattern that finds the next token
    # by terminal or rule the state to go on in, or `~` of the index of the rule that ends there
    actions: dict[str, int]


class Table(msgspec.Struct, frozen=True, dict=True):
    """The parser of a language as plain data."""

    made_from: str  # the start symbols and the grammar
    starts: dict[str, tuple[int, int]]  # the first and the last state for each start symbol
    ignored: frozenset[str]  # terminals that are allowed anywhere and mean nothing
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
        stack.append(table.states[stack[-1]].actions[terminal])
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
        stack.append(table.states[stack[-1]].actions[terminal])
        at = found.end()


def _scanned(table: Table, state: int, text: str, at: int) -> tuple[int, re.Match[str] | None]:
    """Where the next token of a state begins, after ignored terminals, and the token; None if there is none."""
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
    """Apply the rules that end before the terminal; whether it is allowed there then. Without values, only try."""
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
    """The terminals that could come next."""
    terminals = (symbol for symbol in table.states[stack[-1]].actions if symbol.isupper())
    return frozenset(terminal for terminal in terminals if _reduced(table, [*stack], None, terminal, last))


Language = Literal["check", "checks", "rule", "criterion", "template"]


STARTS: Final[dict[Language, tuple[str, ...]]] = {
    "check": ("line",),
    "checks": ("line",),
    "rule": ("length", "tool_count", "json", "number", "count", "structure", "regex", "latency", "tokens", "cost"),
    "criterion": ("criterion",),
    "template": ("template",),
}
"""The start symbols of each language."""


_FOLDER: Final = Path(__file__).parent


_NOTHING: Final = "(?!)"


# --- the tables of the languages -------------------------------------------------------------------------------------


def read(language: Language, start: str, text: str) -> Tree | Stumble:
    """The parse tree of a whole text, or where it stumbles."""
    return parse(load(language), start, text)


@cache
def load(language: Language) -> Table:
    """The table of a language: the saved one (1 ms), or one made anew (100 ms) if none fits its grammar."""
    try:
        saved = msgspec.json.decode(table_path(language).read_bytes(), type=Table)
    except (OSError, msgspec.DecodeError):
        return build(language)
    return saved if saved.made_from == _made_from(language) else build(language)


def table_path(language: Language) -> Path:
    """Where the saved table of a language lies."""
    return _FOLDER / f"{language}.table.json"


def encoded(table: Table) -> bytes:
    """Encode the table of a language; the same grammar gives the same bytes."""
    return msgspec.json.encode(table, order="deterministic") + b"\n"


def grammar(language: Language) -> str:
    """The text of a grammar: the language's own file, and the terminals that the languages share."""
    files = (_FOLDER / f"{language}.lark", _FOLDER / "atoms.lark")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _made_from(language: Language) -> str:
    return "\n".join((*STARTS[language], grammar(language)))


# --- by lark ---------------------------------------------------------------------------------------------------------


def lark_parser(language: Language) -> lark.Lark:
    """lark's own parser of a language."""
    import lark  # noqa: PLC0415 - for start-up: only if no saved table fits

    return lark.Lark(
        grammar(language),
        parser="lalr",
        lexer="contextual",
        start=list(STARTS[language]),
        maybe_placeholders=False,
    )


def build(language: Language) -> Table:
    """The table of a language, made from its grammar file."""
    parser = lark_parser(language)
    made = cast("IntParseTable", parser.parser.parser._parse_table)
    lexer = cast("ContextualLexer", parser.parser.lexer)
    rules = sorted(parser.rules, key=lambda rule: (rule.origin.name, [symbol.name for symbol in rule.expansion]))
    numbers = _numbers(made, STARTS[language])
    patterns = {state: _pattern(cast("BasicLexer", lexer.lexers[state])) for state in numbers}
    scanners = tuple(dict.fromkeys(patterns.values()))

    def action(of: tuple[object, int | LarkRule]) -> int:
        return numbers[of[1]] if isinstance(of[1], int) else ~rules.index(of[1])

    return Table(
        made_from=_made_from(language),
        starts={
            start: (numbers[made.start_states[start]], numbers[made.end_states[start]]) for start in made.start_states
        },
        ignored=frozenset(parser.lexer_conf.ignore),
        scanners=scanners,
        rules=tuple(map(_rule, rules)),
        states=tuple(
            State(
                scanners.index(patterns[state]),
                {name: action(made.states[state][name]) for name in sorted(made.states[state])},
            )
            for state in numbers
        ),
    )


def _numbers(made: IntParseTable, starts: Iterable[str]) -> dict[int, int]:
    """New numbers of the states, in the order of the grammar; lark's follow the order of sets, which changes."""
    order = [made.start_states[start] for start in starts]
    for state in order:  # which grows
        following = (made.states[state][name][1] for name in sorted(made.states[state]))
        order += dict.fromkeys(next_ for next_ in following if isinstance(next_, int) and next_ not in order)
    return {state: number for number, state in enumerate(order)}


def _pattern(lexer: BasicLexer) -> str:
    """The pattern of the terminals that are allowed in a state, the first to be tried first."""
    lexer.scanner  # noqa: B018 - says what the terminals are like
    if lexer.callback:
        raise ValueError("a text is also matched by another terminal's pattern, which the table cannot distinguish")
    return "|".join(f"(?P<{each.name}>{each.pattern.to_regexp()})" for each in lexer.terminals) or _NOTHING


def _rule(rule: LarkRule) -> Production:
    if any(symbol.is_term and cast("Terminal", symbol).filter_out for symbol in rule.expansion):
        raise ValueError(f"a terminal of `{rule.origin.name}` has no name")
    name = rule.alias or rule.origin.name
    label = None if name.startswith("_") else str(name)
    return Production(str(rule.origin.name), len(rule.expansion), label, bool(rule.options.expand1 and not rule.alias))
