"""Reads tokens as values: texts with their escapes undone, numbers, regular expressions, paths.

What is wrong inside a token becomes a fault in the list that is handed along; the atom is then a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from evalc.diagnostics.problem import Fault, Finding
from evalc.grammar.nodes import PatternAtom, Text

if TYPE_CHECKING:
    from evalc.grammar.lalr import Token

MAX_DIGITS: Final = 15
"""The most digits of a number: so many are exact in every reader of JSON."""

_ESCAPE: Final = re.compile(r"\\(?:u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[\s\S])")
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_FLAGS: Final = frozenset("imsuv")
_LONGEST_ESCAPE: Final = len(r"\uD83D")


# --- texts -----------------------------------------------------------------------------------------------------------


def text_of(token: Token, faults: list[Fault]) -> Text:
    """A text in quotes, or a bare name."""
    value = str(token)
    if token[0] in "\"'":
        value = token[1:-1] if "\\" not in token else "".join(_unescaped(token, faults))
    return Text(token.start_pos, token.end_pos, value)


def trimmed(token: Token) -> Text:
    """The text of a token without the white space after it."""
    value = token.rstrip()
    return Text(token.start_pos, token.start_pos + len(value), value)


def offset_in_text(source: str, atom: Text | PatternAtom, index: int) -> int:
    """The offset, in the parsed text `source`, of the character at `index` of a text's value or of a pattern.

    An index at the end gives the offset after the last character.
    """
    if isinstance(atom, PatternAtom) and atom.literal:
        return atom.pattern_at + index
    value = atom.value if isinstance(atom, Text) else atom.pattern
    if atom.end - atom.start == len(value):  # quotes would make it longer
        return atom.start + index
    at, last = atom.start + 1, atom.end - 1
    while index > 0 and at < last:
        at += _width(source, at)
        index -= 1
    return at


def _width(source: str, at: int) -> int:
    """How many characters of `source` make the one character of the value at `at`."""
    escape = _ESCAPE.match(source, at)
    return 1 if escape is None or source.startswith("{{", at + 1) else len(escape.group())


def _unescaped(token: Token, faults: list[Fault]) -> Iterator[str]:
    """The pieces of a quoted text's value.

    `\\{{` is kept unchanged: it is not an escape of the text but a template's literal `{{`.
    """
    done, end = 1, len(token) - 1
    for escape in _ESCAPE.finditer(token, done, end):
        at, written = escape.start(), escape.group()
        yield token[done:at]
        done = escape.end()
        character = _character(written)
        if character is not None:
            yield character
        elif token.startswith("{{", at + 1):
            yield written
        else:
            finding = Finding("EV133", escape=written, half=len(written) == _LONGEST_ESCAPE)
            faults.append(Fault(token.start_pos + at, token.start_pos + done, finding))
    yield token[done:end]


def _character(escape: str) -> str | None:
    """The character that an escape means; None for half of a surrogate pair and for an invalid escape."""
    if len(escape) == 2:
        return _ESCAPED.get(escape[1])
    try:
        return bytes.fromhex(escape.replace("\\u", "")).decode("utf-16-be")
    except UnicodeDecodeError:
        return None


# --- numbers ---------------------------------------------------------------------------------------------------------


def number_of(token: Token, faults: list[Fault], *, scale: float = 1) -> int | float:
    """A number that is not negative, times `scale`; whole numbers come out as integers."""
    if token[0] == "-" or len(token) > MAX_DIGITS:
        _report(token, "negative" if token[0] == "-" else "long", faults)
        return 0
    value = float(token)
    if scale != 1:
        value = round(value * scale, 6)  # 4.35 s are 4350 ms, not the nearest binary fraction
    return int(value) if value.is_integer() else value


def count_of(token: Token, faults: list[Fault]) -> int | float:
    """A whole number that is not negative; another number is reported."""
    number = number_of(token, faults)
    if isinstance(number, float):
        _report(token, "fraction", faults)
    return number


def signed_of(token: Token, faults: list[Fault]) -> int | float:
    """A number of JSON, which may be negative."""
    if len(token.removeprefix("-")) > MAX_DIGITS:
        _report(token, "long", faults)
        return 0
    return float(token) if "." in token else int(token)


def _report(token: Token, why: str, faults: list[Fault]) -> None:
    faults.append(Fault(token.start_pos, token.end_pos, Finding("EV136", number=str(token), why=why)))


# --- regular expressions ---------------------------------------------------------------------------------------------


def literal_of(token: Token, faults: list[Fault]) -> PatternAtom:
    """A `/pattern/flags` literal."""
    start, slash = token.start_pos, token.rindex("/")
    flags = token[slash + 1 :]
    faults.extend(_flag_faults(flags, start + slash + 1))
    return PatternAtom(start, token.end_pos, token[1:slash], start + 1, literal=True, flags="".join(sorted(flags)))


def pattern_of(text: Text) -> PatternAtom:
    """A pattern written as a text in quotes."""
    return PatternAtom(text.start, text.end, text.value, text.start + 1, literal=False)


def _flag_faults(flags: str, at: int) -> Iterator[Fault]:
    for index, flag in enumerate(flags):
        here = at + index
        if flag not in _FLAGS:
            yield Fault(here, here + 1, Finding("EV135", flag=flag, why="stateful" if flag in "gy" else "unknown"))
        elif flag in flags[:index]:
            yield Fault(here, here + 1, Finding("EV135", flag=flag, why="twice"))
        elif (flag == "u" and "v" in flags[:index]) or (flag == "v" and "u" in flags[:index]):
            yield Fault(here, here + 1, Finding("EV135", flag=flag, why="both"))
