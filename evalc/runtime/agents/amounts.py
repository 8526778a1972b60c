"""Rejects usage figures that no sum or file could hold."""

from __future__ import annotations

from typing import Final

from evalc.errors import AgentProtocolError
from evalc.model.numbers import shown_number
from evalc.runtime.agents.base import AgentResponse, Usage

_MOST_TOKENS: Final = 10**12
_MOST_USD: Final = 10**6
_MOST_MS: Final = 10**10


def refuse_absurd(response: AgentResponse) -> None:
    """Refuse an answer whose amounts are no amounts.

    Raises:
        AgentProtocolError: one of them is negative, not finite, or beyond all reason.
    """
    if response.usage is not None:
        refuse_absurd_usage(response.usage)
    if response.duration_ms is not None:
        _refuse("durationMs", response.duration_ms, _MOST_MS)
    for index, call in enumerate(response.tool_calls):
        if call.duration_ms is not None:
            _refuse(f"toolCalls[{index}].durationMs", call.duration_ms, _MOST_MS)


def refuse_absurd_usage(usage: Usage) -> None:
    """Refuse what was used where it cannot have been.

    Raises:
        AgentProtocolError: as for `refuse_absurd`.
    """
    for name, tokens in (("inputTokens", usage.input_tokens), ("outputTokens", usage.output_tokens)):
        if tokens is not None:
            _refuse(f"usage.{name}", tokens, _MOST_TOKENS)
            if not isinstance(tokens, int):
                raise AgentProtocolError(f"`usage.{name}` is {shown_number(tokens)}, not a whole number")
    if usage.cost_usd is not None:
        _refuse("usage.costUsd", usage.cost_usd, _MOST_USD)


def _refuse(name: str, amount: float, most: int) -> None:
    if not 0 <= amount <= most:  # as NaN is not, either
        raise AgentProtocolError(f"`{name}` is {shown_number(amount)}; it has to be between 0 and {most:,}")
