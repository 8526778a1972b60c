"""Requests to models over each API, and what is read from their answers."""

from __future__ import annotations

from typing import Any

import pytest

from evalc.base.errors import AgentProtocolError
from evalc.model.answer import AgentRequest, ToolCall, Usage
from evalc.runtime.agents import ModelOptions, Sampling
from evalc.tools import Tool, ToolRegistry
from tests.runtime.agents.model.apis import CHAT, MESSAGES, RESPONSES, Called, TestedApi
from tests.support.servers import answers, answers_bytes

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = ToolRegistry(tools={"get_weather": Tool(name="get_weather", description="The weather", parameters=SCHEMA)})


def test_the_fake_answers_are_of_the_sdks_types(api: TestedApi) -> None:
    api.answer_type.validate_python(api.answer("text", [Called("get_weather")]))


def test_a_message_is_asked_and_its_text_is_the_answer(api: TestedApi) -> None:
    response, server = api.ask(AgentRequest(message="Grüße"), api.answer("Hallo", []))
    (sent,) = server.requests
    assert sent.path == f"/chat{api.path}"
    assert (sent.json["model"], sent.json[api.conversation]) == ("tiny", [{"role": "user", "content": "Grüße"}])
    assert "tools" not in sent.json
    assert response.response == "Hallo"
    assert response.usage == Usage(input_tokens=10, output_tokens=2)
    assert response.finish_reason in ("stop", "completed", "end_turn")


def test_without_stubs_one_request_is_all_and_nothing_is_executed(api: TestedApi) -> None:
    calls = [Called("get_weather", '{"city": "Paris"}', "a"), Called("get_weather", '{"city": "Rome"}', "b")]
    response, server = api.ask(
        AgentRequest(message="m"), api.answer("Let me look.", calls), options=ModelOptions(tools=TOOLS)
    )
    assert len(server.requests) == 1
    assert [api.tool(tool) for tool in server.requests[0].json["tools"]] == [("get_weather", "The weather", SCHEMA)]
    assert response.tool_mode == "routing"
    assert response.response == "Let me look."
    assert response.tool_calls == (
        ToolCall(name="get_weather", params={"city": "Paris"}),
        ToolCall(name="get_weather", params={"city": "Rome"}),
    )


def test_messages_are_sent_as_they_are(api: TestedApi) -> None:
    messages = (
        {"role": "system", "content": "Own."},
        {"role": "user", "content": "1"},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "3"},
    )
    request = AgentRequest(message="3", messages=messages, system="The file's.")
    _, server = api.ask(request, api.answer("4", []), options=ModelOptions(system="Configured."))
    sent = server.requests[0].json
    if api is MESSAGES:
        assert (sent["system"], sent["messages"]) == ("Own.", list(messages[1:]))
    else:
        assert sent[api.conversation] == list(messages)


@pytest.mark.parametrize(
    ("configured", "from_file", "sent"), [(None, "F", "F"), ("C", "F", "C"), ("C", None, "C"), (None, None, None)]
)
def test_the_configured_system_prompt_goes_before_the_files(
    api: TestedApi, configured: str | None, from_file: str | None, sent: str | None
) -> None:
    request = AgentRequest(message="m", system=from_file)
    _, server = api.ask(request, api.answer("a", []), options=ModelOptions(system=configured))
    body = server.requests[0].json
    systems = [each["content"] for each in body[api.conversation] if each["role"] == "system"]
    assert (body.get("system") if api is MESSAGES else next(iter(systems), None)) == sent


def test_configured_parameters_are_sent(api: TestedApi) -> None:
    sampling = Sampling(temperature=0, max_tokens=50, extra={"top_p": 0.5, "metadata": {"user_id": "u"}})
    _, server = api.ask(AgentRequest(message="m"), api.answer("a", []), options=ModelOptions(sampling=sampling))
    body = server.requests[0].json
    limit = "max_output_tokens" if api is RESPONSES else "max_tokens"
    assert (body["temperature"], body[limit], body["top_p"], body["metadata"]) == (0, 50, 0.5, {"user_id": "u"})


