"""Says what was expected at the place where a text stops making sense."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from evalc.diagnostics.catalogue.syntax_grammar import Unexpected, UnterminatedPattern, UnterminatedText
from evalc.diagnostics.problem import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalc.grammar.lalr import Stumble

_WORD: Final = re.compile(r"[^\W\d][\w-]*")
_FOUND: Final = re.compile(
    r"""[^\W\d][\w-]*|[0-9]+(?:\.[0-9]+)?|"[^"\\\r\n]*"?|'[^'\\\r\n]*'?|[<>=!&|]+|\.+|[\s\S]""",
)
_LONGEST_SHOWN: Final = 40

_SPOKEN: Final[Mapping[str, tuple[str, ...]]] = {
    "$END": ("the end",),
    "NAME": ("a name",),
    "CHECK_NAME": ("the name of a check",),
    "STRING": ("a text in quotes",),
    "NUMBER": ("a number",),
    "REGEXP": ("a pattern `/.../`",),
    "PATH": ("a path such as `items[0].title`",),
    "PARAM": ("a parameter's name",),
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


def word_at(text: str, at: int) -> str | None:
    """The word that begins at an offset, if one does."""
    word = _WORD.match(text, at)
    return word.group() if word else None


def unexpected(text: str, stumble: Stumble, expected: tuple[str, ...]) -> Fault:
    """The fault at a stumble: something unexpected, or a text or pattern that is not closed."""
    at = stumble.at
    found = _FOUND.match(text, at)
    if found is None:
        return Fault(at, at, Unexpected(expected=expected, found=""))
    if text[at] in "\"'" and "STRING" in stumble.expected:
        return Fault(at, at + 1, UnterminatedText(quote=text[at]))
    if text[at] == "/" and "REGEXP" in stumble.expected and text[at + 1 : at + 2] != "/":
        return Fault(at, at + 1, UnterminatedPattern())
    return Fault(at, found.end(), Unexpected(expected=expected, found=_shown(found.group())))


def _shown(found: str) -> str:
    """The found text, short and printable."""
    if len(found) == 1 and not found.isprintable():
        return f"U+{ord(found):04X}"
    return found if len(found) <= _LONGEST_SHOWN else found[: _LONGEST_SHOWN - 3] + "..."
