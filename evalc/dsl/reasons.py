"""Reads a reason, such as why a case is skipped: the same in YAML, in the row of a table and in eval JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from evalc.diagnostics import Finding

_NO: Final = frozenset({"", "false", "no", "off", "null", "~"})
NO_REASONS: Final = ("true", "yes", "on", "none", "nil", "nan", "nat", "na", "undefined")
"""Words in cells of tables that say neither why nor no, as letters and digits: `<NA>` is `na`."""


def reason_of(text: str, key: str, fault: Callable[[Finding], object]) -> str | None:
    """The reason that a text gives; None if it says no. A text that says neither why nor no is reported.

    Tools that write tables fill cells with words of their own, which say neither that the row has nothing there nor
    that it has something.
    """
    word = text.strip().lower()
    number = _number(word)
    if word in _NO or number == 0:
        return None
    if number is not None or not _is_worded(word):
        fault(Finding("EV317", key=key, value=text.strip()))
        return None
    return text


def _is_worded(word: str) -> bool:
    """Whether there is something to read in it: at least a word of two letters, or the number of an issue (`#4711`)."""
    characters = "".join(filter(str.isalnum, word))
    if characters in _NO or characters in NO_REASONS:
        return False
    return word.startswith("#") or (len(characters) > 1 and any(map(str.isalpha, characters)))


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
