"""Agents of frameworks, by stand-ins of their shapes: calls, results, errors, usage, conversations."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from evalc.base.errors import AgentError
from evalc.model.answer import AgentRequest, ToolCall, Usage
from evalc.runtime.agents import Agent, HoldsConversations
from evalc.runtime.agents.frameworks import FRAMEWORKS, Calls, Framework, plain, text_of
from evalc.runtime.agents.python import agent_of
from tests.support import frameworks as shapes
from tests.support.asking import ask, failure


@pytest.fixture(autouse=True)
def _imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in shapes.MODULES.items():
        monkeypatch.setitem(sys.modules, name, module)


class Full:
    __module__ = "smolagents.agents"
    token_usage = SimpleNamespace(input_tokens=5, output_tokens=3)

    def __init__(self, output: str) -> None:
        self.output = output


# The agent, its name in results, and how many messages each of its turns adds to those that it is given.
AGENTS: dict[str, tuple[Any, str, int]] = {
    "pydantic_ai": (shapes.PydanticAgent, "pydantic_ai:desk", 4),
    "langgraph": (shapes.Graph, "langgraph:LangGraph", 5),
    "langgraph, with threads": (shapes.GraphWithThreads, "langgraph:LangGraph", 5),
    "openai_agents": (shapes.OpenAIAgent, "agents:desk", 6),
    "google_adk": (shapes.AdkAgent, "google.adk:desk", 4),
    "strands": (shapes.StrandsAgent, "strands:desk", 4),
    "smolagents": (shapes.SmolAgent, "smolagents:SmolAgent", 3),
    "agent_framework": (shapes.MicrosoftAgent, "agent_framework:desk", 4),
    "llama_index": (shapes.LlamaAgent, "llama_index:desk", 2),
    "agno": (shapes.AgnoAgent, "agno:desk", 2),
    "agno, with sessions": (shapes.AgnoAgentWithSessions, "agno:desk", 2),
}
CALLS = (
    ToolCall(name="book", params={"city": "Paris"}, success=True, result=shapes.BOOKED),
    ToolCall(name="cancel", params={"id": 7}, success=False, error=shapes.BROKEN),
)


def without_framework(call: ToolCall) -> ToolCall:
    """The call, its error without the words of the framework."""
    return call if isinstance(call.error, msgspec.UnsetType) else replace(call, error=call.error.split(": ")[-1])


def said(agent: Agent, *requests: AgentRequest) -> list[str]:
    async def run() -> list[str]:
        async with asyncio.timeout(10), agent.session() as session:
            assert isinstance(session, HoldsConversations)
            assert session.holds
            return [(await session.send(request)).response for request in requests]

    return asyncio.run(run())


@pytest.mark.parametrize("framework", AGENTS)
def test_an_answer_has_calls_results_errors_and_usage(framework: str) -> None:
    make, name, _ = AGENTS[framework]
    agent = agent_of(make())
    answer = ask(agent, "hi")
    assert agent.endpoint == f"python:{name}"
    assert answer.response == "hi 0"
    assert tuple(map(without_framework, answer.tool_calls)) == CALLS
    if framework == "llama_index":
        assert answer.usage is None
    else:
        cost = 0.25 if framework.startswith(("agno", "pydantic")) else None
        assert answer.usage == Usage(input_tokens=10, output_tokens=6, cost_usd=cost)
    assert answer.reports_calls
    assert answer.model == (None if framework in {"agent_framework", "llama_index"} else "m-1")


@pytest.mark.parametrize("framework", AGENTS)
def test_a_conversation_keeps_what_was_said(framework: str) -> None:
    make, _, each = AGENTS[framework]
    turns = [AgentRequest(message=text, conversation=number) for number in ("1", "2") for text in "abc"]
    once = [AgentRequest(message="d"), AgentRequest(message="e")]
    expected = [f"a 0 b {each} c {2 * each}"] * 2 + ["d 0 e 0"]
    for given in (make(), make):  # one agent for all conversations, and one for each
        assert " ".join(said(agent_of(given), *turns, *once)) == " ".join(expected)


EARLIER = ({"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"})
SYSTEM = {"role": "system", "content": "Be kind."}
A = {"role": "user", "content": "a"}


@pytest.mark.parametrize("framework", [name for name in AGENTS if name != "smolagents"])
def test_earlier_messages_come_first(framework: str) -> None:
    make, _, each = AGENTS[framework]
    first = AgentRequest(message="a", messages=(*EARLIER, A), conversation="1")
    second = AgentRequest(message="b", messages=(*first.messages, *EARLIER), conversation="1")
    assert said(agent_of(make()), first, second) == ["a 2", f"b {2 + each}"]
    with_system = AgentRequest(message="a", messages=(SYSTEM, *EARLIER, A), conversation="1")
    if framework in {"google_adk", "strands"}:
        with pytest.raises(AgentError, match="takes no message of the role `system`"):
            said(agent_of(make()), with_system)
    else:
        assert said(agent_of(make()), with_system) == ["a 3"]


def test_a_model_without_a_price_costs_an_unknown_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes.Message, "price", None)
    assert ask(agent_of(shapes.PydanticAgent()), "hi").usage == Usage(input_tokens=10, output_tokens=6)


def test_a_run_that_failed_without_raising_has_no_answer() -> None:
    assert str(failure(agent_of(shapes.AgnoAgent()), "break")) == "the run ended as `error`: no key"


def test_crews_and_their_agents_say_nothing_of_tools() -> None:
    messages = (*EARLIER, A)
    request = AgentRequest(message="a", messages=messages)
    assert said(agent_of(shapes.CrewAgent()), request) == ["a 2"]
    assert said(agent_of(shapes.Crew()), request) == ["a of user: Hi\nassistant: Hello\nuser: a"]
    assert not ask(agent_of(shapes.Crew())).reports_calls


def test_an_agent_that_takes_no_earlier_messages_says_so() -> None:
    with pytest.raises(AgentError, match="takes no earlier messages"):
        said(agent_of(shapes.SmolAgent()), AgentRequest(message="a", messages=(*EARLIER, A)))


@pytest.mark.parametrize("framework", [name for name in AGENTS if not name.startswith("agno")])
def test_the_error_of_a_framework_is_the_answer_error(framework: str) -> None:
    assert str(failure(agent_of(AGENTS[framework][0]()), "break")).startswith("ValueError: no key (frameworks.py:")


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (shapes.PydanticResult([], "hi"), "stop"),
        ({"messages": shapes.chain_messages("hi 0")}, "stop"),
        (shapes.OpenAIResult(None, [{"content": "hi"}]), None),
        (shapes.chain_messages("hi 0"), "stop"),
        (shapes.adk_events("hi 0"), "stop"),
        (shapes.MicrosoftResponse("hi 0"), "stop"),
        (shapes.LlamaOutput("hi 0"), None),
        (shapes.AgnoOutput("hi 0"), None),
    ],
)
def test_a_function_may_return_what_a_framework_does(result: object, reason: str | None) -> None:
    answer = ask(agent_of(lambda message: result))
    assert (answer.response, answer.finish_reason) == ("hi 0", reason)
    assert tuple(map(without_framework, answer.tool_calls)) == CALLS


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (shapes.Chain(), ["a 0", "b 2"]),
        (shapes.ChainOfMessages(), ["None 1", "None 3"]),
        (shapes.ChainToText(), ["{'question': 'a'}", "{'question': 'b'}"]),
        (shapes.ChainOfAnything(), ["{'message': 'a', 'session': '1'}", "{'message': 'b', 'session': '1'}"]),
        (shapes.ChainOfNoSchema(), ["{'message': 'a', 'session': '1'}", "{'message': 'b', 'session': '1'}"]),
        (shapes.ChatModel(), ["a 0", "b 2"]),
    ],
)
def test_chains_are_given_what_they_take(agent: object, expected: list[str]) -> None:
    turns = [AgentRequest(message=text, conversation="1") for text in "ab"]
    assert said(agent_of(agent), *turns) == expected


def test_an_agent_that_waits_for_a_person_has_no_answer() -> None:
    interrupted = {"messages": shapes.chain_messages(""), "__interrupt__": [SimpleNamespace(value="sure?")]}
    raised = failure(agent_of(lambda message: interrupted))
    assert str(raised) == 'the graph was interrupted, and waits for an answer: ["sure?"]'
    waiting = shapes.OpenAIResult(None, [{"content": "hi"}])
    waiting.interruptions = ("pay",)
    raised = failure(agent_of(lambda message: waiting))
    assert str(raised) == "the run was interrupted, and waits for the approval of 1 calls"
    asking = shapes.MicrosoftResponse("")
    asking.user_input_requests = ("pay",)
    raised = failure(agent_of(lambda message: asking))
    assert str(raised) == "the agent was interrupted, and waits for an answer to 1 requests"
    paused = shapes.StrandsResult("")
    paused.interrupts = [SimpleNamespace(reason="sure?")]
    raised = failure(agent_of(lambda message: paused))
    assert str(raised) == 'the agent was interrupted, and waits for an answer: ["sure?"]'


@pytest.mark.parametrize(
    "result",
    [shapes.StrandsResult("hi"), Full("hi"), shapes.CrewOutput("hi")],
)
def test_a_result_that_does_not_say_what_was_called(result: object) -> None:
    answer = ask(agent_of(lambda message: result))
    assert (answer.response, answer.reports_calls) == ("hi", False)


def test_agents_that_answer_one_message_at_a_time_are_asked_one_at_a_time() -> None:
    agent = agent_of(shapes.StrandsAgent())

    async def talk(number: int) -> list[str]:
        async with agent.session() as session:
            turns = [AgentRequest(message=text, conversation=str(number)) for text in "abc"]
            return [(await session.send(turn)).response for turn in turns]

    async def run() -> list[list[str]]:
        async with asyncio.timeout(10):
            return await asyncio.gather(*map(talk, range(5)))

    assert asyncio.run(run()) == [["a 0", "b 4", "c 8"]] * 5


def test_a_session_that_fails_without_an_answer() -> None:
    events = [shapes.Event(error_code="SAFETY", error_message="blocked")]
    assert str(failure(agent_of(lambda message: events))) == "SAFETY: blocked"


def test_calls_of_agents_and_of_tools_that_are_not_there() -> None:
    calls = ask(agent_of(shapes.SmolManager()), "hi").tool_calls
    assert [(call.name, call.params, call.success, call.error) for call in calls[2:4]] == [
        ("clerk", {"task": "go"}, False, "Unknown tool nope"),
        ("nope", {}, False, "Unknown tool nope"),
    ]


def test_tools_that_run_elsewhere_are_not_seen() -> None:
    agent = shapes.SmolAgent()
    agent.python_executor = shapes.SmolMemory()  # type: ignore[assignment]
    answer = ask(agent_of(agent), "hi")
    assert (answer.response, answer.reports_calls) == ("hi 0", False)


def test_handoffs_and_tools_of_the_provider_are_calls() -> None:
    assert ask(agent_of(lambda message: shapes.Handoff())).tool_calls == (
        ToolCall(name="web_search_call"),
        ToolCall(name="find", success=False, error="offline"),
        ToolCall(name="transfer_to_desk", success=True, result={"assistant": "desk"}),
    )


def test_a_package_may_be_called_like_that_of_a_framework() -> None:
    class Desk:
        __module__ = "agents.desk"

        def run(self, message: str) -> Desk:
            self.text = f"{message}, too"
            return self

    agent = agent_of(Desk())
    assert ask(agent, "hi").response == "hi, too"
    assert agent.endpoint.startswith("python:agents.desk:")


def test_a_structured_response_is_the_answer_and_its_tool_no_call() -> None:
    call = shapes.ChainMessage("ai", "", tool_calls=[{"name": "City", "args": {"name": "Oslo"}, "id": "1"}])
    answer = ask(agent_of(lambda message: {"messages": [call], "structured_response": City("Oslo")}))
    assert (answer.response, answer.tool_calls, answer.usage) == ('{"name":"Oslo"}', (), None)


# --- the pages and examples ------------------------------------------------------------------------------------------


def test_every_framework_has_its_row_and_its_example() -> None:
    root = Path(__file__).parents[3]
    modules = [
        importlib.import_module(f"evalc.runtime.agents.frameworks.{name}") for name in ("independent", "of_providers")
    ]
    classes = [each for module in modules for each in vars(module).values() if inspect.isclass(each)]
    known = {each.__name__ for each in classes if issubclass(each, Framework) and each is not Framework}
    assert known == {where.partition(":")[2] for where in FRAMEWORKS.values()}
    examples = {path.name for path in (root / "examples/frameworks").glob("*_desk.py")}
    page = (root / "docs/guides/frameworks.md").read_text(encoding="utf-8")
    assert set(re.findall(r"examples/frameworks/(\w+_desk\.py)", page)) == examples
    script = (root / "scripts/test_frameworks.py").read_text(encoding="utf-8")
    assert {f"{name}_desk.py" for name in re.findall(r'^    "(\w+)": Framework', script, re.MULTILINE)} == examples
    asked = {name.removesuffix("_desk.py").replace("_", "") for name in examples}
    assert {name.lower() for name in known} - {"langchain"} == asked - {"langgraph", "claudeagentsdk"}


# --- what the files share --------------------------------------------------------------------------------------------


@dataclass
class City:
    name: str


class Model:
    def model_dump(self, mode: str) -> dict[str, str]:
        return {"mode": mode}


@pytest.mark.parametrize(
    ("value", "json"),
    [
        ("a", "a"),
        ('{"a": 1}', {"a": 1}),
        ("[1", "[1"),
        ("{'a': [True, None]}", {"a": [True, None]}),
        ("[Doe]", "[Doe]"),
        ([City("Oslo"), Model(), 1.5, None], [{"name": "Oslo"}, {"mode": "json"}, 1.5, None]),
        ({3: {(1, 2)}}, {"3": [(1, 2)]}),
        (range(2), "range(0, 2)"),
        ({City: 1, (1, 2): 2}, str({City: 1, (1, 2): 2})),
    ],
)
def test_results_become_json(value: object, json: object) -> None:
    assert plain(value) == json


def test_an_output_without_a_text_is_json() -> None:
    assert [text_of(each) for each in ("a", None, City("Oslo"), 7)] == ["a", "", '{"name":"Oslo"}', "7"]


def test_results_find_their_calls() -> None:
    calls = Calls()
    calls.made("1", "a", {"x": 1})
    calls.made("1", "b", "")
    calls.made("2", "c", '{"x": 1, "x": 2}')
    calls.made(None, "d", None)
    calls.made(None, "e", 7)
    calls.ended("1", result=None)
    calls.ended("1", error=["broken"])
    calls.ended("9", result="lost")
    assert calls.all() == (
        ToolCall(name="a", params={"x": 1}, success=True, result=None),
        ToolCall(name="b", success=False, error='["broken"]'),
        ToolCall(name="c", success=False, arguments='{"x": 1, "x": 2}'),
        ToolCall(name="d"),
        ToolCall(name="e", success=False, arguments="7"),
    )
