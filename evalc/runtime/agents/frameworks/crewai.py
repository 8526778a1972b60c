"""CrewAI: crews, whose tasks take `{message}`, and single agents. Their outputs say nothing of tools.

Nor of tokens, since the framework counts those of all runs together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.frameworks import Conversation, text_of


def conversations(agent: Any) -> Callable[[], Conversation] | None:
    """Conversations with a crew, or with an agent, which are given what was said so far."""
    return partial(_Conversation, agent) if callable(getattr(agent, "kickoff_async", None)) else None


@final
class _Conversation:
    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def ask(self, request: AgentRequest) -> object:
        said = [dict(each) for each in request.messages] or [{"role": "user", "content": request.message}]
        if hasattr(self._agent, "tasks"):
            so_far = "\n".join(f"{each['role']}: {each['content']}" for each in said)
            return await self._agent.kickoff_async(inputs={"message": request.message, "messages": so_far})
        return await self._agent.kickoff_async(said)


def answer(output: Any) -> AgentResponse | None:
    """The output of a crew, or of an agent."""
    if not hasattr(output, "raw"):
        return None
    structured = getattr(output, "pydantic", None)
    return AgentResponse(response=output.raw if structured is None else text_of(structured), reports_calls=False)
