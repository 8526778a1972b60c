"""No answer of a model loses a call or a text in silence because it is of a slightly different shape."""

from __future__ import annotations

from typing import Any

import pytest

from evalc.base.errors import AgentProtocolError
from evalc.model.answer import AgentResponse
from evalc.runtime.agents.model import Api
from evalc.runtime.agents.model.apis import ChatCompletions, Messages, Responses
from evalc.runtime.run.ask import whole_of

FUNCTION = {"id": "a", "type": "function", "function": {"name": "book", "arguments": "{}"}}
TEXT = {"type": "text", "text": "ok"}


def chat(message: dict[str, Any], **choice: Any) -> tuple[Api, dict[str, Any]]:
    return ChatCompletions(), {"choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}


def responses(*items: dict[str, Any]) -> tuple[Api, dict[str, Any]]:
    said = {"type": "message", "content": [{"type": "output_text", "text": "ok"}]}
    return Responses(), {"status": "completed", "output": [*items, said], "tools": [{"type": "mcp"}]}


def messages(*blocks: dict[str, Any], reason: str = "end_turn") -> tuple[Api, dict[str, Any]]:
    return Messages(), {"type": "message", "content": list(blocks), "stop_reason": reason}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            chat({"content": "ok"}, tool_calls=[FUNCTION]),
            "`choices[0].tool_calls` looks like a tool call",
        ),
        (
            chat({"content": "ok", "toolCalls": [FUNCTION]}),
            "`choices[0].message.toolCalls` looks like a tool call",
        ),
        (
            chat({"content": [TEXT, {"type": "tool_use", "name": "book"}]}),
            "`choices[0].message.content[1]` looks like a tool call",
        ),
        (chat({"content": "ok"}, finish_reason="tool_calls"), "the model ended with `tool_calls`, and no tool call"),
        (chat({"content": "ok"}, finish_reason="function_call"), "the model ended with `function_call`"),
        (chat({"content": "ok", "error": "boom"}), "the model failed: boom"),
        (chat({"content": "ok"}, errors=["boom"]), "the model failed: `errors`, which counts as an `error`"),
        (chat({"content": "ok"}, finish_reason="TOOL_CALLS"), "the model ended with `TOOL_CALLS`"),
        (
            (ChatCompletions(), {"choices": [{"message": {"content": "ok"}}, {"message": {"tool_calls": [FUNCTION]}}]}),
            "`choices[1].message.tool_calls` looks like a tool call",
        ),
        (
            (ChatCompletions(), {"choices": [{"message": {"content": "ok"}}], "tool_calls": [FUNCTION]}),
            "`tool_calls` looks like a tool call",
        ),
        (
            responses({"type": "message", "content": [], "tool_calls": [FUNCTION]}),
            "`output[0].tool_calls` looks like a tool call",
        ),
        (
            responses({"type": "message", "content": [{"type": "tool_use"}]}),
            "`output[0].content[0]` looks like a tool call",
        ),
        ((Responses(), {"status": "requires_action", "output": []}), "has not finished"),
        (messages(TEXT, {"toolUse": {"name": "book"}}), "`content[1].toolUse` looks like a tool call"),
        (messages(TEXT, reason="tool_use"), "the model ended with `tool_use`, and no tool call"),
        (messages(TEXT, {"type": "error"}), "the model failed"),
        (messages(TEXT, reason="pause_turn"), "the model has not finished"),
    ],
)
def test_an_answer_that_seems_to_have_calls_which_nobody_reads_is_refused(
    answer: tuple[Api, dict[str, Any]], words: str
) -> None:
    api, document = answer
    with pytest.raises(AgentProtocolError) as refused:
        api.read(document)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "name", "params"),
    [
        (responses({"type": "mcp_call", "name": "book", "arguments": '{"a": 1}'}), "book", {"a": 1}),
        (responses({"type": "web_search_call", "action": {"query": "q"}}), "web_search_call", {"query": "q"}),
        (responses({"type": "local_shell_call"}), "local_shell_call", {}),
        (responses({"type": "tool_call", "name": "book"}), "book", {}),
        (messages({"type": "mcp_tool_use", "name": "book", "input": {"a": 1}}, TEXT), "book", {"a": 1}),
        (messages({"type": "server_tool_use", "name": "web_search", "input": {}}, TEXT), "web_search", {}),
    ],
)
def test_calls_by_the_provider_are_calls(answer: tuple[Api, dict[str, Any]], name: str, params: dict[str, Any]) -> None:
    api, document = answer
    turn = api.read(document)
    assert [(call.name, call.params) for call in turn.hosted] == [(name, params)]
    assert turn.calls == (), "nobody has to answer it"
    assert turn.text == "ok"


@pytest.mark.parametrize(
    "answer",
    [
        chat({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "output_text", "text": "ok"}]}),
        chat({"content": "ok", "tool_calls": [], "reasoning_content": "hm", "annotations": [], "audio": None}),
        responses({"type": "reasoning", "summary": []}, {"type": "mcp_list_tools", "tools": [{"name": "book"}]}),
        responses({"type": "function_call_output", "call_id": "a", "output": "x"}),
        messages({"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking", "data": "x"}, TEXT),
        messages({"type": "web_search_tool_result", "content": []}, TEXT),
    ],
)
def test_texts_that_are_no_calls_stay_texts(answer: tuple[Api, dict[str, Any]]) -> None:
    api, document = answer
    turn = api.read(document)
    assert (turn.text, turn.calls, turn.hosted) == ("ok", (), ())


@pytest.mark.parametrize(
    "answer",
    [
        chat({"content": [{"type": "markdown", "text": "ok"}]}),
        chat({"content": [{"text": "ok"}]}),
        chat({"content": [{"type": "text", "content": "ok"}, {"thought": True, "text": "hm"}]}),
        chat({"content": [{"type": "tool_reference", "tool": "x"}, {"text": "ok"}]}),
        responses({"type": ["x"], "content": []}),
        chat({"content": None, "audio": {"id": "a", "transcript": "ok"}}),
        messages({"type": "output_text", "text": "ok"}),
        (Responses(), {"output": [{"type": "message", "content": [{"type": "text", "text": "ok"}]}]}),
        (Responses(), {"output": [{"role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}]}),
    ],
)
def test_no_text_is_lost(answer: tuple[Api, dict[str, Any]]) -> None:
    api, document = answer
    assert api.read(document).text == "ok"


def test_a_refusal_in_a_part_is_one() -> None:
    api, document = chat({"content": [{"type": "refusal", "refusal": "no"}]})
    turn = api.read(document)
    assert (turn.text, turn.finish_reason) == ("no", "refusal")


def test_misnamed_calls_of_one_turn_are_those_of_the_conversation() -> None:
    answers = [
        AgentResponse(response="a", reports_calls=False, near_calls="calls"),
        AgentResponse(response="b", tool_calls=()),
    ]
    assert (whole_of(answers).near_calls, whole_of(answers).reports_calls) == ("calls", False)
