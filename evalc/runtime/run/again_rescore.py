"""Checks the recorded answers of a run again, with the suites as they are now.

No agent is asked. A case that has no answer there, or now sends something else than what was answered, is skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, final

import msgspec

from evalc.base.guard import exits_reported, watched
from evalc.base.terminal import first_of
from evalc.ecma import find_tokens
from evalc.model.answer import MOST_WRITTEN, AgentAnswer, AgentResponse, AnsweredTurn, ToolCall, ToolMode, Usage
from evalc.model.case import Case
from evalc.model.json import to_json
from evalc.model.result import CaseDetails, CaseResult, SkippedCase, Status
from evalc.model.suite import RENEWED_BY_RUN, KnownSuites, LocatedCase, Suite, SuiteKey, key_of
from evalc.runtime.agents.wire import fingerprint_of
from evalc.runtime.judges.panel import JudgePool
from evalc.runtime.run.ask import request_of
from evalc.runtime.run.attempts import as_expected, run_attempts, skipped_case
from evalc.runtime.run.case import CaseOptions, result_of
from evalc.runtime.run.engine import NOBODY, Observer, RunOptions
from evalc.runtime.run.finish import Ending, FinishedRun, finish_run
from evalc.runtime.run.gates import is_decided
from evalc.runtime.run.run import header_of, new_journal
from evalc.runtime.store.baseline import Baseline, PastSuite, find_baseline
from evalc.runtime.store.journal import (
    CaseRun,
    Entry,
    Header,
    Journal,
    JournaledCases,
    JournaledSuite,
    RecordedAnswer,
    kept_snapshot,
    read_journal,
)
from evalc.runtime.store.resume import PastRun
from evalc.runtime.store.runs import PastCase
from evalc.runtime.store.scope import Place, is_narrowed


def recorded_answers(entry: Entry) -> tuple[AgentAnswer, ...]:
    """The answers of a case's line, one an attempt."""
    if entry.answers:
        return tuple(map(_answer, entry.answers))
    result = msgspec.json.decode(entry.result, type=CaseResult)
    return (_answer(RecordedAnswer.of(result, entry.tool_mode)),)


def _answer(recorded: RecordedAnswer) -> AgentAnswer:
    """The answer of an attempt: a response, or the status and words of its absence, which stay."""
    details = recorded.details
    if details.response is None or recorded.tool_mode is None:
        error = recorded.error or "agent: no response was recorded"
        status: Status = "failed" if recorded.timed_out is True else "error"
        turns, unanswered = _turns(details, None), details.unanswered or None
        return AgentAnswer(recorded.duration_ms, None, status, error, turns, unanswered=unanswered)
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
        written = like.written if turn.written is msgspec.UNSET else turn.written
        unchanged = like.unchanged if turn.unchanged is msgspec.UNSET else turn.unchanged
        response = msgspec.structs.replace(
            like,
            response=turn.response,
            tool_calls=tuple(of_turn),
            usage=usage,
            written=written,
            unchanged=unchanged,
            all_unchanged=len(unchanged) < MOST_WRITTEN,
        )
        turns.append(AnsweredTurn(turn.message, response, turn.duration_ms))
    return tuple(turns)


def _response(recorded: RecordedAnswer, text: str, tool_mode: ToolMode) -> AgentResponse:
    details = recorded.details
    unchanged = details.unchanged or ()
    return AgentResponse(
        response=text,
        tool_calls=tuple(msgspec.convert(call, ToolCall) for call in details.tool_calls),
        usage=None if details.usage is msgspec.UNSET else msgspec.convert(details.usage, Usage),
        tool_mode=tool_mode,
        took_files=True,  # which the run has warned of
        written=None if details.written is msgspec.UNSET else details.written,
        unchanged=unchanged,
        all_unchanged=len(unchanged) < MOST_WRITTEN,
        reports_calls=details.near_calls is msgspec.UNSET,
        near_calls=None if details.near_calls is msgspec.UNSET else details.near_calls,
        finish_reason=None if details.finish_reason is msgspec.UNSET else details.finish_reason,
        model=details.model or None,
    )


_MOST_LISTED: Final = 10

_UNRECORDED: Final = "no recorded response"
_CHANGED: Final = "what it sends has changed since the response was recorded"
_INCOMPLETE: Final = "for some of its cases there are no answers that could be checked again"


