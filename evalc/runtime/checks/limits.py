"""Checks of what an answer took: time, tokens, money."""

from __future__ import annotations

from typing import Final

from evalc.base.terminal import well_formed
from evalc.model import checks as c
from evalc.runtime.checks.verdict import PASSED, Evidence, Verdict, broken, failed
from evalc.runtime.checks.wording import number

ENCODING: Final = "o200k_base"
"""The vocabulary that tokens are counted with, whatever the agent's own."""


def latency(check: c.Latency, evidence: Evidence) -> Verdict:
    """Contract, 8. maxLatencyMs."""
    if evidence.duration_ms <= check.max:
        return PASSED
    return failed(f"expected at most {number(check.max)} ms but took {number(evidence.duration_ms)} ms")


def tokens(check: c.Tokens, evidence: Evidence) -> Verdict:
    """Contract, 9. maxTokens."""
    count = count_tokens(evidence.response)
    if count <= check.max:
        return PASSED
    return failed(f"expected at most {number(check.max)} tokens but got {count}")


def cost(check: c.Cost, evidence: Evidence) -> Verdict:
    """The cost that the agent reports, or that a model's list price gives; an unknown cost is not a low cost."""
    spent = evidence.usage.cost_usd if evidence.usage else None
    if spent is None:
        return broken(
            "what it cost is not known: the agent's answer has no `usage.costUsd`, "
            "and its model has no list price to compute it from"
        )
    if spent <= check.max:
        return PASSED
    return failed(f"expected at most ${number(check.max)} but it cost ${number(spent)}")


def count_tokens(text: str) -> int:
    """The tokens of a text; what looks like a special token is text, half a surrogate pair is U+FFFD."""
    from toktok import truncate  # noqa: PLC0415 - its vocabulary takes a fifth of a second to load

    total: int = truncate(well_formed(text), 0, ENCODING)[1]  # of the whole text; counting in batches starts a thread
    return total
