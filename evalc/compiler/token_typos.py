"""Finds text that is almost a `{{seed:...}}` or `{{snapshot:...}}` token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from evalc.diagnostics.near import nearest

_SOURCES: Final = ("seed", "snapshot")
_ALMOST: Final = re.compile(r"(?<!\\)\{\{\s*(?P<name>[A-Za-z_]{2,20})\s*:(?P<path>[^{}\n]{0,200})(?P<close>\}{0,2})")
_ODD_INDEX: Final = re.compile(r"\[(?![0-9]+\])[^\]]*\]?")


class AlmostAToken(NamedTuple):
    """A stretch of a text that is almost a token, and what was probably meant; empty if only the author knows."""

    start: int
    end: int
    text: str
    meant: str


def typos_in(text: str) -> Iterator[AlmostAToken]:
    """Texts that are almost tokens: the source is misspelt, a brace is missing, or an index is not a number."""
    for match in _ALMOST.finditer(text) if "{{" in text else ():
        name, path = match["name"], match["path"].strip()
        source = name if name in _SOURCES else nearest(name, _SOURCES)
        if source is None:
            continue
        odd_index = _ODD_INDEX.search(path)
        if name == source and match["close"] == "}}" and odd_index is None:
            continue
        meant = "" if odd_index is not None else f"{{{{{source}:{path}}}}}"
        yield AlmostAToken(match.start(), match.end(), match[0], meant)
