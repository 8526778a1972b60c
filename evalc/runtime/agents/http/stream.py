"""Reads streamed answers: parses `text/event-stream` as the WHATWG HTML standard says, and adds up the events.

Without configured paths the shape is known by the first event: chunks of OpenAI's Chat Completions, events of
Anthropic's Messages, or evalc's own, which is plain text too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.base.errors import AgentError, AgentProtocolError
from evalc.base.terminal import EXCERPT_LENGTH, excerpt
from evalc.model.answer import AgentResponse
from evalc.runtime.agents import wire
from evalc.runtime.agents.model import refuse_unfinished, said_in
from evalc.runtime.mapping import AnswerPaths, StreamPaths

CONTENT_TYPE: Final = "text/event-stream"

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    """An event: its name, and its data with its lines joined by line feeds."""

    name: str = "message"
    data: str = ""


@final
class EventParser:
    """Takes pieces of a stream, cut anywhere. An event that no empty line ended is not one: it was cut off.

    The standard puts U+FFFD where a stream is not UTF-8. An answer is never graded with characters that nobody sent, so
    that is an error here.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._after_return = False
        self._at_start = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[ServerSentEvent]:
        """The events that end within this piece.

        Raises:
            AgentProtocolError: it is not UTF-8.
        """
        if self._after_return and piece:
            # The second half of a line end whose first half ended the piece before.
            piece = piece.removeprefix(b"\n")
            self._after_return = False
        if not piece:
            return
        self._after_return = piece.endswith(b"\r")
        *ended, begun = _LINE_END.split(piece)
        for end in ended:
            line, self._line = b"".join([*self._line, end]), []
            if (event := self._take(line)) is not None:
                yield event
        self._line.append(begun)

    def _take(self, line: bytes) -> ServerSentEvent | None:
        if self._at_start:
            line = line.removeprefix(_BOM)
            self._at_start = False
        if not line:
            name, data = self._name, self._data
            self._name, self._data = "", []
            return ServerSentEvent(name or "message", "\n".join(data)) if data else None
        try:
            field, _, value = line.decode().partition(":")
        except UnicodeDecodeError:
            raise AgentProtocolError("the stream is not UTF-8", excerpt(line)) from None
        value = value.removeprefix(" ")
        match field:
            case "data":
                self._data.append(value)
            case "event":
                self._name = value
            case _:  # a comment, `id` and `retry`, which are for those who reconnect, or a field that nobody knows
                pass
        return None


# --- answers ---------------------------------------------------------------------------------------------------------

END: Final = "[DONE]"
"""The data of an event that ends a stream, as OpenAI's and many others do."""

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
        self._shape: _Shape | None = None if paths is None else _Configured(paths, calls)

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


def _shape_of(document: object) -> _Shape | None:
    match document:
        case {"type": "ping", **rest} if not rest:  # which Anthropic's API sends, and others too
            return None
        case {"choices": _}:
            return _OpenAIChunks()
        case {"type": "message_start"}:
            return _AnthropicEvents()
        case _:
            return _OwnEvents()


class _Shape:
    """Adds events up to an answer.

    Attributes:
        done: whether the answer is whole, whatever may still come.
        may_end: whether the answer is whole if nothing more comes.
        finish_reason: why the model stopped, in its provider's word, where an event says it.
        unread: the place of what probably are calls in an event, which nobody reads.
    """

    done = False
    may_end = False
    finish_reason: str | None = None
    unread: str | None = None

    def __init__(self) -> None:
        self._texts: list[str] = []

    def take(self, event: ServerSentEvent, document: object) -> None:
        """Add an event; the document is that of its data, None where these are no JSON.

        Raises:
            AgentProtocolError: when there is something else in it than belongs there.
        """
        raise NotImplementedError

    def fields(self) -> Mapping[str, Any]:
        """The answer so far, under the contract's names."""
        raise NotImplementedError


@final
class _Configured(_Shape):
    """Events of a shape that the configuration describes."""

    def __init__(self, paths: StreamPaths, calls: AnswerPaths) -> None:
        super().__init__()
        self.may_end = paths.done is None
        self._paths = paths
        self._matched = False
        self._calls = _EventCalls(lambda call: wire.mapped_call(call, calls), reported=paths.tool_calls is not None)

    def take(self, event: ServerSentEvent, document: object) -> None:
        if event.data == END:
            self.done = True
            return
        if document is None:
            raise AgentProtocolError("an event of the stream is not JSON")
        if (text := wire.value_at(self._paths.text, document)) is not None:
            if not isinstance(text, str):
                raise AgentProtocolError(f"the path `{self._paths.text.text}` of `text` finds no text")
            self._matched = True
            self._texts.append(text)
        if self._paths.tool_calls is not None:
            calls = wire.value_at(self._paths.tool_calls, document)
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
            self.done = bool(wire.value_at(self._paths.done, document))

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


