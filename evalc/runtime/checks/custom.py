"""Evaluates checks of installed packages, in their own thread and within the case's time.

Whatever it does is its own doing: what it raises, returns amiss or never returns is an error, not a pass or a failure.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Iterator
from copy import deepcopy
from typing import Any, Final, TypeVar

import msgspec

from evalc.base import installed
from evalc.base.errors import AgentError, UsageError
from evalc.base.guard import DaemonThread
from evalc.checks import Answer, Check, Outcome
from evalc.model import checks as c
from evalc.model.case import Input
from evalc.runtime.checks.token_values import resolved_text, with_texts
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed, skipped
from evalc.runtime.checks.wording import number, shown

T = TypeVar("T")

_LONGEST_REASON: Final = 500


async def custom(check: c.Custom, evidence: Evidence) -> Verdict:
    """Call the check that an installed package offers by this name."""
    unresolved: list[str] = []

    def resolved(text: str) -> str:
        return resolved_text(text, evidence, unresolved)

    args = [with_texts(value, resolved) for value in check.args]
    options = {name: with_texts(value, resolved) for name, value in check.options.items()}
    if unresolved:
        return skipped(tuple(unresolved))
    name, answer, thread = shown(check.name), _answer(evidence), DaemonThread()
    try:
        async with asyncio.timeout(evidence.timeout_ms / 1000):
            said = await thread.call(lambda: _call(check.name, answer, args, options))
    except TimeoutError:
        return broken(f"{name}: no answer within {number(evidence.timeout_ms)} ms")
    finally:
        thread.abandon()
    return _verdict(name, said)


def _call(name: str, answer: Answer, args: list[Any], options: dict[str, Any]) -> Any:
    """Call the check. An async one gets a loop of its own, so that it cannot hold up the run's."""
    said = _function(name)(answer, *args, **options)
    return asyncio.run(_awaited(said)) if inspect.isawaitable(said) else said


def _function(name: str) -> Check:
    try:
        function = installed.load("evalc.checks", name)
    except UsageError as error:
        raise AgentError(str(error)) from None
    if not callable(function):
        raise AgentError(f"the package does not offer a function, but a `{type(function).__name__}`")
    return function  # type: ignore[no-any-return]  # what it takes and gives is known when it is called


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _verdict(name: str, said: object) -> Verdict:
    match said:
        case AgentError():
            return broken(f"{name}: {shown(str(said), _LONGEST_REASON)}")
        case True | Outcome(passed=True):
            return PASSED
        case False | Outcome(passed=False, reason=""):
            return failed(f"{name} does not hold")
        case Outcome(passed=False, reason=str() as reason):
            return failed(f"{name}: {shown(reason, _LONGEST_REASON)}")
        case _:
            return broken(f"{name}: it returned a `{type(said).__name__}` that says neither yes nor no")


def _answer(evidence: Evidence) -> Answer:
    """The answer that the check gets, copied where it could be changed: later checks and the result read it too."""
    answer = Answer(
        text=evidence.response,
        tool_calls=deepcopy(evidence.tool_calls),
        duration_ms=evidence.duration_ms,
        usage=evidence.usage,
    )
    case = evidence.case
    if case is None:
        return answer
    return msgspec.structs.replace(
        answer,
        case_id=case.id,
        message=case.input.message if evidence.turn is None or not evidence.said else evidence.said[-1],
        messages=tuple(_messages(evidence, case.input)),
        inputs=deepcopy(case.input.inputs or {}),
        expected=case.expected,
        reference_data=deepcopy(case.reference_data or {}),
    )


def _messages(evidence: Evidence, sent: Input) -> Iterator[dict[str, str]]:
    """The messages of the case; of a conversation as a whole what was said and answered."""
    for item in sent.messages or ():
        yield {"role": item.role, "content": item.content}
    for said, turn in zip(evidence.said, evidence.turns, strict=False):
        yield {"role": "user", "content": said}
        yield {"role": "assistant", "content": turn.response}
