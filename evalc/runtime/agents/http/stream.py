"""Reads answers of an agent's own shape by configured paths, and assembles streamed ones from their events.

Without configured paths the shape is known by the first event: chunks of OpenAI's Chat Completions, events of
Anthropic's Messages, or evalc's own, which is plain text too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, final

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError
from evalc.base.terminal import EXCERPT_LENGTH, excerpt
from evalc.model.answer import AgentResponse
from evalc.runtime.agents import wire
from evalc.runtime.agents.http.events import (
    END,
    AnthropicEvents,
    EventCalls,
    EventParser,
    EventShape,
    OpenAIChunks,
    OwnEvents,
    ServerSentEvent,
)
from evalc.runtime.mapping import AnswerPaths, JsonPath, NotSearchable, StreamPaths

CONTENT_TYPE: Final = "text/event-stream"

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
        AgentProtocolError: when a path finds nothing, or something of the wrong type.
    """
    fields = dict(document) if isinstance(document, Mapping) else {}
    if paths.response is not None:
        fields["response"] = required(paths.response, document, "response")
    if paths.tool_calls is not None:
        while (near := wire.near_calls_in(fields)) is not None:
            del fields[near]
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
    """The value that the path of this key finds.

    Raises:
        AgentProtocolError: when it finds nothing.
    """
    value = found(path, document)
    if value is None:
        raise AgentProtocolError(f"the path `{path.text}` of `{key}` matches nothing")
    return value


def found(path: JsonPath, document: object) -> Any:
    """The value that a path finds; None if there is nothing.

    Raises:
        AgentProtocolError: when it cannot be applied to what is there.
    """
    try:
        return path.find(document)
    except NotSearchable as error:
        raise AgentProtocolError(f"the path {error}") from None


def _optional(path: JsonPath | None, document: object) -> Any:
    return None if path is None else found(path, document)


# --- streams ---------------------------------------------------------------------------------------------------------

_FAILURE: Final = re.compile(
    r"(?:(?:(?:thread|workflow)\.)?(?:run|response|stream|agent|message|workflow)[._-])?(?:error|exception|failed|failure)",
    re.IGNORECASE,
)
"""The name of an event that ends the whole answer; a tool that failed is the agent's business."""


@final
class StreamedAnswer:
    """An answer that comes as a stream of events.

    Args:
        paths: where in an event things are; None if the shape is a known one.
        calls: how a tool call is read.
    """

    def __init__(self, paths: StreamPaths | None, calls: AnswerPaths) -> None:
        self._parser = EventParser()
        self._calls = calls
        self._shape: EventShape | None = None if paths is None else _Configured(paths, calls)

    def feed(self, piece: bytes) -> bool:
        """Add a piece of the body. Whether the answer is whole.

        Raises:
            AgentError: the stream says that something went wrong, which it may do behind its last event.
            AgentProtocolError: when there is something else in an event than belongs there; it carries the event.
        """
        for event in self._parser.feed(piece):
            document = _document(event.data)
            if _is_failure(event.name, document):
                raise AgentError(f"the stream ends in an error: {excerpt(event.data)}")
            if self._shape is None:
                self._shape = _shape_of(document)
            if self._shape is None or self._shape.done:
                continue
            try:
                self._shape.take(event, document)
            except AgentProtocolError as error:
                raise AgentProtocolError(str(error), excerpt(event.data)) from None
        return self._shape is not None and self._shape.done

    def answer(self, body: bytes) -> AgentResponse:
        """The answer of a stream that has come to its end, or has had enough; `body` is what came of it.

        Raises:
            AgentProtocolError: when it broke off before the answer was whole, or has no text; it carries the body.
        """
        if self._shape is None:
            raise AgentProtocolError("the stream has no event", excerpt(body))
        if not (self._shape.done or self._shape.may_end):
            raise AgentProtocolError("the stream ended before its last event", excerpt(body[-EXCERPT_LENGTH:]))
        try:
            answer = wire.answer_of(self._shape.fields())
        except AgentProtocolError as error:
            raise AgentProtocolError(str(error), excerpt(body)) from None
        if (unread := self._shape.unread) is not None:
            answer = msgspec.structs.replace(answer, near_calls=unread, reports_calls=False)
        return msgspec.structs.replace(answer, finish_reason=self._shape.finish_reason)


