"""Streamed answers over HTTP: the WHATWG standard, known and configured shapes, and streams that break off."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalc
from evalc.base.errors import AgentError, AgentProtocolError, AgentUnavailable
from evalc.model.answer import AgentResponse, ToolCall, Usage
from evalc.runtime.agents import HttpOptions, Sending
from evalc.runtime.agents.http.agent import HttpAgent
from evalc.runtime.agents.http.stream import EventParser, ServerSentEvent
from evalc.runtime.mapping import AnswerPaths, JsonPath, StreamPaths
from tests.support.asking import PATIENCE, ask, ask_all, failure, run_out_of_time
from tests.support.servers import Exchange, hangs, resets, serving, streams


def events(*pieces: bytes) -> list[ServerSentEvent]:
    parser = EventParser()
    return [event for piece in pieces for event in parser.feed(piece)]


def event(data: str, name: str = "message") -> ServerSentEvent:
    return ServerSentEvent(name=name, data=data)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [event("a")]),
        (b"data:a\r\rdata: b\r\n\r\n", [event("a"), event("b")]),
        (b"data:  a\n\n", [event(" a")]),
        (b"data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
        (b"\xef\xbb\xbfdata: a\n\n", [event("a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b": a comment\n\n:\ndata: a\n\n", [event("a")]),
        (b"event: done\ndata: x\n\ndata: y\n\n", [event("x", "done"), event("y")]),
        (b"event: lost\n\ndata: y\n\n", [event("y")]),
        (b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", [event("a"), event("b"), event("c")]),
        (b"id: 1\0\ndata: a\n\n", [event("a")]),
        (b"data\n\ndata\ndata\n\ndata:", [event(""), event("\n")]),
        (b"retry: 10\nunknown: x\ndata: a\n\n", [event("a")]),
        (b"data: cut off\n", []),
        (b"", []),
    ],
)
def test_the_rules(stream: bytes, expected: list[ServerSentEvent]) -> None:
    assert events(stream) == expected
    assert events(*(bytes([byte]) for byte in stream)) == expected


@pytest.mark.parametrize("stream", [b"data: \xff\n\n", b": \xc3\n\n", b"id: \xed\xa0\x80\n\n"])
def test_a_stream_that_is_not_utf_8_is_an_error(stream: bytes) -> None:
    with pytest.raises(AgentProtocolError, match="the stream is not UTF-8"):
        events(*(bytes([byte]) for byte in stream))
    assert events("data: é€😀\n\n".encode()) == [event("é€😀")]


@given(
    st.lists(
        st.sampled_from([b"data: a", b"data:", b"id: 1", b"event: e", b":", b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf"])
    ),
    st.lists(st.integers(0, 200)),
)
def test_where_a_stream_is_cut_makes_no_difference(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = [stream[start:end] for start, end in pairwise(places)]
    assert events(*pieces, b"") == events(stream)


def data(*documents: Any) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(document).encode() for document in documents)


def named(name: str, document: Any) -> bytes:
    return b"event: %s\n%s" % (name.encode(), data(document))


DONE = b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def arguments(text: str) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})


OPENAI = data(
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Hel"}),
    chunk({"content": "lo"}),
    chunk({"tool_calls": [{"index": 0, "id": "x", "function": {"name": "get_weather", "arguments": ""}}]}),
    arguments('{"city":'),
    arguments('"Paris"}'),
    chunk({}, "stop"),
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
)
ANTHROPIC = (
    named("message_start", {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}})
    + named("content_block_start", {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}})
    + named("ping", {"type": "ping"})
    + named(
        "content_block_delta",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}},
    )
    + named(
        "content_block_delta",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}},
    )
    + named(
        "content_block_start",
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "name": "get_weather", "input": {}},
        },
    )
    + named(
        "content_block_delta",
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"city":'}},
    )
    + named(
        "content_block_delta",
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"Paris"}'}},
    )
    + named(
        "message_delta", {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}
    )
)
STOP = named("message_stop", {"type": "message_stop"})
PARIS = AgentResponse(
    response="Hello",
    tool_calls=(ToolCall(name="get_weather", params={"city": "Paris"}),),
    usage=Usage(input_tokens=7, output_tokens=3),
)
OWN_CALL = {"toolCalls": [{"name": "get_weather", "params": {"city": "Paris"}}]}
OWN_USAGE = {"usage": {"inputTokens": 7, "outputTokens": 3}}


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (OPENAI + DONE, "stop"),
        (OPENAI, "stop"),
        (ANTHROPIC + STOP, "tool_use"),
        (data({"delta": "Hel"}, {"text": "lo"}, OWN_CALL) + named("done", OWN_USAGE), None),
        (data({"delta": "Hel"}, {"delta": "lo"}) + named("done", {**OWN_CALL, **OWN_USAGE}), None),
        (data({"delta": "He"}, {"response": "Hello", **OWN_CALL, **OWN_USAGE}), None),
    ],
    ids=["openai", "openai without its mark", "anthropic", "own", "own, all at the end", "own, whole"],
)
@pytest.mark.parametrize("size", [1_000_000, 7])
def test_known_shapes_cut_anywhere(stream: bytes, reason: str | None, size: int) -> None:
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    with serving(streams(*pieces)) as server:
        assert ask(HttpAgent(server.url)) == msgspec.structs.replace(PARIS, finish_reason=reason)


@pytest.mark.parametrize(
    "stream",
    [
        data(chunk({"content": "It is fi"}), chunk({}, "length")) + DONE,
        ANTHROPIC.replace(b'"tool_use"}, "usage"', b'"max_tokens"}, "usage"') + STOP,
    ],
)
def test_a_stream_that_a_model_cut_short_is_warned_of(stream: bytes, tmp_path: Path) -> None:
    source = evalc.Source("a.eval.yaml", "eval:\n  test_cases: [{name: a, message: hi, validate: [non-empty]}]\n")
    with serving(streams(stream)) as server:
        (suite,) = evalc.run(source, agent=server.url, output_dir=tmp_path).suites
    assert [warning for warning in suite.warnings if "the model was cut short" in warning]


def test_plain_text_is_text() -> None:
    with serving(streams(b"data: It is \n\ndata: 4", b"2\n\ndata: .\n\n")) as server:
        assert ask(HttpAgent(server.url)).response == "It is 42."


def answered(stream: bytes) -> AgentResponse:
    with serving(streams(stream)) as server:
        return ask(HttpAgent(server.url))


def test_of_several_choices_the_one_with_the_index_0_is_streamed() -> None:
    def said(*texts: tuple[object, str], finish: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": at, "delta": {"content": text}, "finish_reason": finish} for at, text in texts]}

    stream = data(said((1, "No")), said((0, "Y"), (1, "pe")), said((1, "."), (0, "es")), said((1, "")), said((0, ".")))
    assert answered(stream + data(said((1, ""), (0, ""), finish="stop"))).response == "Yes."
    assert answered(data(said((None, "Yes"), finish="stop"))).response == "Yes"


def test_a_function_call_of_the_time_before_tool_calls_is_a_call() -> None:
    pieces = [{"name": "book", "arguments": ""}, {"arguments": '{"city":'}, {"arguments": ' "Oslo"}'}]
    stream = data(*(chunk({"function_call": piece}) for piece in pieces), chunk({}, "function_call"))
    assert answered(stream).tool_calls == (ToolCall(name="book", params={"city": "Oslo"}),)


def pieces(*calls: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(calls)})


def block(type_: str, index: int | None = 0, **more: Any) -> dict[str, Any]:
    at = {} if index is None else {"index": index}
    return {"type": "content_block_start", **at, "content_block": {"type": type_, **more}}


BOOK = {"id": "a", "function": {"name": "book", "arguments": ""}}
BEGUN = {"type": "message_start", "message": {}}
ENDED = {"type": "message_stop"}


@pytest.mark.parametrize(
    ("stream", "names"),
    [
        # The name in every piece; two calls with one index, or with none.
        (data(pieces({"index": 0, **BOOK}), pieces({"index": 0, **BOOK}), chunk({}, "tool_calls")), ["book"]),
        (
            data(
                pieces({"index": 0, **BOOK}),
                pieces({"index": 0, "id": "b", "function": {"name": "cancel", "arguments": "{}"}}),
                chunk({}, "tool_calls"),
            ),
            ["book", "cancel"],
        ),
        (
            data(pieces({"function": {"name": "book"}}, {"function": {"name": "cancel"}}), chunk({}, "stop")),
            ["book", "cancel"],
        ),
        # The whole message, at the end or alone; calls of custom tools.
        (
            data(
                chunk({"content": "ok"}),
                {"choices": [{"index": 0, "message": {"tool_calls": [BOOK]}, "finish_reason": "stop"}]},
            ),
            ["book"],
        ),
        (data(pieces({"id": "a", "custom": {"name": "book", "input": ""}}), chunk({}, "stop")), ["book"]),
        # The provider's own tools, and blocks of a message that has begun.
        (data(BEGUN, block("mcp_tool_use", name="book"), block("text", 1, text="ok"), ENDED), ["book"]),
        (data(BEGUN, block("server_tool_use", name="web_search"), ENDED), ["web_search"]),
        (data({"type": "message_start", "message": {"content": [{"type": "tool_use", "name": "a"}]}}, ENDED), ["a"]),
    ],
)
def test_no_call_of_a_stream_is_lost(stream: bytes, names: list[str]) -> None:
    assert [call.name for call in answered(stream).tool_calls] == names


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (data(BEGUN, block("tool_use", None, name="a"), block("tool_use", None, name="b"), ENDED), "have the index 0"),
        (data(BEGUN, block("text", text="x"), block("error", 1), ENDED), "the model failed"),
        (
            data(BEGUN, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, ENDED),
            "the model ended with `tool_use`, and no tool call is in its answer",
        ),
        (data(chunk({"content": "ok"}), chunk({}, "tool_calls")), "the model ended with `tool_calls`"),
        (data(chunk({"toolCalls": [BOOK]}), chunk({}, "stop")), "`choices[0].delta.toolCalls` looks like a tool call"),
        (data(pieces({"index": 0, "id": "a"}), chunk({}, "stop")), "a tool call of the stream has no name"),
        (
            data({"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}),
            "the stream has no choice with the index 0",
        ),
        (data({"delta": "ok"}) + named("done", {"output": "bad"}), "an event `done` of the stream has `output`"),
        (data(pieces({"index": [0], **BOOK}), chunk({}, "stop")), "`index` of a tool call is not a number"),
        (named("done", {"message": {"content": "bad"}}), "the stream has none of `delta`, `text`"),
        (
            data({"delta": "ok"}) + named("done", {"message": {"tool_calls": [BOOK]}}),
            "`message.tool_calls` looks like a tool call",
        ),
        (data({"delta": "ok"}) + named("done", {"name": "book", "args": {}}), "an event `done` of the stream has"),
        # Formats of others.
        (
            data({"type": "text-delta", "delta": "ok"}, {"type": "tool-input-available", "toolName": "book"}),
            "name the fields of its events in `[agent.stream]`",
        ),
        (data({"candidates": [{"content": {"parts": [{"functionCall": {"name": "book"}}]}}]}), "has `candidates`"),
        (data({"type": "tool_call", "name": "book", "args": {}}, {"delta": "ok"}), "has `type`, `name`, `args`"),
        (data({"response": "I am ", "p": "a"}, {"response": "bad", "p": "b"}), "comes after the whole `response`"),
        (data({"delta": "a"}, {"response": "ab"}, OWN_CALL), "comes after the whole `response`"),
        (named("tool_call", {"text": "book()"}) + data({"delta": "ok"}), "an event `tool_call` of the stream"),
        (b'data: ok\n\ndata: [{"type": "tool_call", "name": "book"}]\n\n', "looks like a tool call"),
        (
            data({"delta": "ok"}) + named("done", {"steps": [{"tool": "book"}]}),
            "an event `done` of the stream has `steps`",
        ),
        (
            data(chunk({"content": "ok"}), {"toolCalls": [BOOK]}, chunk({}, "stop")),
            "`toolCalls` looks like a tool call",
        ),
        (data(chunk({"content": "ok"})) + named("tool_call", {}) + data(chunk({}, "stop")), "an event `tool_call`"),
        (
            data(chunk({"content": "ok"}), {**chunk({}, "stop"), "tool_calls": [BOOK]}),
            "`tool_calls` looks like a tool call",
        ),
        (
            data(
                pieces({"index": 0, "function": {"name": "book"}}),
                pieces({"index": 0, "function": {"name": "cancel"}}),
                chunk({}, "stop"),
            ),
            "have the index 0: `book` and `cancel`",
        ),
        (
            data(BEGUN, block("text", text="x"), {"toolCalls": [BOOK]}, ENDED),
            "`toolCalls` looks like a tool call",
        ),
        (data(BEGUN, {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}}, ENDED), "has not finished"),
        (
            data(BEGUN, {"type": "content_block_start", "index": 0, "content_block": {"toolUse": BOOK}}, ENDED),
            "`content_block.toolUse` looks like a tool call",
        ),
        (named("tool_call", {"name": "book"}) + data({"delta": "ok"}), "an event `tool_call` of the stream"),
        (b"event: tool_call\ndata: book\n\ndata: ok\n\n", "an event `tool_call` of the stream"),
        (
            data({"delta": "ok"}, {"type": "response.function_call_arguments.delta", "delta": "{}"}),
            "`response.function_call_arguments.delta` looks like a tool call",
        ),
    ],
)
def test_an_event_that_may_be_an_unread_call_is_an_error(stream: bytes, words: str) -> None:
    with serving(streams(stream + DONE)) as server:
        assert words in str(failure(HttpAgent(server.url)))


@pytest.mark.parametrize(
    "stream",
    [
        data({"type": "ping"}, {"delta": "ok"}) + DONE,
        data({"delta": "o"}, {}, {"type": "heartbeat"}, {"delta": "k"}, {"type": "done"}),
        named("metadata", {"run": 1}) + data({"delta": "ok"}) + named("ping", {}) + DONE,
        b"data: o\n\ndata: k\n\n" + named("end", {}),
        data({"response": "ok"}, {"usage": {"inputTokens": 1}}),
        b"data: ok\n\n" + data({"usage": {"inputTokens": 1}}),
        data({"type": "ping", "delta": "o"}, {"delta": "k"}) + DONE,
        data({"delta": "ok"}) + named("done", {"id": "m", "finish_reason": "stop", "status": {"code": 1}}),
        data({"choices": None}, chunk({"content": "ok"}), chunk({}, "stop"), {"choices": [], "usage": {}}) + DONE,
        data(chunk({"content": [{"type": "text", "text": "ok"}]}), chunk({}, "stop")) + DONE,
        data({"choices": [{"index": 0, "text": "o"}]}, {"choices": [{"text": "k", "finish_reason": "stop"}]}) + DONE,
        data({"type": "ping"}, BEGUN, block("output_text", text="ok"), block("thinking", 1, thinking="hm"), ENDED),
    ],
)
def test_signs_of_life_and_parts_of_other_forms_do_no_harm(stream: bytes) -> None:
    answer = answered(stream)
    assert (answer.response, answer.tool_calls) == ("ok", ())


def test_plain_text_may_hold_an_object() -> None:
    assert answered(b"data: f() \n\ndata: {}\n\ndata:  b\n\n").response == "f() {} b"
    assert answered(b"data: {}\n\ndata:  b\n\n").response == "{} b"
    assert answered(b'data: f() \n\ndata: {"a": 1}\n\n').response == 'f() {"a": 1}'


def test_calls_are_read_whatever_their_event_is_called() -> None:
    answer = answered(named("tool_calls", OWN_CALL) + data({"delta": "ok"}) + DONE)
    assert (answer.response, [call.name for call in answer.tool_calls]) == ("ok", ["get_weather"])


def test_pieces_of_a_call_may_have_ids_of_their_own() -> None:
    rest = {"index": 0, "id": "b", "function": {"arguments": "{}"}}
    assert [call.name for call in answered(data(pieces({"index": 0, **BOOK}, rest), chunk({}, "stop"))).tool_calls] == [
        "book"
    ]


def test_a_refusal_is_streamed() -> None:
    answer = answered(data(chunk({"refusal": "I "}), chunk({"refusal": "won't."}), chunk({}, "stop")))
    assert (answer.response, answer.finish_reason) == ("I won't.", "refusal")


@pytest.mark.parametrize("stream", [b"data: ok\n\n", data({"delta": "ok"}) + DONE, data({"response": "ok"})])
def test_a_stream_that_never_mentions_calls_reports_none(stream: bytes) -> None:
    assert answered(stream).reports_calls is False


NEAR = {"calls": [{"name": "book", "args": {"city": "Oslo"}}]}


@pytest.mark.parametrize(
    "stream",
    [
        data(NEAR, {"response": "ok"}),
        data({"delta": "ok", **NEAR}) + named("done", {}),
        data({"delta": "ok"}) + named("done", NEAR),
        data({"response": "ok", **NEAR}),
    ],
)
def test_calls_of_an_event_under_another_key_are_noticed(stream: bytes) -> None:
    answer = answered(stream)
    assert (answer.near_calls, answer.reports_calls, answer.tool_calls) == ("calls", False, ())


def test_calls_of_an_event_under_another_key_count_unless_they_are_those_that_are_reported() -> None:
    answer = answered(data({"calls": ["look"]}, {"toolCalls": ["look"]}, {"response": "ok"}))
    assert (answer.near_calls, answer.reports_calls) == (None, True)
    answer = answered(data(NEAR, {"toolCalls": ["look"]}, {"response": "ok"}))
    assert (answer.near_calls, answer.reports_calls) == ("calls", False)
    answer = answered(data(NEAR, {"toolCalls": []}, {"response": "ok"}))
    assert (answer.near_calls, answer.reports_calls) == ("calls", False)


@pytest.mark.parametrize("arguments", [{"force": True}, '{"force": true}'])
def test_parameters_of_an_event_under_another_name_are_an_error(arguments: object) -> None:
    stream = data({"toolCalls": [{"name": "book", "kwargs": arguments}]}, {"response": "ok"})
    with serving(streams(stream)) as server:
        assert "`toolCalls[0]` has `kwargs` and no `params`" in str(failure(HttpAgent(server.url)))


@pytest.mark.parametrize(
    "stream", [OPENAI + DONE, ANTHROPIC + STOP, data({"response": "Hello"}) + DONE, b"data: Hello\n\n" + DONE]
)
def test_a_stream_that_is_not_closed_is_whole_at_its_last_event(stream: bytes) -> None:
    with serving(streams(stream, then=hangs)) as server:
        agent = HttpAgent(server.url)
        assert [answer.response for answer in ask_all(agent, "one", "two")] == ["Hello", "Hello"]
        assert server.connections == 2


@pytest.mark.parametrize("stream", [ANTHROPIC, OPENAI[:200], data({"delta": "Hel"})])
def test_a_stream_that_ends_early_is_no_answer(stream: bytes) -> None:
    with serving(streams(stream)) as server:
        raised = failure(HttpAgent(server.url))
    assert type(raised) is AgentProtocolError
    assert "the stream ended before its last event" in str(raised)


def test_a_stream_that_breaks_off_is_a_lost_connection() -> None:
    with serving(streams(b"data: Hel\n\n", then=resets)) as server:
        assert isinstance(failure(HttpAgent(server.url)), AgentUnavailable | AgentProtocolError)


def test_a_stream_that_never_ends_runs_out_of_time() -> None:
    with serving(streams(data({"delta": "Hel"}), then=hangs)) as server:
        run_out_of_time(HttpAgent(server.url))


def test_a_stream_without_events_is_cut_off_at_the_size() -> None:
    async def comments_without_end(exchange: Exchange) -> None:
        while True:
            await exchange.write(b"10000\r\n" + b": " * 0x8000 + b"\r\n")

    with serving(streams(b":", then=comments_without_end)) as server:
        assert "longer than 100000 bytes" in str(
            failure(HttpAgent(server.url, options=HttpOptions(sending=Sending(max_body=100_000))))
        )
        assert server.dropped.wait(PATIENCE)


@pytest.mark.parametrize(
    ("stream", "error", "words"),
    [
        (b": nothing\n\n", AgentProtocolError, "the stream has no event"),
        (
            named("error", {"message": "overloaded"}),
            AgentError,
            'the stream ends in an error: {"message": "overloaded"}',
        ),
        *(
            (stream, AgentError, "the stream ends in an error: ")
            for begun in (
                data({"delta": "It is "}),
                data(chunk({"content": "It is "})),
                data({"type": "message_start"}),
            )
            for stream in (
                begun + named("error", {"message": "overloaded"}),
                begun + named("Error", "overloaded"),
                begun + named("exception", "overloaded"),
                begun + data({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                begun + data({"error": {"message": "overloaded"}}),
                begun + data({"error": "overloaded"}),
                begun + data({"type": "response.failed", "response": "hi"}),
            )
        ),
        (
            data(chunk({"content": "It is "}), chunk({}, "error")),
            AgentError,
            "the model failed: the stream ends with the reason `error`",
        ),
        (data({"choices": [{"delta": {"content": 1}}]}), AgentProtocolError, "`content` of an event is not a text"),
        (data({"choices": ["x"]}), AgentProtocolError, "a choice is not a JSON object"),
        (b"data: It is \xff42.\n\n", AgentProtocolError, "the stream is not UTF-8"),
        (data({"delta": 1}), AgentProtocolError, "`delta` of an event is not a text"),
        (data({"toolCalls": 1}), AgentProtocolError, "the tool calls of an event are not a list"),
        (
            data(pieces({"index": 0, "function": {"name": "a", "arguments": "{"}}), chunk({}, "stop")),
            AgentProtocolError,
            "parameters of a tool call are a text that is not JSON",
        ),
        (data({"type": "message_start"}, [1]), AgentProtocolError, "an event of the stream is not a JSON object"),
        (data(BEGUN, {"type": "content_block_start", "index": 0}), AgentProtocolError, "a block is not"),
    ],
)
def test_events_that_cannot_be_read(stream: bytes, error: type[AgentError], words: str) -> None:
    with serving(streams(stream)) as server:
        raised = failure(HttpAgent(server.url))
    assert type(raised) is error
    assert words in str(raised)


def configured(text: str, calls: str | None = None, done: str | None = None) -> HttpOptions:
    stream = StreamPaths(
        text=JsonPath.of(text),
        tool_calls=None if calls is None else JsonPath.of(calls),
        done=None if done is None else JsonPath.of(done),
    )
    return HttpOptions(stream=stream, answer=AnswerPaths(name=JsonPath.of("tool"), params=JsonPath.of("args")))


def test_a_configured_shape() -> None:
    stream = data(
        {"out": {"t": "Hel"}}, {"out": {"t": "lo"}}, {"used": [{"tool": "t", "args": {"a": 1}}]}, {"last": True}
    )
    with serving(streams(stream, then=hangs)) as server:
        response = ask(HttpAgent(server.url, options=configured("out.t", "used", "last")))
    assert response == AgentResponse(response="Hello", tool_calls=(ToolCall(name="t", params={"a": 1}),))


@pytest.mark.parametrize(
    "last", [data({"response": "ok"}), data({"delta": "ok"}) + named("done", {}), b"data: ok\n\n" + DONE, OPENAI + DONE]
)
@pytest.mark.parametrize(
    "error",
    [
        data({"error": "boom"}),
        data({"errors": ["boom"]}),
        data({"type": "error", "message": "boom"}),
        *(named(name, "boom") for name in ("error", "run.failed", "response.failed", "thread.run.failed", "run_error")),
    ],
)
def test_an_error_that_comes_with_the_last_event_is_one(last: bytes, error: bytes) -> None:
    with serving(streams(last + error)) as server:
        raised = failure(HttpAgent(server.url))
    assert "the stream ends in an error" in str(raised)
    assert "boom" in str(raised)


def test_the_failure_of_a_tool_is_not_that_of_the_answer() -> None:
    assert (
        answered(named("tool.failed", {"delta": "It is "}) + data({"delta": "down."}) + DONE).response == "It is down."
    )


def test_other_fields_of_the_last_event_are_ignored() -> None:
    stream = data({"response": "ok"}) + DONE + data({"response": "no"}, OWN_CALL, {"delta": 1}) + b"data: x\n\n"
    assert answered(stream) == AgentResponse(response="ok", tool_calls=(), reports_calls=False)


def test_a_configured_shape_has_its_calls_where_the_contract_has_them_if_no_path_says_otherwise() -> None:
    def calls(event: dict[str, Any]) -> AgentResponse:
        with serving(streams(data(event, {"t": "ok"}))) as server:
            return ask(HttpAgent(server.url, options=configured("t")))

    call = {"tool": "book", "args": {"city": "Oslo"}}
    assert calls({"toolCalls": [call]}).tool_calls == (ToolCall(name="book", params={"city": "Oslo"}),)
    assert calls({"calls": [call]}).near_calls == "calls"
    assert calls({"choices": [{"delta": {"tool_calls": [call]}}]}).near_calls == "choices[0].delta.tool_calls"


def test_a_path_that_finds_no_calls_does_not_hide_them() -> None:
    def ask_with(path: str, *events: dict[str, Any]) -> AgentResponse:
        with serving(streams(data(*events, {"t": "ok"}))) as server:
            return ask(HttpAgent(server.url, options=configured("t", path)))

    call = {"tool": "book", "args": {"city": "Oslo"}}
    assert ask_with("tols").reports_calls
    assert ask_with("tols", {"tools": [call]}).near_calls == "tools"
    assert ask_with("tols", {"data": {"tool_calls": [call]}}).near_calls == "data.tool_calls"
    assert ask_with("tols", {"type": "tool_call", "name": "book"}).near_calls == "tool_call"
    assert not ask_with("tols", {"type": "tool_call", "name": "book"}).reports_calls
    with pytest.raises(AgentProtocolError, match="an event has `tool_calls`, where the path `tols` of `toolCalls`"):
        ask_with("tols", {"tool_calls": [call]})


@pytest.mark.parametrize(
    ("options", "stream", "words"),
    [
        (
            configured("out.txt"),
            data({"out": {"t": "x"}}),
            "the path `out.txt` of `text` matches nothing in the stream",
        ),
        (configured("t", done="last"), data({"t": "x"}), "ended before its last event"),
        (configured("t"), data({"t": 1}), "the path `t` of `text` finds no text"),
        (configured("t", "c"), data({"t": "x", "c": {}}), "the path `c` of `toolCalls` finds no list"),
        (configured("t"), b"data: plain\n\n", "an event of the stream is not JSON: plain"),
    ],
)
def test_a_configured_shape_that_does_not_fit(options: HttpOptions, stream: bytes, words: str) -> None:
    with serving(streams(stream)) as server:
        raised = failure(HttpAgent(server.url, options=options))
    assert type(raised) is AgentProtocolError
    assert words in str(raised)
