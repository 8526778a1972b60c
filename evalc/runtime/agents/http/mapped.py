"""Reads an answer from a document of the agent's own shape, by configured paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from evalc.base.errors import AgentProtocolError
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentResponse
from evalc.runtime.agents import wire
from evalc.runtime.mapping import AnswerPaths, NotSearchable

if TYPE_CHECKING:
    from evalc.runtime.mapping import JsonPath

_PLAIN: Final = AnswerPaths()


def read_body(body: bytes, paths: AnswerPaths) -> AgentResponse:
    """Read an answer that is JSON text.

    Raises:
        AgentProtocolError: when it is no JSON, or a path finds nothing in it; it carries the body, shortened.
    """
    if paths == _PLAIN:
        return wire.decode_answer(body)
    try:
        return read_document(wire.decode_json(body), paths)
    except AgentProtocolError as error:
        raise AgentProtocolError(str(error), excerpt(body)) from None


def read_document(document: object, paths: AnswerPaths) -> AgentResponse:
    """Read an answer: what has a path is taken from there, and all else from where the contract has it.

    Raises:
        AgentProtocolError: when a path finds nothing, or something of another type than is wanted there.
    """
    fields = dict(document) if isinstance(document, Mapping) else {}
    if paths.response is not None:
        fields["response"] = required(paths.response, document, "response")
    if paths.tool_calls is not None:
        _drop(fields, wire.CALLS)
        fields["toolCalls"] = required(paths.tool_calls, document, "toolCalls")
    _, calls = wire.calls_in(fields) or ("", None)
    if isinstance(calls, list):
        fields["toolCalls"] = [read_call(call, paths) for call in calls]
    usage = {
        "inputTokens": _optional(paths.input_tokens, document),
        "outputTokens": _optional(paths.output_tokens, document),
        "costUsd": _optional(paths.cost_usd, document),
    }
    if any(value is not None for value in usage.values()):
        fields["usage"] = usage
    return wire.answer_of(fields)


def read_call(call: object, paths: AnswerPaths) -> object:
    """A tool call, its fields under the names that the contract has for them.

    Raises:
        AgentProtocolError: when a path finds nothing.
    """
    fields = dict(call) if isinstance(call, Mapping) else {}
    if paths.params is not None:
        _drop(fields, wire.PARAMS)
    for name, path in (
        ("name", paths.name),
        ("success", paths.success),
        ("durationMs", paths.duration_ms),
        ("params", paths.params),
    ):
        if path is not None:
            fields[name] = required(path, call, name)
    for name, path in (("result", paths.result), ("error", paths.error)):
        if path is not None and (value := found(path, call)) is not None:
            fields[name] = value
    return fields or call


def _drop(fields: dict[str, Any], keys: Iterable[str]) -> None:
    """Forget what a path says to be elsewhere."""
    for key in keys:
        fields.pop(key, None)


def required(path: JsonPath, document: object, key: str) -> Any:
    """What the path of this key finds.

    Raises:
        AgentProtocolError: when it finds nothing.
    """
    value = found(path, document)
    if value is None:
        raise AgentProtocolError(f"the path `{path.text}` of `{key}` matches nothing")
    return value


def found(path: JsonPath, document: object) -> Any:
    """What a path finds; None if there is nothing.

    Raises:
        AgentProtocolError: when it cannot be applied to what is there.
    """
    try:
        return path.find(document)
    except NotSearchable as error:
        raise AgentProtocolError(f"the path {error}") from None


def _optional(path: JsonPath | None, document: object) -> Any:
    return None if path is None else found(path, document)
