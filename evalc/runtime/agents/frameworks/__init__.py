"""Recognises agents and answers of frameworks by the module of their class, and imports no framework itself."""

from __future__ import annotations

import ast
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.errors import AgentProtocolError
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage
from evalc.runtime.agents import wire

FRAMEWORKS: Final[Mapping[str, str]] = {
    "agent_framework": "of_providers:AgentFramework",
    "agents": "of_providers:OpenAIAgents",
    "agno": "independent:Agno",
    "crewai": "independent:CrewAI",
    "google.adk": "of_providers:GoogleADK",
    "langchain_core": "independent:LangChain",
    "langgraph": "independent:LangChain",
    "llama_index": "independent:LlamaIndex",
    "pydantic_ai": "independent:PydanticAI",
    "smolagents": "independent:Smolagents",
    "strands": "of_providers:Strands",
}
"""The class of each framework, and its file in this folder, by the packages whose objects the class knows."""


class Framework(ABC):
    """The agents of a framework; an object of the class is a conversation with one of them, or a single message."""

    @classmethod
    @abstractmethod
    def conversations(cls, agent: Any) -> Callable[[], Framework] | None:
        """How a conversation with an agent is begun, in the framework's own way; None for other objects of it."""

    @abstractmethod
    def ask(self, request: AgentRequest) -> Any:
        """Answer the next message, or give something to be awaited; what was said before is its own to keep."""

    @staticmethod
    @abstractmethod
    def answer(returned: Any) -> AgentResponse | None:
        """Read what such an agent returns; None for other objects of the framework."""


def has_methods(found: object, *names: str) -> bool:
    """Whether an object has all of the methods by which its framework is asked."""
    return all(callable(getattr(found, name, None)) for name in names)


def conversations(found: object) -> Callable[[], Framework] | None:
    """How a conversation with an agent of a framework is begun; None if the object is none."""
    framework = _framework_of(found)
    return None if framework is None else framework.conversations(found)


def answer_of(value: object) -> AgentResponse:
    """Read an answer: what a framework's agent returns, or what `wire` reads.

    Raises:
        AgentProtocolError: as `wire.answer_of`.
        AgentError: as `wire.answer_of`.
    """
    if not isinstance(value, str) and (framework := _framework_of(_classed(value))) is not None:
        value = framework.answer(value) or value
    return wire.answer_of(value)


def name_of(found: object) -> str | None:
    """A readable name of an agent of a framework, as in `pydantic_ai:support`; None for other objects."""
    if conversations(found) is None:
        return None
    name = getattr(found, "name", None)
    return f"{_package_of(found)}:{name if isinstance(name, str) and name else type(found).__name__}"


def _classed(value: object) -> object:
    """The object whose class shows the framework of an answer, which may be a list, or a mapping with messages."""
    messages = value.get("messages") if isinstance(value, Mapping) else value
    return messages[-1] if isinstance(messages, list) and messages else value


def _package_of(found: object) -> str | None:
    for each in type(found).__mro__:
        parts = each.__module__.split(".")
        for package in (parts[0], ".".join(parts[:2])):
            if package in FRAMEWORKS:
                return package
    return None


def _framework_of(found: object) -> type[Framework] | None:
    package = _package_of(found)
    if package is None:
        return None
    file, _, name = FRAMEWORKS[package].partition(":")
    framework: type[Framework] = getattr(importlib.import_module(f"{__name__}.{file}"), name)
    return framework


# --- for the files ---------------------------------------------------------------------------------------------------


class _Made(NamedTuple):
    key: object
    call: ToolCall


def field_of(value: object, name: str) -> Any:
    """The field of a mapping or of an object; None if it has none of that name."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


@final
class Calls:
    """Tool calls in the order in which they are made; what comes back finds its call by the call's id."""

    def __init__(self) -> None:
        self._made: list[_Made] = []

    def made(self, key: object, name: str, params: object) -> None:
        """Add a call; its parameters are an object, or a text of JSON, which may be broken."""
        arguments = None
        if isinstance(params, str):
            arguments, params = params, _object_of(params)
        if isinstance(params, Mapping):
            call = ToolCall(name=name, params=plain(params))
        else:
            given = arguments if arguments is not None or params is None else text_of(params)
            call = ToolCall(name=name, success=False if given else None, arguments=given or None)
        self._made.append(_Made(key, call))

    def ended(self, key: object, *, result: object = msgspec.UNSET, error: object = None) -> None:
        """Add what a tool gave back, or why it failed."""
        for index, made in enumerate(self._made):
            is_open = made.call.result is msgspec.UNSET and made.call.error is msgspec.UNSET
            if made.key == key and is_open:
                ended = {"result": plain(result)} if error is None else {"error": text_of(error)}
                call = msgspec.structs.replace(made.call, success=error is None, **ended)
                self._made[index] = made._replace(call=call)
                return

    def all(self) -> tuple[ToolCall, ...]:
        """The calls."""
        return tuple(made.call for made in self._made)


def usage_of(used: object, input_tokens: str = "input_tokens", output_tokens: str = "output_tokens") -> Usage | None:
    """The tokens that an object or a mapping counts under these names; None if it counts none."""
    counts = [wire.count_of(field_of(used, name)) for name in (input_tokens, output_tokens)]
    return Usage(input_tokens=counts[0], output_tokens=counts[1]) if any(counts) else None


def sum_of(usages: Sequence[Usage | None]) -> Usage | None:
    """The usage of all requests to a model; None if that of any is unknown, since the sum would be too low."""
    known = [each for each in usages if each is not None]
    if not known or len(known) < len(usages):
        return None
    tokens = [[each.input_tokens or 0, each.output_tokens or 0] for each in known]
    inputs, outputs = map(sum, zip(*tokens, strict=True))
    return Usage(input_tokens=inputs, output_tokens=outputs)


def text_in(content: object) -> str:
    """The text of a message's content: a text, or a list of parts, some of which have a `text`."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return text_of(content)
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    return "".join(text for text in texts if isinstance(text, str))


def name_in(*candidates: object) -> str | None:
    """The first that is a name, of a model or of why it stopped."""
    return next((each for each in candidates if isinstance(each, str) and each), None)


def text_of(value: object) -> str:
    """A value as text: itself, nothing for None, else its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else msgspec.json.encode(plain(value)).decode()


def plain(value: object) -> Any:
    """A value as JSON has it: of objects their fields, of a text that holds an object or a list that; else a text.

    Frameworks write what a tool gives back as JSON, or as Python does.
    """
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return wire.decode_json(value.encode(errors="surrogatepass"))
        except AgentProtocolError:
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                return plain(ast.literal_eval(value.strip()))
        return value
    try:
        return value if value is msgspec.UNSET else msgspec.to_builtins(value, enc_hook=_fields_of, str_keys=True)
    except TypeError:  # of keys that are objects
        return str(value)


def _fields_of(value: Any) -> Any:
    """The fields of a Pydantic model; of any other object its text."""
    return value.model_dump(mode="json") if has_methods(value, "model_dump") else str(value)


def _object_of(text: str) -> object:
    try:
        return wire.decode_unambiguous(text.encode(errors="surrogatepass")) if text.strip() else {}
    except AgentProtocolError:
        return None