@final
class _PastSuite(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded cases of one suite, of the hash that it had.

    `numbers` finds those whose place in the suite is another one now; `left_out` says why not all of them ran that
    should have.
    """

    number: int
    file_hash: str
    copied_hash: str | None
    cases: JournaledCases
    numbers: Mapping[str, int]
    left_out: str | None
    was_decided: bool  # whether cases were not run since its gates were decided

    def entry(self, name: str) -> Entry | None:
        """The line of a case; None if it has none."""
        case = self.numbers.get(name)
        return None if case is None else self.cases.entry(self.number, case)


async def rescore_suites(
    suites: Sequence[Suite], past: PastRun, options: RunOptions, *, observer: Observer = NOBODY
) -> FinishedRun:
    """Check the answers of a past run again: of one of several agents, those of each.

    The baseline is that run itself, unless the options name another.

    Raises:
        UsageError: the run has no answers, or a new run cannot be begun.
        OSError: a result could not be written; the journal keeps the cases before.
    """
    header, cases = read_journal(past.folder)
    known = KnownSuites((suite.key, suite.tool_name) for suite in suites)
    recorded = {
        (key, suite.agent): _PastSuite(
            number=number,
            file_hash=suite.file_hash,
            copied_hash=suite.copied_hash,
            cases=cases,
            numbers={name: case for case, name in cases.ids(number)},
            left_out=_left_out(number, suite, cases),
            was_decided=any(line.stopped is True and is_decided(line) for line in cases.skipped(number)),
        )
        for number, suite in enumerate(header.suites)
        for key in known.candidates(suite)
    }
    agents = header.agents or (header.agent_endpoint,)
    lost = header.options.get("snapshot") is not None and kept_snapshot(header) is None
    is_part = is_narrowed(header.flags)
    baseline = (
        find_baseline(options.baseline, options.output_dir, suites, agents=agents, accepted=options.accepted)
        if options.baseline
        else _itself(header, cases, known)
    )
    if header.agents:
        suites = [msgspec.structs.replace(suite, agent=agent) for suite in suites for agent in agents]
    journal = new_journal(header_of(suites, agents, options, rescored_from=header.run_id), options)
    observer.run_started(sum(suite.size for suite in suites), 0)
    try:
        suite_warnings = {}
        stopped = {}
        blocked: list[str] = []
        with exits_reported(), watched(blocked):
            for number, suite in enumerate(suites):
                observer.suite_started(suite)
                past_suite = recorded.get((suite.key, suite.agent))
                rescoring = _Rescoring(
                    suite, number, past_suite, journal, options, observer, lost=lost, is_part=is_part
                )
                await rescoring.run()
                suite_warnings[number] = rescoring.warnings()
                if rescoring.stopped is not None:
                    stopped[number] = rescoring.stopped
        ending = Ending(
            baseline=baseline,
            registry=options.registry,
            redactor=options.redactor,
            warnings=(*blocked, *_unreadable(cases), *_suites_gone(header, suites, known)),
            suite_warnings=suite_warnings,
            stopped=stopped,
        )
        return finish_run(suites, journal, ending)
    finally:
        journal.close()


def _left_out(number: int, suite: JournaledSuite, cases: JournaledCases) -> str | None:
    """Why not all cases of the suite ran; None if they did, or if its gates were decided before."""
    stopped = next((line for line in cases.skipped(number) if line.stopped and not is_decided(line)), None)
    if stopped is not None:
        return (
            f"its answers are those of a run that did not get to all cases: {stopped.reason.removeprefix('not run: ')}"
        )
    if cases.count(number) + cases.unreadable < suite.cases:
        return "its answers are those of a run that has not ended"
    return None


def _itself(header: Header, cases: JournaledCases, known: KnownSuites) -> Baseline:
    """The run as a baseline; its journal has its verdicts, also if it did not end."""
    decoder = msgspec.json.Decoder(PastCase)

    def suites() -> Iterator[tuple[SuiteKey, str | None, PastSuite]]:
        for number, suite in enumerate(header.suites):
            key = known.key_of(suite)
            if key is None:
                continue
            verdicts = (decoder.decode(entry.result) for entry in cases.entries(number))
            known_cases = ((verdict.id, verdict.passed, verdict.status, None) for verdict in verdicts)
            yield key, suite.agent, PastSuite.of(header.run_id, known_cases, Place())

    return Baseline.made(header.run_id, suites(), lambda: known.warnings(f"the run `{header.run_id}`", RENEWED_BY_RUN))


def _unreadable(cases: JournaledCases) -> tuple[str, ...]:
    """The warning that answers of the run cannot be read any more."""
    lines = cases.unreadable
    what = "a line" if lines == 1 else f"{lines} lines"
    return (f"{what} of the run's journal cannot be read, so the cases on them are left out",) if lines else ()


def _suites_gone(header: Header, suites: Sequence[Suite], known: KnownSuites) -> tuple[str, ...]:
    there = {suite.key for suite in suites}
    gone = dict.fromkeys(key_of(suite) for suite in header.suites if there.isdisjoint(known.candidates(suite)))
    return tuple(f"the suite `{key.name}` ({key.tier}) of the run is not there any more" for key in gone)


@final
class _Rescoring:
    """One suite, checked again.

    `lost` says that secrets were struck out of the run's snapshot, `is_part` that flags chose what it ran.
    """

    def __init__(
        self,
        suite: Suite,
        number: int,
        past: _PastSuite | None,
        journal: Journal,
        options: RunOptions,
        observer: Observer,
        *,
        lost: bool,
        is_part: bool,
    ) -> None:
        self._suite = suite
        self._number = number
        self._past = past
        self._journal = journal
        self._options = options.of_cases
        self._panel = options.panel
        self._observer = observer
        self._gone = {} if past is None else dict.fromkeys(past.numbers)
        self._kept: list[str] = []
        self._read_otherwise: list[str] = []
        self._is_same = past is not None and past.file_hash == suite.file_hash
        self._lost = lost
        self._is_part = is_part
        self.stopped: str | None = None  # why cases are left out that the run did not get to

    async def run(self) -> None:
        """Check every case of the suite."""
        judges = None if self._panel is None else JudgePool(self._panel)
        try:
            await self._check_again(judges)
        finally:
            if judges is not None:
                await judges.close()

    async def _check_again(self, judges: JudgePool | None) -> None:
        for case, located in enumerate(self._suite.cases):
            await asyncio.sleep(0)  # the turn of Ctrl-C
            name = located.case.id
            self._gone.pop(name, None)
            entry = None if self._past is None else self._past.entry(name)
            if (skipped := skipped_case(located.case)) is not None:
                self._skip(case, skipped)
            elif (reason := _why_not_rescored(located.case, entry)) is not None:
                self._leave_out(case, located.case, reason)
            elif entry is not None and (entry.struck or self._reads_what_is_lost(located.case)):
                self._kept.append(name)
                self._observer.case_finished(self._suite, self._journal.keep(self._number, case, entry))
            elif entry is not None:
                run = await _rescored(located, entry, self._options, judges)
                if run is None:
                    self._leave_out(case, located.case, _too_few(located.case, entry))
                    continue
                result = as_expected(located.case, run.result)
                if self._is_same and judges is None and entry.status != result.status:
                    self._read_otherwise.append(name)
                run = msgspec.structs.replace(run, result=result, sent=entry.sent)
                self._observer.case_finished(self._suite, self._journal.append(self._number, case, run))

    def _reads_what_is_lost(self, case: Case) -> bool:
        return self._lost and any(token.source == "snapshot" for token in find_tokens(to_json(case).decode()))

    def warnings(self) -> tuple[str, ...]:
        """Further notes on the suite's result: what keeps its verdict, and what is not there any more."""
        warnings = []
        if self._past is not None and self._past.copied_hash not in (None, self._suite.copied_hash):
            warnings.append(
                "files that cases give to the agent have changed since: the answers are to what was in them"
            )
        if self._kept:
            warnings.append(
                f"not rescored, since secrets were struck out of what their checks read: {_listed(self._kept)}"
            )
        if self._read_otherwise:
            warnings.append(
                f"the same answers and checks have another verdict now: {_listed(self._read_otherwise)} "
                "(specs/checks.md says which checks mean something else than in earlier versions)"
            )
        if self._gone:
            warnings.append(f"recorded, and not in the suite any more: {_listed(list(self._gone))}")
        return tuple(warnings)

    def _leave_out(self, number: int, case: Case, reason: str) -> None:
        """Skip a case that nobody said to skip: a suite that was not checked as a whole has not passed."""
        why: str | None = _INCOMPLETE
        if reason == _UNRECORDED:
            left_out = None if self._past is None else self._past.left_out
            was_chosen = self._is_part or (self._past is not None and self._past.was_decided)
            why = left_out or (None if was_chosen else _INCOMPLETE)
        self.stopped = self.stopped or why
        skipped = SkippedCase(
            id=case.id,
            description=case.description,
            reason=reason,
            archived=False,
            stopped=why is not None or msgspec.UNSET,
        )
        self._skip(number, skipped)

    def _skip(self, case: int, skipped: SkippedCase) -> None:
        skipped = self._journal.skip(self._number, case, skipped)
        self._observer.case_skipped(self._suite, skipped)


def _listed(names: Sequence[str]) -> str:
    return first_of(names, _MOST_LISTED, "`{}`".format)


def _why_not_rescored(case: Case, entry: Entry | None) -> str | None:
    """Why the recorded answers do not serve the case; None if they do."""
    if entry is None:
        return _UNRECORDED
    return _CHANGED if entry.sent != fingerprint_of(request_of(case)) else None


def _too_few(case: Case, entry: Entry) -> str:
    """Why the recorded attempts do not decide the case."""
    return f"{_UNRECORDED} for attempt {(len(entry.answers) or 1) + 1} of {case.repeat}"


class _NoMoreAnswers(Exception):
    """A case needs more attempts than are recorded."""


async def _rescored(
    located: LocatedCase, entry: Entry, options: CaseOptions, judges: JudgePool | None
) -> CaseRun | None:
    """The case's result by today's checks; None if fewer attempts are recorded than decide it.

    A run with `--stop-when-sure` left out those that decided nothing. To skip its cases would leave the hard ones.
    """
    recorded = recorded_answers(entry)
    answers = iter(recorded)

    async def attempt(located: LocatedCase) -> CaseRun:
        answer = next(answers, None)
        if answer is None:
            raise _NoMoreAnswers
        return await result_of(located, answer, options, judges)

    try:
        return await run_attempts(located, attempt, until_sure=len(recorded) < (located.case.repeat or 1))
    except _NoMoreAnswers:
        return None
