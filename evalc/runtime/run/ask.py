"""Asks an agent: a case once, or a conversation turn by turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError, AgentTimeout, AgentUnavailable, PlayerError
from evalc.base.guard import TimeLimit, is_of_the_run
from evalc.model.answer import (
    DEFAULT_TURNS,
    AgentAnswer,
    AgentRequest,
    AgentResponse,
    AnsweredTurn,
    ToolCall,
    TraceContext,
    Usage,
)
from evalc.model.case import Case
from evalc.model.result import Status
from evalc.runtime.agents import HoldsConversations, Session, pace, wire
from evalc.runtime.agents.trace import within
from evalc.runtime.agents.wire import refuse_absurd
from evalc.runtime.checks.words import number, shown
from evalc.runtime.store.resume import AttemptLog

if TYPE_CHECKING:
    from evalc.runtime.run.user import UserPlayer

_ENDING_SECONDS: Final = 5.0


def broken_answer(error: BaseException) -> AgentAnswer:
    """The answer of an agent that breaks before it is asked."""
    return AgentAnswer(0.0, None, "error", _agent_error(error), unreachable=isinstance(error, AgentUnavailable))


def request_of(case: Case) -> AgentRequest:
    """The request of a case, the same for every agent."""
    sent = case.input
    return AgentRequest(
        message=sent.message,
        messages=tuple([{"role": m.role, "content": m.content} for m in sent.messages]) if sent.messages else (),
        system=sent.system,
        stubs=case.stubs,
        stub_answers=case.stub_answers,
        max_turns=DEFAULT_TURNS if case.max_turns is None else case.max_turns,
        case_id=case.id,
        inputs=sent.inputs or {},
        follow_ups=sent.follow_ups or (),
        user=None if sent.user is None else msgspec.to_builtins(sent.user),
        files=sent.files,
        skill=sent.skill,
    )


def ask_agent(
    case: Case,
    request: AgentRequest,
    session: Session,
    limit: TimeLimit,
    log: AttemptLog | None = None,
    player: UserPlayer | None = None,
) -> Coroutine[Any, Any, AgentAnswer]:
    """Send the request of a case: once, or turn by turn."""
    if case.input.follow_ups or case.input.user is not None:
        return hold_conversation(case, request, session, limit, log, player)
    return _ask(request, session, limit)


async def hold_conversation(
    case: Case,
    request: AgentRequest,
    session: Session,
    limit: TimeLimit,
    log: AttemptLog | None = None,
    player: UserPlayer | None = None,
) -> AgentAnswer:
    """Send each turn with what was said before it; the first that is not answered ends the conversation.

    Each turn has the case's time for itself. With a log, an interrupted conversation continues after its last
    answer, unless the agent's memory of it went with its process. A player who breaks ends the case in error.
    """
    holder = session if isinstance(session, HoldsConversations) else None
    kept = None if holder and holder.holds else log
    try:
        answer = await _turns(case, request, session, limit, kept, player)
    finally:
        if holder is not None:
            # The answers are there: what goes wrong at the end changes nothing.
            with suppress(Exception):
                async with asyncio.timeout(_ENDING_SECONDS):
                    await holder.end()
    return answer if player is None else msgspec.structs.replace(answer, user=player.played)


async def _turns(
    case: Case,
    request: AgentRequest,
    session: Session,
    limit: TimeLimit,
    log: AttemptLog | None,
    player: UserPlayer | None,
) -> AgentAnswer:
    texts = None if case.input.user is not None else (case.input.message, *(case.input.follow_ups or ()))
    conversation, turns = _begun(texts, log)
    request = msgspec.structs.replace(request, follow_ups=(), user=None, conversation=conversation)
    said_before = request.messages
    if said_before and said_before[-1]["role"] == "user":
        said_before = said_before[:-1]  # which is the message itself
    for turn in turns:
        said_before = (*said_before, *_said(turn))
    if player is not None and turns and turns[-1].user is not None:
        player.played = turns[-1].user
    while True:
        count = len(turns) + 1
        try:
            text = await _next(texts, turns, player)
        except PlayerError as error:
            return AgentAnswer(_sum_of(turns), None, "error", f"user: turn {count}: {error}", tuple(turns))
        if text is None:
            break
        if count > 1:
            await pace.current().before_turn()
        messages = (*said_before, {"role": "user", "content": text})
        state = turns[-1].response.state if turns else None
        sent = msgspec.structs.replace(request, message=text, messages=messages, turn=count, state=state)
        answer = await _ask(sent, session, limit)
        if answer.response is None:
            kind, _, why = (answer.error or "agent: ").partition(": ")
            duration_ms = _sum_of([*turns, answer])
            said = f"{kind}: turn {count}: {why}"
            unreachable = answer.unreachable and not turns
            status = answer.status
            return AgentAnswer(duration_ms, None, status, said, tuple(turns), unreachable=unreachable, unanswered=text)
        played = None if player is None else player.played
        turns.append(AnsweredTurn(text, answer.response, answer.duration_ms, played))
        if log is not None:
            log.keep(conversation, turns[-1])
        said_before = (*said_before, *_said(turns[-1]))
    if not turns:
        return AgentAnswer(0.0, None, "error", "user: nothing was said")
    return AgentAnswer(_sum_of(turns), whole_of([turn.response for turn in turns]), turns=tuple(turns))


async def _next(texts: Sequence[str] | None, turns: Sequence[AnsweredTurn], player: UserPlayer | None) -> str | None:
    """The next message of the user: as it is written, or as it is played."""
    if texts is not None:
        return texts[len(turns)] if len(turns) < len(texts) else None
    if player is None:
        raise PlayerError("nobody plays the user")
    return await player.next(turns)


def _begun(texts: Sequence[str] | None, log: AttemptLog | None) -> tuple[str, list[AnsweredTurn]]:
    """The conversation that is gone on with, as far as it is the same; else a new one."""
    begun = None if log is None else log.begun()
    if begun is not None:
        conversation, turns = begun
        if texts is None or [turn.message for turn in turns] == list(texts[: len(turns)]):
            return conversation, turns
    return str(uuid4()), []


def _said(turn: AnsweredTurn) -> tuple[Mapping[str, str], ...]:
    return {"role": "user", "content": turn.message}, {"role": "assistant", "content": turn.response.response}


def _sum_of(answers: Sequence[AnsweredTurn | AgentAnswer]) -> float:
    return round(sum(answer.duration_ms for answer in answers), 3)


def whole_of(answers: Sequence[AgentResponse]) -> AgentResponse:
    """A conversation as one response: the texts of all answers, their calls, and what they used where all say so."""
    usages = [answer.usage or Usage() for answer in answers]
    amounts = {
        name: None if None in parts else sum(parts)
        for name in Usage.__struct_fields__
        for parts in [[getattr(usage, name) for usage in usages]]
    }
    usage = Usage(**amounts)
    near = next((answer.near_calls for answer in answers if answer.near_calls is not None), None)
    return AgentResponse(
        response="\n\n".join(answer.response for answer in answers),
        tool_calls=tuple(call for answer in answers for call in answer.tool_calls),
        usage=None if usage == Usage() else usage,
        tool_mode=answers[-1].tool_mode,
        finish_reason=answers[-1].finish_reason,
        model=answers[-1].model,
        reports_calls=near is None and any(answer.reports_calls for answer in answers),
        near_calls=near,
        took_files=answers[-1].took_files,
        written=answers[-1].written,
        unchanged=answers[-1].unchanged,
        all_unchanged=answers[-1].all_unchanged,
    )


async def _ask(request: AgentRequest, session: Session, limit: TimeLimit) -> AgentAnswer:
    """Send a request. Its duration is the contract's: wall-clock, from sending to the complete response."""
    response: AgentResponse | None = None
    status: Status = "passed"
    error: str | None = None
    unreachable = False
    trace = request.trace
    request = msgspec.structs.replace(request, deadline=limit.begin())
    started = time.perf_counter()
    try:
        response = _usable(await (session.send(request) if trace is None else _send_within(trace, session, request)))
        is_late = limit.end()
    except BaseException as exception:  # test libraries, for one, have exceptions that are no Exception
        is_late = limit.end()
        if is_of_the_run(exception):
            raise
        timed_out, unreachable = isinstance(exception, AgentTimeout), isinstance(exception, AgentUnavailable)
        status = "failed" if timed_out else "error"
        error = f"timeout: {error_text(exception)}" if timed_out else _agent_error(exception)
    duration_ms = round((time.perf_counter() - started - limit.suspended) * 1000, 3)
    recorded_ms = None if response is None else response.duration_ms
    if recorded_ms is not None:
        duration_ms = recorded_ms
    if is_late or (recorded_ms is not None and recorded_ms > limit.milliseconds):
        # Also where the agent, cancelled, answered after all or raised something else: it was too late.
        too_late = f"timeout: no complete answer within {number(limit.milliseconds)} ms"
        return AgentAnswer(duration_ms, None, "failed", too_late)
    return AgentAnswer(duration_ms, response, status, error, unreachable=unreachable)


