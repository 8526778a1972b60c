"""`Parsed`: the result of a parse, a node or the faults in its place."""

from __future__ import annotations

from typing import Final, Generic, NamedTuple, TypeVar

from evalc.diagnostics.problem import Fault

N = TypeVar("N")

MAX_FAULTS: Final = 20
"""How many faults of one text are reported."""

REMEMBERED: Final = 4_096
"""How many parses of each language are remembered: suites repeat themselves."""
LONGEST_REMEMBERED: Final = 1_000
"""The most characters of a text whose parse is remembered."""


class Parsed(NamedTuple, Generic[N]):
    """What a text parsed to: `node` is None exactly when there are faults. Offsets count from the text's start."""

    node: N | None
    faults: tuple[Fault, ...]


def parsed(node: N | None, faults: list[Fault]) -> Parsed[N]:
    """The node when there are no faults, else the first of the faults, in the order of their places."""
    return Parsed(None if faults else node, tuple(sorted(faults, key=_place)[:MAX_FAULTS]))


def _place(fault: Fault) -> tuple[int, int]:
    return fault.start, fault.end
