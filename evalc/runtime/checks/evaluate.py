"""Evaluates any check: follows its steps to its subject, and tests the predicate there.

A check holds, does not hold, or cannot be asked, which fails, and so does its negation. `and`, `or`, `any`, `every` and
`no` can be asked where the parts that can be asked decide them; a place that one of several items or calls lacks
counts as not holding there. Operands of `and` and `or` that are skipped or do not apply are left out. An operand that
ended in error makes the whole an error, unless the others decide the verdict without it.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Final, Literal

import msgspec

from evalc.check.tree import All, Call, Check, Failure, Measure, Not, Of, Result, Some, Test, Tools, Turn
from evalc.runtime.checks import words
from evalc.runtime.checks.ask import tested
from evalc.runtime.checks.subjects import Several, led_to
from evalc.runtime.checks.verdict import (
    NOT_APPLICABLE,
    PASSED,
    Beside,
    Note,
    Verdict,
    View,
    broken,
    failed,
    skipped,
    unasked,
)
from evalc.runtime.checks.words import quoted, shown, so_often

_MOST_SHOWN: Final = 3


def evaluate(check: Check, view: View, *, negated: bool = False) -> Coroutine[Any, Any, Verdict]:
    """Evaluate one check of a subject, which for a whole check is the response (`View.of`)."""
    while not isinstance(check, Test):  # along the steps to a test, or to checks that are joined
        if isinstance(check, Not):
            check, negated = check.check, not negated
            continue
        if isinstance(check, Of):
            step = check.step
            is_about_calls = step.of in _COUNTED if isinstance(step, Measure) else type(step) in _REPORTED
            if is_about_calls and not view.evidence.reports_calls and view.fault is None:
                return _with_calls_unknown(check, view, negated=negated)
            subject = led_to(step, view)
            if isinstance(subject, View):
                check, view = check.check, subject
                continue
            return _joined(check, view, subject, negated=negated)
        return _joined(check, view, None, negated=negated)
    is_about_calls = check.predicate in _GROUNDED and "tools" in check.operand
    if is_about_calls and not view.evidence.reports_calls and view.fault is None:
        return _with_calls_unknown(check, view, negated=negated)
    return tested(check, view, negated=negated)


_REPORTED: Final = frozenset({Tools, Call})
_COUNTED: Final = frozenset({"calls", "errors"})
"""The steps and the measures that lead to what an agent reports of its calls."""
_GROUNDED: Final = frozenset({"numbers_from", "quotes_from"})
"""The predicates that may look at what calls gave back."""


async def _with_calls_unknown(check: Check, view: View, *, negated: bool) -> Verdict:
    """The verdict on an answer that does not mention tools, which counts as calling none."""
    key = view.evidence.near_calls
    if key is not None:  # the calls are under a key that is not read: whatever the check says would be wrong
        how = "call it `toolCalls`, or map it (`agent.response.toolCalls` in the configuration)"
        return broken(f"the answer has `{shown(key)}` and no `toolCalls`: {how}")
    evidence = msgspec.structs.replace(view.evidence, reports_calls=True)
    verdict = await evaluate(check, msgspec.structs.replace(view, evidence=evidence), negated=negated)
    note = Note("the agent reports no tool calls (its answers have no `toolCalls`)", "checked as if there were none")
    return msgspec.structs.replace(verdict, notes=(*verdict.notes, note))


async def _joined(check: Of | Some | All, view: View, several: Several | None, *, negated: bool) -> Verdict:
    """The verdict on a check of several subjects, or on several checks of one."""
    if isinstance(check, Of):
        assert several is not None  # noqa: S101
        verdict = await _of_several(check, several, view.beside)
    elif view.fault is not None:
        return view.fault
    elif isinstance(check, Some):
        verdict = await _composed(check.checks, view, "passed", negated=negated)
    elif view.in_call:
        verdict = await _together(check, view)
    else:
        verdict = await _composed(check.checks, view, "failed")
    return _inverted(verdict, check) if negated else verdict


# --- compositions ----------------------------------------------------------------------------------------------------


async def _composed(
    checks: Sequence[Check], view: View, decisive: Literal["passed", "failed"], *, negated: bool = False
) -> Verdict:
    """`and`, which a failure decides, or `or`, which a pass decides."""
    met: list[Verdict] = []
    for check in checks:
        verdict = await evaluate(check, view)
        met.append(verdict)
        if verdict.outcome == decisive and verdict.asked:
            whole = failed(_reason(check, verdict), verdict.finding) if decisive == "failed" else _passed(met)
            return _with_what_was_met(whole, met)
    if error := _first(met, "error"):
        return _with_what_was_met(error, met)
    doubtful = next((each for each in zip(checks, met, strict=True) if not each[1].asked), None)
    if doubtful and decisive == "failed":
        return _with_what_was_met(unasked(_reason(*doubtful)), met)
    if met and not _first(met, "passed", "failed"):
        if _first(met, "skipped"):
            return skipped(tuple(token for verdict in met for token in verdict.skipped_tokens))
        return _with_what_was_met(NOT_APPLICABLE, met)
    if decisive == "failed":
        return _with_what_was_met(_passed(met), met)
    if doubtful and negated:
        return _with_what_was_met(unasked(_reason(*doubtful)), met)
    fail = unasked if doubtful else failed
    why = "; ".join(_reason(*each) for each in zip(checks, met, strict=True) if each[1].outcome == "failed")
    return _with_what_was_met(fail(f"expected one of {len(checks)} checks to hold but none does: {why}"), met)


def _reason(check: Check, verdict: Verdict) -> str:
    """The reason why a part does not hold, with the turn that it is about."""
    turn = check.step if isinstance(check, Of) else None
    return f"turn {turn.number}: {verdict.message}" if isinstance(turn, Turn) else verdict.message or ""


def _passed(met: Sequence[Verdict]) -> Verdict:
    return msgspec.structs.replace(PASSED, verifies=any(each.verifies for each in met if each.outcome == "passed"))


def _inverted(verdict: Verdict, check: Check) -> Verdict:
    """The verdict on the negation; a verdict on what cannot be asked or is unknown stays as it is."""
    if verdict.outcome == "passed":
        return _with_what_was_met(failed(words.holds_though(check)), (verdict,))
    return _with_what_was_met(PASSED, (verdict,)) if verdict.outcome == "failed" and verdict.asked else verdict


def _with_what_was_met(verdict: Verdict, met: Sequence[Verdict]) -> Verdict:
    """The verdict on the whole, with the unresolved tokens and the notes of the operands."""
    return msgspec.structs.replace(
        verdict,
        skipped_tokens=tuple(token for operand in met for token in operand.skipped_tokens),
        notes=tuple(dict.fromkeys(note for operand in met for note in operand.notes)),
    )


# --- items and calls -------------------------------------------------------------------------------------------------


async def _of_several(check: Of, several: Several, beside: Beside) -> Verdict:
    """The verdict on any, every or no view; known views may decide it although others are unknown."""
    if several.which == "every" and not several.views:
        return NOT_APPLICABLE
    met = [_of_one(await _together(check.check, each)) for each in several.views]
    decisive = "failed" if several.which == "every" else "passed"
    at = next((index for index, verdict in enumerate(met) if verdict.outcome == decisive and verdict.asked), None)
    if at is None:
        if error := _first(met, "error"):
            return error
        doubtful = next((index for index, verdict in enumerate(met) if not verdict.asked), None)
        if doubtful is not None:
            is_any = several.which == "any"
            return unasked(_none_of(several, met) if is_any else _in(several.views[doubtful], met[doubtful]))
        if unknown := _first(met, "skipped", "not_applicable"):
            return unknown
        return PASSED if several.which != "any" else failed(_none_of(several, met))
    if several.which == "every":
        return failed(_in(several.views[at], met[at]), met[at].finding)
    if several.which == "no":
        return failed(f"expected no such {several.noun} but {words.one_of_several(several.views[at])}")
    return await _with_a_call_of_its_own(check, met, several.views, beside)


async def _together(check: Check, view: View) -> Verdict:
    """The verdict on all parts of a check of one view: one unknown part makes the whole unknown."""
    met = [await evaluate(part, view) for part in _parts(check)]
    if not isinstance(check, All):
        return met[0]
    met = [_of_one(verdict) for verdict in met]
    fails = next((verdict for verdict in met if verdict.outcome == "failed" and verdict.asked), None)
    return fails or _first(met, "error", "failed", "skipped", "not_applicable") or PASSED


def _of_one(verdict: Verdict) -> Verdict:
    """The verdict on one of several items or calls, or on a part of it: a missing place counts as not holding."""
    return failed(verdict.message) if verdict.absent else verdict


def _first(met: Sequence[Verdict], *outcomes: str) -> Verdict | None:
    return next((verdict for outcome in outcomes for verdict in met if verdict.outcome == outcome), None)


def _none_of(several: Several, met: Sequence[Verdict]) -> str:
    if not several.views:
        return several.nothing
    reasons = "; ".join(_in(view, verdict) for view, verdict in zip(several.views[:_MOST_SHOWN], met, strict=False))
    article = "an" if several.noun == "item" else "a"
    return f"expected such {article} {several.noun} but {reasons}" if several.noun else reasons


def _in(view: View, verdict: Verdict) -> str:
    """The reason why a view does not hold; the parts of a call are named without the call."""
    return f"in {view.name} {verdict.message}" if view.kind == "call" else verdict.message or ""


# --- a call for each check -------------------------------------------------------------------------------------------


async def _with_a_call_of_its_own(check: Of, met: Sequence[Verdict], made: Sequence[View], beside: Beside) -> Verdict:
    """The verdict if some call fits, although other checks of the case may take every call that does."""
    rivals = _rivals(check, beside.checks)
    mine = {index for index, rival in enumerate(rivals) if rival is check}
    if not mine:
        return PASSED
    own = [at for at, verdict in enumerate(met) if verdict.outcome == "passed"]
    fits = [own if rival is check else await _that_fit(rival, made, beside) for rival in rivals]
    if mine <= matched(fits):
        return PASSED
    others = f"other checks take each of the calls that would do: it was called {so_often(len(made))}"
    return failed(f"expected a call of {quoted(made[0].value.name)} for itself, but {others}")


async def _that_fit(rival: Of, made: Sequence[View], beside: Beside) -> list[int]:
    """The calls that fit another check; none if that check cannot be decided, which its own verdict reports."""
    if id(rival) not in beside.fits:
        outcomes = [(await _together(rival.check, each)).outcome for each in made]
        is_decided = {"passed", "failed"}.issuperset(outcomes)
        beside.fits[id(rival)] = [at for at, outcome in enumerate(outcomes) if is_decided and outcome == "passed"]
    return beside.fits[id(rival)]


def _rivals(check: Of, beside: Sequence[Check]) -> list[Of]:
    """The checks of a case that each take a call of this check's tool for themselves, in their order.

    They are the lines about the arguments of any call; one within a composition takes none.
    """
    if not isinstance(check.step, Call):
        return []
    same = (each for each in beside if isinstance(each, Of) and each.step == check.step)
    return [each for each in same if not any(map(_is_about_result, _parts(each.check)))]


def _parts(check: Check) -> Sequence[Check]:
    return check.checks if isinstance(check, All) else (check,)


def _is_about_result(check: Check) -> bool:
    match check:
        case Not(inner):
            return _is_about_result(inner)
        case Of(Result() | Failure()) | Test("fails"):
            return True
        case _:
            return False


def matched(fits: Sequence[Sequence[int]]) -> set[int]:
    """The expectations that get a call of their own, as many as possible; `fits` are the calls that fit each.

    If two compete for the last call, the first gets it, unless fewer would then be matched.
    """
    taken: dict[int, int] = {}  # calls, and by whom each is taken
    given: dict[int, int] = {}  # the same the other way round
    for expectation in range(len(fits)):
        asked_by: dict[int, int] = {}
        queue = [expectation]
        for each in queue:  # who has a call that this one could have may take another one
            calls = [call for call in fits[each] if call not in asked_by]
            asked_by |= dict.fromkeys(calls, each)
            free = next((call for call in calls if call not in taken), None)
            if free is not None:
                break
            queue += [taken[call] for call in calls]
        while free is not None:
            each = asked_by[free]
            taken[free], given[each], free = each, free, given.get(each)
    return set(given)
