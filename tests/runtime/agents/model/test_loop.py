"""The loop with stubs: each call is answered by its stub, and what the API gave goes back unchanged."""

from __future__ import annotations

import json

from evalc.model.answer import AgentRequest, ToolCall, Usage
from evalc.runtime.agents import ModelOptions
from evalc.tools import Tool, ToolRegistry
from tests.runtime.agents.model.apis import CHAT, MESSAGES, RESPONSES, Called, TestedApi

STUBS = {"get_weather": {"sky": "clear", "at": "12°"}, "get_time": {"now": 1}}


def request(max_turns: int = 5) -> AgentRequest:
    return AgentRequest(message="m", stubs=STUBS, max_turns=max_turns)


def test_calls_are_answered_by_their_stubs_until_a_text_comes(api: TestedApi) -> None:
    parallel = [Called("get_weather", '{"city": "Paris"}', "a"), Called("get_time", "{}", "b")]
    response, server = api.ask(
        request(),
        api.answer("Let me look.", parallel),
        api.answer("", [Called("get_time", "{}", "c")]),
        api.answer("Clear.", []),
    )
    assert response.response == "Clear."
    assert response.tool_mode == "stubbed"
    assert [call.name for call in response.tool_calls] == ["get_weather", "get_time", "get_time"]
    assert response.tool_calls[0] == ToolCall(
        name="get_weather", success=True, duration_ms=0.0, params={"city": "Paris"}, result=STUBS["get_weather"]
    )
    assert response.usage == Usage(input_tokens=30, output_tokens=6)
    first, second, third = (sent.json for sent in server.requests)
    assert api.results(first) == []
    results = [("a", STUBS["get_weather"]), ("b", STUBS["get_time"]), ("c", STUBS["get_time"])]
    assert [(id_, json.loads(text)) for id_, text in api.results(second)] == results[:2]
    assert [(id_, json.loads(text)) for id_, text in api.results(third)] == results


def test_items_of_the_api_go_back_unchanged() -> None:
    said = RESPONSES.answer("thinking", [Called("get_time")])
    _, server = RESPONSES.ask(request(), said, RESPONSES.answer("done", []))
    assert server.requests[1].json["input"][1:4] == said["output"]
    said = MESSAGES.answer("thinking", [Called("get_time")])
    _, server = MESSAGES.ask(request(), said, MESSAGES.answer("done", []))
    assert server.requests[1].json["messages"][1] == {"role": "assistant", "content": said["content"]}
    said = CHAT.answer("thinking", [Called("get_time")])
    said["choices"][0]["message"]["reasoning_content"] = "opaque"
    _, server = CHAT.ask(request(), said, CHAT.answer("done", []))
    assert server.requests[1].json["messages"][1] == said["choices"][0]["message"]


def test_without_a_registry_the_tools_of_the_stubs_are_offered(api: TestedApi) -> None:
    _, server = api.ask(request(), api.answer("ok", []))
    schema = {"type": "object", "properties": {}, "additionalProperties": True}
    offered = [api.tool(tool) for tool in server.requests[0].json["tools"]]
    assert offered == [("get_weather", None, schema), ("get_time", None, schema)]


def test_with_a_registry_its_tools_are_offered(api: TestedApi) -> None:
    tools = ToolRegistry(tools={"get_time": Tool(name="get_time", description="The time")})
    _, server = api.ask(request(), api.answer("ok", []), options=ModelOptions(tools=tools))
    assert [api.tool(tool)[:2] for tool in server.requests[0].json["tools"]] == [("get_time", "The time")]


def test_a_tool_without_a_stub_is_an_error_that_the_model_hears_of(api: TestedApi) -> None:
    response, server = api.ask(request(), api.answer("", [Called("rm", "{}", "x")]), api.answer("Sorry.", []))
    assert response.tool_calls == (ToolCall(name="rm", success=False, duration_ms=0.0),)
    assert api.results(server.requests[1].json) == [("x", '{"error":"there is no tool `rm`"}')]
    if api is MESSAGES:
        assert server.requests[1].json["messages"][-1]["content"][0]["is_error"] is True


def test_unreadable_arguments_are_an_error_that_the_model_hears_of() -> None:
    for api in (CHAT, RESPONSES):
        response, server = api.ask(request(), api.answer("", [Called("get_time", "{", "x")]), api.answer("Sorry.", []))
        assert response.tool_calls == (ToolCall(name="get_time", success=False, arguments="{"),)
        assert api.results(server.requests[1].json) == [("x", '{"error":"the arguments are not a JSON object"}')]


def test_the_turns_run_out(api: TestedApi) -> None:
    for text in ("Still looking.", ""):
        response, server = api.ask(request(max_turns=3), api.answer(text, [Called("get_time")]))
        assert len(server.requests) == 3
        assert response.response == text
        assert [call.name for call in response.tool_calls] == ["get_time"] * 3


def test_usage_that_one_turn_leaves_out_is_unknown(api: TestedApi) -> None:
    silent = api.answer("done", [])
    del silent["usage"]
    response, _ = api.ask(request(), api.answer("", [Called("get_time")]), silent)
    assert response.usage is None


def test_a_function_call_of_the_time_before_tool_calls_is_a_call_and_gets_its_result() -> None:
    asked = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    said = CHAT.answer("", [])
    said["choices"][0] |= {
        "finish_reason": "function_call",
        "message": {"role": "assistant", "content": None, "function_call": asked},
    }
    response, server = CHAT.ask(request(), said, CHAT.answer("Clear.", []))
    assert [(call.name, call.params) for call in response.tool_calls] == [("get_weather", {"city": "Paris"})]
    *_, call, result = server.requests[1].json["messages"]
    assert call["function_call"] == asked
    assert result == {
        "role": "function",
        "name": "get_weather",
        "content": json.dumps(STUBS["get_weather"], ensure_ascii=False, separators=(",", ":")),
    }
