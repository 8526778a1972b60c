"""From one case and an opened agent to the result of one attempt at it: ask, check, score."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.errors import AgentError, AgentProtocolError, AgentTimeout
from evalc.model.assertions import assertions
from evalc.model.case import Case
from evalc.model.codec import short_hash
from evalc.model.result import PASSING, AssertionResult, CaseDetails, CaseResult, JudgedScore, Status
from evalc.model.suite import LocatedCase, Place
from evalc.runtime.agents import wire
from evalc.runtime.agents.amounts import refuse_absurd
from evalc.runtime.agents.base import AgentRequest, AgentResponse, Session, ToolCall, ToolMode, Usage
from evalc.runtime.checks.embedding import Embeddings
from evalc.runtime.checks.verdict import Evidence, Note, failed
from evalc.runtime.checks.wording import number
from evalc.runtime.judges.case_judge import CaseJudge
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.judges.panel_member import Meter
from evalc.runtime.run.blocking import bounded, unbounded
from evalc.runtime.run.check_case import UNCHECKED, Checked, check_case, said
from evalc.runtime.run.score import CaseScore, below, score_case, unscored
from evalc.runtime.store.written import encoded

DEFAULT_TIMEOUT_MS: Final = 60_000
"""How long an agent may take for an attempt at a case (contract, timeoutMs)."""

DEFAULT_TURNS: Final = 5
"""The iterations of the loop with stubs where a case does not say (contract, maxTurns)."""

_LONGEST_SENT: Final = 20_000
_TIMED_OUT: Final = failed("timeout")
_NOTHING: Final = JudgedScore(score=0, max_score=1)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions:
    """What is the same for every case of a run."""

    timeout_ms: float = DEFAULT_TIMEOUT_MS
    all_assertions: bool = False
    seed: object = None
    snapshot: object = None
    embeddings: Embeddings | None = None


class CaseRun(NamedTuple):
    """A case's result, and what its suite adds up besides.

    `tool_mode` is that of the answer, None without one; `attempts` are those at a case that is repeated.
    """

    result: CaseResult
    notes: tuple[Note, ...] = ()
    cost_usd: float | None = None
    tool_mode: ToolMode | None = None
    attempts: tuple[CaseRun, ...] = ()


class AgentAnswer(NamedTuple):
    """What came back: a response, or the status and the words of its absence; and when."""

    duration_ms: float
    response: AgentResponse | None
    status: Status = "passed"
    error: str | None = None


async def run_case(
    located: LocatedCase, session: Session, options: CaseOptions, bench: JudgePool | None = None
) -> CaseRun:
    """Run one case. Whatever the agent or a check does, there is a result; only cancellation passes."""
    return await result_of(located, await ask_agent(located.case, session, options), options, bench)


async def result_of(
    located: LocatedCase, answer: AgentAnswer, options: CaseOptions, bench: JudgePool | None = None
) -> CaseRun:
    """`judge`, whatever the answer holds."""
    try:
        return await judge(located, answer, options, bench)
    except Exception as error:  # an answer in which something else stands than its type says
        return agent_broke(located, error)


def agent_broke(located: LocatedCase, error: BaseException) -> CaseRun:
    """The result of a case whose agent could not even be opened, or gave nothing that can be looked at."""
    return _without_response(located, broken_answer(error))


def broken_answer(error: BaseException) -> AgentAnswer:
    """What comes back from an agent that breaks before it is asked."""
    return AgentAnswer(0.0, None, "error", _agent_error(error))


async def judge(
    located: LocatedCase, answer: AgentAnswer, options: CaseOptions, bench: JudgePool | None = None
) -> CaseRun:
    """The result of a case, from what its agent answered or why it did not; `bench` judges what only a judge can."""
    case = located.case
    if answer.response is None:
        return _without_response(located, answer, judged=bench is not None)
    case_judge = None if bench is None else CaseJudge(bench, case, answer.response)
    evidence = Evidence(
        response=answer.response.response,
        tool_calls=answer.response.tool_calls,
        tool_mode=answer.response.tool_mode,
        duration_ms=answer.duration_ms,
        usage=answer.response.usage,
        stubs=case.stubs,
        seed=options.seed,
        snapshot=options.snapshot,
        case=case,
        timeout_ms=options.timeout_ms,
        judge=case_judge,
        embeddings=options.embeddings,
        reports_calls=answer.response.reports_calls,
        near_calls=answer.response.near_calls,
    )
    checked = await check_case(case, evidence, case_judge, run_all=options.all_assertions)
    return _judged(located, answer, checked)


def request_of(case: Case, deadline: float | None = None) -> AgentRequest:
    """What the case sends, whichever agent it is."""
    return AgentRequest(
        message=case.input.message,
        messages=tuple({"role": m.role, "content": m.content} for m in case.input.messages or ()),
        system=case.input.system,
        stubs=case.stubs,
        max_turns=DEFAULT_TURNS if case.max_turns is None else case.max_turns,
        case_id=case.id,
        inputs=case.input.inputs or {},
        deadline=deadline,
    )


async def ask_agent(case: Case, session: Session, options: CaseOptions) -> AgentAnswer:
    """Send the case. Its duration is the contract's: wall-clock, from sending to the complete response."""
    timeout_ms = options.timeout_ms
    deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
    request = request_of(case, deadline)
    response: AgentResponse | None = None
    status: Status = "passed"
    error: str | None = None
    limit = asyncio.timeout(timeout_ms / 1000)
    bound = bounded(deadline)
    started = time.perf_counter()
    try:
        async with limit:
            response = _usable(await session.send(request))
    except AgentTimeout as exception:
        status, error = "failed", f"timeout: {said(exception)}"
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        status, error = "error", "agent: it was cancelled from inside"
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as exception:  # test libraries, for one, have exceptions that are no Exception
        status, error = "error", _agent_error(exception)
    finally:
        unbounded(bound)
    duration_ms = round((time.perf_counter() - started) * 1000, 3)
    recorded_ms = None if response is None else response.duration_ms
    if recorded_ms is not None:
        duration_ms = recorded_ms
    if limit.expired() or (recorded_ms is not None and recorded_ms > timeout_ms):
        # Also where the agent, cancelled, answered after all or raised something else: it was too late.
        too_late = f"timeout: no complete answer within {number(timeout_ms)} ms"
        return AgentAnswer(duration_ms, None, "failed", too_late)
    return AgentAnswer(duration_ms, response, status, error)


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
        raise AgentProtocolError(f"the response is no text but of type `{type(text).__name__}`")
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
        return f"agent: {said(error)}"
    text = said(error)
    return f"agent: {type(error).__name__}: {text}" if text else f"agent: {type(error).__name__}"


