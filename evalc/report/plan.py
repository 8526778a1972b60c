"""Writes the plan of a run, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from evalc.base.terminal import counted, visible
from evalc.model.numbers import shown_confidence
from evalc.model.reports import GatePlan, NoisePlan, Option, Plan, SuitePlan
from evalc.model.suite import key_of


def plan_lines(plan: Plan) -> Iterator[str]:
    """A paragraph a suite: its size, what its gate needs, what so many cases can show."""
    for suite in plan.suites:
        yield visible(key_of(suite).title())
        yield f"  {_size(suite)}"
        if suite.gate is not None:
            yield f"  {_gate(suite.gate, suite.cases)}"
        yield f"  {_noise(suite.noise)}"
        for number, option in enumerate(suite.options):
            yield f"  {_option(option, suite.noise, now=not number)}"
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


def _noise(noise: NoisePlan) -> str:
    """How much the verdicts vary by themselves, and how that is known."""
    varies = f"{_percent(noise.flips)} of the verdicts change between two runs of the same agent"
    match noise.source:
        case "attempts":
            return f"noise: {varies}, as {noise.of} attempts of an earlier run show; {_percent(noise.passes)} pass"
        case "runs":
            return f"noise: {varies}, as {noise.of} verdicts of earlier runs show; {_percent(noise.passes)} pass"
        case "assumed":
            why = "assumed, since too few earlier runs tell: each case passes nine times in ten"
            return f"noise: {varies} ({why}); `evalc run --repeat 5` measures it"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _option(option: Option, noise: NoisePlan, *, now: bool) -> str:
    cases = "this many cases" if now else f"{option.cases} cases"
    cost = "" if option.cost_usd is None else f"; ${option.cost_usd:.4g}"
    if option.changed is None or option.smallest is None:
        return f"{cases}: no regression can be shown{cost}"
    worse = counted(option.changed, "case")
    shown = f"a regression shows once {worse} got worse ({_percent(option.smallest)}) and none better"
    if option.likely is None:
        return f"{cases}: {shown}; with this noise, none shows four times in five{cost}"
    fall = f"from {_percent(noise.passes)} to {_percent(noise.passes - option.likely)} of passes"
    return f"{cases}: {shown}; with this noise, a fall {fall} shows four times in five{cost}"
