"""How much of the score a criterion is."""

from __future__ import annotations

from collections.abc import Sequence

from evalc.dsl.tree import CriterionTree


def share_of(criterion: CriterionTree, criteria: Sequence[CriterionTree]) -> str | None:
    """The share of all weights that a criterion has, in per cent; None where its suite has no sound weights."""
    weights = {each.name.value: 1.0 if each.weight is None else float(each.weight.value) for each in criteria}
    total = sum(weights.values())
    if total <= 0 or min(weights.values(), default=0) < 0:
        return None
    share = 100 * weights.get(criterion.name.value, 0.0) / total
    return f"{share:.0f} %" if abs(share - round(share)) < 0.05 else f"{share:.1f} %"
