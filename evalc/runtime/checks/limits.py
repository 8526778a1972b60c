"""Measures what an answer took: tokens and money."""

from __future__ import annotations

from typing import Any, Final

from evalc.base.terminal import well_formed
from evalc.runtime.checks.verdict import Evidence, Note, Verdict, broken

ENCODING: Final = "o200k_base"
"""The vocabulary that tokens are counted with, whatever the agent's own."""


def spent(evidence: Evidence) -> Any:
    """The cost that the agent reports, or that a model's list price gives; an unknown cost is not a low cost."""
    cost = evidence.usage.cost_usd if evidence.usage else None
    return (
        cost
        if cost is not None
        else broken(
            "what it cost is not known: the agent's answer has no `usage.costUsd`, "
            "and its model has no list price to compute it from"
        )
    )


def used(which: str, evidence: Evidence) -> tuple[Any, str]:
    """The tokens that the agent reports, and their unit; where it does not, nothing is checked."""
    usage = evidence.usage
    given = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens} if usage else {}
    counts = list(given.values()) if which == "total_tokens" else [given.get(which)]
    name = which.replace("_", " ")
    if None in counts or not counts:
        note = Note(f"{name}: the agent does not report the tokens that it used", "not checked")
        return Verdict(outcome="not_applicable", notes=(note,)), name
    return sum(counts), name


def count_tokens(text: str) -> int:
    """The tokens of a text; what looks like a special token is text, half a surrogate pair is U+FFFD."""
    from toktok import truncate  # noqa: PLC0415 - its vocabulary takes a fifth of a second to load

    total: int = truncate(well_formed(text), 0, ENCODING)[1]  # of the whole text; counting in batches starts a thread
    return total
