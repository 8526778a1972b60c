"""Evaluates `any_of`, `all_of` and `not` from the verdicts of their operands.

Operands that are skipped or do not apply are left out. An operand that ended in error makes the whole an error, unless
the others decide the verdict without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import msgspec

from evalc.model import checks as c
from evalc.model.json import to_json
from evalc.runtime.checks.verdict import NOT_APPLICABLE, PASSED, Verdict, failed, skipped
from evalc.runtime.checks.wording import shown

Evaluate = Callable[[c.Check], Awaitable[Verdict]]


async def any_of(check: c.AnyOf, evaluate: Evaluate) -> Verdict:
    """At least one of the operands holds."""
    reached: list[tuple[c.Check, Verdict]] = []
    for operand in check.checks:
        verdict = await evaluate(operand)
        reached.append((operand, verdict))
        if verdict.outcome == "passed":
            holds = msgspec.structs.replace(PASSED, verifies=verdict.verifies)
            return _with_what_was_met(holds, (verdict for _, verdict in reached))
    reasons = "; ".join(_reason(operand, verdict) for operand, verdict in reached if verdict.outcome == "failed")
    return _unsettled(reached, failed(f"expected one of {len(check.checks)} checks to hold but none does: {reasons}"))


async def all_of(check: c.AllOf, evaluate: Evaluate) -> Verdict:
    """All of the operands hold."""
    reached: list[tuple[c.Check, Verdict]] = []
    for operand in check.checks:
        verdict = await evaluate(operand)
        reached.append((operand, verdict))
        if verdict.outcome == "failed":
            verdicts = (verdict for _, verdict in reached)
            return _with_what_was_met(failed(_reason(operand, verdict), verdict.finding), verdicts)
    verifies = any(verdict.verifies for _, verdict in reached if verdict.outcome == "passed")
    return _unsettled(reached, msgspec.structs.replace(PASSED, verifies=verifies))


async def negation(check: c.Not, evaluate: Evaluate) -> Verdict:
    """The operand does not hold; where that is unknown, so is this."""
    verdict = await evaluate(check.check)
    match verdict.outcome:
        case "passed":
            what = shown(to_json(check.check).decode("utf-8", "replace"))
            return _with_what_was_met(failed(f"expected this not to hold but it does: {what}"), (verdict,))
        case "failed":
            return _with_what_was_met(PASSED, (verdict,))
        case _:
            return verdict


def _unsettled(reached: list[tuple[c.Check, Verdict]], otherwise: Verdict) -> Verdict:
    """No operand settled it: an error is one, nothing left is skipped, and the rest decides."""
    verdicts = [verdict for _, verdict in reached]
    for operand, verdict in reached:
        if verdict.outcome == "error":
            error = Verdict(outcome="error", message=_reason(operand, verdict))
            return _with_what_was_met(error, verdicts)
    outcomes = {verdict.outcome for verdict in verdicts}
    if outcomes & {"passed", "failed"} or not outcomes:
        return _with_what_was_met(otherwise, verdicts)
    if "skipped" in outcomes:
        return skipped(tuple(token for verdict in verdicts for token in verdict.skipped_tokens))
    return _with_what_was_met(NOT_APPLICABLE, verdicts)


def _with_what_was_met(verdict: Verdict, operands: Iterable[Verdict]) -> Verdict:
    """The verdict on the whole, with the unresolved tokens and the notes of the operands."""
    met = tuple(operands)
    return msgspec.structs.replace(
        verdict,
        skipped_tokens=tuple(token for operand in met for token in operand.skipped_tokens),
        notes=tuple(dict.fromkeys(note for operand in met for note in operand.notes)),
    )


def _reason(operand: c.Check, verdict: Verdict) -> str:
    return f"{operand.named}: {verdict.message}"
