"""The cost of an answer: from the price list, for the provider that gave it, or not known."""

from __future__ import annotations

from typing import Any

import pytest

from evalc.runtime.agents.model import Api
from evalc.runtime.agents.model.apis import ChatCompletions, Endpoint, Messages, Responses


def at(url: str, api: Api) -> Endpoint:
    """An API at a place."""
    return Endpoint(api=api, url=url, headers={}, home=True)


OPENAI = at("https://api.openai.com/v1/chat/completions", ChatCompletions())
RESPONSES = at("https://api.openai.com/v1/responses", Responses())
ANTHROPIC = at("https://api.anthropic.com/v1/messages", Messages())

CHAT_USAGE = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000}
USAGE = {"input_tokens": 1_000_000, "output_tokens": 1_000_000}


def test_a_known_model_costs_its_list_price() -> None:
    assert OPENAI.cost_of({"model": "gpt-4o-mini-2024-07-18", "usage": CHAT_USAGE}, "gpt-4o-mini") == 0.75
    assert RESPONSES.cost_of({"model": "gpt-4o-mini-2024-07-18", "usage": USAGE}, "gpt-4o-mini") == 0.75
    assert ANTHROPIC.cost_of({"model": "claude-3-5-haiku-20241022", "usage": USAGE}, "claude-3-5-haiku") == 4.8


def test_cached_tokens_cost_less() -> None:
    cached = CHAT_USAGE | {"prompt_tokens_details": {"cached_tokens": 1_000_000}}
    assert OPENAI.cost_of({"model": "gpt-4o-mini", "usage": cached}, "gpt-4o-mini") == 0.675


def test_the_model_asked_for_counts_where_the_answer_names_none_with_a_price() -> None:
    for named in ({}, {"model": "my-deployment"}, {"model": 5}):
        assert OPENAI.cost_of({**named, "usage": CHAT_USAGE}, "gpt-4o-mini") == 0.75


def test_who_serves_a_model_decides_what_it_costs() -> None:
    local = at("http://127.0.0.1:8080/v1/chat/completions", ChatCompletions())
    assert local.cost_of({"model": "gpt-4o-mini", "usage": CHAT_USAGE}, "gpt-4o-mini") is None


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"usage": None},
        {"usage": []},
        {"usage": {"prompt_tokens": "1", "completion_tokens": 2}},
        {"usage": {"prompt_tokens": -1, "completion_tokens": 2}},
        {"usage": {"prompt_tokens": 10**400, "completion_tokens": 2}},
        {"usage": {"prompt_tokens": 1.5e308, "completion_tokens": {}}},
        {"model": ["gpt-4o"], "usage": 5},
    ],
)
def test_usage_of_another_shape_has_no_price(answer: dict[str, Any]) -> None:
    for endpoint in (OPENAI, RESPONSES, ANTHROPIC):
        assert endpoint.cost_of(answer, "gpt-4o-mini") is None
