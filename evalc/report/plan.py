"""Writes the plan of a run, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from evalc.model.numbers import shown_confidence
from evalc.model.plan import GatePlan, Option, Plan, SuitePlan
from evalc.model.suite import suite_title
from evalc.terminal import counted, visible


def plan_lines(plan: Plan) -> Iterator[str]:
    """A paragraph a suite: its size, what its gate needs, what so many cases can show."""
    for suite in plan.suites:
        yield visible(suite_title(suite.tool_name, suite.tier, None))
        yield f"  {_size(suite)}"
        if suite.gate is not None:
            yield f"  {_gate(suite.gate, suite.cases)}"
        for number, option in enumerate(suite.options):
            yield f"  {_option(option, now=not number)}"
        yield ""
    costs = "no earlier run says what a case costs" if plan.costs_of is None else f"costs are those of {plan.costs_of}"
    yield f"regressions at {shown_confidence(plan.confidence)} unless a suite says otherwise; {costs}"


def _size(suite: SuitePlan) -> str:
    attempts = "" if suite.attempts == suite.cases else f", {counted(suite.attempts, 'attempt')}"
    return f"{counted(suite.cases, 'case')}{attempts}"


def _gate(gate: GatePlan, cases: int) -> str:
    sure = "" if gate.confidence is None else f" at {shown_confidence(gate.confidence)}"
    holds = "never holds" if gate.holds_from is None else f"holds from {gate.holds_from} of {cases} passes on"
    fails = "never fails" if gate.fails_to is None else f"fails up to {gate.fails_to}"
    return f"a pass rate of {gate.limit:g}{sure} {holds}, and {fails}"


def _option(option: Option, *, now: bool) -> str:
    cases = "this many cases" if now else f"{option.cases} cases"
    cost = "" if option.cost_usd is None else f"; ${option.cost_usd:.4g}"
    if option.changed is None or option.smallest is None:
        return f"{cases}: no regression can be shown{cost}"
    likely = "" if option.likely is None else f"; one of {100 * option.likely:.3g} % shows four times in five"
    shown = f"a regression shows once {counted(option.changed, 'case')} got worse ({100 * option.smallest:.3g} %)"
    return f"{cases}: {shown}{likely}{cost}"
