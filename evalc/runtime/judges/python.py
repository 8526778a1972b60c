"""The judge `python:module:name`: its scores are the author's own code."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from evalc.base.errors import UsageError
from evalc.base.guard import DaemonThread
from evalc.model.answer import Exhibit, Question
from evalc.runtime.agents.calling import Code
from evalc.runtime.agents.python import load_target
from evalc.runtime.judges.base import JudgeSession, Said


@final
class PythonJudge:
    """A function or async function, given `{question, message, response, ...}` as the specification has it.

    It returns a number, a pair of a number and a reason, or `{"score", "reason"}`; on a scale to 1 the number may be
    true or false. What it said is never cached: nothing tells one version of code from the next.

    Raises:
        UsageError: it cannot be imported, is not there, or cannot be called.
    """

    def __init__(self, target: str, *, project_root: Path) -> None:
        self._target = target
        function = load_target(target, project_root)
        if not callable(function):
            raise UsageError(f"`python:{target}` is a `{type(function).__name__}`, and a judge is a function")
        self._code = Code.of(function)

    @property
    def name(self) -> str:
        """`python:module:name`."""
        return f"python:{self._target}"

    @property
    def identity(self) -> Mapping[str, Any] | None:
        """None: it is code, which may be another one tomorrow."""
        return None

    @asynccontextmanager
    async def session(self) -> AsyncIterator[JudgeSession]:
        """Open a session with a thread of its own for a function that is not async."""
        thread = DaemonThread()
        try:
            yield _PythonSession(code=self._code, thread=thread)
        finally:
            thread.abandon()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _PythonSession:
    code: Code
    thread: DaemonThread

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:  # noqa: ARG002 - code is not told what was wrong
        answer = await self.code.call(query_of(question, exhibit), self.thread)
        return Said(_value_of(answer, binary=question.max_score == 1), final=True)


def query_of(question: Question, exhibit: Exhibit) -> dict[str, Any]:
    """The input of judges that are not models: the question, and what is judged."""
    query: dict[str, Any] = {"question": msgspec.to_builtins(question), **msgspec.to_builtins(exhibit)}
    return query


def _value_of(answer: object, *, binary: bool) -> object:
    """What the function returned, in the form of a verdict; a text stays what it is, and is read as JSON."""
    match answer:
        case int() | float():
            return {"score": _number(answer, binary=binary)}
        case (int() | float() as score, str() as reason):
            return {"score": _number(score, binary=binary), "reason": reason}
        case {"score": bool() as score, **rest}:
            return {**rest, "score": _number(score, binary=binary)}
        case _:
            return answer


def _number(score: float, *, binary: bool) -> float:
    """A plain number of what may be a library's subclass of one. True is 1 on a scale to 1, and none of another."""
    if isinstance(score, bool) and not binary:
        return score
    return int(score) if isinstance(score, int) else float(score)
