"""Stand-ins for agents of frameworks: classes in modules of their names, with the shapes that the real ones have.

Each agent books a room and fails to cancel one, and says how many messages it was given. `make test-frameworks` runs
the real ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, ClassVar

BOOKED = {"ok": True, "total": 240}
BROKEN = "no such room"


# --- Pydantic AI -----------------------------------------------------------------------------------------------------


class Part:
    __module__ = "pydantic_ai.messages"

    def __init__(self, part_kind: str, **fields: Any) -> None:
        self.part_kind = part_kind
        self.__dict__ |= fields


class Message:
    __module__ = "pydantic_ai.messages"

    model_name = "m-1"
    price: Decimal | None = Decimal("0.125")

    def __init__(self, parts: list[Part], finish_reason: str | None = None) -> None:
        self.parts = parts
        self.finish_reason = finish_reason
        self.kind = "request" if any("prompt" in part.part_kind for part in parts) else "response"

    def cost(self) -> Any:
        if not self.price:
            raise LookupError("no such model")
        return SimpleNamespace(total_price=self.price)


class PydanticResult:
    __module__ = "pydantic_ai.run"
    _output_tool_name = "final_result"
    usage = SimpleNamespace(input_tokens=10, output_tokens=6, requests=2)

    def __init__(self, history: list[Message], message: str) -> None:
        self._history = history
        called = [
            Part("tool-call", tool_call_id="1", tool_name="book", args={"city": "Paris"}),
            Part("tool-call", tool_call_id="2", tool_name="cancel", args='{"id": 7}'),
        ]
        ended = [
            Part("tool-return", tool_call_id="1", tool_name="book", content=BOOKED, outcome="success"),
            Part("retry-prompt", tool_call_id="2", tool_name="cancel", content=BROKEN),
        ]
        output = [Part("tool-call", tool_call_id="3", tool_name="final_result", args={})]
        self._new = [
            Message([Part("user-prompt", content=message)]),
            Message(called),
            Message(ended),
            Message([Part("text", content="done"), *output], finish_reason="stop"),
        ]
        self.output = f"{message} {len(history)}"

    def new_messages(self) -> list[Message]:
        return self._new

    def all_messages(self) -> list[Message]:
        return [*self._history, *self._new]


class PydanticAgent:
    __module__ = "pydantic_ai.agent"
    name = "desk"

    async def run(self, message: str, *, message_history: list[Message] | None = None) -> PydanticResult:
        if message == "break":
            raise ValueError("no key")
        return PydanticResult(message_history or [], message)

    def run_sync(self, message: str) -> PydanticResult:
        return PydanticResult([], message)


PYDANTIC_AI = SimpleNamespace(
    ModelRequest=Message,
    ModelResponse=Message,
    UserPromptPart=lambda content: Part("user-prompt", content=content),
    SystemPromptPart=lambda content: Part("system-prompt", content=content),
    TextPart=lambda content: Part("text", content=content),
)


# --- LangGraph and LangChain -----------------------------------------------------------------------------------------


class ChainMessage:
    __module__ = "langchain_core.messages"

    content: Any

    def __init__(self, kind: str, content: Any, **fields: Any) -> None:
        self.__dict__ |= {"type": kind, "content": content, "id": str(id(self)), "response_metadata": {}} | fields


def chain_messages(message: str) -> list[ChainMessage]:
    """The messages that follow one of the user's."""
    calls = [
        {"name": "book", "args": {"city": "Paris"}, "id": "1"},
        {"name": "cancel", "args": {"id": 7}, "id": "2"},
    ]
    used = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}
    return [
        ChainMessage("ai", "", tool_calls=calls, usage_metadata=used),
        ChainMessage("tool", '{"ok": true, "total": 240}', tool_call_id="1", status="success"),
        ChainMessage("tool", BROKEN, tool_call_id="2", status="error"),
        ChainMessage(
            "ai",
            [{"type": "reasoning"}, {"type": "text", "text": message}],
            usage_metadata=used,
            response_metadata={"finish_reason": "stop", "model_name": "m-1"},
        ),
    ]


