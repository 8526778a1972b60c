"""The scripted agent: its script, its default, and its memory."""

from __future__ import annotations

import doctest

import pytest

from evalc.base.errors import AgentProtocolError, AgentTimeout
from evalc.model.answer import AgentResponse, ToolCall
from evalc.runtime.agents import recording
from evalc.runtime.agents.recording import ScriptedAgent, ScriptedAnswer
from tests.support.asking import ask, ask_all, failure


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ("text", AgentResponse(response="text", reports_calls=False)),
        ("", AgentResponse(response="", reports_calls=False)),
        ({"text": "t", "toolsCalled": ["a"]}, AgentResponse(response="t", tool_calls=(ToolCall(name="a"),))),
        (AgentResponse(response="r", tool_mode="stubbed"), AgentResponse(response="r", tool_mode="stubbed")),
        (str.upper, AgentResponse(response="HELLO", reports_calls=False)),
        (lambda message: {"response": message * 2}, AgentResponse(response="HelloHello", reports_calls=False)),
    ],
)
def test_answers_as_scripted(answer: ScriptedAnswer, response: AgentResponse) -> None:
    assert ask(ScriptedAgent({"Hello": answer})) == response
    assert ask(ScriptedAgent(default=answer)) == response


def test_raises_as_scripted() -> None:
    assert isinstance(failure(ScriptedAgent(default=AgentTimeout("too slow"))), AgentTimeout)


def test_a_message_without_an_answer() -> None:
    raised = failure(ScriptedAgent({"Hello": "Hi"}), "Bye" * 200)
    assert isinstance(raised, AgentProtocolError)
    assert str(raised).startswith("the script has no answer to `ByeBye")
    assert len(str(raised)) < 300


def test_remembers_what_it_was_asked() -> None:
    agent = ScriptedAgent(default="ok", endpoint="mine")
    ask_all(agent, "one", "two")
    assert [request.message for request in agent.requests] == ["one", "two"]
    assert agent.endpoint == "mine"


def test_the_example_in_the_docstring() -> None:
    results = doctest.testmod(recording)
    assert results.attempted > 0
    assert results.failed == 0
