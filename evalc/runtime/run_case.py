"""From one case and an opened agent to the result of one attempt at it: ask, check, score."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.errors import AgentError, AgentProtocolError, AgentTimeout
from evalc.model.assertions import assertions
from evalc.model.case import Case
from evalc.model.result import PASSING, AssertionResult, CaseDetails, CaseResult, Status
from evalc.model.suite import LocatedCase, Place
from evalc.runtime.agents.base import AgentRequest, AgentResponse, Session, ToolCall, Usage
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.expected import expected_text
from evalc.runtime.checks.verdict import Evidence, Note, Verdict, broken, failed
from evalc.runtime.checks.wording import number, shown
from evalc.runtime.score import EXPECTED, CaseScore, below, score_case, unscored

DEFAULT_TURNS: Final = 5
"""The iterations of the loop with stubs where a case does not say (contract, maxTurns)."""

_NO_JUDGE: Final = "rubric: needs a judge, and none is configured"
_LONGEST_ERROR: Final = 500
_TIMED_OUT: Final = failed("timeout")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions:
    """What is the same for every case of a run."""

    timeout_ms: float = 60_000
    all_assertions: bool = False
    seed: object = None
    snapshot: object = None


class CaseRun(NamedTuple):
    """A case's result, and what its suite adds up besides."""

    result: CaseResult
    notes: tuple[Note, ...] = ()
    cost_usd: float | None = None


class _Answer(NamedTuple):
    """What came back: a response, or the status and the words of its absence; and when."""

    duration_ms: float
    response: AgentResponse | None
    status: Status = "passed"
    error: str | None = None


class _Checked(NamedTuple):
    """The verdicts on the assertions that were reached and their fields, by pointer; the first error and failure."""

    verdicts: Mapping[str, Verdict]
    fields: Mapping[str, str]
    error: str | None = None
    failure: str | None = None


_UNCHECKED: Final = _Checked({}, {})


async def run_case(located: LocatedCase, session: Session, options: CaseOptions) -> CaseRun:
    """Run one case. Whatever the agent or a check does, there is a result; only cancellation passes."""
    try:
        return await _run(located, session, options)
    except Exception as error:  # an answer in which something else stands than its type says
        return agent_broke(located, error)


def agent_broke(located: LocatedCase, error: BaseException) -> CaseRun:
    """The result of a case whose agent could not even be opened, or gave nothing that can be looked at."""
    return _without_response(located, _Answer(0.0, None, "error", _agent_error(error)))


async def _run(located: LocatedCase, session: Session, options: CaseOptions) -> CaseRun:
    case = located.case
    answer = await _ask(case, session, options.timeout_ms)
    if answer.response is None:
        return _without_response(located, answer)
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
    )
    checked = await _check(case, evidence, run_all=options.all_assertions or bool(case.criteria))
    return _judged(located, answer, checked)


async def _ask(case: Case, session: Session, timeout_ms: float) -> _Answer:
    """Send the case. Its duration is the contract's: wall-clock, from sending to the complete response."""
    request = AgentRequest(
        message=case.input.message,
        messages=tuple({"role": m.role, "content": m.content} for m in case.input.messages or ()),
        stubs=case.stubs,
        max_turns=DEFAULT_TURNS if case.max_turns is None else case.max_turns,
    )
    too_late = f"timeout: no complete answer within {number(timeout_ms)} ms"
    response: AgentResponse | None = None
    status: Status = "passed"
    error: str | None = None
    limit = asyncio.timeout(timeout_ms / 1000)
    started = time.perf_counter()
    try:
        async with limit:
            response = _usable(await session.send(request))
    except AgentTimeout as exception:
        status, error = "failed", f"timeout: {_said(exception)}"
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        status, error = "error", "agent: it was cancelled from inside"
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as exception:  # test libraries, for one, have exceptions that are no Exception
        status, error = "error", _agent_error(exception)
    duration_ms = round((time.perf_counter() - started) * 1000, 3)
    if limit.expired():
        # Also where the agent, cancelled, answered after all or raised something else: it was too late.
        return _Answer(duration_ms, None, "failed", too_late)
    return _Answer(duration_ms, response, status, error)


def _usable(response: object) -> AgentResponse:
    """The response, known to have a text; an agent in Python may return anything."""
    if not isinstance(response, AgentResponse):
        raise AgentProtocolError(f"the answer is no AgentResponse but of type `{type(response).__name__}`")
    text: object = response.response
    if text is None:
        return msgspec.structs.replace(response, response="")
    if not isinstance(text, str):
        raise AgentProtocolError(f"the response is no text but of type `{type(text).__name__}`")
    if type(text) is not str:
        return msgspec.structs.replace(response, response=str.__str__(text))
    return response


def _agent_error(error: BaseException) -> str:
    if isinstance(error, AgentError):
        return f"agent: {_said(error)}"
    said = _said(error)
    return f"agent: {type(error).__name__}: {said}" if said else f"agent: {type(error).__name__}"