class Graph:
    __module__ = "langgraph.graph.state"
    channels = ("messages",)
    checkpointer: object = None
    name = "LangGraph"

    def __init__(self) -> None:
        self._threads: dict[str, list[ChainMessage]] = {}

    async def ainvoke(self, given: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
        kept = self._threads.setdefault(config["configurable"]["thread_id"], []) if self.checkpointer else []
        sent = [ChainMessage("human", m["content"]) if isinstance(m, dict) else m for m in given["messages"]]
        text = sent[-1].content
        if text == "break":
            raise ValueError("no key")
        kept += [*sent, *chain_messages(f"{text} {len(kept) + len(sent) - 1}")]
        return {"messages": list(kept)}


class GraphWithThreads(Graph):
    __module__ = "langgraph.graph.state"
    checkpointer = "a database"


class Chain:
    """A prompt with a history before a model."""

    __module__ = "langchain_core.runnables.base"
    properties: ClassVar[dict[str, Any]] = {"question": {"type": "string"}, "history": {"type": "array"}}

    def get_input_jsonschema(self) -> dict[str, Any]:
        return {"properties": self.properties}

    async def ainvoke(self, given: Any, config: Any = None) -> Any:
        return ChainMessage("ai", f"{given.get('question')} {len(given.get('history', ()))}", tool_calls=[])


class ChainOfMessages(Chain):
    __module__ = "langchain_core.runnables.base"
    properties: ClassVar[dict[str, Any]] = {"history": {"type": "array"}}


class ChainToText(Chain):
    __module__ = "langchain_core.runnables.base"
    properties: ClassVar[dict[str, Any]] = {"question": {"type": "string"}}

    async def ainvoke(self, given: Any, config: Any = None) -> Any:
        return str(given)


class ChainOfAnything(ChainToText):
    __module__ = "langchain_core.runnables.base"
    properties: ClassVar[dict[str, Any]] = {}


class ChainOfNoSchema(ChainToText):
    __module__ = "langchain_core.runnables.base"

    def get_input_jsonschema(self) -> dict[str, Any]:
        raise TypeError("no schema")


class ChatModel(Chain):
    __module__ = "langchain_core.language_models"

    def bind_tools(self) -> None: ...

    async def ainvoke(self, given: Any, config: Any = None) -> Any:
        return ChainMessage("AIMessageChunk", f"{given[-1]['content']} {len(given) - 1}", tool_calls=[])


# --- OpenAI Agents SDK -----------------------------------------------------------------------------------------------


class RunItem:
    __module__ = "agents.items"
    raw_item: Any

    def __init__(self, kind: str, raw_item: Any, **fields: Any) -> None:
        self.__dict__ |= {"type": kind, "raw_item": raw_item} | fields


class OpenAIResult:
    __module__ = "agents.result"
    context_wrapper = SimpleNamespace(usage=SimpleNamespace(input_tokens=10, output_tokens=6))
    interruptions: tuple[Any, ...] = ()

    def __init__(self, agent: Any, given: list[Any]) -> None:
        self.last_agent = agent
        self.final_output = f"{given[-1]['content']} {len(given) - 1}"
        cancel = SimpleNamespace(type="function_call", call_id="2", name="cancel", arguments='{"id": 7}')
        self.new_items = [
            RunItem("tool_call_item", {"call_id": "1", "name": "book", "arguments": '{"city": "Paris"}'}),
            RunItem("tool_call_item", cancel),
            RunItem("tool_call_output_item", {"call_id": "1", "output": str(BOOKED)}, output=BOOKED),
            RunItem("tool_call_output_item", {"call_id": "2", "output": OPENAI_ERROR}, output=OPENAI_ERROR),
            RunItem("message_output_item", SimpleNamespace(type="message")),
        ]
        self._items = [*given, *(item.raw_item for item in self.new_items)]

    def to_input_list(self) -> list[Any]:
        return self._items


class Handoff(OpenAIResult):
    """Of a handoff, a search that the provider ran, and a call of a server that failed."""

    __module__ = "agents.result"

    def __init__(self) -> None:
        super().__init__(None, [{"content": "hi"}])
        search = SimpleNamespace(type="web_search_call", id="w", status="completed")
        remote = SimpleNamespace(type="mcp_call", id="m", name="find", arguments="{}", output=None, error="offline")
        transfer = SimpleNamespace(type="function_call", call_id="t", name="transfer_to_desk", arguments="{}")
        self.new_items = [
            RunItem("tool_call_item", search),
            RunItem("tool_call_item", remote),
            RunItem("handoff_call_item", transfer),
            RunItem("handoff_output_item", {"call_id": "t", "output": '{"assistant": "desk"}'}),
        ]


OPENAI_ERROR = f"An error occurred while running the tool: {BROKEN}"


class Runner:
    @staticmethod
    async def run(agent: Any, given: list[Any]) -> OpenAIResult:
        if given[-1]["content"] == "break":
            raise ValueError("no key")
        return OpenAIResult(agent, given)


class OpenAIAgent:
    __module__ = "agents.agent"
    name = "desk"
    model = SimpleNamespace(model="m-1")
    handoffs = ()

    def get_all_tools(self) -> None: ...


# --- Google ADK ------------------------------------------------------------------------------------------------------


class Event:
    __module__ = "google.adk.events.event"
    partial = False
    error_code: str | None = None
    error_message: str | None = None
    model_version = "m-1"
    usage_metadata: Any = None
    finish_reason: Any = None

    def __init__(self, *parts: Any, calls: Any = (), given: Any = (), content: Any = None, **fields: Any) -> None:
        self.content = content or SimpleNamespace(parts=list(parts))
        self._calls, self._given = calls, given
        self.__dict__ |= fields

    def is_final_response(self) -> bool:
        return not self._calls and not self._given

    def get_function_calls(self) -> Any:
        return self._calls

    def get_function_responses(self) -> Any:
        return self._given


def adk_part(text: str, *, thought: bool = False) -> SimpleNamespace:
    return SimpleNamespace(text=text, thought=thought)


def adk_events(message: str) -> list[Event]:
    calls = [
        SimpleNamespace(id="1", name="book", args={"city": "Paris"}),
        SimpleNamespace(id="2", name="cancel", args={"id": 7}),
    ]
    given = [
        SimpleNamespace(id="1", name="book", response={"result": BOOKED}),
        SimpleNamespace(id="2", name="cancel", response={"status": "error", "error_message": BROKEN}),
    ]
    used = SimpleNamespace(prompt_token_count=5, candidates_token_count=3)
    return [
        Event(adk_part("Let me"), calls=calls, usage_metadata=used),
        Event(given=given),
        Event(adk_part(message), partial=True, usage_metadata=used),
        Event(
            adk_part("Hm.", thought=True),
            adk_part(message),
            usage_metadata=used,
            finish_reason=SimpleNamespace(value="STOP"),
        ),
    ]


class AdkRunner:
    __module__ = "google.adk.runners"

    def __init__(self, agent: Any, app_name: str) -> None:
        self.agent, self.app_name, self.session_service = agent, app_name, self
        self._sessions: dict[str, list[Event]] = {}

    async def create_session(self, *, app_name: str, user_id: str) -> SimpleNamespace:
        session = SimpleNamespace(id=str(len(self._sessions)), user_id=user_id)
        self._sessions[session.id] = []
        return session

    async def append_event(self, session: Any, event: Event) -> None:
        self._sessions[session.id].append(event)

    async def run_async(self, *, user_id: str, session_id: str, new_message: Any) -> AsyncIterator[Event]:
        session, (part,) = self._sessions[session_id], new_message.parts
        if part.text == "break":
            raise ValueError("no key")
        events = adk_events(f"{part.text} {len(session)}")
        session += [Event(part), *(event for event in events if not event.partial)]
        for event in events:
            yield event


class AdkAgent:
    __module__ = "google.adk.agents.llm_agent"
    name = "desk"

    async def run_async(self, context: Any) -> None: ...


# --- Strands ---------------------------------------------------------------------------------------------------------


class StrandsResult:
    __module__ = "strands.agent.agent_result"
    stop_reason = "end_turn"
    structured_output: Any = None
    interrupts: Any = ()

    def __init__(self, text: str) -> None:
        self.message = {"role": "assistant", "content": [{"text": text}]}


class StrandsAgent:
    __module__ = "strands.agent.agent"
    name = "desk"
    model = SimpleNamespace(get_config=lambda: {"model_id": "m-1"})

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.event_loop_metrics = SimpleNamespace(accumulated_usage={"inputTokens": 7, "outputTokens": 7})
        self._is_busy = False

    async def invoke_async(self, message: str) -> StrandsResult:
        assert not self._is_busy
        self._is_busy = True
        await asyncio.sleep(0)
        self._is_busy = False
        if message == "break":
            raise ValueError("no key")
        result = StrandsResult(f"{message} {len(self.messages)}")
        calls = [
            {"toolUse": {"toolUseId": "1", "name": "book", "input": {"city": "Paris"}}},
            {"toolUse": {"toolUseId": "2", "name": "cancel", "input": {"id": 7}}},
        ]
        given = [
            {"toolResult": {"toolUseId": "1", "status": "success", "content": [{"json": BOOKED}]}},
            {"toolResult": {"toolUseId": "2", "status": "error", "content": [{"text": f"Error: {BROKEN}"}]}},
        ]
        for role, content in (("user", [{"text": message}]), ("assistant", calls), ("user", given)):
            self.messages.append({"role": role, "content": content})
        self.messages.append(result.message)
        used = self.event_loop_metrics.accumulated_usage
        used["inputTokens"] += 10
        used["outputTokens"] += 6
        return result


# --- smolagents ------------------------------------------------------------------------------------------------------


class SmolTool:
    __module__ = "smolagents.tools"
    inputs = ("city", "nights")

    def __init__(self, name: str, forward: Any) -> None:
        self.name, self.forward = name, forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)


