"""From the verdict on a gate to the line about it."""

from __future__ import annotations

import math
from typing import assert_never

from evalc.model.result import GateResult
from evalc.report.numbers import counted


def gate_line(gate: GateResult) -> str:
    """What was measured, and what is asked for: `pass rate 0.85, at least 0.9 is needed`."""
    value = gate.value
    match gate.gate:
        case "minPassRate":
            return f"pass rate {_share(value)}, at least {gate.limit:g} is needed"
        case "minScore":
            return f"score {_share(value)}, at least {gate.limit:g} is needed"
        case "maxP95Ms":
            measured = "unknown" if value is None else f"{value:.12g}ms"
            return f"95 % of the cases within {measured}, at most {gate.limit:.12g}ms are allowed"
        case "failOnRegression":
            measured = "regressions unknown" if value is None else counted(int(value), "regression")
            return f"{measured}, none is allowed"
        case _:
            assert_never(gate.gate)


def _share(value: float | None) -> str:
    """Four digits, rounded down: what reads as the limit meets it."""
    return "unknown" if value is None else f"{math.floor(value * 10_000 + 1e-9) / 10_000:g}"
