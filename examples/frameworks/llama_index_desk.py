"""A desk of LlamaIndex. With a model of yours in place of the script, it is `FunctionAgent(llm=..., tools=[book])`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from script import book, reply


class Script(FunctionCallingLLM):
    """Answers as the script says."""

    @property
    def metadata(self) -> LLMMetadata:
        """A model that calls tools."""
        return LLMMetadata(is_function_calling_model=True)

    async def astream_chat_with_tools(self, *_: Any, chat_history: Any = None, **__: Any) -> AsyncIterator[Any]:
        """Answer the messages, or call the tool."""
        said = [str(each.content) for each in chat_history if each.role == "user"]
        last = chat_history[-1]
        answer = reply(said, str(last.content) if last.role == "tool" else None)
        message = ChatMessage(role="assistant", content=answer if isinstance(answer, str) else "")
        if not isinstance(answer, str):
            message.additional_kwargs["arguments"] = answer

        async def stream() -> AsyncIterator[ChatResponse]:
            yield ChatResponse(message=message)

        return stream()

    def get_tool_calls_from_response(self, response: ChatResponse, **_: Any) -> list[ToolSelection]:
        """The call of the tool, if the script calls it."""
        arguments = response.message.additional_kwargs.get("arguments")
        return [ToolSelection(tool_id="call", tool_name="book", tool_kwargs=arguments)] if arguments else []

    def _prepare_chat_with_tools(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    chat = stream_chat = complete = stream_complete = _prepare_chat_with_tools
    achat = astream_chat = acomplete = astream_complete = _prepare_chat_with_tools


agent = FunctionAgent(name="desk", llm=Script(), tools=[book])