class SmolMemory:
    __module__ = "smolagents.memory"

    def __init__(self) -> None:
        self.steps: list[Any] = []


def cancelled(**_: Any) -> None:
    raise LookupError(BROKEN)


class LocalPythonExecutor:
    __module__ = "smolagents.local_python_executor"


class SmolAgent:
    __module__ = "smolagents.agents"
    name = None
    model = SimpleNamespace(model_id="m-1")
    managed_agents: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.memory = SmolMemory()
        self.state: dict[str, Any] = {}
        self.python_executor = LocalPythonExecutor()
        tools = [("book", lambda city: BOOKED), ("cancel", cancelled), ("final_answer", str)]
        self.tools = {name: SmolTool(name, forward) for name, forward in tools}
        self.said: list[Any] = []

    def create_python_executor(self) -> LocalPythonExecutor:
        return LocalPythonExecutor()

    def run(self, task: str, *, reset: bool = True) -> Any:
        if task == "break":
            raise ValueError("no key")
        if reset:
            self.memory.steps = []
        count = len(self.memory.steps)
        self.tools["book"]("Paris")
        with suppress(LookupError):
            self.tools["cancel"](id=7)
        used = SimpleNamespace(input_tokens=5, output_tokens=3)
        self.memory.steps += [SimpleNamespace(task=task), *[SimpleNamespace(token_usage=used, **self.made())] * 2]
        return self.tools["final_answer"](f"{task} {count}")

    def made(self) -> dict[str, Any]:
        return {"error": None}


