"""Asks one judge for one score: from the cache, or anew, once more if the answer was malformed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final, NamedTuple, final

from evalc.base.errors import EvalcError, JudgeError
from evalc.base.guard import bounded, said_by, unbounded
from evalc.model.answer import Exhibit, Question, Usage
from evalc.runtime.agents.wire import refuse_absurd_usage
from evalc.runtime.checks.wording import number, shown
from evalc.runtime.judges.answer import Malformed, Score, read_score
from evalc.runtime.judges.base import Judge, JudgeSession
from evalc.runtime.judges.cache import JudgeCache, key_of

_LONGEST_ERROR: Final = 300
_ASKED: Final = 2
"""How often a judge is asked for one score: what is malformed is told it, once."""


@final
@dataclass(slots=True, kw_only=True)
class Meter:
    """What judging has used so far; sums of what is known.

    `unscored` says of each question that was scored all the same which judge of the panel gave no score, and why.
    """

    requests: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    unscored: list[str] = field(default_factory=list)

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
@dataclass(slots=True, kw_only=True)
class Member:
    """A seat with an opened judge. `session` is None before the first question that the cache cannot answer."""

    seat: PanelMember
    timeout_ms: float
    cache: JudgeCache | None
    stack: AsyncExitStack
    session: JudgeSession | None = field(default=None)

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
        self.cache.put(key, score, judge=judge.name, question=question)
        return score

    async def _asked(self, question: Question, exhibit: Exhibit, meter: Meter) -> Score:
        """The judge's answer within its own deadline; whatever it does, the run continues."""
        deadline = asyncio.get_running_loop().time() + self.timeout_ms / 1000
        limit = asyncio.timeout_at(deadline)
        bound = bounded(deadline)
        try:
            async with limit:
                return await self._until_well_formed(question, exhibit, meter, deadline)
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            raise self._failed("it was cancelled from inside") from None
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if limit.expired():
                raise self._failed(f"no score within {number(self.timeout_ms)} ms") from None
            raise self._failed(str(error) if isinstance(error, EvalcError) else said_by(error)) from None
        finally:
            unbounded(bound)

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
