"""The three APIs as tests meet them: answers, an agent that asks a fake server, and the types of their own SDKs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import anthropic.types
import openai.types.chat
import openai.types.responses
from pydantic import TypeAdapter

from evalc.base import PROVIDERS, ApiName
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import Access, ModelOptions, Sending
from evalc.runtime.agents.model.agent import ModelAgent
from tests.support.asking import PATIENCE
from tests.support.servers import Behaviour, Server, answers, in_turn, serving

AT_ONCE = Sending(retries=2, first_wait=0.001, max_body=100_000)


@final
@dataclass(frozen=True)
class Called:
    """A tool call that a fake model asks for; `arguments` may be text that is no JSON."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"


@final
@dataclass(frozen=True)
class TestedApi:
    """One API.

    Attributes:
        name: what parametrized tests call it.
        provider: whose it is.
        path: where its requests go below the base URL.
        answer: an answer with a text and tool calls.
        conversation: the field of a request with the messages and what followed.
        tool: the name, description and schema of a tool in a request.
        results: the tool results in a request: of each the call's id, and its text.
        answer_type: the type of its SDK for an answer.
        item_type: that for an item of the conversation.
        tool_type: that for a tool.
    """

    __test__ = False

    name: str
    provider: str
    path: str
    answer: Callable[[str, Sequence[Called]], dict[str, Any]]
    conversation: str
    tool: Callable[[Mapping[str, Any]], tuple[str, str | None, Any]]
    results: Callable[[Mapping[str, Any]], list[tuple[str, str]]]
    answer_type: TypeAdapter[Any]
    item_type: TypeAdapter[Any]
    tool_type: TypeAdapter[Any]

    @property
    def choice(self) -> ApiName:
        return "responses" if self.name == "responses" else "chat"

    def agent(
        self, url: str, *, options: ModelOptions | None = None, key: str | None = None, model: str = "tiny"
    ) -> ModelAgent:
        access = Access(base_url=url, key=key, key_variable="MODEL_KEY", api=self.choice)
        return ModelAgent(PROVIDERS[self.provider], model, access=access, options=options, sending=AT_ONCE)

    def ask(
        self, request: AgentRequest, *said: dict[str, Any] | Behaviour, options: ModelOptions | None = None
    ) -> tuple[AgentResponse, Server]:
        """The agent's answer to a request, where the server answers so in turn; every request is of the SDK's types."""
        behaviours = [answers(each) if isinstance(each, dict) else each for each in said]
        with serving(in_turn(behaviours)) as server:
            response = ask(self.agent(server.url, options=options), request)
        for sent in server.requests:
            self.check_request(sent.json)
        return response, server

    def check_request(self, body: Mapping[str, Any]) -> None:
        """Hold a request against the types of the API's own SDK."""
        for item in body[self.conversation]:
            self.item_type.validate_python(item)
        for tool in body.get("tools", ()):
            self.tool_type.validate_python(tool)


def ask(agent: ModelAgent, request: AgentRequest) -> AgentResponse:
    """The answer to one request."""

    async def run() -> AgentResponse:
        async with asyncio.timeout(PATIENCE), agent.session() as session:
            return await session.send(request)

    return asyncio.run(run())


def _chat_answer(text: str, calls: Sequence[Called]) -> dict[str, Any]:
    tool_calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": tool_calls} if calls else {})}
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message, "logprobs": None}
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [choice],
        "usage": usage,
    }


def _responses_answer(text: str, calls: Sequence[Called]) -> dict[str, Any]:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}
    function_calls = [
        {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for call in calls
    ]
    details = {
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "tiny",
        "status": "completed",
        "output": [reasoning, *([message] if text else []), *function_calls],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, **details},
    }


def _messages_answer(text: str, calls: Sequence[Called]) -> dict[str, Any]:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "opaque"}
    texts = [{"type": "text", "text": text}] if text else []
    uses = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)} for call in calls
    ]
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": [thinking, *texts, *uses],
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 3},
    }


def _chat_results(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(each["tool_call_id"], each["content"]) for each in body["messages"] if each["role"] == "tool"]


def _responses_results(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    outputs = [each for each in body["input"] if each.get("type") == "function_call_output"]
    return [(each["call_id"], each["output"]) for each in outputs]


def _messages_results(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    blocks = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
    return [(block["tool_use_id"], block["content"]) for block in blocks if block["type"] == "tool_result"]


CHAT = TestedApi(
    name="chat",
    provider="openai",
    path="/chat/completions",
    answer=_chat_answer,
    conversation="messages",
    tool=lambda tool: (tool["function"]["name"], tool["function"].get("description"), tool["function"]["parameters"]),
    results=_chat_results,
    answer_type=TypeAdapter(openai.types.chat.ChatCompletion),
    item_type=TypeAdapter(openai.types.chat.ChatCompletionMessageParam),
    tool_type=TypeAdapter(openai.types.chat.ChatCompletionToolParam),
)
RESPONSES = TestedApi(
    name="responses",
    provider="openai",
    path="/responses",
    answer=_responses_answer,
    conversation="input",
    tool=lambda tool: (tool["name"], tool.get("description"), tool["parameters"]),
    results=_responses_results,
    answer_type=TypeAdapter(openai.types.responses.Response),
    item_type=TypeAdapter(openai.types.responses.ResponseInputItemParam),
    tool_type=TypeAdapter(openai.types.responses.FunctionToolParam),
)
MESSAGES = TestedApi(
    name="messages",
    provider="anthropic",
    path="/v1/messages",
    answer=_messages_answer,
    conversation="messages",
    tool=lambda tool: (tool["name"], tool.get("description"), tool["input_schema"]),
    results=_messages_results,
    answer_type=TypeAdapter(anthropic.types.Message),
    item_type=TypeAdapter(anthropic.types.MessageParam),
    tool_type=TypeAdapter(anthropic.types.ToolParam),
)
APIS = (CHAT, RESPONSES, MESSAGES)
