"""Makes judges, asks those of a panel the questions of a case, and combines their scores: median and spread.

Each is asked for one score: from the cache, or anew, once more if the answer was malformed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from statistics import median
from typing import Any, Final, NamedTuple, Self, final

import msgspec

from evalc import extras
from evalc.base import MODEL_FORMS, Provider, provider_of
from evalc.base.errors import EvalcError, JudgeError, UsageError
from evalc.base.guard import TimeLimit, is_of_the_run, said_by
from evalc.compare.totals import DECIMALS
from evalc.model.answer import AgentResponse, Exhibit, Question, ToolCall, Usage
from evalc.model.case import Case, Criterion, Message
from evalc.model.result import JudgedScore
from evalc.runtime import TIMEOUT_MS
from evalc.runtime.agents import ModelOptions, Sampling
from evalc.runtime.agents.spec import AgentSettings, model_agent
from evalc.runtime.agents.wire import refuse_absurd_usage
from evalc.runtime.checks import Note
from evalc.runtime.checks.words import LONGEST_REASON, number, shown
from evalc.runtime.judges import Judge, JudgeSession
from evalc.runtime.judges.cache import JudgeCache, key_of
from evalc.runtime.judges.model import Malformed, Score, read_score
from evalc.runtime.store.redact import NO_SECRETS, Redactor, encoded, redacted

_LONGEST_ERROR: Final = 300
_ASKED: Final = 2
"""How often a judge is asked for one score: once more where the first answer is malformed."""


@final
class Meter(msgspec.Struct, kw_only=True):
    """The usage of judging so far; sums of what is known.

    `unscored` says of each question that was scored all the same which judge of the panel gave no score, and why,
    `not_kept` of each judgement that could not be kept why not.
    """

    requests: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    unscored: list[str] = []
    not_kept: list[str] = []

    def add(self, usage: Usage | None) -> None:
        """Count an answer."""
        self.requests += 1
        if usage is not None:
            self.input_tokens += usage.input_tokens or 0
            self.output_tokens += usage.output_tokens or 0
            if usage.cost_usd is not None:
                self.cost_usd = (self.cost_usd or 0.0) + usage.cost_usd


class PanelMember(NamedTuple):
    """A judge's place in a panel; `sample` counts the places of one and the same judge."""

    judge: Judge
    sample: int = 0


@final
class SeatedJudge(msgspec.Struct, kw_only=True):
    """A seat with an opened judge. `session` is None before the first question that the cache cannot answer."""

    seat: PanelMember
    timeout_ms: float
    cache: JudgeCache | None
    stack: AsyncExitStack
    session: JudgeSession | None = None

    async def score(self, question: Question, exhibit: Exhibit, meter: Meter) -> Score:
        """The score.

        Raises:
            JudgeError: there is no judgement, whatever the reason.
        """
        judge, sample = self.seat
        identity = judge.identity if self.cache is not None else None
        key = None if identity is None else key_of(identity, sample, question, exhibit)
        if key is None or self.cache is None:
            return await self._asked(question, exhibit, meter)
        if (kept := self.cache.get(key, question)) is not None:
            meter.cached += 1
            return kept
        score = await self._asked(question, exhibit, meter)
        if (why := self.cache.put(key, score, judge=judge.name, question=question)) is not None:
            meter.not_kept.append(why)
        return score

    async def _asked(self, question: Question, exhibit: Exhibit, meter: Meter) -> Score:
        """The judge's answer within its own deadline; whatever it does, the run continues."""
        limit = TimeLimit(self.timeout_ms)
        try:
            score = await self._until_well_formed(question, exhibit, meter, limit.begin())
        except BaseException as error:
            is_late = limit.end()
            if is_of_the_run(error):
                raise
            if is_late:
                raise self._failed(f"no score within {number(self.timeout_ms)} ms") from None
            if isinstance(error, asyncio.CancelledError):
                raise self._failed("it was cancelled from inside") from None
            raise self._failed(str(error) if isinstance(error, EvalcError) else said_by(error)) from None
        else:
            limit.end()
        finally:
            limit.close()
        return score

    async def _until_well_formed(self, question: Question, exhibit: Exhibit, meter: Meter, deadline: float) -> Score:
        complaint: str | None = None
        for _ in range(_ASKED):
            session = await self._opened()
            said = await session.ask(question, exhibit, complaint=complaint, deadline=deadline)
            if said.usage is not None:
                refuse_absurd_usage(said.usage)
            meter.add(said.usage)
            try:
                return read_score(said, question)
            except Malformed as malformed:
                complaint = shown(str(malformed), _LONGEST_ERROR)
                if said.final:
                    raise JudgeError(f"its answer is not a score: {complaint}") from None
        raise JudgeError(f"its answer is not a score, twice: {complaint}")

    async def _opened(self) -> JudgeSession:
        if self.session is None:
            self.session = await self.stack.enter_async_context(self.seat.judge.session())
        return self.session

    def _failed(self, why: str) -> JudgeError:
        return JudgeError(f"{self.seat.judge.name}: {shown(why, _LONGEST_ERROR)}")


