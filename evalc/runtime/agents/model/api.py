"""What a provider's API is to the loop: how a conversation is asked, and what an answer says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, final

from evalc.runtime.agents.model.options import Sampling
from evalc.tools.registry import ToolRegistry

Item = Mapping[str, Any]
"""A message, or another item of a conversation, as the API writes it. What evalc does not know in it stays as it is."""

Message = Mapping[str, str]
"""A message of a case: its `role`, which is `system`, `user` or `assistant`, and its `content`."""


ANSWER: Final = "answer"
"""The name of the schema that an answer keeps to, and of the tool by which an API without such schemas is asked."""


def given(**fields: object) -> dict[str, object]:
    """The fields of a request that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """All that a request says: the case's messages, what followed them so far, and the tools on offer."""

    model: str
    messages: Sequence[Message]
    items: Sequence[Item] = ()
    tools: Sequence[Item] = ()
    sampling: Sampling = field(default_factory=Sampling)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call that a model asks for. `params` is None if its `arguments`, a text, are not a JSON object.

    `id` is None in OpenAI's legacy `function_call`, whose result is told by the name.
    """

    id: str | None
    name: str
    arguments: str
    params: dict[str, Any] | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What a tool call gave, as text; `failed` where the tool could not be used."""

    call: Call
    text: str
    failed: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of a model.

    Attributes:
        text: what it says; a refusal's words where it refuses.
        calls: the tool calls that it asks for, in its order.
        hosted: the calls of tools that the provider ran itself.
        items: what is sent back in the next request, unchanged.
        input_tokens: the tokens of the request, those from a cache too; None if it does not say.
        output_tokens: the tokens of the answer.
        finish_reason: why it ended, in the provider's word; `refusal` where it refuses.
    """

    text: str
    calls: tuple[Call, ...]
    items: tuple[Item, ...]
    input_tokens: int | None
    output_tokens: int | None
    finish_reason: str | None
    hosted: tuple[Call, ...] = ()


Flavor = Literal["chat", "responses", "default"]


class Api(Protocol):
    """One API of a provider: without state, and without knowledge of HTTP."""

    @property
    def path(self) -> str:
        """What follows the base URL."""
        ...

    @property
    def flavor(self) -> Flavor:
        """What the table of prices calls the API's way to report usage."""
        ...

    @property
    def has_seed(self) -> bool:
        """Whether a request may have a seed."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers that carry the key, and those that the API asks for."""
        ...

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        """The tools of a registry as the API wants them."""
        ...

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's JSON."""
        ...

    def answering(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a request that bind its answer to a JSON Schema, called `ANSWER`."""
        ...

    def read(self, answer: Mapping[str, Any]) -> Turn:
        """What an answer says.

        Raises:
            AgentProtocolError: it is not of the API's shape.
        """
        ...

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """What tool calls gave, as items that follow those of their turn."""
        ...
