"""Runs one attempt at a case: asks the agent, evaluates the assertions, asks the judge, scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.errors import JudgeError
from evalc.check.contract import Assertion, assertions, judge_check
from evalc.model.answer import AgentAnswer, AgentResponse, AnsweredTurn, PlayedUser, ToolCall, Usage
from evalc.model.case import Case, Label, Message
from evalc.model.json import short_hash
from evalc.model.result import (
    PASSING,
    AssertionResult,
    CaseDetails,
    CaseResult,
    JudgedScore,
    LabelResult,
    Status,
    TurnDetails,
)
from evalc.model.suite import LocatedCase, Place
from evalc.runtime.agents.base import Agent
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.judged import as_expected, expected_text, label_result
from evalc.runtime.checks.verdict import Beside, Embeddings, Evidence, Note, Verdict, View, broken, failed
from evalc.runtime.checks.words import shown
from evalc.runtime.judges.panel import CaseJudge, JudgePool, Meter
from evalc.runtime.run.ask import broken_answer, error_text
from evalc.runtime.run.score import EXPECTED, CaseScore, below, score_case, unscored
from evalc.runtime.store.journal import CaseRun
from evalc.runtime.store.redact import encoded

# --- the checks of an answer -----------------------------------------------------------------------------------------


class Checked(NamedTuple):
    """The verdicts on the assertions that were reached and their fields, by pointer; the first error and failure.

    `criteria` are the scores that a judge gave, by name; `judge` is the judge that was asked.
    """

    verdicts: Mapping[str, Verdict]
    fields: Mapping[str, str]
    error: str | None = None
    failure: str | None = None
    criteria: Mapping[str, JudgedScore] = {}
    judge: CaseJudge | None = None


UNCHECKED: Final = Checked({}, {})


async def check_case(case: Case, evidence: Evidence, judge: CaseJudge | None, *, run_all: bool) -> Checked:
    """Evaluate what the case asserts, then have its criteria judged.

    Criteria are judged whether or not the assertions hold: a mean over the answers that pass would flatter.
    """
    checked = await _check(case, evidence, run_all=run_all or bool(case.criteria))
    if judge is None:
        return checked
    checked = checked._replace(judge=judge)
    # With an error the case has no score, so that judging would be for nothing.
    return checked if checked.error else await _judge_criteria(case, checked, judge)


async def _check(case: Case, evidence: Evidence, *, run_all: bool) -> Checked:
    """Evaluate the assertions in the contract's order, up to the first that does not pass unless all must run.

    Assertions that ask a judge come last, and only if no other fails; one with a linked criterion is part of its
    score, and is asked in any case.
    """
    verdicts: dict[str, Verdict] = {}
    fields: dict[str, str] = {}
    error: str | None = None
    failure: str | None = None
    made = assertions(case.expect)
    view = View.of(evidence, Beside([assertion.check for assertion in made]))
    for assertion in _in_order(case, made):
        is_for_nothing = assertion.is_judged and not _scores(assertion.at, case, evidence)
        if (error or failure) and (not run_all or is_for_nothing):
            continue
        try:
            verdict = await evaluate(assertion.check, view)
        except Exception as broke:  # a check that breaks must not take the case with it
            verdict = broken(f"the check broke: {type(broke).__name__}: {error_text(broke)}")
        verdicts[assertion.at] = verdict
        fields[assertion.at] = assertion.field
        if verdict.outcome == "error":
            error = error or f"{assertion.field}: {verdict.message}"
        elif verdict.outcome == "failed":
            failure = failure or f"{assertion.field}: {verdict.message}"
    if not verdicts and case.expected:
        verdict = (
            expected_text(case.expected, evidence.response) if evidence.judge is None else await as_expected(evidence)
        )
        verdicts[EXPECTED] = verdict
        fields[EXPECTED] = "judge" if verdict.outcome == "error" else "expected"
        error = f"judge: {verdict.message}" if verdict.outcome == "error" else None
        failure = f"expected: {verdict.message}" if verdict.outcome == "failed" else None
    return Checked(verdicts, fields, error, failure)


def _in_order(case: Case, made: Sequence[Assertion]) -> Sequence[Assertion]:
    """The assertions: those that ask a judge come after the others, the rubric last."""
    rubric = [
        Assertion(f"/rubric/{index}", "judge", judge_check(dimension), is_judged=True)
        for index, dimension in enumerate(case.rubric or ())
    ]
    return sorted([*made, *rubric], key=_IS_JUDGED)


_IS_JUDGED: Final = attrgetter("is_judged")


def _scores(at: str, case: Case, evidence: Evidence) -> bool:
    """Whether a criterion that can be scored is linked to the assertion."""
    if evidence.judge is None:
        return False
    return any(at in link.at for criterion in case.criteria or () for link in criterion.checks or ())


async def _judge_criteria(case: Case, checked: Checked, judge: CaseJudge) -> Checked:
    """The scores of the criteria that no check is linked to; the first error ends it."""
    scores: dict[str, JudgedScore] = {}
    for criterion in case.criteria or ():
        if criterion.checks:
            continue
        try:
            scores[criterion.name] = await judge.score_criterion(criterion)
        except JudgeError as error:
            return checked._replace(error=f"judge: criterion `{shown(criterion.name)}`: {error}")
    return checked._replace(criteria=scores)


# --- an attempt ------------------------------------------------------------------------------------------------------

DEFAULT_TIMEOUT_MS: Final = 60_000
"""How long an agent may take for an attempt at a case (contract, timeoutMs)."""

_LONGEST_SENT: Final = 20_000
_TIMED_OUT: Final = failed("timeout")
_CUT_SHORT: Final = frozenset(
    ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filter", "incomplete")
)
"""Why a model stopped before its answer was whole, in the providers' words."""
_NOTHING: Final = JudgedScore(score=0, max_score=1)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions:
    """The options that are the same for every case of a run."""

    timeout_ms: float = DEFAULT_TIMEOUT_MS
    all_assertions: bool = False
    seed: object = None
    snapshot: object = None
    embeddings: Embeddings | None = None
    user: Agent | None = None


