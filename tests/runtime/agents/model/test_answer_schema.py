"""Answers under a JSON Schema over each API: how a model is held to one, and what servers without schemas are asked."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from evalc.base.errors import AgentProtocolError
from evalc.model.answer import AgentRequest
from evalc.model.case import SimulatedUser
from evalc.runtime.agents import ModelOptions, Sampling
from evalc.runtime.run.user import answer_schema
from evalc.tools import Tool, ToolRegistry
from tests.runtime.agents.model.apis import MESSAGES, Called, TestedApi
from tests.support.servers import answers

USER = SimulatedUser(goal="Book a room", facts={"city": "Oslo", "nights": "3"})
SAID = {"goal": "Book a room", "say": "Oslo", "facts": ["city"], "done": False}
SCHEMA = answer_schema(USER)
REQUEST = AgentRequest(message="m", answer_schema=SCHEMA)
TOOLS = ToolRegistry(tools={"get_weather": Tool(name="get_weather", parameters={"type": "object"})})


def answering(api: TestedApi, text: str) -> dict[str, Any]:
    """An answer under a schema, as the API brings it: as a call, or as the text."""
    return api.answer("", [Called("answer", text)]) if api is MESSAGES else api.answer(text, [])


def test_the_answer_is_the_json_however_the_api_brings_it(api: TestedApi) -> None:
    response, server = api.ask(REQUEST, answering(api, json.dumps(SAID)))
    assert (json.loads(response.response), response.tool_calls) == (SAID, ())
    assert "Book a room" in json.dumps(server.requests[0].json)


def test_no_other_tools_are_offered(api: TestedApi) -> None:
    _, server = api.ask(REQUEST, answering(api, json.dumps(SAID)), options=ModelOptions(tools=TOOLS))
    assert "get_weather" not in json.dumps(server.requests[0].json)


def test_configured_formats_go_before_the_schema(api: TestedApi) -> None:
    own: dict[str, Any] = {"response_format": {"type": "text"}, "text": {"format": {"type": "text"}}, "tools": []}
    (field,) = own.keys() & _asked(api, ModelOptions()).keys()
    sent = _asked(api, ModelOptions(sampling=Sampling(extra={field: own[field]})))
    assert sent[field] == own[field]


def _asked(api: TestedApi, options: ModelOptions) -> dict[str, Any]:
    _, server = api.ask(REQUEST, answering(api, json.dumps(SAID)), options=options)
    sent: dict[str, Any] = server.requests[0].json
    return sent


def test_a_server_without_schemas_is_asked_without(api: TestedApi) -> None:
    refusal = answers({"error": {"message": "unknown field"}}, status=422)
    response, server = api.ask(REQUEST, refusal, api.answer(json.dumps(SAID), []))
    assert json.loads(response.response) == SAID
    with_schema, without = (json.dumps(request.json) for request in server.requests)
    assert "Book a room" in with_schema
    assert "Book a room" not in without


def test_a_server_that_refuses_both_is_an_error(api: TestedApi) -> None:
    with pytest.raises(AgentProtocolError, match="HTTP 400: no such model"):
        api.ask(REQUEST, *[answers({"error": {"message": "no such model"}}, status=400)] * 2)


@pytest.mark.parametrize(
    ("changed", "fits"),
    [
        ({}, True),
        ({"say": "", "facts": [], "done": True}, True),
        ({"goal": "Book a flight"}, False),
        ({"facts": ["budget"]}, False),
        ({"facts": ["city", "city", "city"]}, False),
        ({"done": "no"}, False),
        ({"mood": "bad"}, False),
    ],
)
def test_the_schema_of_a_user_takes_what_such_a_user_could_answer(changed: dict[str, Any], fits: bool) -> None:
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid({**SAID, **changed}) is fits


def test_a_user_without_facts_uses_none() -> None:
    fits = jsonschema.Draft202012Validator(answer_schema(SimulatedUser(goal="Book a room"))).is_valid
    assert fits({**SAID, "facts": []})
    assert not fits(SAID)
