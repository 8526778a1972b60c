"""Recorded exchanges of the adapters with a real server of another make (`make test-model` records them)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evalc.runtime.agents.model import Api
from evalc.runtime.agents.model.apis import ChatCompletions, Messages, Responses
from tests.runtime.agents.model.apis import APIS, TestedApi

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json"))
READERS: Mapping[str, Api] = {"chat": ChatCompletions(), "responses": Responses(), "messages": Messages()}


LEFT_OUT = {
    "responses": {
        ("missing", "parallel_tool_calls"),
        ("missing", "tool_choice"),
        ("missing", "tools"),
        ("missing", "usage.input_tokens_details.cache_write_tokens"),
        ("missing", "usage.output_tokens_details"),
    }
}
"""Fields that OpenAI's types require and this server leaves out: adapters must not need them."""


def faults(api: TestedApi, answer: dict[str, Any]) -> set[tuple[str, str]]:
    """The faults of an answer by the SDK's type: the kind of fault, and where."""
    try:
        api.answer_type.validate_python(answer)
    except ValidationError as error:
        return {(fault["type"], ".".join(map(str, fault["loc"]))) for fault in error.errors()}
    return set()


def api_of(path: Path) -> TestedApi:
    return next(api for api in APIS if path.name.startswith(f"{api.name}-"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_requests_and_answers_are_of_the_sdks_types(path: Path) -> None:
    api = api_of(path)
    exchanges: list[dict[str, Any]] = json.loads(path.read_bytes())
    assert exchanges
    for exchange in exchanges:
        assert exchange["status"] == 200
        api.check_request(exchange["request"])
        assert faults(api, exchange["answer"]) == LEFT_OUT.get(api.name, set())
        turn = READERS[api.name].read(exchange["answer"])
        assert turn.text or turn.calls
        assert turn.input_tokens


def test_every_api_is_recorded() -> None:
    assert {api_of(path).name for path in RECORDED} == {api.name for api in APIS}