async def result_of(
    located: LocatedCase, answer: AgentAnswer, options: CaseOptions, judges: JudgePool | None = None
) -> CaseRun:
    """The result of a case, from what its agent answered or why it did not. Whatever the answer holds, there is one."""
    try:
        return await _check_answer(located, answer, options, judges)
    except Exception as error:  # an answer with values of other types than declared
        return agent_broke(located, error)


def agent_broke(located: LocatedCase, error: BaseException) -> CaseRun:
    """The result of a case whose agent could not even be opened, or gave nothing that can be looked at."""
    return _without_response(located, broken_answer(error))


async def _check_answer(
    located: LocatedCase, answer: AgentAnswer, options: CaseOptions, judges: JudgePool | None = None
) -> CaseRun:
    """Check what the agent answered; `judges` score what only a judge can."""
    case = located.case
    if answer.response is None:
        return _without_response(located, answer, judged=judges is not None)
    conversation = tuple(_messages(answer.turns)) if answer.turns else None
    case_judge = None if judges is None else CaseJudge(judges, case, answer.response, conversation)
    evidence = evidence_of(case, answer, options, case_judge)
    checked = await check_case(case, evidence, case_judge, run_all=options.all_assertions)
    return _judged(located, answer, checked)


def evidence_of(case: Case, answer: AgentAnswer, options: CaseOptions, judge: CaseJudge | None = None) -> Evidence:
    """The evidence for the checks of a case; an answer without a response is an empty text."""
    response = answer.response or AgentResponse(response="")
    evidence = _evidence(case, response, answer.duration_ms, options, judge)
    if not answer.turns:
        return evidence
    said = tuple(turn.message for turn in answer.turns)
    # An agent that reports calls in some turn has made none in one whose answer has no list of them.
    reports_calls, near_calls = response.reports_calls, response.near_calls
    turns = [
        msgspec.structs.replace(
            _evidence(case, turn.response, turn.duration_ms, options, judge),
            turn=count,
            said=said[:count],
            earlier_calls=tuple(call for each in answer.turns[: count - 1] for call in each.response.tool_calls),
            reports_calls=reports_calls,
            near_calls=near_calls,
        )
        for count, turn in enumerate(answer.turns, 1)
    ]
    return msgspec.structs.replace(evidence, turns=tuple(turns), said=said)


def _messages(turns: Iterable[AnsweredTurn]) -> Iterator[Message]:
    """A conversation as messages, as judges see it."""
    for turn in turns:
        yield Message(role="user", content=turn.message)
        yield Message(role="assistant", content=turn.response.response)


def _evidence(
    case: Case,
    response: AgentResponse,
    duration_ms: float,
    options: CaseOptions,
    judge: CaseJudge | None,
) -> Evidence:
    return Evidence(
        response=response.response,
        tool_calls=response.tool_calls,
        tool_mode=response.tool_mode,
        duration_ms=duration_ms,
        usage=response.usage,
        stubs=case.stubs,
        seed=options.seed,
        snapshot=options.snapshot,
        case=case,
        timeout_ms=options.timeout_ms,
        judge=judge,
        embeddings=options.embeddings,
        reports_calls=response.reports_calls,
        near_calls=response.near_calls,
    )


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


# --- its result ------------------------------------------------------------------------------------------------------


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
        details=_details(case, answer, checked),
        assertions=reached,
        label=_label(case.label, answer) if case.label is not None and status != "error" else msgspec.UNSET,
        place=msgspec.UNSET if place is None else place,
    )
    notes = [note for verdict in verdicts.values() for note in verdict.notes]
    notes += checked.judge.notes if checked.judge else ()
    notes += _notes_on_parts(answer) * len(verdicts)
    tool_mode = answer.response.tool_mode if answer.response else None
    costs = (_cost_of(answer), checked.judge.meter.cost_usd if checked.judge else None)
    return CaseRun(result, tuple(notes), sum_of_known(costs), tool_mode)


