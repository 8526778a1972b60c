"""A judge for tests: it says what a script makes of each question, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, final

from evalc.model.answer import Exhibit, Question, Usage
from evalc.runtime.judges import JudgeSession, Said
from evalc.runtime.judges.cache import JudgeCache
from evalc.runtime.judges.panel import JudgePool, Meter, Panel, seated

EXHIBIT = Exhibit(message="What is the weather?", response="Sunny.")
TONE = Question(name="tone", criteria="Is it kind?", max_score=5)


@final
class ScriptedJudge:
    """`script` gives what is said to a question (the number of asks before is its second argument), or raises."""

    def __init__(
        self,
        script: Callable[[Question, int], Any],
        *,
        name: str = "scripted",
        cost: float | None = None,
        cached: bool = True,
    ) -> None:
        self.asked: list[tuple[Question, Exhibit, str | None]] = []
        self.deadlines: list[float] = []
        self.sessions = 0
        self._script = script
        self._name = name
        self._usage = None if cost is None else Usage(input_tokens=10, output_tokens=2, cost_usd=cost)
        self._cached = cached

    @property
    def name(self) -> str:
        return self._name

    @property
    def identity(self) -> Mapping[str, Any] | None:
        return {"judge": self._name} if self._cached else None

    @asynccontextmanager
    async def session(self) -> AsyncIterator[JudgeSession]:
        self.sessions += 1
        yield self

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:
        self.asked.append((question, exhibit, complaint))
        self.deadlines.append(deadline)
        said = self._script(question, len(self.asked) - 1)
        if isinstance(said, BaseException):
            raise said
        if said is FOREVER:
            await asyncio.Event().wait()
        return Said(said, self._usage)


FOREVER = object()
"""The script of a judge that never answers."""


def says(*scores: Any) -> Callable[[Question, int], Any]:
    """One after the other, the last from then on; a number is a verdict without many words."""

    def script(_: Question, before: int) -> Any:
        said = scores[min(before, len(scores) - 1)]
        return {"score": said, "reason": f"because {said}"} if isinstance(said, int | float) else said

    return script


def panel(
    *judges: ScriptedJudge, samples: int = 1, cache: JudgeCache | None = None, timeout_ms: float = 60_000, **more: Any
) -> Panel:
    return Panel(seats=seated(judges, samples), cache=cache, timeout_ms=timeout_ms, **more)


def score(panel: Panel, question: Question = TONE, exhibit: Exhibit = EXHIBIT, meter: Meter | None = None) -> Any:
    """The panel's score for a question."""

    async def run() -> Any:
        async with JudgePool(panel) as pool:
            return await pool.score(question, exhibit, meter or Meter())

    return asyncio.run(run())