def _judged(located: LocatedCase, answer: AgentAnswer, checked: Checked) -> CaseRun:
    """The result of a case that was answered. An error is neither a pass nor a failure, and has no score."""
    case = located.case
    verdicts = checked.verdicts
    if checked.error:
        return _result(located, answer, checked, "error", checked.error, unscored(case))
    score = score_case(case, verdicts, checked.criteria)
    if checked.failure:
        return _result(located, answer, checked, "failed", checked.failure, score)
    if not any(verdict.verifies and verdict.outcome == "passed" for verdict in verdicts.values()):
        return _result(located, answer, checked, "unverified", None, score)
    if gate := below(score.score, case.threshold):
        return _result(located, answer, checked, "failed", gate, score)
    return _result(located, answer, checked, "passed", None, score)


def _without_response(located: LocatedCase, answer: AgentAnswer, *, judged: bool = False) -> CaseRun:
    """The result of a case that has no answer: a time-out is a failure that scores 0, all else an error.

    That goes for the criteria that a judge would have scored, too.
    """
    score = unscored(located.case)
    if answer.status == "failed":
        every = {assertion.at: _TIMED_OUT for assertion in assertions(located.case.expect)}
        zeros = {criterion.name: _NOTHING for criterion in located.case.criteria or ()} if judged else {}
        score = CaseScore(0.0, score_case(located.case, every, zeros).criteria)
    return _result(located, answer, UNCHECKED, answer.status, answer.error, score)


def _result(
    located: LocatedCase,
    answer: AgentAnswer,
    checked: Checked,
    status: Status,
    error: str | None,
    score: CaseScore,
) -> CaseRun:
    case, places = located
    verdicts = checked.verdicts
    reached = tuple(_assertion_results(checked, places))
    skipped = sum([assertion.outcome == "skipped" for assertion in reached])
    usage = answer.response.usage if answer.response else None
    place = places.get("")
    result = CaseResult(
        id=case.id,
        description=case.description,
        passed=status in PASSING,
        status=status,
        duration_ms=answer.duration_ms,
        assertions_run=len(reached) - skipped,
        assertions_skipped=skipped,
        score=score.score,
        criteria=score.criteria,
        error=msgspec.UNSET if error is None else error,
        error_at=_error_at(checked, error),
        timed_out=True if answer.response is None and answer.status == "failed" else msgspec.UNSET,
        variant=msgspec.UNSET if case.variant is None else case.variant,
        tags=case.tags or msgspec.UNSET,
        case_hash=_hash_of(case),
        details=_details(case, answer.response, checked),
        assertions=reached,
        place=msgspec.UNSET if place is None else place,
    )
    notes = [note for verdict in verdicts.values() for note in verdict.notes]
    notes += checked.judge.notes if checked.judge else ()
    tool_mode = answer.response.tool_mode if answer.response else None
    costs = (usage.cost_usd if usage else None, checked.judge.meter.cost_usd if checked.judge else None)
    return CaseRun(result, tuple(notes), sum_of_known(costs), tool_mode)


