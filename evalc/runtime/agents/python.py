"""Agents and judges in Python: `python:module:name`, and those that installed packages offer as `NAME:ARGUMENT`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from difflib import get_close_matches
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, Self, TypeGuard, TypeVar, final, get_origin

import msgspec

from evalc import base
from evalc.base.errors import AgentError, UsageError
from evalc.base.guard import DaemonThread, begun, guarded_await, imported, said_by
from evalc.model.answer import AgentRequest, AgentResponse
from evalc.runtime.agents import Agent, Session, frameworks, wire
from evalc.runtime.agents.stubs import StubTools
from evalc.runtime.mapping import or_rather

T = TypeVar("T")

_GRACE_SECONDS: Final = 0.5


@final
class Code(msgspec.Struct, frozen=True, kw_only=True):
    """Something to call. What is not async runs in a thread, and may hand over something to await."""

    function: Callable[[Any], Any]
    is_async: bool

    @classmethod
    def of(cls, function: Callable[[Any], Any]) -> Self:
        """The function, looked at once."""
        return cls(function=function, is_async=_is_async(function))

    def call(self, argument: object, thread: DaemonThread, read: Callable[[Any], T]) -> Coroutine[Any, Any, T]:
        """The function's value, as `read` reads it: what is read may be the code of others, too.

        Raises:
            AgentError: whatever the function raised.
        """
        if self.is_async:
            return _in_task(self.function, argument, read)
        return self._in_thread(argument, thread, read)

    async def _in_thread(self, argument: object, thread: DaemonThread, read: Callable[[Any], T]) -> T:
        context = copy_context()  # which a coroutine has, too: the current span of OpenTelemetry is in it
        value = await thread.call(lambda: context.run(self._called, argument, read))
        if isinstance(value, _Handed):
            return await _in_task(value.over, argument, read)
        if isinstance(value, AgentError):
            raise value
        return value

    def _called(self, argument: object, read: Callable[[Any], T]) -> T | _Handed:
        value = self.function(argument)
        return _Handed(value) if inspect.isawaitable(value) else read(value)


@final
class _Handed(NamedTuple):
    """Something to await that a function handed over which is not async."""

    awaitable: Awaitable[Any]

    def over(self, _: object) -> Awaitable[Any]:
        """The same, whatever the function was called with."""
        return self.awaitable


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await, as far as is known beforehand."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


async def _in_task(function: Callable[[Any], Awaitable[Any]], argument: object, read: Callable[[Any], T]) -> T:
    """The value that comes of what the function gives to be awaited, as `read` reads it.

    It runs in a task of its own, which can be left behind where it ignores cancellation.

    Raises:
        AgentError: whatever the function raised.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T | AgentError] = loop.create_future()
    task = begun(guarded_await(outcome, function, argument, read), loop)
    try:
        value = await outcome  # rather than the task, which may ignore that it is cancelled
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=_GRACE_SECONDS)
        raise
    finally:
        if not task.done():
            _leave_behind(task)
    if isinstance(value, AgentError):
        await asyncio.sleep(0)  # if Ctrl-C ended the code, the run ends here, and the case has no result
        raise value
    return value


def _leave_behind(task: asyncio.Task[Any]) -> None:
    import ctypes  # noqa: PLC0415 - for start-up: hardly an agent is left behind

    # A loop that ends waits for every task it knows, so this one, which will not be cancelled, is taken from its
    # books, and from those that say "destroyed but pending". It is never destroyed: that would wake it once more, to
    # catch and go on for ever if nothing can be awaited.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))
    task.cancel()
    asyncio.tasks._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]


_MESSAGE_METHODS: Final = ("run", "send")
_INPUT_METHODS: Final = ("ainvoke", "invoke")


@final
class PythonAgent:
    """An agent that is Python code: `module:name` or `file.py:name`, where the name may have dots.

    It may be a function or async function, which is given the message; an object with `run` or `send`, given the
    message, or with `ainvoke` or `invoke`, given `{"message": ...}`; or a class of such objects, or a function that
    makes them, which is called without arguments, once, and anew for each conversation. A parameter called `messages`
    is given what was said so far, the message included, and one called `stubs` the case's stubs as functions. What it
    returns is a text, or a mapping or object of the agreed shape (see `wire`).

    Functions that are not async run in a thread of the session's; sessions call the same object at the same time.

    Args:
        target: `module:name`, or `file.py:name` from the project's root or from the working folder.
        project_root: the folder that modules are looked for in first. It stays on `sys.path`, as for `python -m`,
            because agents import things while they run.

    Raises:
        UsageError: when it cannot be imported, is not there, or cannot be called.
    """

    def __init__(self, target: str, *, project_root: Path) -> None:
        self._hold(load_target(target, project_root), target)

    @classmethod
    def around(cls, found: object) -> PythonAgent:
        """The agent that calls `found`, which is there already."""
        agent = cls.__new__(cls)
        agent._hold(found, name_of(found))
        return agent

    def _hold(self, found: object, target: str) -> None:
        self.endpoint = f"python:{target}"
        self._target = target
        self._found = found
        self._function = _function_of(found, target)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Session]:
        """Open a session with a thread of its own, which starts when the agent turns out not to be async."""
        thread = DaemonThread()
        try:
            made = partial(_function_of, self._found, self._target)
            anew = made if _makes_agents(self._found) else self._function.anew
            remembers = anew is not None or not inspect.isroutine(self._found)
            yield _PythonSession(self._function, thread, anew, remembers=remembers)
        finally:
            thread.abandon()


