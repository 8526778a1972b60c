"""Agents of installed packages, sound and broken, and names that nobody offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalc.base.errors import UsageError
from evalc.runtime.agents.spec import AgentSettings, agent_for
from tests.support.asking import ask
from tests.support.packages import install

SOURCE = """
from contextlib import asynccontextmanager
from evalc.agents import Agent, AgentRequest, AgentResponse, UsageError

class Parrot:
    def __init__(self, argument):
        self.endpoint = "parrot"
        self.argument = argument

    @asynccontextmanager
    async def session(self):
        yield self

    async def send(self, request: AgentRequest) -> AgentResponse:
        return AgentResponse(response=f"{self.argument}: {request.message}")

def refuses(argument):
    raise UsageError("name a model, such as `refuses:small`")

def breaks(argument):
    raise ValueError("no key")

def empty(argument):
    return 7

number = 42
"""
OFFERED = {name: name for name in ("refuses", "breaks", "empty", "number", "absent")} | {"parrot": "Parrot"}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, module="agents_of_a_test", source=SOURCE, agents=OFFERED)


def refusal(spec: str) -> str:
    with pytest.raises(UsageError) as caught:
        agent_for(spec, settings=AgentSettings())
    return str(caught.value)


def test_an_agent_is_given_all_that_stands_behind_its_name() -> None:
    agent = agent_for("parrot:loud:and clear", settings=AgentSettings())
    assert agent.endpoint == "parrot"
    assert ask(agent, "hi").response == "loud:and clear: hi"
    assert ask(agent_for("parrot", settings=AgentSettings()), "hi").response == ": hi"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("refuses", "name a model, such as `refuses:small`"),
        ("breaks", "the agent `breaks` cannot be made: ValueError: no key"),
        ("empty", "the agent `empty` is a `int`, which has not the `endpoint` and `session` of an agent"),
        ("number", "the package of the agent `number` offers no function but a `int`"),
        ("absent", "the package of the agent `absent` cannot be imported: AttributeError"),
    ],
)
def test_a_broken_package_is_named(name: str, words: str) -> None:
    assert words in refusal(name)


@pytest.mark.parametrize(
    ("spec", "near"), [("parot:x", "parrot"), ("pyhton:m:f", "python"), ("htp://u:secret@h", "http")]
)
def test_near_names(spec: str, near: str) -> None:
    said = refusal(spec)
    assert f"did you mean `{near}`?" in said
    assert "`parrot:...`" in said
    assert "secret" not in said


def test_no_kind_is_near_itself() -> None:
    assert "did you mean" not in refusal("demo:1")
