"""Checks of calls: which of them answers which of several checks, and which failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from evalc.check.tree import All, Call, Check, Failure, Not, Of, Result, Test
from evalc.model.answer import ToolCall
from evalc.runtime.checks.verdict import (
    NOT_APPLICABLE,
    PASSED,
    Evidence,
    Found,
    NoAnswer,
    Note,
    Verdict,
    View,
    unknown,
)
from evalc.runtime.checks.wording import quoted

_SILENT: Final = "the agent does not say whether its tool calls succeeded"

# --- which call answers which check ----------------------------------------------------------------------------------


def rivals(check: Of, beside: Sequence[Check]) -> list[Of]:
    """The checks of a case that each take a call of this check's tool for themselves, in their order.

    They are the lines about the arguments of any call; one within a composition takes none.
    """
    return [each for each in beside if isinstance(each, Of) and each.step == check.step and _takes_call(each)]


def _takes_call(check: Of) -> bool:
    parts = check.check.checks if isinstance(check.check, All) else (check.check,)
    return isinstance(check.step, Call) and check.step.which == "any" and not any(map(_is_about_result, parts))


def _is_about_result(check: Check) -> bool:
    match check:
        case Not(inner):
            return _is_about_result(inner)
        case Of(Result() | Failure()) | Test("fails"):
            return True
        case _:
            return False


def matched(fits: Sequence[Sequence[int]]) -> set[int]:
    """Of expectations and the calls that fit each, those that get a call of their own: as many as possible.

    Of two that want the last call the first gets it, where that leaves as many matched.
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


# --- how calls ended -------------------------------------------------------------------------------------------------


def no_errors(_: Test, view: View) -> Found:
    """Contract, 3. noToolErrors: with stubs by their names, without execution nothing, else every call's success.

    An agent that names its calls but never says how they ended leaves nothing to check: not applicable, with a note.
    """
    evidence = view.evidence
    failing = next(iter(errors(evidence)), None)
    if evidence.stubs is None:
        return failing is None or f"expected no failing tool call but {quoted(failing.name)} failed"
    if failing is not None and failing.name in evidence.stubs:
        found = quoted(failing.arguments or "")
        return f"expected a JSON object as arguments of {quoted(failing.name)} but got {found}"
    fact = "noToolErrors: the case has stubs, and the agent runs its tools itself"
    notes = (Note(fact, "checked by the names of the stubs"),) if evidence.tool_mode == "executed" else ()
    if failing is None:
        return msgspec.structs.replace(PASSED, notes=notes)
    message = f"expected only tools with a stub but {quoted(failing.name)} has none"
    return Verdict(outcome="failed", message=message, notes=notes)


def errors(evidence: Evidence) -> list[ToolCall]:
    """The calls that failed: with stubs those that have none or whose arguments are no object.

    Raises:
        NoAnswer: the tools were not executed, or the agent does not say.
    """
    if evidence.stubs is not None:
        return [call for call in evidence.tool_calls if call.name not in evidence.stubs or call.arguments is not None]
    _refuse_routing(evidence)
    found = [call for call in evidence.tool_calls if call.success is False]
    if not found and any(call.success is None for call in evidence.tool_calls):
        raise NoAnswer(unknown(f"noToolErrors: {_SILENT}"))
    return found


def fails(_: Test, view: View) -> Found:
    """Whether a call failed, as the agent says."""
    _refuse_routing(view.evidence)
    if view.value.success is None:
        raise NoAnswer(unknown(f"fails: {_SILENT}"))
    return not view.value.success or "it did not fail"


def _refuse_routing(evidence: Evidence) -> None:
    """Without execution nothing fails."""
    if evidence.tool_mode == "routing":
        raise NoAnswer(NOT_APPLICABLE)