class SmolManager(SmolAgent):
    """Asks an agent of its own, and a tool that is not there."""

    __module__ = "smolagents.agents"

    def __init__(self) -> None:
        super().__init__()
        self.managed_agents = {"clerk": SmolAgent()}  # type: ignore[misc]

    def made(self) -> dict[str, Any]:
        calls = [SimpleNamespace(name="clerk", arguments={"task": "go"}), SimpleNamespace(name="nope", arguments="{}")]
        message = SimpleNamespace(tool_calls=[SimpleNamespace(function=each) for each in calls])
        return {"error": SimpleNamespace(message="Unknown tool nope"), "model_output_message": message}


# --- Microsoft Agent Framework ---------------------------------------------------------------------------------------


class MicrosoftMessage:
    __module__ = "agent_framework._types"

    def __init__(self, role: str, contents: list[Any]) -> None:
        self.role, self.contents = role, contents


class MicrosoftResponse:
    __module__ = "agent_framework._types"
    usage_details: ClassVar[dict[str, int]] = {"input_token_count": 10, "output_token_count": 6}
    finish_reason = "stop"
    value: Any = None
    user_input_requests: Any = ()

    def __init__(self, text: str) -> None:
        self.text = text
        calls = [
            SimpleNamespace(type="function_call", call_id="1", name="book", arguments={"city": "Paris"}),
            SimpleNamespace(type="function_call", call_id="2", name="cancel", arguments='{"id": 7}'),
        ]
        given = [
            SimpleNamespace(type="function_result", call_id="1", result=str(BOOKED).replace("'", '"').lower()),
            SimpleNamespace(type="function_result", call_id="2", result="Error", exception=BROKEN),
        ]
        said = [SimpleNamespace(type="text", text=text)]
        roles = (("assistant", calls), ("tool", given), ("assistant", said))
        self.messages = [MicrosoftMessage(role, contents) for role, contents in roles]


class MicrosoftAgent:
    __module__ = "agent_framework._agents"
    name = "desk"

    def create_session(self) -> list[Any]:
        return []

    async def run(self, said: Any, *, session: list[Any]) -> MicrosoftResponse:
        messages = [MicrosoftMessage("user", [said])] if isinstance(said, str) else said
        (text,) = messages[-1].contents
        if text == "break":
            raise ValueError("no key")
        response = MicrosoftResponse(f"{text} {len(session) + len(messages) - 1}")
        session += [*messages, *response.messages]
        return response


# --- LlamaIndex ------------------------------------------------------------------------------------------------------


