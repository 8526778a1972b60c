"""What a judge is: something that, opened once a worker, says how well an answer meets one question."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol

from evalc.model.answer import Exhibit, Question, Usage


class Said(NamedTuple):
    """What a judge said, unread: a text, or a value such as a mapping; and what it used.

    `whole` says that the judge was told to give a step of the scale, where these are whole numbers; `final` that it
    would say the same again, as code does, which is not told what was wrong.
    """

    value: object
    usage: Usage | None = None
    whole: bool = False
    final: bool = False


class JudgeSession(Protocol):
    """An opened judge: is asked one question at a time."""

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:
        """What it says; `complaint` is what was wrong with what it said before.

        The caller bounds the time by cancelling; `deadline` is that time by the event loop's clock.

        Raises:
            EvalcError: there is no usable answer; its message is what the result says.
        """
        ...


class Judge(Protocol):
    """A judge: a name for results, and sessions, one a worker."""

    @property
    def name(self) -> str:
        """What results call it: `openai:MODEL`, a URL without credentials."""
        ...

    @property
    def identity(self) -> Mapping[str, Any] | None:
        """All that tells its judgements from another's, without secrets; None if nothing could, as of code."""
        ...

    def session(self) -> AbstractAsyncContextManager[JudgeSession]:
        """Open a session; closing it frees what it holds."""
        ...
