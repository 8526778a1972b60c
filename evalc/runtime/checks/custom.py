"""Evaluates checks of the project and of installed packages, in their own thread and within the case's time.

A check that raises, returns something invalid or never returns ends in an error, neither a pass nor a failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from copy import deepcopy
from math import isfinite
from typing import Any

import msgspec

from evalc import base
from evalc.base.errors import AgentError, UsageError
from evalc.base.guard import DaemonThread, awaited
from evalc.check.tree import Bounds, Test
from evalc.check.values import is_between, text_of
from evalc.checks import Answer, Outcome, ProjectChecks
from evalc.ecma import to_string
from evalc.model.case import Input
from evalc.model.json import is_number
from evalc.runtime.checks import Evidence, Found, Verdict, View, broken, unasked, words
from evalc.runtime.checks.words import LONGEST_REASON, number, shown


async def custom(test: Test, view: View) -> Found:
    """Call the check of this name, and compare its measure with the bounds."""
    name, args, options, bounds = test.operand
    label, answer, thread = shown(name), _answer(view), DaemonThread()
    timeout_ms = view.evidence.timeout_ms
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            said = await thread.call(lambda: _call(view.evidence.checks, name, answer, args, options))
    except TimeoutError:
        return broken(f"{label}: no answer within {number(timeout_ms)} ms")
    finally:
        thread.abandon()
    measured: Any = said.score if isinstance(said, Outcome) else said
    if isinstance(measured, float) and not isfinite(measured):  # as of a division by zero: it says nothing
        return broken(f"{label}: it measured {to_string(measured)}, which is no number to compare")
    if bounds != Bounds() and not (isinstance(said, Outcome) and said.passed is False):
        if is_number(measured):
            return is_between(measured, bounds) or f"{label} is {number(measured)}, expected {words.bounds(bounds)}"
        found = _said(label, said)
        says = isinstance(found, Verdict) or isinstance(said, Outcome)
        return found if says else broken(f"{label}: it says yes or no, and no number to compare")
    is_measure = is_number(measured) and not (isinstance(said, Outcome) and said.passed is not None)
    return _scored(label, measured, view.evidence) if is_measure else _said(label, said)


def _scored(label: str, share: float, evidence: Evidence) -> Verdict:
    """The verdict on a share that no line compares: it is the score of a criterion, or an error of the suite."""
    if not evidence.scores:
        return broken(
            f"{label}: it returned a number, which a line compares (`check {label}(..) >= 0.7`), or which scores a "
            f"criterion (`check {label}(..) for NAME`)"
        )
    if not 0 <= share <= 1:
        return broken(f"{label}: a criterion is scored from 0 to 1, and it returned {number(share)}")
    return Verdict(outcome="passed", score=float(share))


def _call(checks: ProjectChecks, name: str, answer: Answer, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Call the check. An async one gets a loop of its own, so that it cannot hold up the run's."""
    try:
        function = checks.by_name().get(name) or base.load_offered("evalc.checks", name)
    except UsageError as error:
        raise AgentError(str(error)) from None
    if not callable(function):
        raise AgentError(f"the package does not offer a function, but a `{type(function).__name__}`")
    return awaited(function(answer, *args, **options))


def _said(name: str, said: object) -> Found:
    match said:
        case AgentError():
            return broken(f"{name}: {shown(str(said), LONGEST_REASON)}")
        case True | Outcome(passed=True):
            return True
        case False | Outcome(passed=False, reason=""):
            return f"{name} does not hold"
        case Outcome(passed=None, score=None, reason=str() as reason) if reason:
            return unasked(f"{name}: {shown(reason, LONGEST_REASON)}")
        case Outcome(passed=False, reason=str() as reason):
            return f"{name}: {shown(reason, LONGEST_REASON)}"
        case _:
            returned = "nothing" if said is None else f"a `{type(said).__name__}` that says neither yes nor no"
            return broken(f"{name}: it returned {returned}: return true, false, a number or an `evalc.Outcome`")


def _answer(view: View) -> Answer:
    """The answer that the check gets, copied where it could be changed: later checks and the result read it too."""
    evidence = view.evidence
    answer = Answer(
        text=text_of(view.text),
        tool_calls=deepcopy(evidence.tool_calls),
        duration_ms=evidence.duration_ms,
        usage=evidence.usage,
        written=evidence.written,
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
    """The messages of the case; for a conversation as a whole, everything that was said and answered."""
    for item in sent.messages or ():
        yield {"role": item.role, "content": item.content}
    for said, turn in zip(evidence.said, evidence.turns, strict=False):
        yield {"role": "user", "content": said}
        yield {"role": "assistant", "content": turn.response}
