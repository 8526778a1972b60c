"""The agent `local[:GGUF]`: a model that llama.cpp serves on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Final, final

import msgspec

from evalc.base.errors import AgentProtocolError, AgentUnavailable
from evalc.base.providers import PROVIDERS
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents.base import Session
from evalc.runtime.agents.model.agent import ModelAgent
from evalc.runtime.agents.model.api import Api
from evalc.runtime.agents.model.options import Access, ModelOptions, Sampling
from evalc.runtime.local_model.server import LocalServer
from evalc.runtime.local_model.tool_schema import ToolsBySchema

_SPOKEN: Final = PROVIDERS["openai"]
"""Whose API llama.cpp speaks."""

MOST_TOKENS: Final = 256
"""The length of an answer if nothing is configured: small models may never come to an end by themselves."""

LONGEST_TEXT: Final = 300
"""Characters of a text in an answer by a schema, for the same reason."""


@final
class LocalAgent:
    """A model on this machine. It answers the same to the same, as far as the machine computes the same.

    Where tools are on offer, its answers are bound to a JSON Schema of calls and texts.
    """

    def __init__(self, server: LocalServer, *, options: ModelOptions) -> None:
        self.local_server = server
        self._options = replace(options, sampling=_repeatable(options.sampling))

    @property
    def endpoint(self) -> str:
        """`local:` and the model's name."""
        return f"local:{self.local_server.name}"

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open connections of one's own; the model is loaded where it is not yet."""
        url = await self.local_server.url()
        async with AsyncExitStack() as stack:
            texts, calls = [
                await stack.enter_async_context(self._model(url, api).session()) for api in (None, ToolsBySchema())
            ]
            yield _LocalSession(self.local_server, self._options, texts, calls)

    def _model(self, url: str, api: Api | None) -> ModelAgent:
        access = Access(base_url=f"{url}/v1", key_variable=_SPOKEN.key_variable)
        return ModelAgent(_SPOKEN, self.local_server.name, access=access, options=self._options, api=api)


@final
class _LocalSession:
    def __init__(self, server: LocalServer, options: ModelOptions, texts: Session, calls: Session) -> None:
        self._server = server
        self._options = options
        self._texts = texts
        self._calls = calls

    async def send(self, request: AgentRequest) -> AgentResponse:
        tools = request.stubs if self._options.tools is None else self._options.tools
        if request.answer_schema is not None:
            tools = None
            request = msgspec.structs.replace(request, answer_schema=_ending(request.answer_schema))
        try:
            return await (self._calls if tools else self._texts).send(request)
        except (AgentUnavailable, AgentProtocolError) as error:
            if error.status is None and (why := await self._server.why_broken()) is not None:
                raise AgentUnavailable(why) from None
            raise


def _ending(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of an object, each of whose free texts comes to an end."""
    properties = {
        name: {**each, "maxLength": LONGEST_TEXT} if each == {"type": "string"} else each
        for name, each in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _repeatable(sampling: Sampling) -> Sampling:
    """The same sampling, with what makes answers repeatable if nothing else is configured.

    What the server keeps of the last prompt spares time, and changes the last digits of what is computed.
    """
    return Sampling(
        temperature=0 if sampling.temperature is None else sampling.temperature,
        max_tokens=sampling.max_tokens or MOST_TOKENS,
        seed=0 if sampling.seed is None else sampling.seed,
        extra={"cache_prompt": False, **sampling.extra},
    )
