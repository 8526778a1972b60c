"""Checks of calls: which of them answers which of several checks, which failed, and what they gave back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from evalc.check.tree import All, Call, Check, Failure, Not, Of, Result, Test, Turn
from evalc.model.answer import ToolCall
from evalc.model.json import MISSING
from evalc.runtime.checks.verdict import NOT_APPLICABLE, PASSED, Evidence, Found, Note, Verdict, View, broken, failed
from evalc.runtime.checks.wording import quoted, shown, so_often

_SILENT: Final = "the agent does not say whether its tool calls succeeded"

# --- which call answers which check ----------------------------------------------------------------------------------


def of_turn(turn: Turn, beside: Sequence[Check]) -> tuple[Check, ...]:
    """Of the checks of a case those of one turn."""
    return tuple([check.check for check in beside if isinstance(check, Of) and check.step == turn])


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
        case Of(step):
            return isinstance(step, Result | Failure)
        case Test(predicate):
            return predicate == "fails"
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
        free = None
        for each in queue:  # who has a call that this one could have may take another one
            for call in fits[each]:
                if call not in asked_by:
                    asked_by[call] = each
                    if call not in taken:
                        free = call
                        break
                    queue.append(taken[call])
            if free is not None:
                break
        while free is not None:
            each = asked_by[free]
            before = given.get(each)
            taken[free], given[each] = each, free
            free = before
    return set(given)


def all_taken(tool: str, calls: int) -> Verdict:
    """Each of the calls that would do is taken by another check."""
    return failed(
        f"expected a call of {quoted(tool)} for itself, but other checks take each of the calls that would do: "
        f"it was called {so_often(calls)}"
    )


# --- how calls ended -------------------------------------------------------------------------------------------------


def no_errors(_: Test, view: View) -> Found:
    """Contract, 3. noToolErrors: with stubs by their names, without execution nothing, else every call's success.

    An agent that names its calls but never says how they ended leaves nothing to check: not applicable, with a note.
    """
    evidence = view.evidence
    found = errors(evidence)
    if isinstance(found, Verdict):
        return found
    if found:
        return _words(found[0], evidence)
    if evidence.stubs is None:
        return True
    return msgspec.structs.replace(PASSED, notes=_notes(evidence))


def _words(call: ToolCall, evidence: Evidence) -> Found:
    if evidence.stubs is None:
        return f"expected no failing tool call but {quoted(call.name)} failed"
    if call.name in evidence.stubs:
        found = quoted(call.arguments or "")
        return f"expected a JSON object as arguments of {quoted(call.name)} but got {found}"
    message = f"expected only tools with a stub but {quoted(call.name)} has none"
    return Verdict(outcome="failed", message=message, notes=_notes(evidence))


def _notes(evidence: Evidence) -> tuple[Note, ...]:
    if evidence.tool_mode != "executed":
        return ()
    fact = "noToolErrors: the case has stubs, and the agent runs its tools itself"
    return (Note(fact, "checked by the names of the stubs"),)


def errors(evidence: Evidence) -> list[ToolCall] | Verdict:
    """The calls that failed: with stubs those that have none or whose arguments are no object."""
    if evidence.stubs is not None:
        return [call for call in evidence.tool_calls if call.name not in evidence.stubs or call.arguments is not None]
    if evidence.tool_mode == "routing":
        return NOT_APPLICABLE
    found = [call for call in evidence.tool_calls if call.success is False]
    if not found and any(call.success is None for call in evidence.tool_calls):
        return _unknown("noToolErrors")
    return found


def fails(_: Test, view: View) -> Found:
    """Whether a call failed, as the agent says; without execution nothing."""
    if view.evidence.tool_mode == "routing":
        return NOT_APPLICABLE
    success = view.value.success
    return _unknown("fails") if success is None else not success or "it did not fail"


def _unknown(what: str) -> Verdict:
    return Verdict(outcome="not_applicable", notes=(Note(f"{what}: {_SILENT}", "not checked"),))


def result_of(call: ToolCall) -> Any:
    """The result of a call; `MISSING` if it failed, a verdict if the agent does not say."""
    if call.result is not msgspec.UNSET:
        return call.result
    return MISSING if call.success is False else _unsaid("result", "what its tools gave back")


def failure_of(call: ToolCall) -> Any:
    """The error of a call; `MISSING` if it did not fail, a verdict if the agent does not say."""
    if call.error is not msgspec.UNSET:
        return call.error
    return MISSING if call.success else _unsaid("error", "why its tool calls failed")


def _unsaid(key: str, what: str) -> Verdict:
    return broken(f"the agent does not say {what} (map it by `agent.response.{key}` in the configuration)")


# --- answers that do not say which tools were called -----------------------------------------------------------------


def misnamed(key: str) -> Verdict:
    """The answer has its calls under a key that evalc does not read: whatever the check says would be wrong."""
    return broken(
        f"the answer has `{shown(key)}` and no `toolCalls`: call it `toolCalls`, or map it "
        f"(`agent.response.toolCalls` in the configuration)"
    )


def with_calls_unknown(verdict: Verdict) -> Verdict:
    """The verdict on an answer that does not mention tools, which counts as calling none."""
    note = Note("the agent reports no tool calls (its answers have no `toolCalls`)", "checked as if there were none")
    return msgspec.structs.replace(verdict, notes=(*verdict.notes, note))
