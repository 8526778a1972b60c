"""Reads streamed events of known shapes: evalc's own, OpenAI's and Anthropic's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, final

from evalc.base.errors import AgentError, AgentProtocolError
from evalc.runtime.agents import wire
from evalc.runtime.agents.http.sse import ServerSentEvent

_END: Final = "[DONE]"
_LAST_NAMES: Final = ("done", "end", "final")
_KNOWN: Final = frozenset({"delta", "text", "response", *wire.CALLS})


@final
class OwnEvents:
    """`{"delta": ...}` or `{"text": ...}` adds text, `{"toolCalls": [...]}` calls, and any other data is text itself.

    The last event is named `done`, or has the whole `response`, or is `[DONE]`. A stream of only plain text may
    end without one.
    """

    finish_reason: str | None = None

    def __init__(self) -> None:
        self.done = False
        self.may_end = True
        self._texts: list[str] = []
        self._last: dict[str, Any] = {}
        self._calls = EventCalls()

    def take(self, event: ServerSentEvent, document: object) -> None:
        """Add an event (see Shape)."""
        if event.data == _END:
            self.done = True
        elif event.name in _LAST_NAMES:
            self.done = True
            self._take_fields(document if isinstance(document, Mapping) else {})
        elif isinstance(document, Mapping) and not _KNOWN.isdisjoint(document):
            self.may_end = False
            self.done = "response" in document
            self._take_fields(document)
        else:
            self._texts.append(event.data)
            if isinstance(document, Mapping):
                self._calls.take(document)

    def _take_fields(self, document: Mapping[str, Any]) -> None:
        for key in ("delta", "text"):
            if (text := document.get(key)) is not None:
                self._texts.append(_text(text, key))
        self._calls.take(document, is_last=self.done)
        self._last = {key: document[key] for key in ("response", "usage") if key in document}

    def fields(self) -> Mapping[str, Any]:
        """The answer so far (see Shape)."""
        return {"response": "".join(self._texts), **self._calls.fields(), **self._last}


@final
class EventCalls:
    """The tool calls of events that have them under the contract's names, or under names near them.

    Args:
        read: what makes a call of the contract's shape of one in an event.
    """

    def __init__(self, read: Callable[[object], object] = lambda call: call) -> None:
        self._read = read
        self._calls: list[object] = []
        self._are_reported = False
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
        """The calls; where no event reports any, what probably is one."""
        return {"toolCalls": self._calls} if self._are_reported or not self._near else self._near


class _Deltas:
    """A text and calls that come in pieces, a call's by its index."""

    def __init__(self) -> None:
        self.done = False
        self.may_end = False
        self.finish_reason: str | None = None
        self._texts: list[str] = []
        self._calls: dict[object, _Call] = {}
        self._usage: dict[str, Any] = {}

    def fields(self) -> Mapping[str, Any]:
        """The answer so far (see Shape)."""
        calls = [call.fields() for call in self._calls.values()]
        return {"response": "".join(self._texts), "toolCalls": calls, "usage": self._usage}

    def _take_reason(self, reason: object) -> None:
        if isinstance(reason, str):
            self.finish_reason = reason


@final
class OpenAIChunks(_Deltas):
    """`chat.completion.chunk`s: deltas of content and of tool calls."""

    def take(self, event: ServerSentEvent, document: object) -> None:
        """Add an event (see Shape)."""
        if event.data == _END:
            self.done = True
            return
        chunk = _object(document, "an event of the stream")
        usage = chunk.get("usage")
        if isinstance(usage, Mapping):
            self._usage = {"inputTokens": usage.get("prompt_tokens"), "outputTokens": usage.get("completion_tokens")}
        choices = [_object(item, "a choice") for item in _list(chunk.get("choices"), "choices")]
        for choice in [each for each in choices if not each.get("index")][:1]:
            # Usage may still follow, so the stream is not cut here.
            reason = choice.get("finish_reason")
            if reason == "error":
                raise AgentError("the model failed: the stream ends with the reason `error`")
            self.may_end = self.may_end or reason is not None
            self._take_reason(reason)
            self._take_delta(_object(choice.get("delta") or {}, "a delta"))

    def _take_delta(self, delta: Mapping[str, Any]) -> None:
        if (content := delta.get("content")) is not None:
            self._texts.append(_text(content, "content"))
        for item in _list(delta.get("tool_calls"), "tool_calls"):
            piece = _object(item, "a tool call")
            function = _object(piece.get("function") or {}, "a function")
            self._take_function(_index(piece), function)
        if (legacy := delta.get("function_call")) is not None:  # as OpenAI had it before `tool_calls`
            self._take_function("function_call", _object(legacy, "a function"))

    def _take_function(self, call: object, function: Mapping[str, Any]) -> None:
        begun = self._calls.setdefault(call, _Call())
        begun.name += _text(function.get("name") or "", "name")
        begun.arguments.append(_text(function.get("arguments") or "", "arguments"))


@final
class AnthropicEvents(_Deltas):
    """Blocks of text and of tool use, each begun, added to and ended; events of unknown types add nothing."""

    def take(self, event: ServerSentEvent, document: object) -> None:
        """Add an event (see Shape)."""
        del event
        content = _object(document, "an event of the stream")
        match content.get("type"):
            case "message_start":
                self._take_usage(_object(content.get("message") or {}, "a message").get("usage"))
            case "content_block_start":
                block = _object(content.get("content_block"), "a block")
                if block.get("type") == "text":
                    self._texts.append(_text(block.get("text") or "", "text"))
                elif block.get("type") == "tool_use":
                    self._calls[_index(content)] = _Call(_text(block.get("name"), "name"), block.get("input"))
            case "content_block_delta":
                self._take_delta(_index(content), _object(content.get("delta"), "a delta"))
            case "message_delta":
                self._take_usage(content.get("usage"))
                self._take_reason(_object(content.get("delta") or {}, "a delta").get("stop_reason"))
            case "message_stop":
                self.done = True

    def _take_delta(self, index: object, delta: Mapping[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._texts.append(_text(delta.get("text"), "text"))
            case "input_json_delta" if index in self._calls:
                self._calls[index].arguments.append(_text(delta.get("partial_json"), "partial_json"))

    def _take_usage(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            counts = {"inputTokens": usage.get("input_tokens"), "outputTokens": usage.get("output_tokens")}
            self._usage.update({name: count for name, count in counts.items() if count is not None})


class _Call:
    """A tool call whose arguments come in pieces of JSON; `begun` is what they are if no piece comes."""

    def __init__(self, name: str = "", begun: object = None) -> None:
        self.name = name
        self.arguments: list[str] = []
        self._begun = begun or {}

    def fields(self) -> Mapping[str, Any]:
        text = "".join(self.arguments)
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
    """Which of the calls or blocks a piece belongs to; the first if it does not say."""
    index = value.get("index", 0)
    if not isinstance(index, int):
        raise AgentProtocolError("`index` of an event is not a number")
    return index