# --- evalc's own shape -----------------------------------------------------------------------------------------------

_LAST_NAMES: Final = ("done", "end", "final")
_IDLE: Final = ("ping", "heartbeat", "keep-alive", "keepalive", "start", "metadata")
_KNOWN: Final = frozenset({"delta", "text", "response", "usage", *wire.CALLS})


@final
class _OwnEvents(_Shape):
    """`{"delta": ...}` or `{"text": ...}` adds text, `{"toolCalls": [...]}` calls, and data that is no object is text.

    The last event is named `done` or has that type, or is `[DONE]`. A stream of only plain text may end without one,
    and so may one with the whole `response`, which nothing follows. Signs of life add nothing. An object of another
    form is refused, unless it is among plain text: it may be a call of a format that nobody reads.
    """

    def __init__(self) -> None:
        super().__init__()
        self.may_end = True
        self._empty = ""
        self._unread = False
        self._last: dict[str, Any] = {}
        self._calls = _EventCalls()

    def take(self, event: ServerSentEvent, document: object) -> None:
        fields = document if isinstance(document, Mapping) else {}
        is_last = event.name in _LAST_NAMES or fields.get("type") in _LAST_NAMES
        if event.data == END:
            self.done = True
        elif wire.is_call_type(event.name) and wire.calls_in(fields) is None:
            self._refuse(event, fields)
        elif not _KNOWN.isdisjoint(fields):
            if "response" in self._last and not fields.keys().isdisjoint(("response", "delta", "text", *wire.CALLS)):
                self._refuse(event, fields)
            self.done = is_last
            self._take_fields(fields)
            if fields.keys() & _KNOWN != {"usage"}:  # which says nothing of where the answer ends
                self.may_end = "response" in fields
        elif wire.near_calls_in(fields) is not None:
            self._calls.take(fields)
            self.done = is_last
        elif is_last or event.name in _IDLE or fields.get("type") in _IDLE:
            wire.refuse_unread_calls(fields)
            if _may_be_an_answer(fields):
                self._refuse(event, fields)
            self._unread = self._unread or bool(fields.keys() - {"type"})
            self.done = is_last
        elif fields == document == {} and not (self._texts and self.may_end):
            self._empty = event.data  # a sign of life, unless plain text follows
        elif isinstance(document, Mapping) and ("type" in document or not self._texts or not self.may_end):
            self._refuse(event, fields)
        else:
            wire.refuse_unread_calls(document)
            self._texts += (self._empty, event.data)
            self._empty = ""

    def _refuse(self, event: ServerSentEvent, fields: Mapping[str, Any]) -> None:
        keys = ", ".join(f"`{excerpt(str(key))}`" for key in fields)
        said = "comes after the whole `response`" if "response" in self._last else f"has {keys or 'no object'}"
        raise AgentProtocolError(
            f"an event `{excerpt(event.name)}` of the stream {said}, which is not a form that evalc knows: name the "
            "fields of its events in `[agent.stream]` of the configuration"
        )

    def _take_fields(self, document: Mapping[str, Any]) -> None:
        wire.refuse_unread_calls({"type": document.get("type")})
        for key in ("delta", "text"):
            if (text := document.get(key)) is not None:
                self._texts.append(_text(text, key))
        self._calls.take(document, is_last=self.done)
        self._last |= {key: document[key] for key in ("response", "usage") if key in document}

    def fields(self) -> Mapping[str, Any]:
        calls = self._calls.fields()
        if self._unread and not (self._texts or self._last or calls):
            raise AgentProtocolError("the stream has none of `delta`, `text`, `response` and `toolCalls`")
        return {"response": "".join(self._texts), **calls, **self._last}


def _may_be_an_answer(fields: Mapping[str, Any]) -> bool:
    """Whether fields that nobody reads may hold a text or calls, rather than an id, a reason or a count."""
    if "name" in fields and not fields.keys().isdisjoint(wire.PARAMS):
        return True
    for key, value in fields.items():
        if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            return True
        if isinstance(value, str) and value and key in ("output", "answer", "content", "message", "result"):
            return True
    return False