def test_a_seed_is_sent_where_the_api_knows_one() -> None:
    options = ModelOptions(sampling=Sampling(seed=7))
    _, server = CHAT.ask(AgentRequest(message="m"), CHAT.answer("a", []), options=options)
    assert server.requests[0].json["seed"] == 7


def test_anthropic_gets_a_length_if_none_is_configured() -> None:
    _, server = MESSAGES.ask(AgentRequest(message="m"), MESSAGES.answer("a", []))
    assert server.requests[0].json["max_tokens"] == 4096
    assert server.requests[0].headers["anthropic-version"] == "2023-06-01"


def _cut_off(api: TestedApi) -> dict[str, Any]:
    answer = api.answer("cut", [])
    if api is CHAT:
        answer["choices"][0]["finish_reason"] = "length"
    elif api is RESPONSES:
        answer |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    else:
        answer["stop_reason"] = "max_tokens"
    return answer


def test_an_answer_that_was_cut_off_says_so(api: TestedApi) -> None:
    response, _ = api.ask(AgentRequest(message="m"), _cut_off(api))
    assert (response.response, response.finish_reason) in [
        ("cut", "length"),
        ("cut", "max_output_tokens"),
        ("cut", "max_tokens"),
    ]


def _refusal(api: TestedApi) -> dict[str, Any]:
    answer = api.answer("I will not.", [])
    if api is CHAT:
        answer["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I will not."}
    elif api is RESPONSES:
        answer["output"][1]["content"] = [{"type": "refusal", "refusal": "I will not."}]
    else:
        answer["stop_reason"] = "refusal"
    return answer


def test_a_refusal_is_the_answer_and_said_to_be_one(api: TestedApi) -> None:
    response, _ = api.ask(AgentRequest(message="m"), _refusal(api))
    assert (response.response, response.finish_reason) == ("I will not.", "refusal")


def test_a_filtered_answer_is_empty() -> None:
    answer = CHAT.answer("", [])
    answer["choices"][0]["finish_reason"] = "content_filter"
    response, _ = CHAT.ask(AgentRequest(message="m"), answer)
    assert (response.response, response.finish_reason) == ("", "content_filter")


@pytest.mark.parametrize(
    "arguments", ['{"city": "Par', "[1]", "nonsense", '{"a": 1e999999}{', '{"city": "a", "city": "b"}']
)
def test_arguments_that_are_no_json_object_are_a_failed_call(arguments: str) -> None:
    for api in (CHAT, RESPONSES):
        response, _ = api.ask(AgentRequest(message="m"), api.answer("", [Called("get_weather", arguments)]))
        assert response.tool_calls == (ToolCall(name="get_weather", success=False, arguments=arguments),)


def test_empty_arguments_are_none() -> None:
    response, _ = CHAT.ask(AgentRequest(message="m"), CHAT.answer("", [Called("list_all", "")]))
    assert response.tool_calls == (ToolCall(name="list_all"),)


def test_big_integers_and_lone_surrogates_in_arguments() -> None:
    call = Called("t", '{"n": 123456789012345678901234567890, "s": "\\ud800"}')
    response, _ = CHAT.ask(AgentRequest(message="m"), CHAT.answer("", [call]))
    assert response.tool_calls[0].params == {"n": 123456789012345678901234567890, "s": "\ufffd"}


def test_a_list_of_parts_is_one_text() -> None:
    answer = CHAT.answer("", [])
    answer["choices"][0]["message"]["content"] = [
        {"type": "text", "text": "a"},
        {"type": "x"},
        {"type": "text", "text": "b"},
    ]
    assert CHAT.ask(AgentRequest(message="m"), answer)[0].response == "ab"


def test_unknown_things_in_an_answer_are_no_errors(api: TestedApi) -> None:
    answer = api.answer("ok", []) | {"new": {"thing": 1}, "usage": "much"}
    if api is RESPONSES:
        answer["output"].insert(0, {"type": "web_search_call", "id": "w", "status": "completed"})
    if api is MESSAGES:
        answer["content"].insert(0, {"type": "redacted_thinking", "data": "opaque"})
    response, _ = api.ask(AgentRequest(message="m"), answer)
    assert (response.response, response.usage) == ("ok", None)


FAILURE = {"error": {"code": 502, "message": "overloaded"}}


