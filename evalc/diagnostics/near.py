"""Finds the known name that is nearest to a misspelt one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, NamedTuple

_DIGITS_OF_LETTERS: Final = str.maketrans("OIL", "011")
"""In a code a letter that looks like a digit is a likelier typo than another digit."""
_LONGEST: Final = 80
_SHORTEST: Final = 4
"""Shorter words are not taken for mistyped: each has many others near it."""
_MOST_LEFT_OUT: Final = 3
"""How many letters at the end of a word may be left out: `gold` is `golden`."""
_NEGATIONS: Final = frozenset(("not", "non", "never", "none"))
_OTHER_WORDS: Final = frozenset(("charts", "falsey", "falsy", "last", "links", "lost", "strong"))
"""Words that are not mistyped: `falsy` is not `false`, and `links` are not `lines`."""
_WORD: Final = re.compile(r"[^\W_A-Z]+|[A-Z]+[^\W_A-Z]*")


class Typo(NamedTuple):
    """A name as it was written, and the known name that was probably meant.

    An empty `written` is the whole place; without one, `meant` is missing before the place.
    """

    written: str | None
    meant: str

    @property
    def question(self) -> str:
        """As messages put it."""
        return f"did you mean `{self.meant}`?"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or None if none is near.

    Case and the difference between `-`, `_`, a space and camelCase are overlooked.
    """
    if len(name) > _LONGEST:
        return None
    by_fold: dict[str, str] = {}
    for candidate in known:
        by_fold.setdefault(_fold(candidate), candidate)
    matches = get_close_matches(_fold(name), by_fold, n=1, cutoff=0.7)
    return by_fold[matches[0]] if matches else None


def nearest_of(name: str, known: Iterable[str], most: int) -> tuple[str, ...]:
    """The known names from which `name` differs by a third of its letters at most, the nearest first."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - for start-up: only for a mistake

    near = get_close_matches(name[:_LONGEST], list(known), n=most, cutoff=0.5)
    return tuple(each for each in near if 3 * OSA.distance(_fold(name), _fold(each)) <= len(name))


def typo_of(name: str, known: Iterable[str]) -> Typo | None:
    """The name and the known name that may be put in its place; None if there is none.

    It has every word of the name, up to typing mistakes: `icontains`, `not_contains` and `tool_error_count` are not
    offered as `contains` and `tool_count`, which would drop what changes the meaning.
    """
    if len(name) > _LONGEST:
        return None
    near = [(mistakes, each) for each in known if (mistakes := _mistakes(name, each)) is not None]
    return Typo(name, min(near, key=lambda found: found[0])[1]) if near else None


def _mistakes(name: str, known: str) -> int | None:
    """How many typing mistakes turn the known name into the name; None if they are not the same words."""
    written, meant = _words(name), _words(known)
    joined = "".join(written), "".join(meant)
    if not all(joined):
        return None
    if joined[0] == joined[1]:
        return 0
    if len(written) > len(meant) or _NEGATIONS.intersection(written) != _NEGATIONS.intersection(meant):
        return None
    if len(written) < len(meant):  # `testcase` lacks what separates the words of `test_cases`
        return _mistakes_of_word(*joined)
    found = [_mistakes_of_word(*words) for words in zip(written, meant, strict=True)]
    return sum(filter(None, found)) if None not in found else None


def _mistakes_of_word(written: str, meant: str) -> int | None:
    if written == meant:
        return 0
    shortest, longest = sorted((len(written), len(meant)))
    if longest < _SHORTEST or shortest < _SHORTEST - 1 or longest > _LONGEST or {written, meant} & _NEGATIONS:
        return None
    if written in _OTHER_WORDS:
        return None
    if written[0] != meant[0]:
        return None  # a letter in front may negate a word, or change whether case counts
    if re.findall(r"\d", written) != re.findall(r"\d", meant):
        return None
    from rapidfuzz.distance import OSA  # noqa: PLC0415 - for start-up: only for a mistake

    mistakes = OSA.distance(written, meant)
    if written == f"{meant}a":
        return None  # an article that ran into the word: `containsa number` describes a text
    most = _MOST_LEFT_OUT if meant.startswith(written) else 1 if written.startswith(meant) else max(longest // 4, 1)
    return mistakes if mistakes <= most else None


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean X?`, or an empty text if nothing is near."""
    typo = typo_of(name, known)
    return "" if typo is None else typo.question


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
