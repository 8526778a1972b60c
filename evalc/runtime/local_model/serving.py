"""What is configured about models on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is configured about local models.

    Attributes:
        context_tokens: how many tokens a conversation may have, its answer included.
        load_ms: how long loading a model may take.
    """

    context_tokens: int = 8192
    load_ms: float = 120_000
