"""Prices a model's answer by the list prices in genai-prices."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from evalc.runtime.agents.model.api import Flavor


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The prices of one API at one URL: what a model costs depends on who serves it."""

    url: str
    flavor: Flavor

    def cost_of(self, answer: Mapping[str, Any], asked: str) -> float | None:
        """US dollars for an answer, cached tokens at their own price; None if the price or the usage is not known.

        The answer may name the version that it came from; where that has no price, the model asked for counts.
        """
        for model in (answer.get("model"), asked):
            try:
                used = _table().extract_usage(
                    {**answer, "model": model}, provider_api_url=self.url, api_flavor=self.flavor
                )
                cost = float(used.calc_price().total_price)
            except (LookupError, ValueError, TypeError, ArithmeticError):
                continue  # An answer may hold anything in their places.
            return cost if math.isfinite(cost) else None
        return None


def input_price(tokens: int, *, model: str, url: str) -> float | None:
    """US dollars for so many tokens of input; None if the model at that URL has no price that is known."""
    table = _table()
    try:
        cost = float(table.calc_price(table.Usage(input_tokens=tokens), model, provider_api_url=url).total_price)
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return None
    return cost if math.isfinite(cost) else None


def load_prices() -> None:
    """Read the table, which takes half a second, at a moment when no answer is waited for."""
    _table()


@cache
def _table() -> Any:
    # For start-up time: it brings pydantic with it, and only agents that are models need it.
    return importlib.import_module("genai_prices")