MOST_SPREAD: Final = 0.4
"""The share of a scale that scores may lie apart before a warning says that the judges disagree."""


@final
class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """The judges of a run, and how they judge."""

    seats: tuple[PanelMember, ...]  # one a judge, or several for a judge that is asked several times
    timeout_ms: float = TIMEOUT_MS  # how long a judge may take for one score, asking again included
    cache: JudgeCache | None = None  # where judgements are kept; None asks every time
    redactor: Redactor = NO_SECRETS  # strikes secrets out of what judges are shown

    @property
    def names(self) -> tuple[str, ...]:
        """The judges, each once."""
        return tuple(dict.fromkeys(seat.judge.name for seat in self.seats))


def seated(judges: Sequence[Judge], samples: int) -> tuple[PanelMember, ...]:
    """The seats of judges each of whom is asked `samples` times."""
    return tuple(PanelMember(judge, sample) for judge in judges for sample in range(samples))


@final
class JudgePool:
    """A panel at work: a worker's, which asks one question at a time, all of its judges at once."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        # A judge that hangs while it is closed, or was broken, takes no other's connection with it.
        self._stacks = [AsyncExitStack() for _ in panel.seats]
        self._members = [
            SeatedJudge(seat=seat, timeout_ms=panel.timeout_ms, cache=panel.cache, stack=stack)
            for seat, stack in zip(panel.seats, self._stacks, strict=True)
        ]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def score(self, question: Question, exhibit: Exhibit, meter: Meter) -> JudgedScore:
        """The median of the scores; judges of the panel that gave none are noted in the meter.

        Raises:
            JudgeError: no majority of the judges gave one.
        """
        outcomes = await asyncio.gather(*(_outcome(member, question, exhibit, meter) for member in self._members))
        scores = [outcome for outcome in outcomes if isinstance(outcome, Score)]
        errors = [outcome for outcome in outcomes if isinstance(outcome, JudgeError)]
        if 2 * len(scores) <= len(outcomes):
            raise (
                errors[0]
                if len(outcomes) == 1
                else JudgeError(f"only {len(scores)} of {len(outcomes)} judges gave a score; {errors[0]}")
            )
        names = [seat.judge.name for seat in self.panel.seats]
        meter.unscored += dict.fromkeys(
            f"the judge `{name}` gave no score ({_kind_of(outcome, name)})"
            for name, outcome in zip(names, outcomes, strict=True)
            if isinstance(outcome, JudgeError)
        )
        return _summed_up(scores, question, alone=len(outcomes) == 1)

    async def close(self) -> None:
        """Close every session; what goes wrong then changes no score."""
        await asyncio.gather(*(stack.aclose() for stack in self._stacks), return_exceptions=True)


async def _outcome(member: SeatedJudge, question: Question, exhibit: Exhibit, meter: Meter) -> Score | JudgeError:
    try:
        return await member.score(question, exhibit, meter)
    except JudgeError as error:
        return error


def _kind_of(error: JudgeError, judge: str) -> str:
    """Why there is no score, without what is different from question to question."""
    return str(error).removeprefix(f"{judge}: ").partition(":")[0]


def _summed_up(scores: Sequence[Score], question: Question, *, alone: bool) -> JudgedScore:
    """The median, in the words of the judge who is nearest to it."""
    middle = median(score.score for score in scores)
    nearest = min(scores, key=lambda score: abs(score.score - middle))
    values = [score.score for score in scores]
    return JudgedScore(
        score=round(middle, DECIMALS),
        max_score=question.max_score,
        reason=shown(nearest.reason, LONGEST_REASON) or None,
        spread=None if alone else round(max(values) - min(values), DECIMALS),
    )


CRITERION_SCALE: Final = 5
"""The top of the scale on which a criterion is judged, which has none of its own."""


@final
class CaseJudge:
    """Judges one answer to one case. `meter` adds up what it used."""

    def __init__(
        self, judges: JudgePool, case: Case, response: AgentResponse, messages: Sequence[Message] | None = None
    ) -> None:
        self.meter = Meter()
        self._disagreements: list[Note] = []
        self._judges = judges
        self._case = case
        self._response = response
        self._messages = case.input.messages or () if messages is None else messages

    @property
    def notes(self) -> list[Note]:
        """The warnings for the suite."""
        unscored = (Note(fact, "scored by the others") for fact in self.meter.unscored)
        not_kept = [f"judgements cannot be kept ({why})" for why in self.meter.not_kept]
        return [*self._disagreements, *unscored, *(Note(fact, "judged anew by each run") for fact in not_kept)]

    async def score(self, question: Question, text: str | None = None) -> JudgedScore:
        """The score of the answer, or of a `text` that is a part of it.

        Raises:
            JudgeError: there is no judgement.
        """
        try:
            exhibit = self._exhibit(self._response.response if text is None else text)
        except Exception as error:  # an agent in Python may put anything among the parameters of its calls
            raise JudgeError(f"the answer cannot be shown to a judge: {type(error).__name__}") from None
        score = await self._judges.score(question, exhibit, self.meter)
        if score.spread is not None and score.spread > MOST_SPREAD * question.max_score:
            self._disagreements.append(Note(f"the judges disagree on `{question.name}`", "scored by the median"))
        return score

    async def score_criterion(self, criterion: Criterion) -> JudgedScore:
        """The score of a criterion that no check is linked to.

        Raises:
            JudgeError: there is no judgement.
        """
        question = Question(name=criterion.name, criteria=criterion.description or "", max_score=CRITERION_SCALE)
        return await self.score(question)

    def _exhibit(self, text: str) -> Exhibit:
        """The exhibit for judges: plain JSON, without secrets, which are nothing to a provider of models."""
        case = self._case
        exhibit = Exhibit(
            message=case.input.message,
            messages=tuple({"role": turn.role, "content": turn.content} for turn in self._messages),
            response=text,
            tool_calls=tuple(map(_shown_call, self._response.tool_calls)),
            written=self._response.written,
            expected=case.expected,
            reference_data=case.reference_data,
        )
        _, json = redacted(exhibit, encoded(exhibit), self._judges.panel.redactor)
        return msgspec.json.decode(json, type=Exhibit)


def _shown_call(call: ToolCall) -> dict[str, Any]:
    """A call as judges see it, with what the tool gave back where the agent says so."""
    said = {"result": call.result, "error": call.error}
    known = {name: value for name, value in said.items() if value is not msgspec.UNSET}
    return {"name": call.name, "params": call.params, **known}


# --- which judge a text names ----------------------------------------------------------------------------------------

FORMS: Final = ", ".join(
    f"`{form}`"
    for form in (*MODEL_FORMS, "local", "local:MODEL.gguf", "python:module:name", "http://...", "https://...")
)


@final
class JudgeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of judges; each kind takes its part."""

    reached: AgentSettings  # how providers, URLs and modules are reached: as for agents
    sampling: Sampling = msgspec.field(default_factory=Sampling)  # how models are asked
    headers: Mapping[str, str] = {}  # sent with every request to a judge behind a URL


