"""Says what was expected at the place where a text stops making sense."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evalc.diagnostics import Fault, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalc.grammar.lalr import Stumble

_WORD: Final = re.compile(r"[^\W\d][\w-]*(?:(?<=n)['\u2019]t\b)?")
_FOUND: Final = re.compile(
    r"""[^\W\d][\w-]*|[0-9]+(?:\.[0-9]+)?|"[^"\\\r\n]*"?|'[^'\\\r\n]*'?|[<>=!&|]+|\.+|[\s\S]""",
)
_LONGEST_SHOWN: Final = 40
_QUOTED_NAME: Final = re.compile(r"`([^`]+)`")

_SIGNS: Final = (
    *("LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "COMMA", "COLON", "DOT", "SLASH", "PERCENT"),
    *("DOLLAR", "ASSIGN", "LT", "GT"),
)
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: (sign,) for name, sign in zip(_SIGNS, "()[]{},:./%$=<>", strict=True)},
    "DOTS": ("..",),
    "EQ": ("==",),
    "GE": (">=",),
    "LE": ("<=",),
    "NE": ("!=",),
    **dict.fromkeys(("DURATION", "TIME_UNIT"), ("ms", "s", "m")),
    "CALL": ("call of",),
    "COUNTED": ("words", "chars", "lines", "sentences", "items"),
    "FIELD": ("fields",),
    "FIELD_TYPE": ("string", "number", "integer", "boolean", "array", "object", "null"),
    "FORMAT": ("date", "date-time", "email", "url", "uuid"),
    "ITEM": ("item of",),
    "JSON_MODE": ("strict", "lenient", "object", "array"),
    "MARKDOWN": ("table", "list", "link", "heading"),
    "MODAL": ("should", "must", "does"),
    "NON_EMPTY": ("non-empty",),
    "SOURCE": ("tools", "message"),
    "TIMES_WORD": ("once", "twice"),
    "TYPE": ("text", "number", "integer", "boolean", "list", "object"),
    "UNIT": ("chars", "words", "lines", "bytes"),
    "USAGE_TOKENS": ("total tokens", "input tokens", "output tokens"),
}
"""The spellings of terminals that messages name by them."""
_NAMES: Final = {
    "$END": "the end",
    **dict.fromkeys(("NAME", "BARE_NAME"), "a name"),
    **dict.fromkeys(("JSON_PATH", "STAR_PATH", "REST"), "a path"),
    **dict.fromkeys(("LITERAL", "PATTERN"), "a pattern"),
    "CHECK_NAME": "the name of a check",
    "DESCRIPTION": "a description",
    "HEADING": "a heading",
    "LANGUAGE": "a language",
    "NUMBER": "a number",
    "PARAM": "a parameter's name",
    "PATH": "a path such as `items[0].title`",
    "REGEXP": "a pattern `/.../`",
    "STRING": "a text in quotes",
    "TEMPLATE": "a template",
}
"""The names of terminals that an author fills in; any other terminal is a keyword, its name in small letters."""


def words_of(terminal: str) -> tuple[str, ...]:
    """The spellings of a terminal that is a keyword, a sign or one of a few words; else nothing."""
    return () if terminal in _NAMES else _WORDS.get(terminal) or (terminal.lower().replace("_", " "),)


def spoken(terminals: frozenset[str]) -> tuple[str, ...]:
    """The names of terminals, each once, in a fixed order: what is not a keyword first, the end last."""
    keywords = terminals - _WORDS.keys() - _NAMES.keys()
    ordered = sorted(terminals, key=lambda name: (name == "$END", name in keywords, name))
    return tuple(dict.fromkeys(spelling for name in ordered for spelling in _spellings(name)))


def _spellings(terminal: str) -> tuple[str, ...]:
    return (_NAMES[terminal],) if terminal in _NAMES else tuple(f"`{word}`" for word in words_of(terminal))


_VALUE: Final = frozenset(("STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LSQB", "LBRACE"))
_MOST_EXPECTED: Final = 10
_FIRST: Final = (
    *("CONTAINS", "NOT", "IS", "EQUALS", "MATCHES", "AT", "TOOL", "TOOLS", "GE", "EXISTS", "HAS", "JSON", "LENGTH"),
)
"""The terminals that are named first where more is expected than a message names."""


def expected_words(terminals: frozenset[str]) -> tuple[str, ...]:
    """The expected words and signs, ten at most; `a value` for all that a value begins with."""
    rest = terminals - {"TEMPLATE"} or terminals
    if "PATH" in rest:
        rest -= {"STAR_PATH"}
    first: tuple[str, ...] = ()
    if rest >= {"STRING", "NUMBER", "TRUE"}:
        rest, first = rest - _VALUE, ("a value",)
    if "NUMBER" in rest or first:
        rest -= {"DOLLAR"}
    ranks = {name: rank - len(_FIRST) for rank, name in enumerate(_FIRST)}
    ordered = sorted(rest, key=lambda name: (ranks.get(name, 0), name == "$END", name))
    named = [each.strip("`") if each[1:2].isalpha() else each for name in ordered for each in _spellings(name)]
    return tuple(dict.fromkeys((*first, *named)))[:_MOST_EXPECTED]


def word_at(text: str, at: int) -> str | None:
    """The word that begins at an offset, if one does."""
    word = _WORD.match(text, at)
    return word.group() if word else None


def unexpected(text: str, stumble: Stumble, expected: tuple[str, ...]) -> Fault:
    """The fault at a stumble: something unexpected, or a text or pattern that is not closed."""
    at = stumble.at
    found = _FOUND.match(text, at)
    if found is None:
        return Fault(at, at, not_expected(expected, ""))
    if text[at] in "\"'" and "STRING" in stumble.expected:
        return Fault(at, at + 1, Finding("EV132", quote=text[at]))
    if text[at] == "/" and "REGEXP" in stumble.expected and text[at + 1 : at + 2] != "/":
        return Fault(at, at + 1, Finding("EV134"))
    return Fault(at, found.end(), not_expected(expected, _shown(found.group())))


def not_expected(expected: tuple[str, ...], found: str) -> Finding:
    """The finding for what was found in place of what was expected; names in backticks may be meant by it."""
    names = tuple(name for each in expected for name in _QUOTED_NAME.findall(each))
    return Finding("EV131", expected=expected, found=found, names=names)


def _shown(found: str) -> str:
    """The found text, short and printable."""
    if len(found) == 1 and not found.isprintable():
        return f"U+{ord(found):04X}"
    return found if len(found) <= _LONGEST_SHOWN else found[: _LONGEST_SHOWN - 3] + "..."
