"""Makes parser tables of the grammar files with lark, and loads the saved ones.

The only file that imports lark. A table is loaded when its language is first read: from the saved one beside its
`.lark` file (1 ms), or made anew by lark (100 ms with its import) where that one is missing or was made from another
grammar.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

import msgspec

from evalc.grammar.lalr import Production, State, Stumble, Table, Tree, parse

if TYPE_CHECKING:
    import lark
    from lark.grammar import Rule as LarkRule
    from lark.grammar import Terminal
    from lark.lexer import BasicLexer, ContextualLexer
    from lark.parsers.lalr_analysis import IntParseTable

Language = Literal["check", "rule", "criterion", "template"]

STARTS: Final[dict[Language, tuple[str, ...]]] = {
    "check": ("line",),
    "rule": ("length", "tool_count", "json", "number", "count", "structure", "regex", "latency", "tokens", "cost"),
    "criterion": ("criterion",),
    "template": ("template",),
}
"""The start symbols of each language."""

_FOLDER: Final = Path(__file__).parent
_NOTHING: Final = "(?!)"


def read(language: Language, start: str, text: str) -> Tree | Stumble:
    """The parse tree of a whole text, or where it stumbles."""
    return parse(load(language), start, text)


@cache
def load(language: Language) -> Table:
    """The table of a language."""
    try:
        saved = msgspec.json.decode(table_path(language).read_bytes(), type=Table)
    except (OSError, msgspec.DecodeError):
        return build(language)
    return saved if saved.made_from == _made_from(language) else build(language)


def table_path(language: Language) -> Path:
    """Where the saved table of a language lies."""
    return _FOLDER / f"{language}.table.json"


def encoded(table: Table) -> bytes:
    """What the saved table of a language holds; the same bytes for the same grammar."""
    return msgspec.json.encode(table, order="deterministic") + b"\n"


def grammar(language: Language) -> str:
    """The text of a grammar: the language's own file, and the terminals that the languages share."""
    files = (_FOLDER / f"{language}.lark", _FOLDER / "atoms.lark")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _made_from(language: Language) -> str:
    return "\n".join((*STARTS[language], grammar(language)))


# --- by lark -------------------------------------------------------------------------------------------------------


def lark_parser(language: Language) -> lark.Lark:
    """lark's own parser of a language."""
    import lark  # noqa: PLC0415 - for start-up: only where no saved table fits

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
    """The pattern of the terminals that may stand in a state, the first to be tried first."""
    lexer.scanner  # noqa: B018 - says what the terminals are like
    if lexer.callback:
        raise ValueError("a text is also matched by another terminal's pattern, which the table cannot tell apart")
    return "|".join(f"(?P<{each.name}>{each.pattern.to_regexp()})" for each in lexer.terminals) or _NOTHING


def _rule(rule: LarkRule) -> Production:
    if any(symbol.is_term and cast("Terminal", symbol).filter_out for symbol in rule.expansion):
        raise ValueError(f"a terminal of `{rule.origin.name}` has no name")
    name = rule.alias or rule.origin.name
    label = None if name.startswith("_") else str(name)
    return Production(str(rule.origin.name), len(rule.expansion), label, bool(rule.options.expand1 and not rule.alias))
