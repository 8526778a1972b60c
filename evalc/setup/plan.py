"""Plans a run: what its cases can show, and what they cost by an earlier run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final, Literal

from evalc.base.errors import UsageError
from evalc.compare.rates import (
    ASSUMED,
    Noise,
    fewest_changes,
    likely_regression,
    noise_of_verdicts,
    passes_needed,
    passes_to_fail,
    passes_to_hold,
)
from evalc.config import Settings
from evalc.model.case import Gates
from evalc.model.numbers import USUAL_CONFIDENCE
from evalc.model.reports import GatePlan, NoisePlan, Option, Plan, SuitePlan
from evalc.model.suite import KnownSuites, Suite, SuiteKey
from evalc.runtime.run.again_load import load_run
from evalc.runtime.run.attempts import skipped_case
from evalc.runtime.store.runs import LATEST, PastResult, earlier_verdicts, find_results, of_attempts, pairs_of
from evalc.setup.request import ToRun

_TIMES: Final = (1, 2, 4)

_Costs = Mapping[SuiteKey, float]
"""The costs of an attempt at a case by suite, in US dollars."""


def plan_of(what: ToRun, settings: Settings) -> Plan:
    """The plan of what would be run.

    How sure what is shown has to be, the settings say, else each suite, else it is 95 %. The gates of the run as a
    whole hold for suites without any.
    """
    confidence, rate, output_dir = settings.confidence, settings.min_pass_rate, settings.results_folder
    gates = None if rate is None else Gates(min_pass_rate=rate, confidence=confidence)
    known = KnownSuites((suite.key, suite.tool_name) for suite in what.suites)
    run_id, costs = _costs_of_latest(output_dir, known)
    sure = USUAL_CONFIDENCE if confidence is None else confidence
    earlier = earlier_verdicts(output_dir, known)
    suites = tuple(_plan_of(suite, costs, earlier.get(suite.key, ()), confidence, gates) for suite in what.suites)
    return Plan(confidence=sure, costs_of=run_id, suites=suites)


def _plan_of(
    suite: Suite,
    costs: _Costs,
    earlier: Sequence[PastResult],
    confidence: float | None,
    of_run: Gates | None,
) -> SuitePlan:
    own = suite.metadata.gates if suite.metadata is not None else None
    gates = own or of_run
    said = None if gates is None else gates.confidence
    sure = confidence or said or USUAL_CONFIDENCE
    repeats = [located.case.repeat or 1 for located in suite.cases if skipped_case(located.case) is None]
    cases, attempts = len(repeats), sum(repeats)
    cost = costs.get(suite.key)
    whole = None if cost is None else cost * attempts
    noise = _noise(earlier, single=attempts == cases)
    return SuitePlan(
        suite=suite.name,
        tool_name=suite.tool_name,
        tier=suite.tier,
        cases=cases,
        attempts=attempts,
        gate=None if gates is None or gates.min_pass_rate is None else _gate(gates.min_pass_rate, cases, said),
        noise=noise,
        options=tuple(
            _option(cases * times, sure, noise, None if whole is None else whole * times) for times in _TIMES
        ),
    )


def _gate(limit: float, cases: int, confidence: float | None) -> GatePlan:
    if confidence is None:
        needed = passes_needed(cases, limit) if cases else None
        return GatePlan(limit=limit, confidence=None, holds_from=needed, fails_to=needed - 1 if needed else None)
    return GatePlan(
        limit=limit,
        confidence=confidence,
        holds_from=passes_to_hold(cases, limit, confidence),
        fails_to=passes_to_fail(cases, limit, confidence),
    )


def _noise(earlier: Sequence[PastResult], *, single: bool) -> NoisePlan:
    """How much the verdicts vary: as attempts of the newest run that has several do, else as those of earlier runs.

    The earlier verdicts are the newest first; `single` says that each case runs once, so that its verdict is that of an
    attempt.
    """
    repeated = (of_attempts(run) for run in earlier) if single else iter(())
    attempts = next(filter(None, repeated), None)
    if attempts is not None:
        return _noise_plan("attempts", attempts)
    runs = noise_of_verdicts(pairs_of(earlier, single=single))
    return _noise_plan("assumed", ASSUMED) if runs is None else _noise_plan("runs", runs)


def _noise_plan(source: Literal["attempts", "runs", "assumed"], noise: Noise) -> NoisePlan:
    return NoisePlan(source=source, passes=noise.passes, flips=noise.flips, of=noise.of)


def _option(cases: int, confidence: float, noise: NoisePlan, cost_usd: float | None) -> Option:
    changed = fewest_changes(confidence)
    shown = changed <= cases
    return Option(
        cases=cases,
        changed=changed if shown else None,
        smallest=changed / cases if shown else None,
        likely=likely_regression(cases, confidence, Noise(noise.passes, noise.flips)) if shown else None,
        cost_usd=cost_usd,
    )


def _costs_of_latest(output_dir: Path, known: KnownSuites) -> tuple[str | None, _Costs]:
    """The costs of the cases of the newest run, judges included; empty if no run says."""
    try:
        run, _ = load_run(find_results(LATEST, output_dir))
    except UsageError:
        return None, {}
    found: dict[SuiteKey, float] = {}
    for suite in run.suites:
        costs = [
            sum(usage.get("costUsd", 0.0) for usage in (case.details.usage, case.details.judge_usage) if usage)
            / len(case.attempts or (None,))
            for case in suite.cases
            if case.details.usage and "costUsd" in case.details.usage
        ]
        if costs:
            found |= dict.fromkeys(known.candidates(suite.result), fmean(costs))
    return (run.run_id if found else None), found
