"""Runs one attempt at a case: asks the agent, evaluates the assertions, asks the judge, scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final, final

import msgspec
from msgspec.structs import replace

from evalc.base.errors import JudgeError
from evalc.check.contract import Assertion, assertions, judge_check
from evalc.check.tree import Check, Test, asks
from evalc.checks import ProjectChecks
from evalc.model.answer import MOST_WRITTEN, AgentAnswer, AgentResponse, AnsweredTurn, PlayedUser, ToolCall, Usage
from evalc.model.case import Case, Message, stubbed
from evalc.model.json import short_hash
from evalc.model.result import (
    PASSING,
    AssertionResult,
    CaseDetails,
    CaseResult,
    JudgedScore,
    Status,
    TurnDetails,
)
from evalc.model.suite import LocatedCase, Place
from evalc.runtime import TIMEOUT_MS
from evalc.runtime.agents import Agent
from evalc.runtime.agents.wire import fingerprint_of
from evalc.runtime.checks import PASSED, Beside, Embeddings, Evidence, Note, Verdict, View, broken, failed
from evalc.runtime.checks.evaluate import evaluate
from evalc.runtime.checks.judged import as_expected, expected_text, label_result
from evalc.runtime.checks.words import shown
from evalc.runtime.judges.panel import CaseJudge, JudgePool, Meter
from evalc.runtime.run.ask import broken_answer, error_text, request_of
from evalc.runtime.run.score import EXPECTED, CaseScore, below, score_case, unscored
from evalc.runtime.store.journal import CaseRun
from evalc.runtime.store.redact import encoded

LineOf = Callable[[Check], str | None]
"""Writes a check on one line, for people; a function of a module, as it goes to other machines."""


def no_line(_check: Check) -> None:
    """Nothing is written."""


# --- the checks of an answer -----------------------------------------------------------------------------------------


@final
class Checked(msgspec.Struct):
    """The outcome of the checks of an answer, as far as they have been asked."""

    verdicts: dict[str, Verdict] = {}  # the verdicts on the assertions that were reached, by pointer
    results: list[AssertionResult] = []  # the same as results say them, without those that do not apply
    error: str | None = None  # the first error, and `error_at` the assertion that it is of, if it is of one
    error_at: str | msgspec.UnsetType = msgspec.UNSET
    failure: str | None = None  # the first failure, and `failure_at` its assertion
    failure_at: str | msgspec.UnsetType = msgspec.UNSET
    verified: bool = False  # whether a check passed that says something about the answer
    run: int = 0  # how many were run up to the verdict, or all; `results` may have more that do not hold
    skipped: int = 0  # how many were skipped
    tokens: list[str] = []  # the tokens that name nothing
    notes: list[Note] = []  # the warnings for the suite
    criteria: dict[str, JudgedScore] = {}  # the scores that a judge gave, by name

    def count(self, verdict: Verdict, at: str, field: str) -> None:
        """Count a verdict on the assertion `at`, whose errors and failures begin with the name `field`."""
        match verdict.outcome:
            case "error":
                if not self.error:
                    self.error, self.error_at = f"{field}: {verdict.message}", at
            case "failed":
                if not self.failure:
                    self.failure, self.failure_at = f"{field}: {verdict.message}", at
            case "skipped":
                self.skipped += 1
            case "passed":
                self.verified = self.verified or verdict.verifies
        self.run += verdict.outcome not in ("skipped", "not_applicable")
        self.tokens += verdict.skipped_tokens
        self.notes += verdict.notes


async def _check(located: LocatedCase, evidence: Evidence, options: CaseOptions) -> Checked:
    """Evaluate the assertions in the contract's order, up to the first that does not pass unless all must run.

    Those after it are evaluated too, for people, but for checks of one's own: what else does not hold is among the
    results, and counts for nothing.
    Assertions that ask a judge come last, and only if no other fails; one with a linked criterion is part of its
    score, and is asked in any case.
    """
    case, _ = located
    run_all = options.all_assertions or bool(case.criteria)
    checked = Checked()
    made = assertions(case.expect)
    view = View.of(evidence, Beside(list(map(_CHECK, made))))
    for assertion in _in_order(case, made):
        at, field = assertion.at, assertion.field
        is_decided = bool(checked.error or checked.failure)
        if is_decided and not run_all and (assertion.is_judged or asks(assertion.check, "check")):
            continue  # which takes time or money, and counts for nothing
        if is_decided and assertion.is_judged and not _scores(at, case, evidence):
            continue
        try:
            asked = _asked(assertion, case, view) if case.criteria else view
            verdict = await (
                _as_expected(case, evidence) if assertion is _EXPECTED else evaluate(assertion.check, asked)
            )
        except Exception as broke:  # a check that breaks must not take the case with it
            verdict = broken(f"the check broke: {type(broke).__name__}: {error_text(broke)}")
        if is_decided and not run_all:
            if verdict.outcome in ("failed", "error"):
                checked.results.append(_assertion_result(located, assertion, field, verdict, options))
            continue
        checked.verdicts[at] = verdict
        if verdict is PASSED:
            checked.verified = True
            checked.run += 1
            checked.results.append(_passed(at, field))
        else:
            field = "judge" if assertion is _EXPECTED and verdict.outcome == "error" else field
            checked.count(verdict, at, field)
            if verdict.outcome != "not_applicable":
                checked.results.append(_assertion_result(located, assertion, field, verdict, options))
    return checked


def _asked(assertion: Assertion, case: Case, view: View) -> View:
    """The view of an assertion: a share that stands by itself and that a criterion is linked to is its score."""
    match assertion.check:
        case Test("check") if _is_linked(assertion.at, case):
            return View.of(replace(view.evidence, scores=True), view.beside)
        case _:
            return view


def lines_of(case: Case, line_of: LineOf) -> Iterator[tuple[str, str | None]]:
    """The assertions of a case by their pointers, each with its line."""
    for assertion in _in_order(case, assertions(case.expect)):
        yield assertion.at, _line(case, assertion, line_of)


def _line(case: Case, assertion: Assertion, line_of: LineOf) -> str | None:
    return f"expected: {shown(case.expected or '')}" if assertion is _EXPECTED else line_of(assertion.check)


def _in_order(case: Case, made: Sequence[Assertion]) -> Sequence[Assertion]:
    """The assertions: those that ask a judge come after the others, the rubric last.

    Where there are none, `expected` is one.
    """
    if case.rubric:
        made = [
            *made,
            *(
                Assertion(f"/rubric/{index}", "judge", judge_check(dimension), is_judged=True)
                for index, dimension in enumerate(case.rubric)
            ),
        ]
    if not made and case.expected:
        return (_EXPECTED,)
    return sorted(made, key=_IS_JUDGED)


_CHECK: Final = attrgetter("check")
_IS_JUDGED: Final = attrgetter("is_judged")
_EXPECTED: Final = Assertion(EXPECTED, "expected", Test("contains"))
"""The assertion that `expected` makes; its check is `_as_expected`."""


async def _as_expected(case: Case, evidence: Evidence) -> Verdict:
    if evidence.judge is None:
        return expected_text(case.expected or "", evidence.response)
    return await as_expected(evidence)


def _scores(at: str, case: Case, evidence: Evidence) -> bool:
    """Whether a criterion that can be scored is linked to the assertion."""
    return evidence.judge is not None and _is_linked(at, case)


def _is_linked(at: str, case: Case) -> bool:
    return any(at in link.at for criterion in case.criteria or () for link in criterion.checks or ())


async def _judge_criteria(case: Case, checked: Checked, judge: CaseJudge) -> None:
    """Have the criteria scored that no check is linked to; the first error ends it.

    They are judged whether or not the assertions hold: a mean over the answers that pass would flatter. With an error
    the case has no score, so that judging would be for nothing.
    """
    for criterion in case.criteria or ():
        if checked.error:
            return
        if criterion.checks:
            continue
        try:
            checked.criteria[criterion.name] = await judge.score_criterion(criterion)
        except JudgeError as error:
            checked.error = f"judge: criterion `{shown(criterion.name)}`: {error}"


@lru_cache(1024)
def _passed(at: str, field: str) -> AssertionResult:
    """An assertion that passed; the cases of a suite share most of them."""
    return AssertionResult(at=at, outcome="passed", turn=_turn_of(field))


def _assertion_result(
    located: LocatedCase, assertion: Assertion, field: str, verdict: Verdict, options: CaseOptions
) -> AssertionResult:
    """An assertion that was run or skipped; if it did not pass, it says why and where it was written."""
    (case, places), at = located, assertion.at
    if verdict.outcome == "passed":
        return AssertionResult(at=at, outcome="passed", judged=verdict.judged, turn=_turn_of(field))
    return AssertionResult(
        at=at,
        outcome=verdict.outcome,  # type: ignore[arg-type] # those that do not apply have no result
        field=field,
        line=_line(case, assertion, options.line_of),
        message=verdict.message,
        place=place_of(places, at),
        judged=verdict.judged,
        finding=verdict.finding,
        turn=_turn_of(field),
    )


def _turn_of(field: str) -> int | None:
    """The turn that an assertion is about, which its name shows."""
    return int(field.removeprefix("turn ")) if field.startswith("turn ") else None


def place_of(places: Mapping[str, Place], at: str) -> Place | None:
    """Where the assertion was written, or the nearest thing around it."""
    while at and at not in places:
        at = at.rpartition("/")[0]
    return places.get(at)


# --- an attempt ------------------------------------------------------------------------------------------------------

_LONGEST_SENT: Final = 20_000
_TIMED_OUT: Final = failed("timeout")
_CUT_SHORT: Final = frozenset(
    ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filter", "incomplete")
)
"""Why a model stopped before its answer was whole, in the providers' words."""
_NOTHING: Final = JudgedScore(score=0, max_score=1)


class CaseOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options that are the same for every case of a run."""

    timeout_ms: float = TIMEOUT_MS  # how long the agent may take for an attempt at a case
    all_assertions: bool = False  # evaluate what follows a failed assertion, too
    # seed, snapshot: the data that tokens name; None if there is none
    seed: object = None
    snapshot: object = None
    embeddings: Embeddings | None = None  # compare texts by their meaning; None where edit distance does
    checks: ProjectChecks = ProjectChecks()  # the checks of the project's own files
    user: Agent | None = None  # who plays simulated users; None if nobody does
    line_of: LineOf = no_line  # writes a check on one line, for people


async def result_of(
    located: LocatedCase, answer: AgentAnswer, options: CaseOptions, judges: JudgePool | None = None
) -> CaseRun:
    """The result of a case, from what its agent answered or why it did not; `judges` score what only a judge can.

    Whatever the answer holds, there is one.
    """
    case, judge = located.case, None
    try:
        if answer.response is None:
            return _without_response(located, answer, judged=judges is not None)
        if judges is not None:
            conversation = tuple(_messages(answer.turns)) if answer.turns else None
            judge = CaseJudge(judges, case, answer.response, conversation)
        evidence = evidence_of(case, answer, options, judge)
        checked = await _check(located, evidence, options)
        if judge is not None:
            await _judge_criteria(case, checked, judge)
        return _judged(located, answer, checked, judge)
    except Exception as error:  # an answer with values of other types than declared
        return agent_broke(located, error)


def agent_broke(located: LocatedCase, error: BaseException) -> CaseRun:
    """The result of a case whose agent could not even be opened, or gave nothing that can be looked at."""
    run = _without_response(located, broken_answer(error))
    return replace(run, sent=fingerprint_of(request_of(located.case)))


def evidence_of(case: Case, answer: AgentAnswer, options: CaseOptions, judge: CaseJudge | None = None) -> Evidence:
    """The evidence for the checks of a case; an answer without a response is an empty text."""
    response = answer.response or AgentResponse(response="")
    evidence = Evidence(
        response=response.response,
        tool_calls=response.tool_calls,
        tool_mode=response.tool_mode,
        duration_ms=answer.duration_ms,
        usage=response.usage,
        written=response.written,
        unchanged=response.unchanged,
        all_unchanged=response.all_unchanged,
        stubs=stubbed(case.stubs, case.stub_answers) if case.stubs or case.stub_answers else case.stubs,
        seed=options.seed,
        snapshot=options.snapshot,
        case=case,
        timeout_ms=options.timeout_ms,
        judge=judge,
        embeddings=options.embeddings,
        checks=options.checks,
        reports_calls=response.reports_calls,
        near_calls=response.near_calls,
    )
    if not answer.turns:
        return evidence
    said = tuple(turn.message for turn in answer.turns)
    # An agent that reports calls in some turn has made none in one whose answer has no list of them.
    turns = [
        replace(
            evidence,
            response=turn.response.response,
            tool_calls=turn.response.tool_calls,
            tool_mode=turn.response.tool_mode,
            duration_ms=turn.duration_ms,
            usage=turn.response.usage,
            written=turn.response.written,
            unchanged=turn.response.unchanged,
            all_unchanged=turn.response.all_unchanged,
            turn=count,
            said=said[:count],
            earlier_calls=tuple(call for each in answer.turns[: count - 1] for call in each.response.tool_calls),
        )
        for count, turn in enumerate(answer.turns, 1)
    ]
    return replace(evidence, turns=tuple(turns), said=said)


def _messages(turns: Iterable[AnsweredTurn]) -> Iterator[Message]:
    """A conversation as messages, as judges see it."""
    for turn in turns:
        yield Message(role="user", content=turn.message)
        yield Message(role="assistant", content=turn.response.response)


def _judged(located: LocatedCase, answer: AgentAnswer, checked: Checked, judge: CaseJudge | None) -> CaseRun:
    """The result of a case that was answered. An error is neither a pass nor a failure, and has no score."""
    case = located.case
    if checked.error:
        return _result(located, answer, checked, "error", checked.error, unscored(case), judge)
    score = score_case(case, checked.verdicts, checked.criteria)
    if checked.failure:
        return _result(located, answer, checked, "failed", checked.failure, score, judge)
    if not checked.verified:
        return _result(located, answer, checked, "unverified", None, score, judge)
    if gate := below(score.score, case.threshold):  # of what was not scored nobody knows whether it is enough
        return _result(located, answer, checked, "error" if score.score is None else "failed", gate, score, judge)
    return _result(located, answer, checked, "passed", None, score, judge)


def _without_response(located: LocatedCase, answer: AgentAnswer, *, judged: bool = False) -> CaseRun:
    """The result of a case that has no answer: a time-out is a failure that scores 0, all else an error.

    That goes for the criteria that a judge would have scored, too.
    """
    score = unscored(located.case)
    if answer.status == "failed":
        every = {assertion.at: _TIMED_OUT for assertion in assertions(located.case.expect)}
        zeros = {criterion.name: _NOTHING for criterion in located.case.criteria or ()} if judged else {}
        score = CaseScore(0.0, score_case(located.case, every, zeros).criteria)
    return _result(located, answer, Checked(), answer.status, answer.error, score)


# --- its result ------------------------------------------------------------------------------------------------------


def _result(
    located: LocatedCase,
    answer: AgentAnswer,
    checked: Checked,
    status: Status,
    error: str | None,
    score: CaseScore,
    judge: CaseJudge | None = None,
) -> CaseRun:
    case, places = located
    response = answer.response
    # Of a conversation the responses are those of its turns, those before it broke, too.
    responses = [turn.response for turn in answer.turns] if answer.turns else [response] if response else []
    costs: list[float | None] = []
    cut_short: str | None = None
    for each in responses:
        if each.usage is not None:
            costs.append(each.usage.cost_usd)
        if cut_short is None and each.finish_reason in _CUT_SHORT:
            cut_short = each.finish_reason
    if answer.user is not None:
        costs.append(answer.user.cost_usd)
    notes = checked.notes
    if judge is not None:
        costs.append(judge.meter.cost_usd)
        notes += judge.notes
    if cut_short is not None:
        note = Note(f"the model was cut short (`{cut_short}`)", "checked on a part of its answer")
        notes += [note] * len(checked.verdicts)  # one for each assertion
    if response is not None and response.tool_mode == "executed" and (case.stubs or case.stub_answers):
        note = Note("the case has stubs, and the agent takes none", "checked on what its own tools gave back")
        notes += [note] * len(checked.verdicts)
    if response is not None and case.input.files and not response.took_files:
        note = Note("the case has files, and the agent works in no folder of its own", "checked without them")
        notes += [note] * len(checked.verdicts)
    label, place = case.label, places.get("")
    result = CaseResult(
        id=case.id,
        description=case.description,
        passed=status in PASSING,
        status=status,
        duration_ms=answer.duration_ms,
        assertions_run=checked.run,
        assertions_skipped=checked.skipped,
        score=score.score,
        criteria=score.criteria,
        error=msgspec.UNSET if error is None else error,
        error_at=checked.error_at if error is checked.error else checked.failure_at,
        timed_out=True if response is None and answer.status == "failed" else msgspec.UNSET,
        variant=msgspec.UNSET if case.variant is None else case.variant,
        tags=case.tags or msgspec.UNSET,
        # What identifies the case does not change with `--repeat`.
        case_hash=short_hash(encoded(case if case.repeat is None else replace(case, repeat=None, require=None))),
        details=_details(case, answer, checked, judge),
        assertions=tuple(checked.results),
        label=msgspec.UNSET if label is None or status == "error" else label_result(label, answer.response),
        place=msgspec.UNSET if place is None else place,
        row=_row(case, places),
    )
    return CaseRun(
        result,
        tuple(notes),
        sum_of_known(costs) if costs else None,
        tool_mode=response.tool_mode if response else None,
        unreachable=answer.unreachable,
    )


def _row(case: Case, places: Mapping[str, Place]) -> Place | msgspec.UnsetType:
    """The row that the case is made from: that of a table gives both its id and its inputs."""
    row = places.get("/input/inputs") if case.input.inputs else None
    return msgspec.UNSET if row is None or row != places.get("/id") else row


def with_places(run: CaseRun, located: LocatedCase) -> CaseRun:
    """The run of a case that was run without its places: with those of the case and of what did not pass."""
    result, places = run.result, located.places
    return replace(
        run,
        result=replace(
            result,
            place=places.get("", msgspec.UNSET),
            row=_row(located.case, places),
            assertions=tuple(
                assertion if assertion.outcome == "passed" else replace(assertion, place=place_of(places, assertion.at))
                for assertion in result.assertions
            ),
        ),
    )


def sum_of_known(costs: Iterable[float | None]) -> float | None:
    """The sum of the known costs; None if none is known."""
    total = None
    for cost in costs:
        if cost is not None:
            total = cost if total is None else total + cost
    return total


def _details(case: Case, answer: AgentAnswer, checked: Checked, judge: CaseJudge | None) -> CaseDetails:
    message, response = case.input.message, answer.response
    sent: tuple[Message, ...] | msgspec.UnsetType = msgspec.UNSET
    turns: tuple[TurnDetails, ...] | msgspec.UnsetType = msgspec.UNSET
    if len(message) > _LONGEST_SENT:
        message = _sent(message)
    if case.input.messages:
        sent = tuple([replace(turn, content=_sent(turn.content)) for turn in case.input.messages])
    if answer.turns:
        turns = tuple([_turn_details(turn, response) for turn in answer.turns])
    user_usage = msgspec.UNSET if answer.user is None else _user_usage(answer.user)
    if response is None:
        calls = [call for turn in answer.turns for call in turn.response.tool_calls]
        return CaseDetails(
            message=message,
            messages=sent,
            tool_calls=tuple(map(_tool_call, calls)),
            turns=turns,
            unanswered=msgspec.UNSET if answer.unanswered is None else _sent(answer.unanswered),
            user_usage=user_usage,
        )
    return CaseDetails(
        tools_called=tuple(map(_NAME, response.tool_calls)),
        response_length=len(response.response),
        skipped_tokens=tuple(dict.fromkeys(checked.tokens)),
        response=response.response,
        tool_calls=tuple(map(_tool_call, response.tool_calls)),
        usage=(response.usage and _usage(response.usage)) or msgspec.UNSET,
        judge_usage=msgspec.UNSET if judge is None else _judge_usage(judge.meter),
        finish_reason=msgspec.UNSET if response.finish_reason is None else response.finish_reason,
        model=response.model or msgspec.UNSET,
        message=message,
        messages=sent,
        near_calls=msgspec.UNSET if response.near_calls is None else response.near_calls,
        turns=turns,
        user_usage=user_usage,
        written=msgspec.UNSET if response.written is None else response.written,
        unchanged=response.unchanged[:MOST_WRITTEN] or msgspec.UNSET,
    )


_NAME: Final = attrgetter("name")


def _user_usage(user: PlayedUser) -> dict[str, int | float]:
    return {"requests": user.requests, **({} if user.cost_usd is None else {"costUsd": user.cost_usd})}


def _turn_details(turn: AnsweredTurn, whole: AgentResponse | None) -> TurnDetails:
    written, unchanged = turn.response.written, turn.response.unchanged
    is_same = written is None or (whole is not None and unchanged == whole.unchanged)
    return TurnDetails(
        message=_sent(turn.message),
        response=turn.response.response,
        calls=len(turn.response.tool_calls),
        duration_ms=turn.duration_ms,
        usage=_usage(turn.response.usage) or msgspec.UNSET,
        written=msgspec.UNSET if written is None or (whole and written == whole.written) else written,
        unchanged=msgspec.UNSET if is_same else unchanged[:MOST_WRITTEN],
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
