"""Texts for a terminal: made safe, measured, shortened and painted; counts in words, and excerpts for messages.

And messages about a line, as GitHub Actions and SARIF read them.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TextIO, TypeVar

from evalc.base.files import below_working_folder

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
_PAINT: Final = re.compile(r"\x1b\[[\d;]*m")
_BEGIN: Final = re.compile(r"(?: |\x1b\[[\d;]*m)*")
_SPACE: Final = re.compile(r" (?![^` ][^`]{,34}`(?![^ ;,.:)]))")
"""A space at which a line may be broken: none between two backticks that hold a short command."""
_JOINERS: Final = "\u200c\u200d"
"""Invisible characters that belong to ordinary words and emoji, and that no terminal obeys."""


def painted(text: str, color: Color, *, on: bool) -> str:
    """The text in a colour, or as it is when colours are off."""
    return f"\x1b[{_CODES[color]}m{text}\x1b[0m" if on and text else text


_NAMES_ARE_UTF_8: Final = sys.getfilesystemencoding() == "utf-8"
"""Else Python reads the names of files as ASCII, and their other bytes as surrogates."""


def visible(text: str) -> str:
    r"""The text on one line, with every character that a terminal would obey or hide written as an escape.

    Line ends and tabs become `\n` and `\t`; controls, text direction marks and lone surrogates their number in
    hexadecimal.
    """
    if text.isprintable():
        return text
    if not _NAMES_ARE_UTF_8:
        with suppress(UnicodeError):
            text = text.encode("utf-8", "surrogateescape").decode()
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


def cut_in_middle(text: str, width: int, ellipsis: str = "…") -> str:
    """The text, cut in its middle so that it takes at most `width` columns: names differ at their ends."""
    if cells(text) <= width:
        return text
    end = text
    while cells(end) > (width - cells(ellipsis)) // 2:
        end = end[1:]
    return shortened(text, max(width - cells(end), cells(ellipsis)), ellipsis) + end


def wrapped(text: str, width: int, margin: str = "", hanging: str | None = None) -> Iterator[str]:
    """The text in lines of at most `width` columns, broken between words; a longer word has a line of its own.

    `margin` begins the first line, and `hanging` the others, by default as many spaces as the margin has columns.
    Paint takes no room, and a command in backticks is one word.
    """
    begin, line = margin, ""
    room = width - cells(margin)
    for word in _SPACE.split(text):
        size = cells(_PAINT.sub("", word) if "\x1b" in word else word)
        if line and size + 1 > room:
            yield f"{begin}{line}".rstrip()
            begin, line = " " * cells(margin) if hanging is None else hanging, word
            room = width - cells(begin) - size
        else:
            room -= size + bool(line)
            line = f"{line} {word}" if line else word
    yield f"{begin}{line}".rstrip()


def fitted(line: str, width: int) -> Iterator[str]:
    """A line of a screen, painted or not, broken between words where it is wider than `width` columns.

    What goes on is indented by two columns more.
    """
    begin = _BEGIN.match(line)
    margin = begin.group() if begin is not None else ""
    indentation = " " * margin.count(" ")
    for number, part in enumerate(wrapped(line[len(margin) :], width, indentation, f"{indentation}  ")):
        yield part if number else f"{margin}{part[len(indentation) :]}"


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


def so_often(count: int) -> str:
    """The number of times: `once`, `3 times`."""
    return "once" if count == 1 else f"{count} times"


def first_of(items: Sequence[T], most: int, shown: Callable[[T], str] = str, separator: str = ", ") -> str:
    """The first items as texts, and how many more there are: `a, b and 3 more`."""
    listed = separator.join(map(shown, items[:most]))
    return f"{listed} and {len(items) - most} more" if len(items) > most else listed


def in_common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(one), len(other)))


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


# --- messages about a line -------------------------------------------------------------------------------------------


def annotation(
    level: Literal["error", "warning", "notice"], properties: Mapping[str, str], lines: Iterable[str]
) -> str:
    """One command, without a line end. The lines are its message. Controls are written as escapes, everywhere."""
    shown = ",".join(f"{name}={_escaped_property(visible(value))}" for name, value in properties.items())
    message = "\n".join(map(visible, lines))
    return f"::{level} {shown}::{_escaped(message)}"


def _escaped(text: str) -> str:
    """Escape a text so that the runner of a workflow reads back exactly it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_PLACEHOLDER: Final = re.compile(r"\{(\d+)\}")


def message_text(text: str) -> str:
    """The text as a message: nothing in it is taken for a link or a placeholder."""
    return _PLACEHOLDER.sub(r"{{\1}}", sound(text).replace("](", r"\]("))


def shown_path(path: Path) -> str:
    """The path as the working folder sees it, where it lies below."""
    return visible(str(below_working_folder(path)))


def artifact_location(name: str) -> dict[str, str]:
    """The file's place: relative to the working folder where it lies below, as a link is written."""
    from urllib.parse import quote  # noqa: PLC0415 - for start-up

    path = below_working_folder(Path(name))
    written = quote(_bytes_of(path.as_posix()), safe="/")
    return {"uri": f"file://{written}"} if path.is_absolute() else {"uri": written, "uriBaseId": "%SRCROOT%"}


def sound(text: str) -> str:
    """The text without lone surrogates, which readers of JSON refuse."""
    return text.encode("utf-8", "backslashreplace").decode()


def _bytes_of(name: str) -> bytes:
    try:
        return os.fsencode(name)
    except UnicodeEncodeError:  # a name that no file has
        return name.encode("utf-8", "backslashreplace")
