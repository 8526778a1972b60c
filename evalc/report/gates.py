"""The lines about gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

import msgspec

from evalc.model.numbers import shown_confidence
from evalc.model.result import GateResult, RunSummary, Summary
from evalc.report.numbers import counted, rounded
from evalc.report.reported import ReportedRun


def gate_line(gate: GateResult) -> str:
    """What was measured, and what is asked for: `pass rate 0.85, at least 0.9 is needed`; and how sure that is."""
    return _measured(gate) + _certainty(gate)


def _certainty(gate: GateResult) -> str:
    if gate.confidence is msgspec.UNSET or gate.verdict is msgspec.UNSET:
        return ""
    sure = f"at {shown_confidence(gate.confidence)}"
    if gate.verdict != "undecided":
        return f": it {gate.verdict} {sure}"
    if gate.gate == "failOnRegression":
        return f": no more than chance {sure}"
    more = gate.more_cases
    would = f"; about {counted(more, 'case')} more would decide" if isinstance(more, int) else ""
    return f": undecided {sure}{would}"


def _measured(gate: GateResult) -> str:
    value = gate.value
    match gate.gate:
        case "minPassRate":
            return f"pass rate {_share(value, gate.limit)}, at least {gate.limit:g} is needed"
        case "minScore":
            return f"score {_share(value, gate.limit)}, at least {gate.limit:g} is needed"
        case "maxP95Ms":
            measured = "unknown" if value is None else f"{value:.12g}ms"
            return f"95 % of the cases within {measured}, at most {gate.limit:.12g}ms are allowed"
        case "failOnRegression":
            measured = "regressions unknown" if value is None else counted(int(value), "regression")
            return f"{measured}, none is allowed"
        case "recall" | "precision":
            return f"{gate.gate} of `{gate.label}` {_share(value, gate.limit)}, at least {gate.limit:g} is needed"
        case "macroF1":
            return f"macro F1 {_share(value, gate.limit)}, at least {gate.limit:g} is needed"
        case _:
            assert_never(gate.gate)


def not_met(run: ReportedRun) -> Iterator[str]:
    """The gates and thresholds of the run and its suites that are not met."""
    for result in [suite.result for suite in run.suites]:
        for gate in result.gates or ():
            if not gate.passed:
                yield f"{run.title_of(result)}: {gate_line(gate)}"
    yield from run.below
    yield from (gate_line(gate) for gate in run.gates if not gate.passed)


def failed_all_the_same(gates: Sequence[GateResult], summary: Summary | RunSummary) -> str | None:
    """That cases failed though every gate is met, and why no gate minds; None where it is not so.

    Cases that broke are not meant: they fail a run whatever its gates say.
    """
    failed = summary.failed - summary.errors
    if not failed or not gates or not all(gate.passed for gate in gates):
        return None
    by_rate = any(gate.gate == "minPassRate" for gate in gates)
    why = "the pass rate allows for" if by_rate else "no gate counts"
    return f"{counted(failed, 'case')} failed, which {why}"


def _share(value: float | None, limit: float) -> str:
    return "unknown" if value is None else f"{float(rounded(value, limit)):.12g}"
