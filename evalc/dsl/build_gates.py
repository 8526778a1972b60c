"""From `gates:` of a suite to what the suite has to reach as a whole."""

from __future__ import annotations

from typing import Final

from evalc.dsl.fields import Fields
from evalc.dsl.tree import GatesTree

GATE_KEYS: Final = ("min_pass_rate", "min_score", "max_p95_ms", "fail_on_regression")


def build_gates(fields: Fields) -> GatesTree | None:
    """The gates of a suite; None where it has none."""
    mapping = fields.mapping("gates")
    if mapping is None:
        return None
    gates = fields.inside(mapping, what="`gates`", keys=GATE_KEYS)
    tree = GatesTree(
        min_pass_rate=gates.number("min_pass_rate"),
        min_score=gates.number("min_score"),
        max_p95_ms=gates.number("max_p95_ms"),
        fail_on_regression=gates.boolean("fail_on_regression"),
    )
    fields.partial |= gates.partial
    return tree
