"""From the totals of a suite to what its repeated cases say: pass@k and pass^k."""

from __future__ import annotations

from msgspec import UNSET

from evalc.model.result import Summary
from evalc.report.numbers import counted, rounded


def repeats_line(summary: Summary) -> str | None:
    """The chances of one attempt and of as many as there were, on a line; None where no case is repeated."""
    if summary.repeats is UNSET or not summary.repeats:
        return None
    once, most = summary.repeats[0], summary.repeats[-1]
    parts = [f"pass@1 {rounded(once.pass_at_k)}"]
    if most.k > 1:
        parts += [f"pass@{most.k} {rounded(most.pass_at_k)}", f"pass^{most.k} {rounded(most.pass_hat_k)}"]
    fewer = "" if most.cases == once.cases else f", {most.k} attempts at {most.cases} of them"
    return f"{' | '.join(parts)} over {counted(once.cases, 'repeated case')}{fewer}"