def _label(label: Label, answer: AgentAnswer) -> LabelResult:
    return label_result(label, None if answer.response is None else answer.response.response)


def _notes_on_parts(answer: AgentAnswer) -> list[Note]:
    """The notes, one per assertion, on a model that stopped before its answer was whole."""
    reasons = (response.finish_reason for response in _responses_of(answer))
    reason = next((reason for reason in reasons if reason is not None and reason in _CUT_SHORT), None)
    return [] if reason is None else [Note(f"the model was cut short (`{reason}`)", "checked on a part of its answer")]


def _responses_of(answer: AgentAnswer) -> list[AgentResponse]:
    """The responses: of a conversation those of its turns, those before it broke, too."""
    return [turn.response for turn in answer.turns] or ([answer.response] if answer.response else [])


def _cost_of(answer: AgentAnswer) -> float | None:
    """The cost of the agent and the user; in a conversation, of its turns, including those before it broke."""
    answers = _responses_of(answer)
    costs = [each.usage.cost_usd for each in answers if each.usage is not None]
    return sum_of_known([*costs, answer.user.cost_usd if answer.user else None])


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
    """The assertion whose verdict is the case's error; unset if no single one is."""
    if error is None or error not in (checked.error, checked.failure):
        return msgspec.UNSET
    outcome = "error" if error is checked.error else "failed"
    return next((at for at, verdict in checked.verdicts.items() if verdict.outcome == outcome), msgspec.UNSET)


def _hash_of(case: Case) -> str:
    """The hash that identifies the case, which `--repeat` does not change."""
    once = case if case.repeat is None else msgspec.structs.replace(case, repeat=None, require=None)
    return short_hash(encoded(once))


def sum_of_known(costs: Iterable[float | None]) -> float | None:
    """The sum of the known costs; None if none is known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def _details(case: Case, answer: AgentAnswer, checked: Checked) -> CaseDetails:
    message, response = _sent(case.input.message), answer.response
    sent = tuple([msgspec.structs.replace(turn, content=_sent(turn.content)) for turn in case.input.messages or ()])
    turns = tuple(map(_turn_details, answer.turns)) or msgspec.UNSET
    if response is None:
        calls = tuple(_tool_call(call) for turn in answer.turns for call in turn.response.tool_calls)
        return CaseDetails(
            message=message,
            messages=sent or msgspec.UNSET,
            tool_calls=calls,
            turns=turns,
            user_usage=_user_usage(answer.user),
        )
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
        messages=sent or msgspec.UNSET,
        near_calls=msgspec.UNSET if response.near_calls is None else response.near_calls,
        turns=turns,
        user_usage=_user_usage(answer.user),
    )


def _user_usage(user: PlayedUser | None) -> dict[str, int | float] | msgspec.UnsetType:
    if user is None:
        return msgspec.UNSET
    return {"requests": user.requests, **({} if user.cost_usd is None else {"costUsd": user.cost_usd})}


def _turn_details(turn: AnsweredTurn) -> TurnDetails:
    return TurnDetails(
        message=_sent(turn.message),
        response=turn.response.response,
        calls=len(turn.response.tool_calls),
        duration_ms=turn.duration_ms,
        usage=_usage(turn.response.usage) or msgspec.UNSET,
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
    """The usage of judging; unset if nothing was asked and nothing was cached."""
    if not meter.requests and not meter.cached:
        return msgspec.UNSET
    cost = {} if meter.cost_usd is None else {"costUsd": meter.cost_usd}
    tokens = {"inputTokens": meter.input_tokens, "outputTokens": meter.output_tokens}
    return {"requests": meter.requests, "cached": meter.cached, **tokens, **cost}


def _assertion_results(checked: Checked, places: Mapping[str, Place]) -> Iterator[AssertionResult]:
    """The assertions that were run or skipped; those that did not pass say why and where they were written."""
    for at, verdict in checked.verdicts.items():
        field = checked.fields[at]
        match verdict.outcome:
            case "not_applicable":
                continue
            case "passed":
                yield AssertionResult(at=at, outcome="passed", judged=verdict.judged, turn=_turn_of(field))
            case outcome:
                place = _place(places, at)
                yield AssertionResult(
                    at=at,
                    outcome=outcome,
                    field=field,
                    message=verdict.message,
                    place=place,
                    judged=verdict.judged,
                    finding=verdict.finding,
                    turn=_turn_of(field),
                )


def _turn_of(field: str) -> int | None:
    """The turn that an assertion is about, which its name shows."""
    return int(field.removeprefix("turn ")) if field.startswith("turn ") else None


def _place(places: Mapping[str, Place], at: str) -> Place | None:
    """Where the assertion was written, or the nearest thing around it."""
    while at and at not in places:
        at = at.rpartition("/")[0]
    return places.get(at)