async def _send_within(trace: TraceContext, session: Session, request: AgentRequest) -> AgentResponse:
    with within(trace):
        return await session.send(request)


def _usable(response: object) -> AgentResponse:
    """The response, known to have a text; an agent in Python may return anything."""
    if not isinstance(response, AgentResponse):
        raise AgentProtocolError(f"the answer is no AgentResponse but of type `{type(response).__name__}`")
    refuse_absurd(response)
    if response.tool_calls:
        response = msgspec.structs.replace(response, tool_calls=tuple(map(_kept_call, response.tool_calls)))
    text: object = response.response
    if text is None:
        return msgspec.structs.replace(response, response="")
    if not isinstance(text, str):
        raise AgentProtocolError(f"the response is not a text but a `{type(text).__name__}`")
    if type(text) is not str:
        return msgspec.structs.replace(response, response=str.__str__(text))
    return response


def _kept_call(call: ToolCall) -> ToolCall:
    """The call as the journal will have it: what is checked now is checked again by `rescore`."""
    params = wire.json_value(call.params, call.name)
    result = call.result if call.result is msgspec.UNSET else wire.json_value(call.result, call.name)
    if params == call.params and result == call.result:
        return call
    return msgspec.structs.replace(call, params=params, result=result)


def _agent_error(error: BaseException) -> str:
    if isinstance(error, AgentError):
        return f"agent: {error_text(error)}"
    if isinstance(error, asyncio.CancelledError):
        return "agent: it was cancelled from inside"
    text = error_text(error)
    return f"agent: {type(error).__name__}: {text}" if text else f"agent: {type(error).__name__}"


_LONGEST_ERROR: Final = 500


def error_text(error: BaseException) -> str:
    """The error's text, shortened; nothing if it cannot say it."""
    try:
        return shown(str(error), _LONGEST_ERROR)
    except Exception:  # a broken `__str__` is one more mistake of the agent's
        return ""