def judge_for(spec: str, *, settings: JudgeSettings) -> Judge:
    """The judge that a spec names.

    Raises:
        UsageError: the spec has no known form, or its judge is not available.
    """
    # A kind is imported when it is asked for, for start-up time.
    scheme, _, rest = spec.strip().partition(":")
    provider = provider_of(spec)
    reached = settings.reached
    match scheme.lower():
        case _ if provider is not None and rest.strip():
            return _model_judge(provider, rest.strip(), settings)
        case "local":
            return extras.local.judge_of(rest.strip(), reached, settings.sampling)
        case "python" if rest:
            from evalc.runtime.judges.other import PythonJudge  # noqa: PLC0415

            return PythonJudge(rest, project_root=reached.project_root, brought=reached.brought)
        case "http" | "https" if rest.startswith("//"):
            from evalc.runtime.judges.other import HttpJudge  # noqa: PLC0415

            return HttpJudge(spec.strip(), headers=settings.headers, sending=reached.http.sending)
        case _:
            # Only the scheme is repeated: the rest may hold credentials.
            raise UsageError(f"`{scheme}` is not a judge: judges are {FORMS}")


def _model_judge(provider: Provider, model: str, settings: JudgeSettings) -> Judge:
    from evalc.runtime.agents.http import headers_without_credentials  # noqa: PLC0415
    from evalc.runtime.agents.model.apis import endpoint_of  # noqa: PLC0415
    from evalc.runtime.judges.model import ModelJudge  # noqa: PLC0415

    access = settings.reached.providers[provider.name]
    return ModelJudge(
        model_agent(provider, model, settings.reached, ModelOptions(sampling=settings.sampling)),
        identity={
            "url": endpoint_of(provider, access).url,
            "headers": headers_without_credentials(access.headers),
            "sampling": msgspec.to_builtins(settings.sampling),
        },
    )
