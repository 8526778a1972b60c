"""Tools by schema: what is sent, and what of an answer is a call, a text, or neither."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from evalc.base.errors import AgentProtocolError
from evalc.extras.local import ToolsBySchema
from evalc.runtime.agents.model import ModelCall, Prompt, ToolOutcome
from evalc.tools import Tool, ToolRegistry

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
REGISTRY = ToolRegistry(tools={"get_weather": Tool(name="get_weather", description="The weather", parameters=CITY)})
API = ToolsBySchema()


def answer(content: str, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": finish}]}


def body(*messages: dict[str, str]) -> dict[str, Any]:
    return API.body(Prompt(model="m", messages=messages, tools=API.tools(REGISTRY)))


def test_the_schema_takes_a_call_or_a_text_and_nothing_else() -> None:
    schema = body({"role": "user", "content": "Paris?"})["response_format"]["json_schema"]["schema"]
    fits = jsonschema.Draft202012Validator(schema).is_valid
    assert fits({"tool": "get_weather", "arguments": {"city": "Paris"}})
    assert fits({"answer": "Sunny."})
    assert not fits({"tool": "get_weather", "arguments": {}})
    assert not fits({"tool": "other", "arguments": {"city": "Paris"}})
    assert not fits({"tool": "get_weather", "arguments": {"city": "Paris"}, "answer": "Sunny."})


def test_the_tools_stand_in_the_one_system_prompt() -> None:
    sent = body({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Paris?"})
    assert "tools" not in sent
    system, user = sent["messages"]
    assert system["content"].startswith("Be brief.\n\nYou can use these tools:\n- get_weather: The weather")
    assert user == {"role": "user", "content": "Paris?"}


def test_an_answer_is_a_call_or_a_text() -> None:
    called = API.read(answer('{"tool": "get_weather", "arguments": {"city": "Paris"}}'))
    assert [(call.name, call.params) for call in called.calls] == [("get_weather", {"city": "Paris"})]
    assert called.text == ""
    said = API.read(answer('{"answer": "Sunny."}'))
    assert (said.text, said.calls) == ("Sunny.", ())


@pytest.mark.parametrize(
    ("content", "finish", "why"),
    [
        ('{"answer": "Sun', "length", "no whole JSON within `maxTokens`"),
        ("Sunny.", "stop", "the model wrote no JSON"),
        ('{"reply": 1}', "stop", "neither a tool call nor an answer"),
    ],
)
def test_an_answer_that_is_neither_is_an_error(content: str, finish: str, why: str) -> None:
    with pytest.raises(AgentProtocolError, match=why):
        API.read(answer(content, finish))


def test_results_of_calls_go_back_in_words() -> None:
    call = ModelCall(id="call", name="get_weather", arguments="{}", params={})
    (message,) = API.results([ToolOutcome(call=call, text='{"sky": "clear"}')])
    assert message == {"role": "user", "content": '`get_weather` returned: {"sky": "clear"}'}