@final
class _Function(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent is called: with the message, with the messages so far, too, or with a mapping that has them.

    `anew` makes another that remembers nothing, for agents of frameworks; there is one for each message, too, that
    belongs to no conversation.
    """

    code: Code
    argument: Callable[[AgentRequest], object]
    anew: Callable[[], _Function] | None = None


_message: Final = attrgetter("message")


def _messages(request: AgentRequest) -> list[dict[str, str]]:
    messages = request.messages or ({"role": "user", "content": request.message},)
    return [dict(message) for message in messages]


@final
class _PythonSession:
    """Calls the agent; an object of a class of its own for each conversation."""

    def __init__(
        self, function: _Function, thread: DaemonThread, anew: Callable[[], _Function] | None, *, remembers: bool
    ) -> None:
        self.holds = remembers
        self._function = function
        self._thread = thread
        self._anew = anew
        self._conversation: str | None = None
        self._of_conversation = function

    async def send(self, request: AgentRequest) -> AgentResponse:
        function = self._function
        if self._anew is not None and (request.conversation is not None or function.anew is not None):
            function = await self._made_for(request.conversation, self._anew)
        argument = function.argument(request)
        answer = await function.code.call(argument, self._thread, frameworks.answer_of)
        stubs = argument.stubs if isinstance(argument, _Arguments) else None
        return answer if stubs is None else stubs.completed(answer)

    async def end(self) -> None:
        """Let go of the object of the conversation that is over."""
        self._conversation, self._of_conversation = None, self._function

    async def _made_for(self, conversation: str | None, anew: Callable[[], _Function]) -> _Function:
        if conversation is None or conversation != self._conversation:
            made = await self._thread.call(anew)
            if isinstance(made, AgentError):
                raise made
            self._conversation, self._of_conversation = conversation, made
        return self._of_conversation


def load_target(target: str, project_root: Path, brought: Mapping[str, object] | None = None) -> object:
    """The object that a caller has `brought` under this name, or that `module:name` or `file.py:name` names.

    The folder of modules stays first on `sys.path`.

    Raises:
        UsageError: when it cannot be imported or is not there.
    """
    if brought and target in brought:
        return brought[target]
    module_name, _, name = target.rpartition(":")
    if not module_name or not name:
        raise UsageError(f"`python:{target}` is not of the form `python:module:name` or `python:file.py:name`")
    found: object = imported(module_name, project_root)
    for part in name.split("."):
        found = _attribute(found, part, target)
    return found


def _attribute(owner: object, name: str, target: str) -> object:
    try:
        return getattr(owner, name)
    except AttributeError:
        near = get_close_matches(name, [known for known in dir(owner) if not known.startswith("_")], n=3)
        hint = f"; there is {', '.join(f'`{known}`' for known in near)}" if near else ""
        raise UsageError(f"`python:{target}` has no `{name}`{hint}") from None


def name_of(found: object) -> str:
    """A readable name: module and qualified name of a function or class, else of the object's class."""
    while isinstance(found, partial):
        found = found.func
    if (name_there := frameworks.name_of(found)) is not None:
        return name_there
    named: Any = found if hasattr(found, "__qualname__") else type(found)
    name: str = named.__qualname__.replace("<locals>.", "")
    return name if named.__module__ in {"__main__", "builtins"} else f"{named.__module__}:{name}"


def agent_of(given: object) -> Agent:
    """The agent that a caller brings: an agent, or something that a `PythonAgent` calls."""
    return given if _is_agent(given) else PythonAgent.around(given)


def _function_of(found: object, target: str) -> _Function:
    try:
        return _looked_at(found, target)
    except (UsageError, KeyboardInterrupt):
        raise
    except BaseException as error:  # of an object whose attributes are code
        raise UsageError(f"`python:{target}` cannot be looked at: {said_by(error)}") from None


def _looked_at(found: object, target: str) -> _Function:
    if _makes_agents(found):
        found = _made(found, target)
    if (begin := frameworks.conversations(found)) is not None:
        return _of_conversation(begin)
    if not inspect.isroutine(found):
        for name in _MESSAGE_METHODS:
            if callable(method := getattr(found, name, None)):
                return _of_message(method, target)
        for name in _INPUT_METHODS:
            if callable(method := getattr(found, name, None)):
                return _Function(code=Code.of(method), argument=wire.request_fields)
    if not callable(found):
        raise UsageError(
            f"`python:{target}` is a `{type(found).__name__}`, not a function or an object with `run`, `send`, "
            "`invoke` or `ainvoke`"
        )
    return _of_message(found, target)


def _of_conversation(begin: Callable[[], frameworks.Framework]) -> _Function:
    return _Function(code=Code.of(begin().ask), argument=lambda request: request, anew=partial(_of_conversation, begin))


def _of_message(function: Callable[..., Any], target: str) -> _Function:
    """A function of the message, of the `messages` so far, or of both, and of `stubs`, as its parameters say."""
    code = Code.of(function)
    names = _parameters(function)
    given = [name for name in _GIVEN if name in names]
    if not given:
        _refuse_other_parameters(function, target)
        return _Function(code=code, argument=_message)

    def arguments(request: AgentRequest) -> _Arguments:
        named = {name: _GIVEN[name](request) for name in given}
        stubs = named.get("stubs")
        if names[0] not in given:
            return _Arguments(request.message, named, stubs)
        if "message" in names:
            named["message"] = request.message
        return _Arguments(named.pop(names[0]), named, stubs)

    called = Code(function=lambda each: function(each.first, **each.named), is_async=code.is_async)
    return _Function(code=called, argument=arguments)


_GIVEN: Final[Mapping[str, Callable[[AgentRequest], Any]]] = {"messages": _messages, "stubs": StubTools}
"""The parameters by which a function says that it takes more than the message, and what they are given."""


@final
class _Arguments(NamedTuple):
    first: Any
    named: dict[str, Any]
    stubs: StubTools | None


def _parameters(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters, the first at least, that may be given by name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of a function in C
        return []
    return [each.name for each in parameters if each is parameters[0] or each.kind is not each.POSITIONAL_ONLY]


def _refuse_other_parameters(function: Callable[..., Any], target: str) -> None:
    """Refuse a function that a message alone cannot call, or that says it takes a list."""
    try:
        # Those of a decorator's own function, which may pass more to the function that it decorates.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return
    try:
        first = next(iter(signature.bind("").signature.parameters.values()))
    except TypeError:
        first = None
    if first is None or _is_list(first.annotation):
        raise UsageError(
            f"`python:{target}` takes `{signature}`: an agent takes the message, `messages` or both, and `stubs`"
        )


def _is_list(annotation: object) -> bool:
    """Whether a parameter's annotation, which may be written as a text, is that of a list."""
    if isinstance(annotation, str):
        name = annotation.partition("[")[0].rpartition(".")[2]
    else:
        name = getattr(get_origin(annotation) or annotation, "__name__", "")
    return name in ("list", "List", "Sequence")


def _makes_agents(found: object) -> bool:
    """Whether it is a class, or a function without parameters."""
    if inspect.isfunction(found) and not inspect.iscoroutinefunction(found):
        return not inspect.signature(found).parameters
    return inspect.isclass(found)


def _made(found: Any, target: str) -> object:
    try:
        return found()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise UsageError(f"`python:{target}` cannot be made without arguments: {said_by(error)}") from None


def installed_agent(name: str, argument: str) -> Agent | None:
    """The agent that a package makes; None if none offers one of this name.

    Raises:
        UsageError: when the package cannot be loaded, makes no agent, or refuses the argument.
    """
    if name not in base.names_offered("evalc.agents"):
        return None
    try:
        factory = base.load_offered("evalc.agents", name)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"the package of the agent `{name}` cannot be imported: {said_by(error)}") from error
    if not callable(factory):
        raise UsageError(f"the package of the agent `{name}` offers no function but a `{type(factory).__name__}`")
    try:
        agent: object = factory(argument)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"the agent `{name}` cannot be made: {said_by(error)}") from error
    return _checked(name, agent)


def unknown_agent(name: str, forms: Sequence[str], named: Sequence[str]) -> NoReturn:
    """Say that this kind of agent is unknown; `forms` are the known specs, `named` the agents of the configuration."""
    offered = base.names_offered("evalc.agents")
    packages = f", or of an installed package: {', '.join(f'`{offer}:...`' for offer in offered)}" if offered else ""
    near = or_rather(name, (*named, *dict.fromkeys(map(base.kind_of, forms)), *offered))
    listed = ", ".join(f"`{form}`" for form in (*named, *forms))
    raise UsageError(f"`{name}` names no kind of agent{near}; an agent is one of {listed}{packages}")


def _checked(name: str, agent: object) -> Agent:
    """The agent, known to have what an agent has; what these give is known when they are called."""
    if not _is_agent(agent):
        kind = type(agent).__name__
        raise UsageError(f"the agent `{name}` is a `{kind}`, which has not the `endpoint` and `session` of an agent")
    return agent


def _is_agent(given: object) -> TypeGuard[Agent]:
    return isinstance(getattr(given, "endpoint", None), str) and callable(getattr(given, "session", None))