class LlamaOutput:
    __module__ = "llama_index.core.agent.workflow"
    structured_response: Any = None

    def __init__(self, text: str) -> None:
        self.response = SimpleNamespace(content=text)
        booked = SimpleNamespace(is_error=False, content=str(BOOKED), raw_output=BOOKED)
        broken = SimpleNamespace(is_error=True, content=BROKEN, raw_output=BROKEN)
        self.tool_calls = [
            SimpleNamespace(tool_id="1", tool_name="book", tool_kwargs={"city": "Paris"}, tool_output=booked),
            SimpleNamespace(tool_id="2", tool_name="cancel", tool_kwargs={"id": 7}, tool_output=broken),
        ]


class LlamaMemory(list[Any]):
    @classmethod
    def from_defaults(cls, chat_history: list[Any], token_limit: int) -> LlamaMemory:
        return cls(chat_history)


class LlamaAgent:
    __module__ = "llama_index.core.agent.workflow"
    name = "desk"
    tools = ()

    async def run(self, *, user_msg: str, memory: LlamaMemory) -> LlamaOutput:
        if user_msg == "break":
            raise ValueError("no key")
        output = LlamaOutput(f"{user_msg} {len(memory)}")
        memory += [user_msg, output]
        return output


# --- Agno ------------------------------------------------------------------------------------------------------------


class AgnoOutput:
    __module__ = "agno.run.agent"
    model = "m-1"

    def __init__(self, content: str, messages: Any = (), status: str = "COMPLETED") -> None:
        self.content, self.messages = content, messages
        self.status = SimpleNamespace(value=status)
        self.metrics = SimpleNamespace(input_tokens=10, output_tokens=6, cost=0.25)
        fields = {"tool_call_id": "1", "tool_name": "book", "tool_args": {"city": "Paris"}, "tool_call_error": False}
        booked = SimpleNamespace(**fields, result=str(BOOKED))
        fields = {"tool_call_id": "2", "tool_name": "cancel", "tool_args": {"id": 7}, "tool_call_error": True}
        self.tools = [booked, SimpleNamespace(**fields, result=BROKEN)]


class AgnoAgent:
    __module__ = "agno.agent.agent"
    name = "desk"
    db: Any = None

    def __init__(self) -> None:
        self._sessions: dict[str, list[Any]] = {}

    async def arun(self, said: Any, *, session_id: str) -> AgnoOutput:
        messages = [SimpleNamespace(role="user", content=said)] if isinstance(said, str) else said
        kept = self._sessions.setdefault(session_id, []) if self.db else []
        text = messages[-1].content
        if text == "break":
            return AgnoOutput("no key", status="ERROR")
        content = f"{text} {len(kept) + len(messages) - 1}"
        kept += [*messages, SimpleNamespace(role="assistant", content=content)]
        return AgnoOutput(content, [SimpleNamespace(role="system", content="Be kind."), *kept])


class AgnoAgentWithSessions(AgnoAgent):
    __module__ = "agno.agent.agent"
    db = "a database"


# --- CrewAI ----------------------------------------------------------------------------------------------------------


class CrewOutput:
    __module__ = "crewai.crews.crew_output"
    pydantic: Any = None

    def __init__(self, raw: str) -> None:
        self.raw = raw


class CrewAgent:
    __module__ = "crewai.agent.core"

    async def kickoff_async(self, messages: list[dict[str, str]]) -> CrewOutput:
        return CrewOutput(f"{messages[-1]['content']} {len(messages) - 1}")


class Crew:
    __module__ = "crewai.crew"
    tasks = ()

    async def kickoff_async(self, *, inputs: dict[str, str]) -> CrewOutput:
        return CrewOutput(f"{inputs['message']} of {inputs['messages']}")


MODULES: dict[str, Any] = {
    "agent_framework": SimpleNamespace(Message=MicrosoftMessage),
    "agents": SimpleNamespace(Runner=Runner),
    "agno.models.message": SimpleNamespace(Message=SimpleNamespace),
    "google.adk.runners": SimpleNamespace(InMemoryRunner=AdkRunner),
    "google.adk.events": SimpleNamespace(Event=lambda author, content: Event(content=content)),
    "google.genai.types": SimpleNamespace(Content=SimpleNamespace, Part=adk_part),
    "llama_index.core.llms": SimpleNamespace(ChatMessage=SimpleNamespace),
    "llama_index.core.memory": SimpleNamespace(ChatMemoryBuffer=LlamaMemory),
    "pydantic_ai.messages": PYDANTIC_AI,
}
"""The modules of frameworks that evalc takes classes from."""
