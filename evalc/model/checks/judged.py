"""The check that a judge decides."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from evalc.model.checks.declaration import Declared, Label, Question


class Judge(Declared, frozen=True, kw_only=True, tag="judge"):
    """A judge scores the answer by the criteria, with at least the score required.

    Scores go from 0 to `max_score` (case model, an entry of `rubric`). Without `min_score` the dimension is scored and
    nothing is asserted.
    """

    begins: ClassVar = ("judge",)
    examples: ClassVar = ("Is the tone kind?",)

    dimension: Annotated[Label, Meta(description="What is judged.")]
    max_score: Annotated[int | float, Meta(description="The best score the judge can give; 1 by default.")] = 1
    criteria: Annotated[Question, Meta(description="What a good answer is.")] = ""
    min_score: Annotated[int | float | None, Meta(description="The least score that passes.")] = None