@final
class _EventCalls:
    """The tool calls of events that have them under the contract's names, or under names near them.

    Args:
        read: what makes a call of the contract's shape of one in an event.
        reported: whether an answer without calls says so by having none.
    """

    def __init__(self, read: Callable[[object], object] = lambda call: call, *, reported: bool = False) -> None:
        self._read = read
        self._calls: list[object] = []
        self._are_reported = reported
        self._near: dict[str, Any] = {}

    def take(self, document: Mapping[str, Any], *, is_last: bool = False) -> None:
        """Add the calls of an event; those of the last replace all others, if it has any.

        Raises:
            AgentProtocolError: they are not a list.
        """
        found = wire.calls_in(document)
        if found is None:
            if (near := wire.near_calls_in(document)) is not None:
                self._near.setdefault(near, document[near])
            return
        _, calls = found
        if not isinstance(calls, list | tuple):
            raise AgentProtocolError("the tool calls of an event are not a list")
        self._are_reported = True
        if is_last and calls:
            self._calls.clear()
        self._calls += map(self._read, calls)

    def fields(self) -> Mapping[str, Any]:
        """The calls, and what probably are others under names near theirs."""
        return self._near | ({"toolCalls": self._calls} if self._are_reported else {})


# --- shapes of providers ---------------------------------------------------------------------------------------------


