"""Estimates how often the verdicts of cases differ between two runs of the same agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

_FEWEST: Final = 30
"""The attempts, or pairs of verdicts, below which nothing is estimated."""


class Noise(NamedTuple):
    """How the verdicts of an agent vary between runs though nothing has changed.

    Attributes:
        passes: the share of the cases that pass.
        flips: the share whose verdict differs between two runs.
        of: how many attempts, or pairs of verdicts, it was seen in; 0 where it is assumed.
    """

    passes: float
    flips: float
    of: int = 0


ASSUMED: Final = Noise(passes=0.9, flips=0.18)
"""The noise of an agent that passes each case nine times in ten, by chance: 2 * 0.9 * 0.1 of the verdicts differ."""


def noise_of_attempts(cases: Iterable[tuple[int, int]]) -> Noise | None:
    """The noise of verdicts that are single attempts, from the attempts at each case and how many of them passed.

    Two of the n attempts at a case, c of which passed, differ with a chance of 2c(n - c) / n(n - 1). None if
    there are too few.
    """
    repeated = [(attempts, passed) for attempts, passed in cases if attempts > 1]
    of = sum(attempts for attempts, _ in repeated)
    if of < _FEWEST:
        return None
    passes = sum(passed / attempts for attempts, passed in repeated)
    flips = sum(2 * passed * (attempts - passed) / (attempts * (attempts - 1)) for attempts, passed in repeated)
    return Noise(passes / len(repeated), flips / len(repeated), of)


def noise_of_verdicts(pairs: Iterable[tuple[bool, bool]]) -> Noise | None:
    """The noise of verdicts, from those of the same cases in two runs each. None if there are too few."""
    known = list(pairs)
    if len(known) < _FEWEST:
        return None
    passes = sum(before + after for before, after in known) / 2
    return Noise(passes / len(known), sum(before != after for before, after in known) / len(known), len(known))
