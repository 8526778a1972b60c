"""Draws compositions that hold, of checks that hold or do not: `any_of`, `all_of`, `not`, to a depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from hypothesis import strategies as st

from tests.properties.drawing.checks import FAILING, MANY, ONCE, Draw, Spelt, about, chosen
from tests.properties.drawing.worlds import RESOLVED, World

Op = Literal["any_of", "all_of"]
DEPTH = 2


def holding(draw: Draw, world: World, depth: int = DEPTH, *, within: bool = False) -> Spelt:
    """A check, often a composition, that holds of the answer; within others that are not all asserted, a limit too."""
    match chosen(draw, ("leaf", "any_of", "all_of", "not") if depth else ("leaf",)):
        case "any_of":
            others = [_either(draw, world, depth - 1) for _ in range(draw(st.integers(1, 2)))]
            at = draw(st.integers(0, len(others)))
            return group(draw, "any_of", [*others[:at], holding(draw, world, depth - 1, within=True), *others[at:]])
        case "all_of":
            return group(draw, "all_of", [holding(draw, world, depth - 1, within=within) for _ in range(2)])
        case "not":
            return negated(draw, failing(draw, world, depth - 1, within=within))
        case _:
            makers = {**MANY, **about(world), **(ONCE if within else {})}
            # An alternative that is skipped for its token does not hold.
            resolved = replace(world, tokens=world.tokens[:RESOLVED]) if within else world
            return makers[chosen(draw, sorted(makers))](draw, resolved)


def failing(draw: Draw, world: World, depth: int, *, within: bool) -> Spelt:
    """A check that does not hold of the answer, and could of another; what is negated twice stands for itself."""
    match chosen(draw, ("leaf", "leaf", "any_of", "not") if depth else ("leaf",)):
        case "any_of":
            return group(draw, "any_of", [failing(draw, world, depth - 1, within=True) for _ in range(2)])
        case "not":
            return negated(draw, holding(draw, world, depth - 1, within=within))
        case _:
            return FAILING[chosen(draw, sorted(FAILING))](draw, world)


def _either(draw: Draw, world: World, depth: int) -> Spelt:
    return holding(draw, world, depth, within=True) if draw(st.booleans()) else failing(draw, world, depth, within=True)


def group(draw: Draw, op: Op, parts: Sequence[Spelt]) -> Spelt:
    """The parts together; in the mapping each keeps a spelling of its own."""
    word = " or " if op == "any_of" else " and "
    line = word.join(_operand(part, parts) for part in parts)
    mapping: Any = {op: [part.mapping if draw(st.booleans()) else part.line for part in parts]}
    return Spelt({"type": op, "checks": [part.record for part in parts]}, mapping, line)


def negated(draw: Draw, part: Spelt) -> Spelt:
    """The opposite, whose mapping holds the part as it is or as a list of one."""
    inner = part.mapping if draw(st.booleans()) else part.line
    mapping: Any = {"not": inner if draw(st.booleans()) else [inner]}
    return Spelt({"type": "not", "check": part.record}, mapping, f"not {_operand(part, ())}")


def _operand(part: Spelt, beside: Sequence[Spelt]) -> str:
    """A part within a line. Beside checks of the run, one of the response says that it is one."""
    if part.record["type"] in ("any_of", "all_of", "not"):
        return f"({part.line})"
    return f"response {part.line}" if not part.of_run and any(other.of_run for other in beside) else part.line
