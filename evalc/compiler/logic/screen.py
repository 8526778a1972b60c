"""From the checks of a case to whether each is plainly nothing to the others, told before any formula is built.

Most checks of most cases ask for some text, or for something that no other check speaks of. Of those it is enough to
compare the texts; of all others the formulas tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evalc.compiler.patterns import examine
from evalc.model import checks as c

_BY_THEMSELVES: Final = frozenset((c.Latency, c.Cost, c.Tokens, c.NoToolErrors, c.Judge, c.Custom))
"""The kinds of checks that tell nothing of checks of another kind, and are told nothing by them."""


def are_unrelated(checks: Iterable[c.Check]) -> bool:
    """Whether no check contradicts, repeats or implies another one for certain; `False` means "not known"."""
    kinds: set[type] = set()
    spoken_of: list[str] = []
    for check in checks:
        kind = type(check)
        if kind in _BY_THEMSELVES:
            if kind in kinds:
                return False
            kinds.add(kind)
            continue
        texts = _texts(check)
        if texts is None:
            return False
        for text in texts:
            for other in spoken_of:
                if text in other or other in text:
                    return False
        spoken_of += texts
    return True


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