def with_places(run: CaseRun, places: Mapping[str, Place]) -> CaseRun:
    """The run of a case that was run without its places: with those of the case and of what did not pass."""
    result = run.result
    return run._replace(
        result=msgspec.structs.replace(
            result,
            place=places.get("", msgspec.UNSET),
            assertions=tuple(
                assertion
                if assertion.outcome == "passed"
                else msgspec.structs.replace(assertion, place=_place(places, assertion.at))
                for assertion in result.assertions
            ),
        )
    )


def _error_at(checked: Checked, error: str | None) -> str | msgspec.UnsetType:
    """The assertion whose verdict is the case's error; unset where no single one is."""
    if error is None or error not in (checked.error, checked.failure):
        return msgspec.UNSET
    outcome = "error" if error is checked.error else "failed"
    return next((at for at, verdict in checked.verdicts.items() if verdict.outcome == outcome), msgspec.UNSET)


def _hash_of(case: Case) -> str:
    """What the case is told by that `--repeat` does not change."""
    once = case if case.repeat is None else msgspec.structs.replace(case, repeat=None, require=None)
    return short_hash(encoded(once))


def sum_of_known(costs: Iterable[float | None]) -> float | None:
    """What several things cost together, as far as it is known; None where nothing is."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _details(case: Case, response: AgentResponse | None, checked: Checked) -> CaseDetails:
    message = _sent(case.input.message)
    turns = tuple([msgspec.structs.replace(turn, content=_sent(turn.content)) for turn in case.input.messages or ()])
    if response is None:
        return CaseDetails(message=message, messages=turns or msgspec.UNSET)
    tokens = [token for verdict in checked.verdicts.values() for token in verdict.skipped_tokens]
    return CaseDetails(
        tools_called=tuple([call.name for call in response.tool_calls]),
        response_length=len(response.response),
        skipped_tokens=tuple(dict.fromkeys(tokens)),
        response=response.response,
        tool_calls=tuple([_tool_call(call) for call in response.tool_calls]),
        usage=_usage(response.usage) or msgspec.UNSET,
        judge_usage=_judge_usage(checked.judge.meter) if checked.judge else msgspec.UNSET,
        finish_reason=msgspec.UNSET if response.finish_reason is None else response.finish_reason,
        message=message,
        messages=turns or msgspec.UNSET,
        near_calls=msgspec.UNSET if response.near_calls is None else response.near_calls,
    )


def _sent(text: str) -> str:
    return text if len(text) <= _LONGEST_SENT else text[: _LONGEST_SENT - 1] + "…"


def _tool_call(call: ToolCall) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": call.name,
        "success": call.success,
        "durationMs": call.duration_ms,
        "params": call.params,
    }
    if call.arguments is not None:
        record["arguments"] = call.arguments
    if call.result is not msgspec.UNSET:
        record["result"] = call.result
    if call.error is not msgspec.UNSET:
        record["error"] = call.error
    return record


def _usage(usage: Usage | None) -> dict[str, int | float]:
    if usage is None:
        return {}
    known = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens, "costUsd": usage.cost_usd}
    return {name: value for name, value in known.items() if value is not None}


def _judge_usage(meter: Meter) -> dict[str, int | float] | msgspec.UnsetType:
    """What judging used; unset where nothing was asked and nothing was cached."""
    if not meter.requests and not meter.cached:
        return msgspec.UNSET
    cost = {} if meter.cost_usd is None else {"costUsd": meter.cost_usd}
    tokens = {"inputTokens": meter.input_tokens, "outputTokens": meter.output_tokens}
    return {"requests": meter.requests, "cached": meter.cached, **tokens, **cost}


def _assertion_results(checked: Checked, places: Mapping[str, Place]) -> Iterator[AssertionResult]:
    """The assertions that were run or skipped; those that did not pass say why and where they were written."""
    for at, verdict in checked.verdicts.items():
        match verdict.outcome:
            case "not_applicable":
                continue
            case "passed":
                yield AssertionResult(at=at, outcome="passed", judged=verdict.judged)
            case outcome:
                field, place = checked.fields[at], _place(places, at)
                yield AssertionResult(
                    at=at,
                    outcome=outcome,
                    field=field,
                    message=verdict.message,
                    place=place,
                    judged=verdict.judged,
                    finding=verdict.finding,
                )


def _place(places: Mapping[str, Place], at: str) -> Place | None:
    """Where the assertion was written, or the nearest thing around it."""
    while at and at not in places:
        at = at.rpartition("/")[0]
    return places.get(at)
