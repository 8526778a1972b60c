"""The agreed shape of answers: what is accepted, what is refused, and that nothing else can happen."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalc.base.errors import AgentError, AgentProtocolError
from evalc.base.terminal import EXCERPT_LENGTH, well_formed
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall, Usage
from evalc.runtime.agents import wire

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
surrogate_text = st.text(st.characters(codec=None, categories=["L", "Cs", "Po"]))


@pytest.mark.parametrize(
    ("document", "response"),
    [
        ({"response": "r"}, AgentResponse(response="r", reports_calls=False)),
        ({"text": "t", "other": [1]}, AgentResponse(response="t", reports_calls=False)),
        ({"response": "r", "text": 5}, AgentResponse(response="r", reports_calls=False)),
        ({"response": "", "toolCalls": None}, AgentResponse(response="", reports_calls=False)),
        (
            {"text": "", "toolsCalled": ["a", {"name": "b"}]},
            AgentResponse(response="", tool_calls=(ToolCall(name="a"), ToolCall(name="b"))),
        ),
        (
            {"response": "", "toolCalls": [{"name": "a", "success": False, "durationMs": 1.5, "params": {"x": [1]}}]},
            AgentResponse(
                response="", tool_calls=(ToolCall(name="a", success=False, duration_ms=1.5, params={"x": [1]}),)
            ),
        ),
        (
            {
                "response": "",
                "toolCalls": [{"name": "a", "result": {"n": [1]}, "error": None}, {"name": "b", "result": None}],
            },
            AgentResponse(
                response="", tool_calls=(ToolCall(name="a", result={"n": [1]}), ToolCall(name="b", result=None))
            ),
        ),
        (
            {"response": "", "toolCalls": [{"name": "a", "error": "no"}, {"name": "b", "error": {"code": 7}}]},
            AgentResponse(
                response="",
                tool_calls=(
                    ToolCall(name="a", success=False, error="no"),
                    ToolCall(name="b", success=False, error='{"code":7}'),
                ),
            ),
        ),
        (
            {"response": "", "tool_calls": [{"name": "a", "duration_ms": 2, "params": None}]},
            AgentResponse(response="", tool_calls=(ToolCall(name="a", duration_ms=2),)),
        ),
        (
            {"response": "", "usage": {"inputTokens": 3, "outputTokens": 4, "costUsd": 0.5}},
            AgentResponse(response="", usage=Usage(input_tokens=3, output_tokens=4, cost_usd=0.5), reports_calls=False),
        ),
        (
            {"response": "", "usage": {"inputTokens": "many", "costUsd": "free"}},
            AgentResponse(response="", reports_calls=False),
        ),
        ({"response": "", "usage": 7}, AgentResponse(response="", reports_calls=False)),
    ],
)
def test_accepted(document: object, response: AgentResponse) -> None:
    assert wire.decode_answer(json.dumps(document).encode()) == response
    assert wire.answer_of(document) == response


def test_a_generator_is_refused_with_advice() -> None:
    with pytest.raises(AgentProtocolError, match="is a Python `generator`, not an object or a text; join its pieces"):
        wire.answer_of(piece for piece in "ab")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "the answer is null, not an object or a text"),
        ([], "the answer is a list, not an object"),
        (True, "the answer is true, not an object"),
        ({}, "the answer has neither `response` nor `text`"),
        ({"response": 1}, "`response` is a number, not a text"),
        ({"text": {}}, "`text` is an object, not a text"),
        ({"response": "", "toolCalls": "a"}, "`toolCalls` is a text, not a list"),
        ({"response": "", "toolCalls": {}}, "`toolCalls` is an object, not a list"),
        ({"response": "", "toolCalls": [7]}, "`toolCalls[0]` is a number, not an object"),
        ({"response": "", "toolCalls": ["a", {}]}, "`toolCalls[1].name` is null, not a text"),
        (
            {"response": "", "toolCalls": [{"name": "a", "success": "yes"}]},
            "`toolCalls[0].success` is a text, not true",
        ),
        (
            {"response": "", "toolCalls": [{"name": "a", "durationMs": True}]},
            "`toolCalls[0].durationMs` is true, not a",
        ),
        (
            {"response": "", "toolCalls": [{"name": "a", "params": []}]},
            "`toolCalls[0].params` is a list, not an object",
        ),
    ],
)
def test_refused_with_the_key_and_what_was_found(document: object, message: str) -> None:
    with pytest.raises(AgentProtocolError) as caught:
        wire.decode_answer(json.dumps(document).encode())
    assert message in str(caught.value)
    assert caught.value.body == json.dumps(document)


def test_an_error_shows_the_beginning_of_the_body() -> None:
    with pytest.raises(AgentProtocolError) as caught:
        wire.decode_answer("é".encode() * 100_000)
    assert caught.value.body == "é" * 200 + "..."


def test_a_byte_order_mark_is_overlooked() -> None:
    assert wire.decode_answer(b'\xef\xbb\xbf{"text": "t"}').response == "t"


def test_a_response_keeps_its_tool_mode() -> None:
    response = AgentResponse(response="r", tool_calls=(ToolCall(name="a"),), tool_mode="routing")
    assert wire.answer_of(response) == response


def test_cyclic_params_are_refused() -> None:
    params: dict[str, Any] = {}
    params["self"] = params
    with pytest.raises(AgentProtocolError, match="nested too deeply"):
        wire.answer_of({"response": "", "toolCalls": [{"name": "a", "params": params}]})


def test_a_request_with_a_lone_surrogate_can_be_sent() -> None:
    assert wire.encode_request(AgentRequest(message="a\ud800")) == '{"message":"a\ufffd"}'.encode()


@given(st.binary(max_size=200))
def test_any_bytes_are_an_answer_or_a_protocol_error(body: bytes) -> None:
    try:
        response = wire.decode_answer(body)
    except AgentProtocolError as error:
        str(error).encode()
    else:
        msgspec.json.encode(response)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            key: json_values | st.text()
            for key in ("response", "text", "toolCalls", "toolsCalled", "usage", "tool_calls")
        },
    )
)
def test_any_document_is_an_answer_or_a_protocol_error(document: dict[str, Any]) -> None:
    try:
        response = wire.answer_of(document)
    except AgentProtocolError as error:
        str(error).encode()
    else:
        assert wire.decode_answer(json.dumps(document).encode()) == response
        msgspec.json.encode(response)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_params_come_as_they_were_sent(params: dict[str, Any]) -> None:
    document = {"response": "", "toolCalls": [{"name": "a", "params": params}]}
    assert wire.decode_answer(json.dumps(document).encode()).tool_calls[0].params == params


@given(st.text())
def test_text_that_utf8_can_say_is_untouched(text: str) -> None:
    assert well_formed(text) == text


@given(surrogate_text)
def test_well_formed_text_can_be_encoded(text: str) -> None:
    assert well_formed(text).encode() == well_formed(well_formed(text)).encode()


@given(st.text(min_size=1))
def test_answers_of_the_demo_server_can_be_read(text: str) -> None:
    response = AgentResponse(response=text, tool_calls=(ToolCall(name=text, success=True, duration_ms=0),))
    assert wire.decode_answer(msgspec.json.encode(wire.answer_fields(response))) == response


# --- parameters and calls under other names --------------------------------------------------------------------------


def answer_with(call: object, **others: Any) -> AgentResponse:
    return wire.decode_answer(json.dumps({"response": "r", "toolCalls": [call], **others}).encode())


@pytest.mark.parametrize("key", wire.PARAMS)
@pytest.mark.parametrize("value", [{"id": 7}, '{"id": 7}', ' {"id":7}\n'])
def test_parameters_are_read_under_each_of_their_names(key: str, value: object) -> None:
    assert answer_with({"name": "a", key: value}).tool_calls == (ToolCall(name="a", params={"id": 7}),)


@pytest.mark.parametrize("key", wire.PARAMS)
@pytest.mark.parametrize("value", [None, {}, "", " ", "{}", "null"])
def test_no_parameters_under_each_of_their_names(key: str, value: object) -> None:
    assert answer_with({"name": "a", key: value, "params" if key != "params" else "args": None}).tool_calls == (
        ToolCall(name="a"),
    )


@pytest.mark.parametrize("keys", [("params", "args"), ("arguments", "input"), ("parameters", "arguments")])
@pytest.mark.parametrize("values", [({"a": 1}, {"a": 1}), ({}, {"a": 1}), ("", "{}")])
def test_parameters_under_two_names_are_an_error(keys: tuple[str, str], values: tuple[object, object]) -> None:
    with pytest.raises(AgentProtocolError, match=r"`toolCalls\[0\]` has both `.*` and `.*`: send only its parameters"):
        answer_with({"name": "a", **dict(zip(keys, values, strict=True))})


@pytest.mark.parametrize("key", wire.PARAMS)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("{", "the parameters of a tool call are a text that is not JSON: {"),
        ("Paris", "the parameters of a tool call are a text that is not JSON: Paris"),
        ("[1]", "is a list, not an object"),
        ("7", "is a number, not an object"),
        ([1], "is a list, not an object"),
        (7, "is a number, not an object"),
        (False, "is false, not an object"),
    ],
)
def test_parameters_that_are_no_object_are_an_error(key: str, value: object, words: str) -> None:
    with pytest.raises(AgentProtocolError) as raised:
        answer_with({"name": "a", key: value})
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "key",
    [
        *("kwargs", "Params", "ARGS", "Arguments", "tool_input", "toolInput", "functionArguments", "call_args"),
        *("inputs", "param", "parameter", "argument"),
    ],
)
@pytest.mark.parametrize("value", [{"id": 7}, '{"id": 7}', ' {"id":', "Paris", [7], 7, True])
def test_parameters_under_a_name_that_is_only_near_are_an_error(key: str, value: object) -> None:
    with pytest.raises(AgentProtocolError, match=rf"`toolCalls\[0\]` has `{key}` and no `params`: call them `params`"):
        answer_with({"name": "a", key: value})
    assert answer_with({"name": "a", key: value, "params": {"id": 8}}).tool_calls[0].params == {"id": 8}


@pytest.mark.parametrize("value", [{}, [], None, "", " ", "{}", " {}\n", "null"])
def test_a_near_name_that_holds_nothing_is_no_error(value: object) -> None:
    assert answer_with({"name": "a", "kwargs": value}).tool_calls == (ToolCall(name="a"),)


def test_near_names_are_noticed_in_objects() -> None:
    class Call:
        def __init__(self) -> None:
            self.name, self.kwargs = "a", {"id": 7}

    class Answer:
        def __init__(self, **fields: object) -> None:
            self.__dict__ |= fields

    with pytest.raises(AgentProtocolError, match=r"`tool_calls\[0\]` has `kwargs` and no `params`"):
        wire.answer_of(Answer(text="r", tool_calls=[Call()]))
    assert wire.answer_of(Answer(text="r", calls=[Call()])).near_calls == "calls"


@pytest.mark.parametrize("text", ['{"force": true, "force": false}', '{"a": [{"force": 1, "b": 2, "force": 1}]}'])
def test_a_text_of_parameters_with_a_key_twice_is_an_error(text: str) -> None:
    with pytest.raises(AgentProtocolError, match="a text that has the key `force` twice"):
        answer_with({"name": "a", "arguments": text})


def test_parameters_of_objects_are_read_under_each_of_their_names() -> None:
    class Block:
        name, input = "a", {"id": 7}

    class Answer:
        text, tool_calls = "r", [Block()]

    assert wire.answer_of(Answer()).tool_calls == (ToolCall(name="a", params={"id": 7}),)


def test_a_call_of_evalc_s_own_keeps_the_arguments_that_nothing_can_read() -> None:
    call = ToolCall(name="a", success=False, arguments="{")
    assert wire.answer_of(AgentResponse(response="r", tool_calls=(call,))).tool_calls == (call,)


def test_calls_under_two_keys_are_those_of_the_key_that_holds_some() -> None:
    answer = {"response": "r", "toolCalls": [], "tools_called": ["a"]}
    assert wire.answer_of(answer).tool_calls == (ToolCall(name="a"),)


@pytest.mark.parametrize(
    "key",
    ["function_call", "functionCalls", "toolCall", "tool_uses", "toolUse", "toolInvocations", "calls", "used_tools"],
)
@pytest.mark.parametrize("calls", [{"name": "a"}, [{"name": "a"}], '[{"name": "a"}]'])
def test_calls_under_another_key_are_noticed(key: str, calls: object) -> None:
    assert wire.answer_of({"response": "r", key: calls}).near_calls == key
    assert wire.answer_of({"response": "r", key: calls, "toolCalls": None}).near_calls == key
    assert wire.answer_of({"response": "r", key: calls, "toolCalls": []}).near_calls == key
    assert wire.answer_of({"response": "r", key: calls, "toolCalls": ["b"]}).near_calls == key
    assert wire.answer_of({"response": "r", "calls": ["b"], "toolCalls": ["b"]}).near_calls is None
    assert wire.answer_of({"response": "r", "tool_calls": ["a"], "toolCalls": ["b"]}).near_calls == "tool_calls"
    assert wire.answer_of({"response": "r", "tools": calls, "toolCalls": []}).near_calls is None, "tools on offer"
    assert wire.answer_of({"response": "r", key: "none"}).near_calls is None


class _Slotted:
    __slots__ = ("calls", "response")

    def __init__(self, calls: object) -> None:
        self.response, self.calls = "r", calls


class _Named(NamedTuple):
    response: str
    calls: object


class _Struct(msgspec.Struct):
    response: str
    calls: object


class _WithProperty:
    response = "r"

    @property
    def exception(self) -> str:
        return "boom"

    def failure(self) -> str:
        raise NotImplementedError


@pytest.mark.parametrize("answer", [_Slotted(["a"]), _Named("r", ["a"]), _Struct("r", ["a"])])
def test_calls_under_another_name_are_noticed_in_any_object(answer: object) -> None:
    assert wire.answer_of(answer).near_calls == "calls"


def test_an_error_under_another_name_is_noticed_in_any_object() -> None:
    with pytest.raises(AgentError, match="boom"):
        wire.answer_of(_WithProperty())


# --- an error beside an answer ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [None, False, "", 0, 0.0, {}, []])
def test_no_error_beside_an_answer(error: object) -> None:
    assert wire.answer_of({"response": "r", "error": error}).response == "r"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("boom", "boom"),
        (" ", ""),
        (True, "True"),
        (500, "500"),
        ({"message": "boom", "type": "t"}, "boom"),
        ({"type": "overloaded"}, "overloaded"),
        ({"code": 7}, "{'code': 7}"),
        (["boom"], "['boom']"),
        (ValueError("boom"), "boom"),
        ("x" * 999, "x" * EXCERPT_LENGTH + "..."),
    ],
)
@pytest.mark.parametrize("others", [{"response": "r"}, {}])
def test_an_error_beside_an_answer_is_an_error(error: object, words: str, others: dict[str, Any]) -> None:
    with pytest.raises(AgentError) as raised:
        wire.answer_of({**others, "error": error})
    assert str(raised.value) == f"the answer has an `error`: {words}"


@pytest.mark.parametrize(
    "key", ["errors", "Error", "ERROR", "err", "exception", "error_message", "errorMessage", "failure"]
)
def test_an_error_under_a_similar_name_is_an_error(key: str) -> None:
    class Answer:
        def __init__(self) -> None:
            self.text = "r"
            setattr(self, key, "boom")

    for answer in ({"response": "r", key: "boom"}, {"response": "r", "error": None, key: ["boom"]}, Answer()):
        with pytest.raises(AgentError, match=rf"the answer has `{key}`, which counts as an `error` \(.*\): .*boom"):
            wire.answer_of(answer)
    empty: tuple[object, ...] = (None, False, "", 0, [], {})
    for nothing in empty:
        assert wire.answer_of({"response": "r", key: nothing}).response == "r"


@pytest.mark.parametrize(
    ("said", "success", "error"),
    [
        ({"isError": True}, False, msgspec.UNSET),
        ({"is_error": True, "result": "down"}, False, msgspec.UNSET),
        ({"failed": True}, False, msgspec.UNSET),
        ({"errorMessage": "down"}, False, "down"),
        ({"exception": {"code": 7}}, False, '{"code":7}'),
        ({"isError": False}, None, msgspec.UNSET),
        ({"errors": []}, None, msgspec.UNSET),
        ({"isError": "false"}, None, msgspec.UNSET),
        ({"isError": True, "success": True}, True, msgspec.UNSET),
        ({"error": "down", "errors": ["x"]}, False, "down"),
    ],
)
def test_a_call_that_failed_says_so_under_several_names(
    said: dict[str, Any], success: bool | None, error: str | msgspec.UnsetType
) -> None:
    (call,) = wire.answer_of({"response": "", "toolCalls": [{"name": "a", **said}]}).tool_calls
    assert (call.success, call.error) == (success, error)


@pytest.mark.parametrize(
    ("more", "near"),
    [
        ({"message": {"tool_calls": [{"name": "t"}]}}, "message.tool_calls"),
        ({"messages": [{"role": "user"}, {"content": [{"type": "tool_use", "name": "t"}]}]}, "messages[1].content[0]"),
        ({"trace": {"tools_used": ["t"]}}, "trace.tools_used"),
        ({"trace": {"tool_calls": []}}, None),
        ({"usage": {"tool_calls": 3}, "config": {"tools": [{"name": "t"}]}}, None),
        ({"toolCalls": [], "trace": {"tool_calls": [{"name": "t"}]}}, None),
    ],
)
def test_calls_deeper_in_an_answer_are_noticed(more: dict[str, Any], near: str | None) -> None:
    assert wire.answer_of({"response": "", **more}).near_calls == near


def test_an_answer_that_holds_itself_is_read() -> None:
    answer: dict[str, Any] = {"response": "a", "all": []}
    answer["all"] += [answer, answer["all"]]
    assert wire.answer_of(answer).near_calls is None
