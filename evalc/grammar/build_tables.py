"""Builds the saved tables of the parsers and of the catalogue: `python -m evalc.grammar.build_tables`.

The only file that imports lark, which makes the tables; evalc needs it nowhere else.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import lark
import msgspec
import regex

from evalc.diagnostics.catalogue import SAVED, saved_table
from evalc.grammar.lalr import Language, Production, Table, Terminal, table_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lark.grammar import Rule
    from lark.lexer import BasicLexer, ContextualLexer
    from lark.parsers.lalr_analysis import IntParseTable

STARTS: Final[dict[Language, tuple[str, ...]]] = {
    "check": ("line",),
    "rule": ("length", "tool_count", "json", "number", "count", "structure", "regex", "latency", "tokens", "cost"),
    "criterion": ("criterion",),
    "template": ("template",),
}
"""The start symbols of each language."""


def main() -> None:
    """Write the table of every language, and that of the catalogue of findings."""
    for language in STARTS:
        table_path(language).write_bytes(encoded(build(language)))
    SAVED.write_bytes(saved_table())


def grammar(language: Language) -> str:
    """The text of a grammar: the language's own file, the terminals that the languages share, and its keywords.

    A terminal without a definition is a keyword, its name in small letters. Keywords come before paths.
    """
    files = (Path(__file__).with_name(f"{name}.lark") for name in (language, "atoms"))
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    used = {name for rule in _RULE.findall(text) for name in _TERMINAL.findall(rule)}
    keywords = sorted(used.difference(_DEFINED.findall(text)))
    return "\n".join((text, *map(_keyword, keywords)))


def _keyword(name: str) -> str:
    words = r"\s+".join(name.lower().split("_"))
    return rf"{name}.1: /{words}(?![\w-])/"


_RULE: Final = re.compile(r"^[a-z?_ ].*", re.MULTILINE)
_TERMINAL: Final = re.compile(r"\b[A-Z][A-Z_]*\b")
_DEFINED: Final = re.compile(r"^[A-Z][A-Z_]*\b", re.MULTILINE)


def lark_parser(language: Language) -> lark.Lark:
    """lark's own parser of a language; a conflict of rules or of terminals is an error."""
    return _parser(grammar(language), STARTS[language])


@cache
def _parser(text: str, starts: tuple[str, ...]) -> lark.Lark:
    return lark.Lark(
        text,
        parser="lalr",
        lexer="contextual",
        start=list(starts),
        keep_all_tokens=True,
        maybe_placeholders=False,
        strict=True,
    )


def encoded(table: Table) -> bytes:
    """Encode the table of a language; the same grammar gives the same bytes."""
    return msgspec.json.encode(table, order="deterministic") + b"\n"


def build(language: Language) -> Table:
    """The table of a language, made from its grammar file."""
    parser = lark_parser(language)
    made = cast("IntParseTable", parser.parser.parser._parse_table)
    lexer = cast("ContextualLexer", parser.parser.lexer)
    for each in cast("dict[int, BasicLexer]", lexer.lexers).values():
        each.scanner  # noqa: B018 - says what the terminals are like
        if each.callback:
            raise ValueError("a text is also matched by another terminal's pattern, which the table cannot distinguish")
    of_rules = {rule: _production(rule) for rule in parser.rules}
    rules = sorted(set(of_rules.values()), key=msgspec.json.encode)
    rows = {
        state: {
            name: to if isinstance(to, int) else ~rules.index(of_rules[to])
            for name, (_, to) in sorted(made.states[state].items())
        }
        for state in _reached(made)
    }
    numbers = _numbers(rows, made.end_states.values())
    states = {
        number: {name: numbers[to] if to >= 0 else to for name, to in rows[state].items()}
        for state, number in numbers.items()
    }
    return Table(
        starts={start: (numbers[state], numbers[made.end_states[start]]) for start, state in made.start_states.items()},
        ignored=frozenset(parser.lexer_conf.ignore),
        terminals=tuple(
            Terminal(each.name, pattern := each.pattern.to_regexp(), _begins(pattern))
            for each in cast("BasicLexer", lexer.root_lexer).terminals
        ),
        rules=tuple(rules),
        states=tuple(states.values()),
    )


def _reached(made: IntParseTable) -> list[int]:
    """The states in the order of the grammar; lark's numbers follow the order of sets, which changes."""
    order = list(made.start_states.values())
    for state in order:  # which grows
        following = (to for _, (_, to) in sorted(made.states[state].items()))
        order += dict.fromkeys(to for to in following if isinstance(to, int) and to not in order)
    return order


def _numbers(rows: Mapping[int, Mapping[str, int]], ends: Iterable[int]) -> dict[int, int]:
    """New numbers of the states: one for all states in which the parser goes on alike, whatever follows."""
    kinds = {end: -1 - index for index, end in enumerate(ends)}
    numbers = {state: kinds.get(state, 0) for state in rows}
    while True:
        alike = {
            state: (numbers[state], *((name, to if to < 0 else numbers[to], to < 0) for name, to in row.items()))
            for state, row in rows.items()
        }
        finer = {key: number for number, key in enumerate(dict.fromkeys(alike.values()))}
        if len(finer) == len(set(numbers.values())):
            return {state: finer[key] for state, key in alike.items()}
        numbers = {state: finer[key] for state, key in alike.items()}


def _begins(pattern: str) -> str:
    """The printable characters of ASCII that a match may begin with."""
    characters = map(chr, range(ord(" "), ord("~") + 1))
    return "".join(each for each in characters if regex.match(pattern, each, partial=True))


def _production(rule: Rule) -> Production:
    if any(symbol.name.startswith("__ANON") for symbol in rule.expansion):
        raise ValueError(f"a terminal of `{rule.origin.name}` has no name")
    name = rule.alias or rule.origin.name
    label = None if name.startswith("_") else str(name)
    return Production(str(rule.origin.name), len(rule.expansion), label, bool(rule.options.expand1 and not rule.alias))


if __name__ == "__main__":
    main()
