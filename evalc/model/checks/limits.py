"""Checks of what an answer took: time, tokens, money."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from evalc.model.checks.declaration import Declared, Field


class Latency(Declared, frozen=True, kw_only=True, tag="latency"):
    """The answer took at most so many milliseconds."""

    line: ClassVar = "latency <= {max:duration}"
    examples: ClassVar = ("30s", "500ms")
    contract: ClassVar = (Field("max_latency_ms", "max", once=True),)

    max: Annotated[int | float, Meta(description="The limit, in milliseconds.")]

    def has_field(self) -> bool:
        return self.max != 0  # in the contract, a limit of 0 asserts nothing


class Tokens(Declared, frozen=True, kw_only=True, tag="tokens"):
    """The response has at most so many tokens."""

    line: ClassVar = "tokens <= {max}"
    examples: ClassVar = (500,)
    contract: ClassVar = (Field("max_tokens", "max", once=True),)

    max: Annotated[int | float, Meta(description="The limit.")]

    def has_field(self) -> bool:
        return self.max != 0  # in the contract, a limit of 0 asserts nothing


class Cost(Declared, frozen=True, kw_only=True, tag="cost"):
    """The answer cost at most so many US dollars."""

    line: ClassVar = "cost <= ${max}"
    examples: ClassVar = ("$0.02",)
    contract: ClassVar = (Field("max_cost", "max", once=True),)

    max: Annotated[int | float, Meta(description="The limit, in US dollars.")]


LimitCheck = Latency | Tokens | Cost
