"""Asks a panel the questions of a case, and sums up what that used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import msgspec

from evalc.base.errors import JudgeError
from evalc.model.answer import AgentResponse, Exhibit, Question, ToolCall
from evalc.model.case import Case, Criterion, Message
from evalc.model.result import JudgedScore
from evalc.runtime.checks.verdict import Note
from evalc.runtime.judges.panel import MOST_SPREAD, JudgePool
from evalc.runtime.judges.panel_member import Meter
from evalc.runtime.store.redact import encoded, redacted

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
        return [*self._disagreements, *(Note(fact, "scored by the others") for fact in self.meter.unscored)]

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
        """What judges are shown: plain JSON, without secrets, which are nothing to a provider of models."""
        case = self._case
        exhibit = Exhibit(
            message=case.input.message,
            messages=tuple({"role": turn.role, "content": turn.content} for turn in self._messages),
            response=text,
            tool_calls=tuple(map(_shown_call, self._response.tool_calls)),
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
