"""Evaluates any check: the one place that knows them all."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import assert_never

import msgspec

from evalc.base.terminal import counted
from evalc.model import checks as c
from evalc.runtime.checks import call_arguments, composition, grounding, json_checks, limits, texts, tools
from evalc.runtime.checks.custom import custom
from evalc.runtime.checks.json_checks import structure
from evalc.runtime.checks.judged import judged
from evalc.runtime.checks.similarity import similar
from evalc.runtime.checks.verdict import Evidence, Verdict, broken, failed


async def evaluate(check: c.Check, evidence: Evidence) -> Verdict:
    """Evaluate one check."""
    calls_unknown = not evidence.reports_calls and check.needs_calls
    if calls_unknown and evidence.near_calls is not None:
        return tools.misnamed_calls(evidence.near_calls)
    evaluated = _evaluate(check, evidence)
    verdict = evaluated if isinstance(evaluated, Verdict) else await evaluated
    return tools.with_calls_unknown(verdict) if calls_unknown else verdict


def _evaluate(  # noqa: C901 - a table, one line a check
    check: c.Check, evidence: Evidence
) -> Verdict | Awaitable[Verdict]:
    match check:
        case c.Contains():
            return texts.contains(check, evidence)
        case c.NotContains():
            return texts.not_contains(check, evidence)
        case c.Regex():
            return texts.regex(check, evidence)
        case c.ContainsAny():
            return texts.contains_any(check, evidence)
        case c.ToolsCalled():
            return tools.tools_called(check, evidence)
        case c.ToolParam():
            return tools.tool_param(check, evidence)
        case c.CallHas():
            return call_arguments.call_has(check, evidence)
        case c.NoToolErrors():
            return tools.no_tool_errors(evidence)
        case c.NonEmpty():
            return texts.non_empty(evidence)
        case c.ToolsAcceptable():
            return tools.tools_acceptable(check, evidence)
        case c.ToolsNotCalled():
            return tools.tools_not_called(check, evidence)
        case c.ToolsInclude():
            return tools.tools_include(check, evidence)
        case c.ToolsInOrder():
            return tools.tools_in_order(check, evidence)
        case c.ToolsOnly():
            return tools.tools_only(check, evidence)
        case c.ToolCount():
            return tools.tool_count(check, evidence)
        case c.IContains():
            return texts.icontains(check, evidence)
        case c.Equals():
            return texts.equals(check, evidence)
        case c.StartsWith():
            return texts.starts_with(check, evidence)
        case c.EndsWith():
            return texts.ends_with(check, evidence)
        case c.Length():
            return texts.length(check, evidence)
        case c.Json():
            return json_checks.json(check, evidence)
        case c.Structure():
            return structure(check, evidence)
        case c.Number():
            return json_checks.number(check, evidence)
        case c.Count():
            return json_checks.count(check, evidence)
        case c.Value():
            return json_checks.is_value(check, evidence)
        case c.NumbersFrom():
            return grounding.numbers_from(check, evidence)
        case c.QuotesFrom():
            return grounding.quotes_from(check, evidence)
        case c.Latency():
            return limits.latency(check, evidence)
        case c.Tokens():
            return limits.tokens(check, evidence)
        case c.Cost():
            return limits.cost(check, evidence)
        case c.Similar():
            return similar(check, evidence)
        case c.Custom():
            return custom(check, evidence)
        case c.Judge():
            return judged(check, evidence)
        case c.At():
            return _at(check, evidence)
        case c.InTurn():
            return _in_turn(check, evidence)
        case c.AnyOf():
            return composition.any_of(check, lambda operand: evaluate(operand, evidence))
        case c.AllOf():
            return composition.all_of(check, lambda operand: evaluate(operand, evidence))
        case c.Not():
            return composition.negation(check, lambda operand: evaluate(operand, evidence))
        case _:
            assert_never(check)


async def _at(check: c.At, evidence: Evidence) -> Verdict:
    """The check, made of one place of the response."""
    place = json_checks.place_of(check.path, evidence)
    if isinstance(place, Verdict):
        return place
    verdict = await evaluate(check.check, place)
    if verdict.message is None:
        return verdict
    finding = verdict.finding
    if finding is not None:
        finding = msgspec.structs.replace(finding, path=check.path) if finding.path is None else None
    return msgspec.structs.replace(verdict, message=f"{check.path}: {verdict.message}", finding=finding)


async def _in_turn(check: c.InTurn, evidence: Evidence) -> Verdict:
    """The check, made of one turn of the conversation."""
    if evidence.turn is not None:
        return broken("it is about a turn of a turn")
    # A case without follow-ups is a conversation of one turn.
    turns = evidence.turns or (msgspec.structs.replace(evidence, turn=1),)
    if check.turn > len(turns):
        return failed(f"the conversation ended after {counted(len(turns), 'turn')}")
    return await evaluate(check.check, turns[check.turn - 1])
