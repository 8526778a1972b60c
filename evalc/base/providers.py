"""The providers of models that evalc knows by name: where each is, and which environment variables lead there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, final

ApiName = Literal["chat", "responses", "messages"]

CREDENTIAL_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"})
"""The headers, in lower case, that say who asks."""


@final
class Provider(NamedTuple):
    """A provider of models.

    Attributes:
        name: the prefix of the model, as in `openai:MODEL`, and the table of the configuration.
        title: the provider as prose names it.
        home: the URL of its own API, without a slash at the end.
        apis: the APIs that it is asked by; the first is the default.
        key_variable: the environment variable with the key, unless the configuration names another.
        base_url_variable: the environment variable with the API's URL.
        example: one of its models.
    """

    name: str
    title: str
    home: str
    apis: tuple[ApiName, ...]
    key_variable: str
    base_url_variable: str
    example: str


PROVIDERS: Final[Mapping[str, Provider]] = {
    provider.name: provider
    for provider in (
        Provider(
            name="openai",
            title="OpenAI",
            home="https://api.openai.com/v1",
            apis=("chat", "responses"),
            key_variable="OPENAI_API_KEY",
            base_url_variable="OPENAI_BASE_URL",
            example="gpt-4o-mini",
        ),
        Provider(
            name="anthropic",
            title="Anthropic",
            home="https://api.anthropic.com",
            apis=("messages",),
            key_variable="ANTHROPIC_API_KEY",
            base_url_variable="ANTHROPIC_BASE_URL",
            example="claude-haiku-4-5",
        ),
    )
}

MODEL_FORMS: Final = tuple(f"{name}:MODEL" for name in PROVIDERS)
"""How agents and judges that are models are named."""


def provider_of(spec: str) -> Provider | None:
    """The provider that a spec such as `openai:MODEL` names; None for any other agent or judge."""
    name, colon, _ = spec.strip().partition(":")
    return PROVIDERS.get(name.lower()) if colon else None
