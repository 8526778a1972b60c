"""Reads the answers that a journal has recorded, as they came from the agent."""

from __future__ import annotations

import msgspec

from evalc.model.answer import AgentAnswer, AgentResponse, AnsweredTurn, ToolCall, ToolMode, Usage
from evalc.model.result import CaseDetails, CaseResult, Status
from evalc.runtime.store import journaled


def recorded_answers(entry: journaled.Entry) -> tuple[AgentAnswer, ...]:
    """The answers of a case's line, one an attempt."""
    if entry.answers:
        return tuple(map(_answer, entry.answers))
    result = msgspec.json.decode(entry.result, type=CaseResult)
    only = journaled.RecordedAnswer(
        duration_ms=result.duration_ms,
        tool_mode=entry.tool_mode,
        error=result.error,
        timed_out=result.timed_out,
        details=result.details,
    )
    return (_answer(only),)


def _answer(recorded: journaled.RecordedAnswer) -> AgentAnswer:
    """What an attempt brought: a response, or the status and words of its absence, which stay."""
    details = recorded.details
    if details.response is None or recorded.tool_mode is None:
        error = recorded.error or "agent: no response was recorded"
        status: Status = "failed" if recorded.timed_out is True else "error"
        return AgentAnswer(recorded.duration_ms, None, status, error, _turns(details, None))
    response = _response(recorded, details.response, recorded.tool_mode)
    return AgentAnswer(recorded.duration_ms, response, turns=_turns(details, response))


def _turns(details: CaseDetails, whole: AgentResponse | None) -> tuple[AnsweredTurn, ...]:
    """The turns of a conversation, each with its part of the calls."""
    calls = [msgspec.convert(call, ToolCall) for call in details.tool_calls]
    like = whole or AgentResponse(response="")
    turns: list[AnsweredTurn] = []
    for turn in () if details.turns is msgspec.UNSET else details.turns:
        of_turn, calls = calls[: turn.calls], calls[turn.calls :]
        usage = None if turn.usage is msgspec.UNSET else msgspec.convert(turn.usage, Usage)
        response = msgspec.structs.replace(like, response=turn.response, tool_calls=tuple(of_turn), usage=usage)
        turns.append(AnsweredTurn(turn.message, response, turn.duration_ms))
    return tuple(turns)


def _response(recorded: journaled.RecordedAnswer, text: str, tool_mode: ToolMode) -> AgentResponse:
    details = recorded.details
    return AgentResponse(
        response=text,
        tool_calls=tuple(msgspec.convert(call, ToolCall) for call in details.tool_calls),
        usage=None if details.usage is msgspec.UNSET else msgspec.convert(details.usage, Usage),
        tool_mode=tool_mode,
        reports_calls=details.near_calls is msgspec.UNSET,
        near_calls=None if details.near_calls is msgspec.UNSET else details.near_calls,
        finish_reason=None if details.finish_reason is msgspec.UNSET else details.finish_reason,
    )