@pytest.mark.parametrize(
    ("api", "more", "words"),
    [
        *((api, FAILURE, "the model failed: overloaded") for api in (CHAT, MESSAGES, RESPONSES)),
        *((api, {"error": "overloaded"}, "the model failed: overloaded") for api in (CHAT, MESSAGES, RESPONSES)),
        (MESSAGES, {"type": "error"}, "the model failed"),
        *(
            (RESPONSES, {"status": status}, f"has not finished: its status is `{status}`")
            for status in ("cancelled", "queued", "in_progress")
        ),
    ],
)
def test_an_error_beside_an_answer_is_no_answer(api: TestedApi, more: dict[str, object], words: str) -> None:
    with pytest.raises(Exception, match=words):
        api.ask(AgentRequest(message="m"), api.answer("It is mild.", []) | more)


@pytest.mark.parametrize("more", [{"finish_reason": "error"}, FAILURE])
def test_a_choice_that_failed_is_no_answer(more: dict[str, object]) -> None:
    answer = CHAT.answer("It is", [])
    answer["choices"][0] |= more
    with pytest.raises(Exception, match="the model failed"):
        CHAT.ask(AgentRequest(message="m"), answer)


@pytest.mark.parametrize("api", [CHAT, MESSAGES, RESPONSES])
def test_an_error_that_says_there_is_none_is_none(api: TestedApi) -> None:
    response, _ = api.ask(AgentRequest(message="m"), api.answer("ok", []) | {"error": None})
    assert response.response == "ok"


def test_a_failed_response_is_an_error() -> None:
    answer = RESPONSES.answer("", []) | {"status": "failed", "error": {"code": "server_error", "message": "overloaded"}}
    with pytest.raises(Exception, match="the model failed: overloaded"):
        RESPONSES.ask(AgentRequest(message="m"), answer)


def test_a_byte_order_mark_is_read_over() -> None:
    body = b"\xef\xbb\xbf" + b'{"choices": [{"message": {"content": "ok"}}]}'
    response, _ = CHAT.ask(AgentRequest(message="m"), answers_bytes(body))
    assert (response.response, response.finish_reason, response.usage) == ("ok", None, None)


def test_a_function_call_beside_tool_calls_is_an_error() -> None:
    answer = CHAT.answer("", [Called("a")])
    answer["choices"][0]["message"]["function_call"] = {"name": "b", "arguments": "{}"}
    with pytest.raises(AgentProtocolError, match="function_call` of the answer is there beside `tool_calls`"):
        CHAT.ask(AgentRequest(message="m"), answer)
    answer["choices"][0]["message"] |= {"function_call": None}
    assert CHAT.ask(AgentRequest(message="m"), answer)[0].tool_calls == (ToolCall(name="a"),)


@pytest.mark.parametrize(
    ("indexes", "taken"),
    [((1, 0), 1), ((2, 1, 0), 2), ((0, 1), 0), ((None, None), 0), ((3, 1), 1), ((1,), 0), (("x", 1), 0)],
)
def test_the_choice_with_the_least_index_is_the_answer(indexes: tuple[object, ...], taken: int) -> None:
    answers = [CHAT.answer(str(place), []) for place in range(len(indexes))]
    choices = [{**answer["choices"][0], "index": index} for answer, index in zip(answers, indexes, strict=True)]
    response, _ = CHAT.ask(AgentRequest(message="m"), answers[0] | {"choices": choices})
    assert response.response == str(taken)


@pytest.mark.parametrize("status", [202, 206])
def test_an_answer_that_is_not_whole_is_an_error(api: TestedApi, status: int) -> None:
    with pytest.raises(AgentProtocolError, match=f"HTTP {status}"):
        api.ask(AgentRequest(message="m"), answers(api.answer("ok", []), status=status))


def test_a_call_of_a_custom_tool_is_a_call() -> None:
    answer = RESPONSES.answer("", [])
    answer["output"].append({"type": "custom_tool_call", "call_id": "c", "name": "run_sql", "input": "drop"})
    response, _ = RESPONSES.ask(AgentRequest(message="m"), answer)
    assert response.tool_calls == (ToolCall(name="run_sql", success=False, arguments="drop"),)
