"""Texts for a terminal: made safe, measured, shortened and painted; counts in words, and excerpts for messages."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TextIO, TypeVar

T = TypeVar("T")

Color = Literal["red", "green", "yellow", "blue", "cyan", "bold", "dim"]

EXCERPT_LENGTH: Final = 200
"""How many characters of an offending body an error shows."""

_CODES: Final[dict[Color, str]] = {
    "red": "1;31",
    "green": "32",
    "yellow": "1;33",
    "blue": "1;34",
    "cyan": "36",
    "bold": "1",
    "dim": "2",
}
_JOINERS: Final = "\u200c\u200d"
"""Invisible characters that belong to ordinary words and emoji, and that no terminal obeys."""


def painted(text: str, color: Color, *, on: bool) -> str:
    """The text in a colour, or as it is when colours are off."""
    return f"\x1b[{_CODES[color]}m{text}\x1b[0m" if on and text else text


def visible(text: str) -> str:
    r"""The text on one line, with every character that a terminal would obey or hide written as an escape.

    Line ends and tabs become `\n` and `\t`; controls, text direction marks and lone surrogates their number in
    hexadecimal.
    """
    if text.isprintable():
        return text
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    # Zs are spaces, Cn what a newer Unicode may have named since, Co private symbols: none of them is obeyed.
    if unicodedata.category(character) in ("Zs", "Cn", "Co"):
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def cells(text: str) -> int:
    """How many columns of a terminal the text takes, once it is `visible`."""
    if text.isascii():
        return len(text)
    return sum(map(_character_cells, text))


@lru_cache(4096)
def _character_cells(character: str) -> int:
    if character in _JOINERS or unicodedata.category(character) in ("Mn", "Me") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def padded(text: str, width: int) -> str:
    """The text followed by the spaces that make it `width` columns wide."""
    return text + " " * (width - cells(text))


def shortened(text: str, width: int, ellipsis: str = "…") -> str:
    """The text, cut so that it and the ellipsis take at most `width` columns."""
    room = width - cells(ellipsis)
    if text.isascii():
        return text if len(text) <= width else text[:room] + ellipsis if room >= 0 else ""
    taken = 0
    cut = 0
    for index, character in enumerate(text):
        taken += _character_cells(character)
        if taken <= room:
            cut = index + 1
        elif taken > width:
            return text[:cut] + ellipsis if room >= 0 else ""
    return text


class Screen(NamedTuple):
    """Abilities of a stream: colours, columns, and more than ASCII."""

    color: bool = False
    width: int = 120
    unicode: bool = True

    @classmethod
    def of(cls, stream: TextIO, environ: Mapping[str, str]) -> Screen:
        """Detect the abilities of `stream`: colours on a terminal, and its own width, at least 40 columns.

        FORCE_COLOR asks for colours anywhere, NO_COLOR for none, and wins.
        """
        terminal = stream.isatty()
        can_color = bool(environ.get("FORCE_COLOR")) or (terminal and environ.get("TERM") != "dumb")
        return cls(
            color=can_color and not environ.get("NO_COLOR"),
            width=max(_terminal_width(stream, environ), 40) if terminal else cls().width,
            unicode=_encodes(stream, "═─✓✗→⚠█░…—"),
        )


def _terminal_width(stream: TextIO, environ: Mapping[str, str]) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns[:5]) > 0:
        return int(columns[:5])
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _encodes(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def counted(count: int, noun: str, plural: str = "s") -> str:
    """The count with its noun; `plural` is what the noun of any other count but 1 ends with."""
    return f"{count} {noun}{'' if count == 1 else plural}"


def first_of(items: Sequence[T], most: int, shown: Callable[[T], str] = str, separator: str = ", ") -> str:
    """The first items as texts, and how many more there are: `a, b and 3 more`."""
    listed = separator.join(map(shown, items[:most]))
    return f"{listed} and {len(items) - most} more" if len(items) > most else listed


def well_formed(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD; a pair written as two halves is joined."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def excerpt(body: bytes | str) -> str:
    """The beginning of a body, for an error message."""
    text = body if isinstance(body, str) else body[: 4 * EXCERPT_LENGTH + 4].decode(errors="replace")
    text = well_formed(text.strip())
    return text if len(text) <= EXCERPT_LENGTH else text[:EXCERPT_LENGTH] + "..."
