"""A desk of smolagents. With a model of yours in place of the script, it is
`ToolCallingAgent(model=..., tools=[book])`. A `CodeAgent` works, too: evalc sees the calls in its code.
"""

from __future__ import annotations

from typing import Any

from script import book as book_a_room
from script import reply
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, TokenUsage, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

book = tool(book_a_room)


class Script(Model):
    """Answers as the script says."""

    def generate(self, messages: list[ChatMessage], *_: Any, **asked: Any) -> ChatMessage:
        """Call the tool, or that which gives the answer."""
        texts = [(each.role, str(each.content[0]["text"])) for each in messages if isinstance(each.content, list)]
        said = [text for role, text in texts if role == MessageRole.USER]
        last, text = texts[-1]
        answer = reply(said, text if last == MessageRole.TOOL_RESPONSE else None)
        name, arguments = ("final_answer", {"answer": answer}) if isinstance(answer, str) else ("book", answer)
        usage = TokenUsage(input_tokens=5 * len(messages), output_tokens=5)
        if asked.get("tools_to_call_from") is None:  # of an agent that writes code
            code = f"<code>\n{'print(book' if name == 'book' else '(final_answer'}(**{arguments!r}))\n</code>"
            return ChatMessage(role=MessageRole.ASSISTANT, content=code, token_usage=usage)
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id=f"call-{len(messages)}", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call], token_usage=usage)


agent = ToolCallingAgent(model=Script(), tools=[book], verbosity_level=0)
coder = CodeAgent(model=Script(), tools=[book], verbosity_level=0)
