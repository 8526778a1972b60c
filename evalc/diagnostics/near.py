"""Finds the known name that is nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

_DIGITS_OF_LETTERS: Final = str.maketrans("OIL", "011")
"""In a code a letter that looks like a digit is a likelier slip than another digit."""


class Slip(NamedTuple):
    """A name as it was written, and the known name that was probably meant; `written` may be empty at a key's place."""

    written: str
    meant: str

    @property
    def question(self) -> str:
        """As messages put it."""
        return f"did you mean `{self.meant}`?"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None if none is near.

    Case and the difference between `-`, `_`, a space and camelCase are overlooked.
    """
    if len(name) > 80:
        return None
    by_fold: dict[str, str] = {}
    for candidate in known:
        by_fold.setdefault(_fold(candidate), candidate)
    matches = _close_matches(_fold(name), list(by_fold), 1, 0.7)
    return by_fold[matches[0]] if matches else None


def nearest_of(name: str, known: Iterable[str], most: int) -> tuple[str, ...]:
    """The known names that are somewhat like `name`, the nearest first."""
    return tuple(_close_matches(name[:80], list(known), most, 0.5))


def _close_matches(name: str, known: list[str], most: int, cutoff: float) -> list[str]:
    from difflib import get_close_matches  # noqa: PLC0415 - for start-up: only for a mistake

    return get_close_matches(name, known, n=most, cutoff=cutoff)


def same_spelling(name: str, known: Iterable[str]) -> str | None:
    """The one known name that differs from `name` only in case and separators; None if there is not exactly one.

    Both are the same name to whoever wrote it, so that the known one may be put in the place of the other.
    """
    fold = _fold(name) if len(name) <= 80 else ""
    same = {candidate for candidate in known if fold and _fold(candidate) == fold}
    return same.pop() if len(same) == 1 and name not in same else None


def slip_of(name: str, known: Iterable[str]) -> Slip | None:
    """The name and the known name nearest to it; None if none is near."""
    near = nearest(name, known)
    return None if near is None else Slip(name, near)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean X?`, or an empty text if nothing is near."""
    slip = slip_of(name, known)
    return "" if slip is None else slip.question


def as_code(text: str) -> str:
    """A text as codes are spelt: `ev203`, `203` and `EV2O3` are `EV203`."""
    code = text.strip().upper()
    digits = code.removeprefix("EV").translate(_DIGITS_OF_LETTERS)
    return f"EV{digits}" if digits.isdecimal() else code


def listed(names: Iterable[str]) -> str:
    """The names in backticks, with commas: `a`, `b`, `c`."""
    return ", ".join(f"`{name}`" for name in names)


def _fold(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