class _Deltas(_Shape):
    """A text and calls that come in pieces, a call's by its index."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[_Call] = []
        self._begun: dict[object, _Call] = {}
        self._usage: dict[str, Any] = {}

    def fields(self) -> Mapping[str, Any]:
        refuse_unfinished(self.finish_reason, self._calls)
        calls = [call.fields() for call in self._calls]
        return {"response": "".join(self._texts), "toolCalls": calls, "usage": self._usage}

    def _begin(self, index: object, call: _Call) -> _Call:
        """A call to which the pieces of this index belong from now on."""
        self._calls.append(call)
        self._begun[index] = call
        return call

    def _take_reason(self, reason: object) -> None:
        if isinstance(reason, str):
            self.finish_reason = reason


@final
class _OpenAIChunks(_Deltas):
    """`chat.completion.chunk`s: deltas of content and of tool calls, of the choice with the index 0."""

    _has_choices = False
    _has_first = False
    _refuses = False

    def take(self, event: ServerSentEvent, document: object) -> None:
        if event.data == END:
            self.done = True
            return
        chunk = _object(document, "an event of the stream")
        usage = chunk.get("usage")
        if isinstance(usage, Mapping):
            self._usage = {"inputTokens": usage.get("prompt_tokens"), "outputTokens": usage.get("completion_tokens")}
        choices = [_object(item, "a choice") for item in _list(chunk.get("choices"), "choices")]
        self._has_choices = self._has_choices or bool(choices)
        ours = [each for each in choices if not each.get("index")]
        if wire.is_call_type(event.name):
            raise AgentProtocolError(f"an event `{excerpt(event.name)}` of the stream is not read")
        read: list[Any] = [each for each in choices if each.get("index")]
        for choice in ours:
            self._has_first = True
            for part in (choice.get("delta"), choice.get("message")):
                if isinstance(part, Mapping):
                    read += [part.get("function_call"), *_list(part.get("tool_calls"), "tool_calls")]
            # Usage may still follow, so the stream is not cut here.
            reason = choice.get("finish_reason")
            if reason == "error":
                raise AgentError("the model failed: the stream ends with the reason `error`")
            self.may_end = self.may_end or reason is not None
            self._take_reason(reason)
            delta = _object(choice.get("delta") or {}, "a delta")
            self._take_text(delta)
            self._take_calls(delta)
            # Some servers end with the whole message, or send nothing else.
            whole = _object(choice.get("message") or {}, "a message")
            if not self._calls:
                self._take_calls(whole)
            elif len(_list(whole.get("tool_calls"), "tool_calls")) > len(self._calls):
                raise AgentProtocolError("the message at the end of the stream has more tool calls than came before")
            if not self._texts:
                self._take_text(whole)
            self._take_text({"content": choice.get("text")})  # as OpenAI's API for completions has it
        wire.refuse_unread_calls(chunk, read)

    def fields(self) -> Mapping[str, Any]:
        if self._has_choices and not self._has_first:
            raise AgentProtocolError("the stream has no choice with the index 0")
        fields = super().fields()
        if self._refuses:
            self.finish_reason = "refusal"
        return fields

    def _take_text(self, delta: Mapping[str, Any]) -> None:
        for key in ("content", "refusal"):
            held = delta.get(key) or ""
            if isinstance(held, list):
                held = "".join(said_in(_object(part, "a part"), key) for part in held)
            if text := _text(held, key):
                self._texts.append(text)
                self._refuses = self._refuses or key == "refusal"

    def _take_calls(self, delta: Mapping[str, Any]) -> None:
        for item in _list(delta.get("tool_calls"), "tool_calls"):
            piece = _object(item, "a tool call")
            self._take_piece(piece, _object(piece.get("function") or piece.get("custom") or {}, "a function"))
        if (legacy := delta.get("function_call")) is not None:  # as OpenAI had it before `tool_calls`
            self._take_piece({"index": "function_call"}, _object(legacy, "a function"))

    def _take_piece(self, piece: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        """Add a piece of a call. A name with another id than before, or without an index, begins a new call.

        Some servers repeat the name in every piece, others begin each call at the index 0, or number every piece.
        """
        index = piece.get("index") or 0
        if not isinstance(index, int | str):
            raise AgentProtocolError("`index` of a tool call is not a number")
        call, id_, name = self._begun.get(index), piece.get("id"), _text(function.get("name") or "", "name")
        is_other = name and call and call.name and (id_ != call.id if id_ and call.id else piece.get("index") is None)
        if call is None or is_other:
            call = self._begin(index, _Call())
        call.id = call.id or id_
        if name and call.name not in ("", name):
            raise AgentProtocolError(f"two tool calls of the stream have the index {index}: `{call.name}` and `{name}`")
        call.name = call.name or name
        arguments = function.get("arguments") or function.get("input") or ""
        call.arguments.append(
            json.dumps(arguments) if isinstance(arguments, Mapping) else _text(arguments, "arguments")
        )


@final
class _AnthropicEvents(_Deltas):
    """Blocks of text and of tool use, each begun, added to and ended; events of unknown types add nothing."""

    def take(self, event: ServerSentEvent, document: object) -> None:
        content = _object(document, "an event of the stream")
        block: object = content.get("content_block")
        message = content.get("message")
        blocks = _list(message.get("content"), "content") if isinstance(message, Mapping) else []
        wire.refuse_unread_calls({"type": event.name})
        begun = (each for each in (block, *blocks) if isinstance(each, Mapping))
        wire.refuse_unread_calls(content, [each for each in begun if wire.is_call_type(each.get("type"))])
        match content.get("type"):
            case "message_start":
                self._take_usage(_object(message or {}, "a message").get("usage"))
                for index, each in enumerate(blocks):
                    self._take_block(-1 - index, _object(each, "a block"))
            case "content_block_start":
                self._take_block(_index(content), _object(block, "a block"))
            case "content_block_delta":
                self._take_delta(_index(content), _object(content.get("delta"), "a delta"))
            case "message_delta":
                self._take_usage(content.get("usage"))
                self._take_reason(_object(content.get("delta") or {}, "a delta").get("stop_reason"))
            case "message_stop":
                self.done = True

    def _take_block(self, index: int, block: Mapping[str, Any]) -> None:
        type_ = block.get("type")
        if wire.is_call_type(type_):  # those of the provider's own tools too: `server_tool_use`, `mcp_tool_use`
            if index in self._begun:
                raise AgentProtocolError(f"two blocks of the stream have the index {index}")
            self._begin(index, _Call(_text(block.get("name"), "name"), block.get("input")))
        elif type_ == "error":
            raise AgentError(f"the model failed: {excerpt(str(block))}")
        else:
            self._texts.append(said_in(block, "content_block"))

    def _take_delta(self, index: object, delta: Mapping[str, Any]) -> None:
        match delta.get("type"):
            case "input_json_delta" if index in self._begun:
                self._begun[index].arguments.append(_text(delta.get("partial_json"), "partial_json"))
            case "text_delta":
                self._texts.append(_text(delta.get("text"), "text"))
            case _:
                self._texts.append(said_in(delta, "delta"))

    def _take_usage(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            counts = {"inputTokens": usage.get("input_tokens"), "outputTokens": usage.get("output_tokens")}
            self._usage.update({name: count for name, count in counts.items() if count is not None})


class _Call:
    """A tool call whose arguments come in pieces of JSON; `begun` is what they are if no piece comes."""

    def __init__(self, name: str = "", begun: object = None) -> None:
        self.id: object = None
        self.name = name
        self.arguments: list[str] = []
        self._begun = begun or {}

    def fields(self) -> Mapping[str, Any]:
        text = "".join(self.arguments)
        if not self.name:
            raise AgentProtocolError("a tool call of the stream has no name")
        return {"name": self.name, "params": text if text.strip() else self._begun}


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise AgentProtocolError(f"{what} is not a JSON object")
    return value


def _list(value: object, key: str) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise AgentProtocolError(f"`{key}` of an event is not a list")
    return value or []


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise AgentProtocolError(f"`{key}` of an event is not a text")
    return value


def _index(value: Mapping[str, Any]) -> int:
    """The number of the call or block that a piece belongs to; the first if it does not say."""
    index = value.get("index", 0)
    if not isinstance(index, int):
        raise AgentProtocolError("`index` of an event is not a number")
    return index
