"""From a language's name and a text to lark's parse tree, or to the place where the text stops making sense.

The only file that imports lark. A grammar is loaded when its language is first read: from the saved table beside
its `.lark` file (4 ms), or built anew (35 ms) where that table is missing or was saved from another grammar, by
another lark or by another Python.
"""

from __future__ import annotations

import io
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

if TYPE_CHECKING:
    import lark

    Token: TypeAlias = lark.Token
    Tree: TypeAlias = lark.Tree[lark.Token]

Language = Literal["check", "rule", "criterion", "template"]

STARTS: Final[dict[Language, tuple[str, ...]]] = {
    "check": ("line",),
    "rule": ("length", "tool_count", "json", "structure", "regex", "latency", "tokens", "cost"),
    "criterion": ("criterion",),
    "template": ("template",),
}
"""The start symbols of each language."""

_FOLDER: Final = Path(__file__).parent


class Stumble(NamedTuple):
    """Where a text stops making sense, and terminals that could have stood there (`$END` for its end).

    Not always all of them: where what stands there would end what is before it, in a place where that is allowed,
    only what may follow that end is named. `(json` lacks a `)`; that `json` could go on is not said.
    """

    at: int
    expected: frozenset[str]


def read(language: Language, start: str, text: str) -> Tree | Stumble:
    """The parse tree of a whole text, or where it stumbles."""
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - lark loads with the first parse

    parser = load(language)
    try:
        return parser.parse(text, start=start)
    except UnexpectedInput:
        return _stumble(parser, start, text)


def tree_of(rule: str, children: list[Tree | Token]) -> Tree:
    """A parse tree as lark makes them."""
    return _tree_type()(rule, children)


@cache
def _tree_type() -> type[Tree]:
    import lark  # noqa: PLC0415 - lark loads with the first parse

    return lark.Tree


def _stumble(parser: lark.Lark, start: str, text: str) -> Stumble:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken  # noqa: PLC0415 - as above

    at = len(text)
    reader = parser.parse_interactive(text, start=start)
    try:
        for _ in reader.iter_parse():
            pass
        reader.feed_eof()  # type: ignore[no-untyped-call]
    except UnexpectedCharacters as stop:
        at = cast("int", stop.pos_in_stream)
    except UnexpectedToken as stop:
        # lark puts its end-of-text token at the start of the last real one
        at = len(text) if stop.token.type == "$END" else stop.token.start_pos or 0
    return Stumble(at, frozenset(reader.accepts()))  # type: ignore[no-untyped-call]


# --- tables --------------------------------------------------------------------------------------------------------


@cache
def load(language: Language) -> lark.Lark:
    """The parser of a language."""
    import lark  # noqa: PLC0415 - lark loads with the first parse

    try:
        saved = table_path(language).read_bytes()
    except OSError:
        return build(language)
    made_from = _made_from(language)
    if not saved.startswith(made_from):
        return build(language)
    return lark.Lark.load(io.BytesIO(saved[len(made_from) :]))


def build(language: Language) -> lark.Lark:
    """The parser of a language, built from its grammar file."""
    import lark  # noqa: PLC0415 - lark loads with the first parse

    return lark.Lark(
        grammar(language),
        parser="lalr",
        lexer="contextual",
        start=list(STARTS[language]),
        maybe_placeholders=False,
    )


def table(language: Language) -> bytes:
    """What the saved table of a language holds: what it is made from, then lark's own bytes.

    lark's bytes differ from one build to the next, since it numbers its states as sets happen to be ordered.
    """
    saved = io.BytesIO()
    build(language).save(saved)
    return _made_from(language) + saved.getvalue()


def table_path(language: Language) -> Path:
    """Where the saved table of a language lies."""
    return _FOLDER / f"{language}.bin"


def grammar(language: Language) -> str:
    """The text of a grammar: the language's own file, and the terminals that the languages share."""
    files = (_FOLDER / f"{language}.lark", _FOLDER / "atoms.lark")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _made_from(language: Language) -> bytes:
    """The versions and the grammar that a table is made from, as they stand at its head."""
    import lark  # noqa: PLC0415 - lark loads with the first parse

    versions = f"lark {lark.__version__} python {sys.version_info.major}.{sys.version_info.minor}"
    return "\n".join((versions, *STARTS[language], grammar(language), "\0")).encode()
