"""Servers that refuse, break, hang or talk nonsense: each ends in one of evalc's errors."""

from __future__ import annotations

import asyncio
import json

import pytest

from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable
from evalc.model.answer import AgentRequest
from tests.runtime.agents.model.apis import CHAT, RESPONSES, Called, TestedApi, ask
from tests.support.asking import PATIENCE, ask_after_timeout
from tests.support.servers import (
    Behaviour,
    answers,
    answers_bytes,
    hangs,
    in_turn,
    resets,
    serving,
    talks_garbage,
    truncates,
)


def fault(api: TestedApi, behaviour: Behaviour) -> tuple[AgentError, int]:
    """The error that a request ends in, and how many were sent."""
    with serving(behaviour) as server, pytest.raises(AgentError) as caught:
        ask(api.agent(server.url), AgentRequest(message="m"))
    return caught.value, len(server.requests)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_not_now_is_tried_again(api: TestedApi, status: int) -> None:
    busy = answers({"error": {"message": "busy"}}, status=status, headers={"Retry-After": "0"})
    response, server = api.ask(AgentRequest(message="m"), busy, api.answer("ok", []))
    assert response.response == "ok"
    assert len(server.requests) == 2


def test_not_now_for_good_is_unavailable_in_the_providers_words(api: TestedApi) -> None:
    error, sent = fault(api, answers({"error": {"message": "Rate limit reached", "type": "rate_limit"}}, status=429))
    assert (type(error), str(error), sent) == (AgentUnavailable, "HTTP 429: Rate limit reached", 3)


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_other_statuses_are_not_tried_again(api: TestedApi, status: int) -> None:
    error, sent = fault(api, answers({"error": {"message": "No such model"}}, status=status))
    assert (type(error), str(error), sent) == (AgentProtocolError, f"HTTP {status}: No such model", 1)


def test_overloaded_is_unavailable(api: TestedApi) -> None:
    assert isinstance(fault(api, answers({}, status=529))[0], AgentUnavailable)


@pytest.mark.parametrize("behaviour", [talks_garbage, truncates, resets])
def test_broken_http(api: TestedApi, behaviour: Behaviour) -> None:
    fault(api, behaviour)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b'{"choices": [{"mess',
        b"\xff\xfe",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": [], "output": 1, "content": {}}',
        b'{"choices": [1], "output": [1], "content": [1]}',
        b'{"choices": [{"message": {"content": 5}}], "output": [{"type": "message", "content": 5}], "content": 5}',
        b'{"choices": [{"message": {"tool_calls": [{"function": {}}]}}], "output": [{"type": "function_call"}]}',
        b'{"choices": [{"message": {"tool_calls": {}}}]}',
        b'{"output": [{"type": "function_call", "name": "t", "call_id": 1}]}',
        b'{"content": [{"type": "tool_use", "input": {}}]}',
        b'{"content": [{"type": "tool_use", "name": "t", "id": 1}]}',
        b'{"content": [{"type": "text", "text": 5}]}',
        b"[" * 5000,
    ],
)
def test_answers_of_another_shape(api: TestedApi, body: bytes) -> None:
    error, sent = fault(api, answers_bytes(body))
    assert isinstance(error, AgentProtocolError)
    assert sent == 1
    assert len(str(error)) < 400


def test_an_answer_that_is_too_long(api: TestedApi) -> None:
    error, _ = fault(api, answers_bytes(b" " * 200_000))
    assert str(error) == "the answer is longer than 100000 bytes"


def test_a_server_that_hangs_is_left_and_asked_anew(api: TestedApi) -> None:
    with serving(in_turn([hangs, answers(api.answer("ok", []))])) as server:
        assert ask_after_timeout(api.agent(server.url)).response == "ok"


def test_the_loop_ends_with_the_cases_time() -> None:
    async def run(url: str) -> None:
        async with asyncio.timeout(PATIENCE), CHAT.agent(url).session() as session:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await session.send(AgentRequest(message="m", stubs={"t": {}}))

    with serving(in_turn([answers(CHAT.answer("", [Called("t")])), hangs])) as server:
        asyncio.run(run(server.url))
        assert len(server.requests) == 2


def test_the_error_shows_the_body_shortened() -> None:
    error, _ = fault(RESPONSES, answers_bytes(json.dumps({"output": "x" * 5000}).encode()))
    assert isinstance(error, AgentProtocolError)
    assert str(error).startswith("`output` of the answer is missing or not a list: {")
    assert str(error).endswith("...")
