"""Checks of the tool calls: which, in what order, how many, with what parameters, and whether they failed."""

from __future__ import annotations

from collections import Counter

import msgspec

from evalc.ecma.tokens import Unresolved, resolve
from evalc.ecma.values import UNDEFINED, to_string
from evalc.model import checks as c
from evalc.runtime.checks.texts import matches, resolved_members, with_dropped, within
from evalc.runtime.checks.verdict import NOT_APPLICABLE, PASSED, Evidence, Note, Verdict, broken, failed, skipped
from evalc.runtime.checks.wording import bracketed, listed, quoted, shown


def tools_called(check: c.ToolsCalled, evidence: Evidence) -> Verdict:
    """Contract, 1. toolsCalled: the names, in call order."""
    names = tuple(call.name for call in evidence.tool_calls)
    if names == check.names:
        return PASSED
    return failed(f"expected {bracketed(check.names)} but got {bracketed(names)}")


def tools_acceptable(check: c.ToolsAcceptable, evidence: Evidence) -> Verdict:
    """Contract, 1. toolsAcceptable: sets of names, whatever their order and number."""
    names = tuple(call.name for call in evidence.tool_calls)
    called = set(names)
    if any(called == _acceptable(names) for names in check.sets):
        return PASSED
    expected = shown(" or ".join("no tool" if not _acceptable(names) else bracketed(names) for names in check.sets))
    return failed(f"expected {expected or 'one of no sets'} but got {bracketed(names)}")


def _acceptable(names: tuple[str, ...]) -> set[str]:
    return set() if names == (c.NO_TOOL,) else set(names)


def tools_not_called(check: c.ToolsNotCalled, evidence: Evidence) -> Verdict:
    """Contract, 1. toolsNotCalled."""
    names = tuple(call.name for call in evidence.tool_calls)
    for forbidden in check.names:
        if forbidden in names:
            return failed(f"expected no call of {quoted(forbidden)} but got {bracketed(names)}")
    return PASSED


def tools_include(check: c.ToolsInclude, evidence: Evidence) -> Verdict:
    """At least these calls, each name as often as it is listed."""
    names = [call.name for call in evidence.tool_calls]
    missing = tuple((Counter(check.names) - Counter(names)).elements())
    if not missing:
        return PASSED
    return failed(f"expected at least {bracketed(check.names)} but got {bracketed(names)}: {_missing(missing)}")


def _missing(names: tuple[str, ...]) -> str:
    return f"{bracketed(names)} {'is' if len(names) == 1 else 'are'} missing"


def tools_in_order(check: c.ToolsInOrder, evidence: Evidence) -> Verdict:
    """These calls as a subsequence of all."""
    calls = iter(evidence.tool_calls)
    for index, name in enumerate(check.names):
        if not any(call.name == name for call in calls):
            names = [call.name for call in evidence.tool_calls]
            after = f" after {bracketed(check.names[:index])}" if index else ""
            got = f"{bracketed(names)}: no {quoted(name)}{after}"
            return failed(f"expected {bracketed(check.names)} in this order but got {got}")
    return PASSED


def tools_only(check: c.ToolsOnly, evidence: Evidence) -> Verdict:
    """No call of any other tool."""
    other = next((call.name for call in evidence.tool_calls if call.name not in check.names), None)
    if other is None:
        return PASSED
    names = [call.name for call in evidence.tool_calls]
    return failed(f"expected only {bracketed(check.names)} but got {bracketed(names)}: {quoted(other)} is another tool")


def tool_count(check: c.ToolCount, evidence: Evidence) -> Verdict:
    """The number of calls, both bounds inclusive."""
    return within(len(evidence.tool_calls), check.min, check.max, "tool calls")


