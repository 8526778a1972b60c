"""Python agents of every form, those of installed packages too, and what they return."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from evalc.base.errors import AgentProtocolError, UsageError
from evalc.model.answer import AgentRequest, ToolCall
from evalc.runtime.agents import HoldsConversations
from evalc.runtime.agents.python import PythonAgent, agent_of
from evalc.runtime.agents.spec import AgentSettings, agent_for
from tests.support.asking import ask, ask_all, failure
from tests.support.packages import install

MODULE = """
import collections.abc, functools, threading
from dataclasses import dataclass, field

def text(message): return message.upper()
async def async_text(message): return message.upper()
def later(message): return async_text(message)
def mapping(message): return {"response": message, "toolCalls": [{"name": "t", "success": True}]}
partial = functools.partial(lambda suffix, message: message + suffix, "!")
number = 42
def returns_number(message): return 42
def returns_error(message): return {"response": "ok", "error": ValueError("boom")}
class Output:
    def __init__(self): self.output, self._private = "hi", 1
    @property
    def cost(self): return 0
class Reply:
    def __init__(self): self.response, self.usage = Output(), None
def returns_output(message): return Output()
def returns_reply(message): return Reply()
def returns_other(message): return {"output": "hi", "id": 7}
def returns_failed(message): return Failed("ok", "boom")
def returns_set(message): return {"text": "", "toolCalls": [{"name": "t", "params": {"s": {1}}}]}
def surrogate(message): return "a\\ud800"
def thread_name(message): return threading.current_thread().name + str(threading.get_ident())

@dataclass
class Call:
    name: str
    params: dict = field(default_factory=dict)

@dataclass
class Failed:
    text: str
    error: str | None = None

@dataclass
class Answer:
    text: str
    tool_calls: list

def objects(message): return Answer(message, [Call("a", {"n": 10**30}), Call("b")])

class Run:
    def run(self, message): return "run " + message
class Send:
    async def send(self, message): return "send " + message
class Invoke:
    def invoke(self, input): return {"response": "invoke " + input["message"]}
class Ainvoke(Invoke):
    async def ainvoke(self, input): return {"response": "ainvoke " + input["message"]}
class Callable:
    async def __call__(self, message): return "call " + message
class Desk:
    def __init__(self): self.said = []
    def run(self, message):
        self.said.append(message)
        return ", ".join(self.said)
def desk(): return Desk()

def with_history(message, history): return message
def list_only(history: list): return "x"
def list_of_dicts(turns: list[dict]): return "x"
def list_as_text(turns: "typing.List[dict]"): return "x"
def sequence(turns: collections.abc.Sequence[dict]): return "x"
class RunsLists:
    def run(self, turns: list): return "x"
def listed(messages: list): return roles(messages)
def roles(messages): return " ".join(each["role"] for each in messages)
async def async_roles(messages): return roles(messages)
def both(message, messages): return f"{message} {len(messages)}"
def turned(messages, message): return f"{message} {len(messages)}"
def named(text, *, messages): return f"{text} {len(messages)}"
def with_default(message, model="m", messages=None): return f"{message} {model} {len(messages)}"
class Answers:
    def run(self, messages): return roles(messages)
class CallableMessages:
    def __call__(self, messages): return roles(messages)
@functools.wraps(both)
def decorated(*args, **kwargs): return both(*args, **kwargs)
def more(message, client): return message
@functools.wraps(more)
def injects(message): return more(message, None)
async def nothing(): return "hi"
def makes_text(): return "hi"

class NeedsArguments:
    def __init__(self, model): ...
class Nothing: ...
instance = Send()
class Namespace:
    inner = Run()
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "sample_agent.py").write_text(MODULE)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("sample_agent", "broken_"))]:
        del sys.modules[name]
    sys.path.remove(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("text", "HI"),
        ("async_text", "HI"),
        ("later", "HI"),
        ("mapping", "hi"),
        ("partial", "hi!"),
        ("objects", "hi"),
        ("Run", "run hi"),
        ("Send", "send hi"),
        ("instance", "send hi"),
        ("Namespace.inner", "run hi"),
        ("Invoke", "invoke hi"),
        ("Ainvoke", "ainvoke hi"),
        ("Callable", "call hi"),
        ("surrogate", "a\ufffd"),
        ("desk", "hi"),
        ("roles", "user"),
        ("listed", "user"),
        ("async_roles", "user"),
        ("both", "hi 1"),
        ("turned", "hi 1"),
        ("named", "hi 1"),
        ("with_default", "hi m 1"),
        ("Answers", "user"),
        ("CallableMessages", "user"),
        ("decorated", "hi 1"),
        ("injects", "hi"),
    ],
)
def test_every_form_answers(root: Path, name: str, response: str) -> None:
    agent = PythonAgent(f"sample_agent:{name}", project_root=root)
    assert ask(agent, "hi").response == response
    assert agent.endpoint == f"python:sample_agent:{name}"


