"""Foundations of all rooms: the names that packages offer, the providers of models, the collector, iterables."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar, final

from evalc.base.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@contextmanager
def collector_off() -> Iterator[None]:
    """Leave the collector out while modules are imported or files compiled: what it would look through is needed."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_freeze_count() == 0:
                # What was made counts as old from now on. As young, all of it would be looked through at once.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class Anew(Iterable[T]):
    """Items that are made whenever they are iterated, by a function of what is given, so that none is kept."""

    def __init__(self, make: Callable[..., Iterator[T]], *given: Any) -> None:
        self._make = make
        self._given = given

    def __iter__(self) -> Iterator[T]:
        return self._make(*self._given)


Group = Literal["evalc.checks", "evalc.agents"]
"""Groups of entry points by which packages extend evalc."""


def names_offered(group: Group) -> tuple[str, ...]:
    """The names that installed packages offer, in alphabetical order."""
    return tuple(sorted(_entry_points(group)))


def load_offered(group: Group, name: str) -> Any:
    """Import the object that an installed package offers under a name.

    Raises:
        UsageError: when no package offers it, or several do.
        BaseException: whatever the package raises when it is imported.
    """
    offers = _entry_points(group).get(name, ())
    if not offers:
        raise UsageError(f"no installed package offers `{name}`")
    if len(offers) > 1:
        packages = ", ".join(sorted(f"`{offer.dist.name}`" if offer.dist else f"`{offer.value}`" for offer in offers))
        raise UsageError(f"`{name}` is offered by several packages: {packages}")
    return offers[0].load()


@cache
def _entry_points(group: Group) -> dict[str, tuple[EntryPoint, ...]]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - with email and zipfile, most of the start-up time

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


ApiName = Literal["chat", "responses", "messages"]

CREDENTIAL_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"})
"""The headers, in lower case, that say who asks."""

TOKENS: Final = ("CI_JOB_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN")
"""The variables by which jobs of code hosts have what opens the host."""


@final
class Provider(NamedTuple):
    """A provider of models."""

    name: str  # the prefix of the model, as in `openai:MODEL`, and the table of the configuration
    title: str  # the provider as prose names it
    home: str  # the URL of its own API, without a slash at the end
    apis: tuple[ApiName, ...]  # the APIs that it is asked by; the first is the default
    key_variable: str  # the environment variable with the key, unless the configuration names another
    base_url_variable: str  # the environment variable with the API's URL
    example: str  # one of its models


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

CODING: Final = ("claude-code", "codex")
"""The coding agents, which `evalc/runtime/agents/coding.toml` describes."""

AGENT_FORMS: Final = (
    "http://...",
    "https://...",
    *MODEL_FORMS,
    "python:module:name",
    "command:...",
    *CODING,
    "replay:DIR",
    "local",
    "local:MODEL.gguf",
    "demo",
)
"""How agents are named; packages and the configuration have names of their own."""


def kind_of(spec: str) -> str:
    """The kind of an agent or a judge, with which its spec begins."""
    return spec.strip().partition(":")[0].lower()


AGENT_KINDS: Final = tuple(dict.fromkeys(map(kind_of, AGENT_FORMS)))
"""The kinds of agents that evalc has."""


def provider_of(spec: str) -> Provider | None:
    """The provider that a spec such as `openai:MODEL` names; None for any other agent or judge."""
    name, colon, _ = spec.strip().partition(":")
    return PROVIDERS.get(name.lower()) if colon else None
