"""Combines the scores of several judges: their median and spread, or an error if too few have one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from statistics import median
from typing import Final, Self, final

from evalc.base.errors import JudgeError
from evalc.model.answer import Exhibit, Question
from evalc.model.result import JudgedScore
from evalc.runtime.checks.wording import shown
from evalc.runtime.judges.answer import Score
from evalc.runtime.judges.base import Judge
from evalc.runtime.judges.cache import JudgeCache
from evalc.runtime.judges.panel_member import Member, Meter, PanelMember
from evalc.runtime.store.redact import Redactor

MOST_SPREAD: Final = 0.4
"""The share of a scale that scores may lie apart before a warning says that the judges disagree."""

_LONGEST_REASON: Final = 500
_DECIMALS: Final = 12


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Who judges a run, and how.

    Attributes:
        seats: one a judge, or several for a judge that is asked several times.
        timeout_ms: how long a judge may take for one score, asking again included.
        cache: where judgements are kept; None asks every time.
        redactor: strikes secrets out of what judges are shown.
    """

    seats: tuple[PanelMember, ...]
    timeout_ms: float = 60_000
    cache: JudgeCache | None = None
    redactor: Redactor | None = None

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
            Member(seat=seat, timeout_ms=panel.timeout_ms, cache=panel.cache, stack=stack)
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


async def _outcome(member: Member, question: Question, exhibit: Exhibit, meter: Meter) -> Score | JudgeError:
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
        score=round(middle, _DECIMALS),
        max_score=question.max_score,
        reason=shown(nearest.reason, _LONGEST_REASON) or None,
        spread=None if alone else round(max(values) - min(values), _DECIMALS),
    )
