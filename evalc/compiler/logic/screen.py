"""Rules out checks that cannot bear on each other, before any formula is built.

Most checks of most cases ask for some text, or for something that no other check speaks of. Of those it is enough to
compare the texts; of all others the formulas tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evalc.compiler.patterns import examine
from evalc.model import checks as c
from evalc.model.checks.declaration import members

_BY_THEMSELVES: Final = frozenset(
    (c.Latency, c.Cost, c.Tokens, c.NoToolErrors, c.Judge, c.Custom, c.NumbersFrom, c.QuotesFrom)
)
"""The kinds of checks that tell nothing of checks of another kind, and are told nothing by them."""

_OF_CALLS: Final = frozenset(kind for kind in members(c.ToolCheck) if kind is not c.NoToolErrors)
"""The kinds that may tell of each other, and of nothing else."""


def are_unrelated(checks: Iterable[c.Check]) -> bool:
    """Whether no check contradicts, repeats or implies another one for certain; `False` means "not known"."""
    once: set[object] = set()
    spoken_of: list[str] = []
    length: c.Length | None = None
    for check in checks:
        kind = type(check)
        texts = _texts(check)
        if texts is None:
            if isinstance(check, c.Length):
                length = check
            elif kind not in _BY_THEMSELVES and kind not in _OF_CALLS and kind is not c.NonEmpty:
                return False
            group = _OF_CALLS if kind in _OF_CALLS else kind
            if group in once:
                return False
            once.add(group)
            continue
        for text in texts:
            for other in spoken_of:
                if text in other or other in text:
                    return False
        spoken_of += texts
    return length is None or _is_for_itself(length, spoken_of, non_empty=c.NonEmpty in once)


def _is_for_itself(length: c.Length, texts: Iterable[str], *, non_empty: bool) -> bool:
    """Whether none of the texts is too long for the most that is allowed, or brings the least that is asked for."""
    if length.unit != "chars":
        return False
    least, most = length.min or 0, length.max
    if most is None:
        return least > non_empty and all(len(text) < least for text in texts)
    return most >= 1 and all(len(text) <= most for text in texts)


def _texts(check: c.Check) -> tuple[str, ...] | None:
    """The texts, of which one is contained in one of another check where either tells of the other; None if unsure."""
    match check:
        case c.Contains() | c.NotContains():
            return None if "{{" in check.value else (check.value,)
        case c.Regex():
            examined = examine(check.pattern, check.flags)
            return None if "i" in check.flags or examined.literal else examined.required or None
        case c.ContainsAny():
            return None if not check.values or any("{{" in value for value in check.values) else check.values
        case _:
            return None
