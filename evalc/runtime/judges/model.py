"""From a question to a request of a model that answers by a schema, and to what it said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, final

from evalc.errors import AgentProtocolError, JudgeError
from evalc.runtime.agents import wire
from evalc.runtime.agents.base import Agent, AgentRequest, AgentResponse, Session
from evalc.runtime.judges.answer import answer_schema
from evalc.runtime.judges.base import Exhibit, JudgeSession, Question, Said
from evalc.runtime.judges.prompt import VERSION, JudgePrompt, prompt_for
from evalc.runtime.judges.structured import TOOL

Ask = Callable[[Mapping[str, Any]], Agent]
"""Makes the model's agent, each of whose requests has these fields besides its own."""

_REFUSES_FIELDS: Final = frozenset({400, 404, 415, 422})
"""The statuses by which servers say that they know no such field."""


@final
class ModelJudge:
    """A model, asked like an agent, but told what to look at and in which form to answer.

    Args:
        agent: makes the model's agent, given further fields of its requests.
        structured: from an answer's schema to the fields by which the model's API is asked to keep to it.
        identity: what of the configuration decides what the model says.
    """

    def __init__(
        self,
        agent: Ask,
        *,
        structured: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        identity: Mapping[str, Any],
    ) -> None:
        self._agent = agent
        self._structured = structured
        self._name = agent({}).endpoint
        self._identity = {"judge": self._name, "prompt": VERSION, **identity}

    @property
    def name(self) -> str:
        """`openai:MODEL`, and where its API is if not at home."""
        return self._name

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, how it is asked, and the version of the prompt."""
        return self._identity

    @asynccontextmanager
    async def session(self) -> AsyncIterator[JudgeSession]:
        """Open it; connections are made for the first question of each scale."""
        async with AsyncExitStack() as stack:
            yield _ModelSession(self._agent, self._structured, stack)


@final
class _ModelSession:
    """A connection for each set of further fields: questions of one scale share theirs."""

    def __init__(
        self, agent: Ask, structured: Callable[[Mapping[str, Any]], Mapping[str, Any]], stack: AsyncExitStack
    ) -> None:
        self._agent = agent
        self._structured = structured
        self._stack = stack
        self._sessions: dict[float | None, Session] = {}
        self._plain = False

    async def ask(self, question: Question, exhibit: Exhibit, *, complaint: str | None, deadline: float) -> Said:
        prompt = prompt_for(question, exhibit, complaint=complaint)
        try:
            response = await self._send(question, prompt, deadline)
        except AgentProtocolError as error:
            if self._plain or error.status not in _REFUSES_FIELDS:
                raise
            # The server may know no structured output: from now on the words of the prompt must do.
            self._plain = True
            response = await self._send(question, prompt, deadline)
        if response.finish_reason == "refusal":
            raise JudgeError(f"the model refuses to judge: {wire.shown(response.response)}")
        return Said(_value_of(response), response.usage, whole=question.is_whole)

    async def _send(self, question: Question, prompt: JudgePrompt, deadline: float) -> AgentResponse:
        session = await self._session_for(question)
        messages = ({"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user})
        return await session.send(AgentRequest(message=prompt.user, messages=messages, deadline=deadline))

    async def _session_for(self, question: Question) -> Session:
        scale = None if self._plain else question.max_score
        if scale not in self._sessions:
            fields = {} if scale is None else self._structured(answer_schema(question))
            self._sessions[scale] = await self._stack.enter_async_context(self._agent(fields).session())
        return self._sessions[scale]


def _value_of(response: AgentResponse) -> object:
    """The parameters of the call by which it answers, where it calls; else its text."""
    verdicts = [call.params for call in response.tool_calls if call.name == TOOL]
    return verdicts[0] if len(verdicts) == 1 else response.response