@final
class _Configured:
    """Events of a shape that the configuration describes."""

    finish_reason: str | None = None
    unread: str | None = None

    def __init__(self, paths: StreamPaths, calls: AnswerPaths) -> None:
        self.done = False
        self.may_end = paths.done is None
        self._paths = paths
        self._texts: list[str] = []
        self._matched = False
        self._calls = EventCalls(lambda call: read_call(call, calls), reported=paths.tool_calls is not None)

    def take(self, event: ServerSentEvent, document: object) -> None:
        if event.data == END:
            self.done = True
            return
        if document is None:
            raise AgentProtocolError("an event of the stream is not JSON")
        text = found(self._paths.text, document)
        if text is not None:
            if not isinstance(text, str):
                raise AgentProtocolError(f"the path `{self._paths.text.text}` of `text` finds no text")
            self._matched = True
            self._texts.append(text)
        if self._paths.tool_calls is not None:
            calls = found(self._paths.tool_calls, document)
            if calls is not None and not isinstance(calls, list):
                raise AgentProtocolError(f"the path `{self._paths.tool_calls.text}` of `toolCalls` finds no list")
            if calls is None and isinstance(document, Mapping):
                self._refuse_calls_elsewhere(document)
                self._note_unread(event, document)
            self._calls.take({"toolCalls": calls})
        elif isinstance(document, Mapping):
            _, calls = wire.calls_in(document) or ("", None)
            self._note_unread(event, document, *(calls if isinstance(calls, list) else ()))
            self._calls.take(document)
        if self._paths.done is not None:
            self.done = bool(found(self._paths.done, document))

    def _note_unread(self, event: ServerSentEvent, document: Mapping[str, Any], *read: object) -> None:
        named = excerpt(event.name) if wire.is_call_type(event.name) and not read else None
        top = None if read else wire.near_calls_in(document)
        self.unread = self.unread or named or top or wire.unread_call_in(document, read)

    def _refuse_calls_elsewhere(self, document: Mapping[str, Any]) -> None:
        elsewhere = wire.calls_in(document)
        if elsewhere is not None and elsewhere[1] and self._paths.tool_calls is not None:
            path = self._paths.tool_calls.text
            raise AgentProtocolError(
                f"an event has `{elsewhere[0]}`, where the path `{path}` of `toolCalls` finds nothing"
            )

    def fields(self) -> Mapping[str, Any]:
        calls = self._calls.fields()
        if not self._matched and not calls.get("toolCalls"):
            raise AgentProtocolError(f"the path `{self._paths.text.text}` of `text` matches nothing in the stream")
        return {"response": "".join(self._texts), **calls}


def _document(data: str) -> object:
    try:
        return wire.decode_json(data.encode())
    except AgentProtocolError:
        return None


def _is_failure(name: str, document: object) -> bool:
    """Whether an event says that something went wrong: by its name or its type, such as `error`, or in an `error`."""
    if not isinstance(document, Mapping):
        return _names_failure(name)
    return _names_failure(name) or _names_failure(document.get("type")) or wire.reported_failure(document) is not None


def _names_failure(name: object) -> bool:
    return isinstance(name, str) and _FAILURE.fullmatch(name) is not None


def _shape_of(document: object) -> EventShape | None:
    match document:
        case {"type": "ping", **rest} if not rest:  # which Anthropic's API sends, and others too
            return None
        case {"choices": _}:
            return OpenAIChunks()
        case {"type": "message_start"}:
            return AnthropicEvents()
        case _:
            return OwnEvents()
