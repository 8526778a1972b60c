"""Transcripts of cases: the response, or a conversation turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import UNSET

from evalc.model.result import CaseResult, TurnDetails


def transcript(case: CaseResult) -> str | None:
    """The transcript as text: the response, or each turn with the user's message and the calls."""
    if case.details.turns is UNSET:
        return case.details.response
    return "\n".join(_lines(case))


def response_of(case: CaseResult, turn: int | None) -> str | None:
    """The response of a turn; that of the case where it is about none."""
    turns = case.details.turns
    if turn is None or turns is UNSET or turn > len(turns):
        return case.details.response
    return turns[turn - 1].response


def calls_by_turn(case: CaseResult) -> Iterator[tuple[TurnDetails, list[str]]]:
    """Each turn of a conversation with the names of the tools that were called in it."""
    names = iter([str(call.get("name")) for call in case.details.tool_calls])
    for turn in () if case.details.turns is UNSET else case.details.turns:
        yield turn, list(islice(names, turn.calls))


def _lines(case: CaseResult) -> Iterator[str]:
    for number, (turn, names) in enumerate(calls_by_turn(case), 1):
        failed = any(each.turn == number and each.outcome in ("failed", "error") for each in case.assertions)
        yield f"turn {number}{' (failed)' if failed else ''}"
        yield f"  user: {turn.message}"
        if names:
            yield f"  calls: {', '.join(names)}"
        yield f"  agent: {turn.response}"