def no_tool_errors(evidence: Evidence) -> Verdict:
    """Contract, 3. noToolErrors: with stubs by their names, without execution nothing, else every call's success.

    An agent that names its calls but never says how they ended leaves nothing to check: not applicable, with a note.
    """
    if evidence.stubs is not None:
        return _only_stubbed_tools(evidence)
    if evidence.tool_mode == "routing":
        return NOT_APPLICABLE
    for call in evidence.tool_calls:
        if call.success is False:
            return failed(f"expected no failing tool call but {quoted(call.name)} failed")
    if any(call.success is None for call in evidence.tool_calls):
        fact = "noToolErrors: the agent does not say whether its tool calls succeeded"
        return Verdict(outcome="not_applicable", notes=(Note(fact, "not checked"),))
    return PASSED


def _only_stubbed_tools(evidence: Evidence) -> Verdict:
    stubs = evidence.stubs or {}
    notes: tuple[Note, ...] = ()
    if evidence.tool_mode == "executed":
        fact = "noToolErrors: the case has stubs, and the agent runs its tools itself"
        notes = (Note(fact, "checked by the names of the stubs"),)
    for call in evidence.tool_calls:
        if call.name not in stubs:
            message = f"expected only tools with a stub but {quoted(call.name)} has none"
            return Verdict(outcome="failed", message=message, notes=notes)
        if call.arguments is not None:
            found = quoted(call.arguments)
            return failed(f"expected a JSON object as arguments of {quoted(call.name)} but got {found}")
    return Verdict(outcome="passed", score=1.0, notes=notes)


async def tool_param(check: c.ToolParam, evidence: Evidence) -> Verdict:
    """Contract, 2. toolParams, of the first call of the tool; nothing if it was not called."""
    call = next((call for call in evidence.tool_calls if call.name == check.tool), None)
    if call is None:
        return NOT_APPLICABLE
    name = shown(f"{check.tool}.{check.param_name}")
    if check.assertion in ("exists", "notExists"):
        return _param_exists(check, name, check.param_name in call.params)
    actual = to_string(call.params.get(check.param_name, UNDEFINED))
    if check.assertion == "oneOf":
        return _param_one_of(check, name, actual, evidence)
    if not isinstance(check.value, str):
        return broken(f"{name} {check.assertion}: the value to compare with must be one text")
    value = resolve(check.value, evidence.seed, evidence.snapshot)
    if isinstance(value, Unresolved):
        return skipped(value.tokens)
    return await _compare_param(check.assertion, name, actual, value)


def _param_exists(check: c.ToolParam, name: str, exists: bool) -> Verdict:
    if exists == (check.assertion == "exists"):
        return PASSED
    return failed(f"expected {name} to be sent but it was not" if not exists else f"expected no {name} but it was sent")


def _param_one_of(check: c.ToolParam, name: str, actual: str, evidence: Evidence) -> Verdict:
    if check.value is None:
        return broken(f"{name} oneOf: there is no list to look in")
    members = (check.value,) if isinstance(check.value, str) else check.value
    values, unresolved = resolved_members(members, evidence)
    if not values and unresolved:
        return skipped(unresolved)
    if actual in values:
        return with_dropped(PASSED, unresolved)
    return with_dropped(failed(f"expected {name} to be one of {listed(values)} but got {quoted(actual)}"), unresolved)


async def _compare_param(assertion: c.ParamAssertion, name: str, actual: str, value: str) -> Verdict:
    match assertion:
        case "equals":
            holds, verb = actual == value, "equal"
        case "contains":
            holds, verb = value in actual, "contain"
        case _:
            return await matches(value, "", actual, name)
    if holds:
        return PASSED
    return failed(f"expected {name} to {verb} {quoted(value)} but got {quoted(actual)}")


# --- answers that do not say which tools were called -----------------------------------------------------------------


def misnamed_calls(key: str) -> Verdict:
    """The answer has its calls under a key that evalc does not read: whatever the check says would be wrong."""
    named = shown(key)
    return broken(
        f"the answer has `{named}` and no `toolCalls`: call it `toolCalls`, or map it "
        f"(`agent.response.toolCalls` in the configuration)"
    )


def with_calls_unknown(verdict: Verdict) -> Verdict:
    """The verdict on an answer that does not mention tools, which counts as calling none."""
    note = Note("the agent reports no tool calls (its answers have no `toolCalls`)", "checked as if there were none")
    return msgspec.structs.replace(verdict, notes=(*verdict.notes, note))
