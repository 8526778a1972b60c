"""Judges: opened once by each worker, a judge says how well an answer meets one question."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple, Protocol

from evalc.model.answer import Exhibit, Question, Usage


class Said(NamedTuple):
    """A judge's answer, unread: a text, or a value such as a mapping; and its usage.

    `whole` says that the judge was asked for a step of the scale, where these are whole numbers; `final` that it
    would say the same again, as code does, which does not hear what was wrong.
    """

    value: object
    usage: Usage | None = None
    whole: bool = False
    final: bool = False


class JudgeSession(Protocol):
    """An opened judge: is asked one question at a time."""

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:
        """Ask a question; `complaint` is what was wrong with the answer before.

        The caller bounds the time by cancelling; `deadline` is that time by the event loop's clock.

        Raises:
            EvalcError: there is no usable answer; its message is what the result says.
        """
        ...


class Judge(Protocol):
    """A judge: a name for results, and sessions, one a worker."""

    @property
    def name(self) -> str:
        """Its name in results: `openai:MODEL`, a URL without credentials."""
        ...

    @property
    def identity(self) -> Mapping[str, Any] | None:
        """The data that set its judgements apart from another's, without secrets; None where none can, as with code."""
        ...

    def session(self) -> AbstractAsyncContextManager[JudgeSession]:
        """Open a session; closing it frees what it holds."""
        ...
