"""Says what was expected at the place where a text stops making sense."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evalc.diagnostics.problem import Fault, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalc.grammar.lalr import Stumble

_WORD: Final = re.compile(r"[^\W\d][\w-]*")
_FOUND: Final = re.compile(
    r"""[^\W\d][\w-]*|[0-9]+(?:\.[0-9]+)?|"[^"\\\r\n]*"?|'[^'\\\r\n]*'?|[<>=!&|]+|\.+|[\s\S]""",
)
_LONGEST_SHOWN: Final = 40
_QUOTED_NAME: Final = re.compile(r"`([^`]+)`")
_BARE_WORDS: Final = re.compile(r"[a-z -]+")
"""Words to write as they are: `at PATH count` is a form, of which somebody has to fill in the capitals."""

_SPOKEN: Final[Mapping[str, tuple[str, ...]]] = {
    "$END": ("the end",),
    "NAME": ("a name",),
    "CHECK_NAME": ("the name of a check",),
    "STRING": ("a text in quotes",),
    "NUMBER": ("a number",),
    "REGEXP": ("a pattern `/.../`",),
    "PATH": ("a path such as `items[0].title`",),
    "PARAM": ("a parameter's name",),
    "LANGUAGE": ("a language",),
    "DESCRIPTION": ("a description",),
    "HEADING": ("a heading",),
    "LITERAL": ("a pattern",),
    "PATTERN": ("a pattern",),
    "REST": ("a path",),
    "FIELD_TYPE": ("`string`", "`number`", "`integer`", "`boolean`", "`array`", "`object`", "`null`"),
    "JSON_MODE": ("`strict`", "`lenient`", "`object`", "`array`"),
    "TIME_UNIT": ("`ms`", "`s`", "`m`"),
    "SOURCE": ("`tools`", "`message`"),
    "UNIT": ("`chars`", "`words`", "`lines`", "`bytes`"),
    "ASSIGN": ("`=`",),
    "COLON": ("`:`",),
    "COMMA": ("`,`",),
    "DOLLAR": ("`$`",),
    "DOT": ("`.`",),
    "DOTS": ("`..`",),
    "EQ": ("`==`",),
    "GE": ("`>=`",),
    "LE": ("`<=`",),
    "LBRACE": ("`{`",),
    "LPAR": ("`(`",),
    "LSQB": ("`[`",),
    "PERCENT": ("`%`",),
    "RBRACE": ("`}`",),
    "RPAR": ("`)`",),
    "RSQB": ("`]`",),
    "SLASH": ("`/`",),
    "AT_LEAST": ("`at least`",),
    "AT_MOST": ("`at most`",),
    "BARE_NAME": ("a name",),
    "CALL": ("`call of`",),
    "CODE_BLOCK": ("`code block`",),
    "COUNTED": ("`words`", "`chars`", "`lines`", "`sentences`", "`items`"),
    "DURATION": ("`ms`", "`s`", "`m`"),
    "FIELD": ("`fields`",),
    "FORMAT": ("`date`", "`date-time`", "`email`", "`url`", "`uuid`"),
    "GT": ("`>`",),
    "ITEM": ("`item of`",),
    "JSON_PATH": ("a path",),
    "LESS_THAN": ("`less than`",),
    "LT": ("`<`",),
    "MARKDOWN": ("`table`", "`list`", "`link`"),
    "MODAL": ("`should`", "`must`", "`does`"),
    "MORE_THAN": ("`more than`",),
    "NE": ("`!=`",),
    "ONE_OF": ("`one of`",),
    "STAR_PATH": ("a path",),
    "TEMPLATE": ("a template",),
    "TIMES_WORD": ("`once`", "`twice`"),
    "TYPE": ("`text`", "`number`", "`integer`", "`boolean`", "`list`", "`object`"),
    "USAGE_TOKENS": ("`total tokens`", "`input tokens`", "`output tokens`"),
}
"""Names of terminals in messages; any other is a keyword, its name in small letters."""


def words_of(terminal: str) -> tuple[str, ...]:
    """The spellings of a terminal that is a keyword, a sign or one of a few words; else nothing."""
    spelt = _SPOKEN.get(terminal)
    if spelt is None:
        return (terminal.lower().replace("_", "-"),)
    return tuple(word.strip("`") for word in spelt if word.startswith("`"))


def spoken(terminals: frozenset[str]) -> tuple[str, ...]:
    """The names of terminals, each once, in a fixed order: what is not a keyword first, the end last."""
    ordered = sorted(terminals, key=lambda name: (name == "$END", name not in _SPOKEN, name))
    names = (spelling for name in ordered for spelling in _SPOKEN.get(name, (f"`{name.lower()}`",)))
    return tuple(dict.fromkeys(names))


_VALUE: Final = frozenset(("STRING", "NUMBER", "TRUE", "FALSE", "NULL", "LSQB", "LBRACE"))
_MOST_EXPECTED: Final = 10
_RANKS: Final = {
    name: rank
    for rank, name in enumerate(
        ("CONTAINS", "NOT", "IS", "EQUALS", "MATCHES", "AT", "TOOL", "TOOLS", "GE", "EXISTS", "HAS", "JSON", "LENGTH")
    )
}
"""Return what is named first where more is expected than a message names."""


def expected_words(terminals: frozenset[str]) -> tuple[str, ...]:
    """Return what is expected in words, ten at most; `a value` for all that a value begins with."""
    rest = terminals - {"TEMPLATE"} or terminals
    first: tuple[str, ...] = ()
    if rest >= {"STRING", "NUMBER", "TRUE"}:
        rest, first = rest - _VALUE, ("a value",)
    if "NUMBER" in rest or first:
        rest -= {"DOLLAR"}
    ordered = sorted(rest, key=lambda name: (_RANKS.get(name, len(_RANKS)), name == "$END", name))
    spelt = [each for name in ordered for each in _SPOKEN.get(name, (name.lower().replace("_", "-"),))]
    named = [each.strip("`") if each[1:2].isalpha() else each for each in spelt]
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