def test_an_agent_in_a_file(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("agents")
    (folder / "sample_desk.py").write_text("from sample_words import word\ndef agent(message): return word\n")
    (folder / "sample_words.py").write_text("word = 'there'\n")
    (folder / "json.py").write_text("def agent(message): return message\n")
    for target in (f"{folder}/sample_desk.py:agent", f"../{folder.name}/sample_desk.py:agent"):
        agent = PythonAgent(target, project_root=folder)
        assert (ask(agent).response, agent.endpoint) == ("there", f"python:{target}")
    with pytest.raises(UsageError, match=r"json\.py` cannot be imported: another module is called `json`"):
        PythonAgent("json.py:agent", project_root=folder)
    sys.path.remove(str(folder))


def test_a_file_above_is_the_one_that_a_shell_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts from the working folder; from the project's it would lead out of it."""
    (tmp_path / "project" / "sub").mkdir(parents=True)
    (tmp_path / "project" / "agent_above.py").write_text("def agent(message): return 'the project'\n")
    (tmp_path / "agent_above.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path / "project" / "sub")
    agent = PythonAgent("../agent_above.py:agent", project_root=tmp_path / "project")
    assert ask(agent).response == "the project"
    sys.path.remove(str(tmp_path / "project"))


def local(message: str) -> str:
    return message


class Local:
    def run(self, message: str) -> str:
        return message


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (local, "local"),
        (partial(local), "local"),
        (Local, "Local"),
        (Local(), "Local"),
        (Local().run, "Local.run"),
        (lambda message: message, "<lambda>"),
    ],
)
def test_an_object_is_called_by_a_readable_name(given: object, name: str) -> None:
    agent = agent_of(given)
    assert (ask(agent, "hi").response, agent.endpoint) == ("hi", f"python:{__name__}:{name}")
    assert agent_of(agent) is agent


def test_an_object_for_each_conversation(root: Path) -> None:
    async def said(name: str) -> list[str]:
        async with asyncio.timeout(10), PythonAgent(f"sample_agent:{name}", project_root=root).session() as session:
            assert isinstance(session, HoldsConversations)
            assert session.holds
            turns = [("a", "1"), ("b", "1"), ("c", "2"), ("d", None)]
            return [
                (await session.send(AgentRequest(message=text, conversation=conversation))).response
                for text, conversation in turns
            ]

    assert asyncio.run(said("Desk")) == asyncio.run(said("desk")) == ["a", "a, b", "c", "d"]


def test_tool_calls_come_as_mappings_or_objects(root: Path) -> None:
    assert ask(PythonAgent("sample_agent:mapping", project_root=root)).tool_calls == (ToolCall(name="t", success=True),)
    assert ask(PythonAgent("sample_agent:objects", project_root=root)).tool_calls == (
        ToolCall(name="a", params={"n": 10**30}),
        ToolCall(name="b"),
    )


@pytest.mark.parametrize("name", ["returns_error", "returns_failed"])
def test_an_error_beside_an_answer_is_an_error(root: Path, name: str) -> None:
    raised = failure(PythonAgent(f"sample_agent:{name}", project_root=root))
    assert str(raised) == "the answer has an `error`: boom"


def test_a_session_reuses_its_thread(root: Path) -> None:
    first, second = ask_all(PythonAgent("sample_agent:thread_name", project_root=root), "one", "two")
    assert first.response == second.response
    assert first.response.startswith("evalc-agent")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("returns_number", "the answer is a number, not an object"),
        (
            "returns_output",
            "the answer is a Python `Output` with neither `response` nor `text`; it has `output`, `cost`",
        ),
        ("returns_reply", "`response` is a Python `Output`, not a text; it has `response`, `usage`"),
        ("returns_other", "neither `response` nor `text`; it has `output`, `id`; name the field"),
        ("returns_set", "`toolCalls[0].params.s` is a Python `set`, which JSON cannot say"),
    ],
)
def test_an_invalid_answer_is_a_protocol_error(root: Path, name: str, words: str) -> None:
    raised = failure(PythonAgent(f"sample_agent:{name}", project_root=root))
    assert isinstance(raised, AgentProtocolError)
    assert words in str(raised)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("sample_agent", "not of the form"),
        ("sample_agent:", "not of the form"),
        (":x", "not of the form"),
        ("sample_agent:txt", "has no `txt`; there is `text`"),
        ("sample_agent:Namespace.outer", "has no `outer`"),
        ("sample_agent:number", "is a `int`, not a function"),
        ("sample_agent:Nothing", "is a `Nothing`, not a function"),
        ("sample_agent:makes_text", "is a `str`, not a function"),
        ("sample_agent:more", "takes `(message, client)`: an agent takes the message, `messages` or both, and `stubs`"),
        ("sample_agent:nothing", "takes `()`"),
        ("sample_agent:with_history", "takes `(message, history)`: an agent takes the message, `messages` or both"),
        ("sample_agent:list_only", "takes `(history: list)`: an agent takes the message, `messages` or both"),
        ("sample_agent:list_of_dicts", "takes `(turns: list[dict])`: an agent takes the message, `messages`"),
        ("sample_agent:list_as_text", "takes `(turns: 'typing.List[dict]')`: an agent takes the message, `messages`"),
        ("sample_agent:sequence", "an agent takes the message, `messages` or both"),
        ("sample_agent:RunsLists", "takes `(turns: list)`: an agent takes the message, `messages` or both"),
        ("sample_agent.py:txt", "has no `txt`; there is `text`"),
        ("absent.py:text", "there is no file `"),
        ("itertools:nothing", "has no `nothing`"),
        ("sample_agent:NeedsArguments", "cannot be made without arguments: TypeError"),
        ("no_such_module_here:x", "cannot be imported: ModuleNotFoundError: No module named"),
        ("..relative:x", "cannot be imported: TypeError"),
    ],
)
def test_an_object_that_cannot_be_called_is_a_usage_error(root: Path, target: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        PythonAgent(target, project_root=root)
    assert words in str(caught.value)
    sys.path.insert(0, str(root)) if str(root) not in sys.path else None


@pytest.mark.parametrize(
    ("source", "words"),
    [("import sys; sys.exit(3)", "SystemExit: 3"), ("def f(:", "SyntaxError"), ("1/0", "ZeroDivisionError")],
)
def test_a_module_that_breaks_when_imported(root: Path, source: str, words: str) -> None:
    (root / "broken_module.py").write_text(source)
    with pytest.raises(UsageError, match=f"`broken_module` cannot be imported: {words}"):
        PythonAgent("broken_module:x", project_root=root)


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