def _said(error: BaseException) -> str:
    try:
        return shown(str(error), _LONGEST_ERROR)
    except Exception:  # a broken `__str__` is one more mistake of the agent's
        return ""


async def _check(case: Case, evidence: Evidence, *, run_all: bool) -> _Checked:
    """Evaluate the assertions in the contract's order, up to the first that does not pass unless all must run."""
    verdicts: dict[str, Verdict] = {}
    fields: dict[str, str] = {}
    error: str | None = None
    failure: str | None = None
    for assertion in assertions(case.expect):
        try:
            verdict = await evaluate(assertion.check, evidence)
        except Exception as broke:  # a check that breaks must not take the case with it
            verdict = broken(f"the check broke: {type(broke).__name__}: {_said(broke)}")
        verdicts[assertion.at] = verdict
        fields[assertion.at] = assertion.field
        if verdict.outcome == "error":
            error = error or f"{assertion.field}: {verdict.message}"
        elif verdict.outcome == "failed":
            failure = failure or f"{assertion.field}: {verdict.message}"
        if (error or failure) and not run_all:
            break
    if not verdicts and case.expected and not case.rubric:
        verdict = verdicts[EXPECTED] = expected_text(case.expected, evidence.response)
        fields[EXPECTED] = "expected"
        if verdict.outcome == "failed":
            failure = f"expected: {verdict.message}"
    return _Checked(verdicts, fields, error, failure)


def _judged(located: LocatedCase, answer: _Answer, checked: _Checked) -> CaseRun:
    """The result of a case that was answered. An error is neither a pass nor a failure, and has no score."""
    case = located.case
    verdicts = checked.verdicts
    evaluated = any(verdict.outcome in ("passed", "failed", "error") for verdict in verdicts.values())
    if checked.error:
        return _result(located, answer, checked, "error", checked.error, unscored(case))
    if case.rubric and not checked.failure:
        return _result(located, answer, checked, "error", _NO_JUDGE, unscored(case))
    score = score_case(case, verdicts)
    if checked.failure:
        return _result(located, answer, checked, "failed", checked.failure, score)
    if not evaluated:
        return _result(located, answer, checked, "unverified", None, score)
    if gate := below(score.score, case.threshold):
        return _result(located, answer, checked, "failed", gate, score)
    return _result(located, answer, checked, "passed", None, score)


def _without_response(located: LocatedCase, answer: _Answer) -> CaseRun:
    """The result of a case that has no answer: a time-out is a failure that scores 0, all else an error."""
    score = unscored(located.case)
    if answer.status == "failed":
        every = {assertion.at: _TIMED_OUT for assertion in assertions(located.case.expect)}
        score = CaseScore(0.0, score_case(located.case, every).criteria)
    return _result(located, answer, _UNCHECKED, answer.status, answer.error, score)


def _result(
    located: LocatedCase,
    answer: _Answer,
    checked: _Checked,
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
        variant=msgspec.UNSET if case.variant is None else case.variant,
        details=_details(answer.response, verdicts),
        assertions=reached,
        place=msgspec.UNSET if place is None else place,
    )
    notes = tuple([note for verdict in verdicts.values() for note in verdict.notes])
    return CaseRun(result, notes, usage.cost_usd if usage else None)


def _details(response: AgentResponse | None, verdicts: Mapping[str, Verdict]) -> CaseDetails:
    if response is None:
        return CaseDetails()
    tokens = [token for verdict in verdicts.values() for token in verdict.skipped_tokens]
    return CaseDetails(
        tools_called=tuple([call.name for call in response.tool_calls]),
        response_length=len(response.response),
        skipped_tokens=tuple(dict.fromkeys(tokens)),
        response=response.response,
        tool_calls=tuple([_tool_call(call) for call in response.tool_calls]),
        usage=_usage(response.usage) or msgspec.UNSET,
    )


def _tool_call(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "success": call.success, "durationMs": call.duration_ms, "params": call.params}


def _usage(usage: Usage | None) -> dict[str, int | float]:
    if usage is None:
        return {}
    known = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens, "costUsd": usage.cost_usd}
    return {name: value for name, value in known.items() if value is not None}


def _assertion_results(checked: _Checked, places: Mapping[str, Place]) -> Iterator[AssertionResult]:
    """The assertions that were run or skipped; those that did not pass say why and where they were written."""
    for at, verdict in checked.verdicts.items():
        match verdict.outcome:
            case "not_applicable":
                continue
            case "passed":
                yield AssertionResult(at=at, outcome="passed")
            case outcome:
                field, place = checked.fields[at], _place(places, at)
                yield AssertionResult(at=at, outcome=outcome, field=field, message=verdict.message, place=place)


def _place(places: Mapping[str, Place], at: str) -> Place | None:
    """Where the assertion was written, or the nearest thing around it."""
    while at and at not in places:
        at = at.rpartition("/")[0]
    return places.get(at)
