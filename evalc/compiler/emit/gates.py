"""From the gates that an author wrote to those of the model, numbers that no suite could have reported and left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evalc.diagnostics.catalogue.values import OutOfRange
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.tree import GatesTree, Num
from evalc.model.gates import Gates
from evalc.source import Source


class OutsideRange(NamedTuple):
    """A gate whose number is outside of its range: its key in compiled files, and what is wrong."""

    key: str
    finding: OutOfRange


def gates_of(source: Source, tree: GatesTree | None, problems: Diagnostics) -> Gates | None:
    """The gates; None where nothing is asked."""
    if tree is None:
        return None
    gates = Gates(
        min_pass_rate=_number(source, tree.min_pass_rate, "min_pass_rate", problems),
        min_score=_number(source, tree.min_score, "min_score", problems),
        max_p95_ms=_number(source, tree.max_p95_ms, "max_p95_ms", problems),
        fail_on_regression=tree.fail_on_regression or None,
    )
    return gates or None


def _number(source: Source, number: Num | None, name: str, problems: Diagnostics) -> int | float | None:
    if number is None:
        return None
    finding = _outside(name, number.value, share=name != "max_p95_ms")
    if finding is not None:
        problems.add(source, number.span, finding)
    return None if finding is not None else number.value


def outside_range(gates: Gates) -> Iterator[OutsideRange]:
    """The gates of a compiled file whose numbers are outside of their ranges."""
    for key, value in (
        ("minPassRate", gates.min_pass_rate),
        ("minScore", gates.min_score),
        ("maxP95Ms", gates.max_p95_ms),
    ):
        finding = None if value is None else _outside(key, value, share=key != "maxP95Ms")
        if finding is not None:
            yield OutsideRange(key, finding)


def _outside(name: str, value: float, *, share: bool) -> OutOfRange | None:
    allowed = "between 0 and 1" if share else "above 0"
    fits = 0 <= value <= 1 if share else value > 0
    return None if fits else OutOfRange(what=f"`{name}`", value=f"{value}", allowed=allowed)
