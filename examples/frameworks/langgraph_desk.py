"""A desk of LangGraph. With a model of yours in place of the script, it is `create_agent("openai:MODEL", [book])`."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from script import book as book_a_room
from script import reply


@tool
def book(city: str, nights: int) -> dict[str, Any]:
    """Book a room; what the tool raises as `ToolException` goes back to the model."""
    try:
        return book_a_room(city, nights)
    except ValueError as error:
        raise ToolException(str(error)) from error


book.handle_tool_error = True


class Script(BaseChatModel):
    """Answers as the script says."""

    _llm_type = "script"

    def bind_tools(self, *_: Any, **__: Any) -> Script:
        """Know the tools already."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        said = [str(each.content) for each in messages if each.type == "human"]
        last = messages[-1]
        answer = reply(said, str(last.content) if last.type == "tool" else None)
        calls = [] if isinstance(answer, str) else [{"name": "book", "args": answer, "id": f"call-{len(messages)}"}]
        message = AIMessage(
            answer if isinstance(answer, str) else "",
            tool_calls=calls,
            usage_metadata={
                "input_tokens": 5 * len(messages),
                "output_tokens": 5,
                "total_tokens": 5 * len(messages) + 5,
            },
        )
        return ChatResult(generations=[ChatGeneration(message=message)])


agent = create_agent(Script(), [book], checkpointer=InMemorySaver())  # without a checkpointer, it works, too
forgetful = create_agent(Script(), [book])
