"""Answers calls of tools with the stubs of a case, for models and for Python agents that take `stubs`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from threading import Lock
from typing import Any, final

import msgspec

from evalc.base.terminal import excerpt
from evalc.check.values import text_of
from evalc.model.answer import AgentRequest, AgentResponse, ToolCall
from evalc.model.case import StubAnswer, StubResult
from evalc.model.json import includes
from evalc.runtime.agents import wire


class StubError(Exception):
    """A call of a stub that fails; its text is the `error` of the stub."""


@final
class Stubs:
    """The stubs of one attempt at a case, and how far its sequences have come.

    What a conversation keeps from turn to turn is its `state`, which is plain JSON: no attempt shares it with another.
    """

    def __init__(self, request: AgentRequest) -> None:
        self.tools: Collection[str] = request.stubbed or ()
        self.state: dict[str, int] = dict((request.state or {}).get("stubs", {}))
        self._results = request.stubs or {}
        self._answers = request.stub_answers or {}
        self._lock = Lock()

    def answer(self, tool: str, arguments: Mapping[str, Any]) -> StubResult:
        """The result or the error of a call of a tool that has a stub."""
        if tool not in self._answers:
            return StubResult(answer=self._results[tool])
        for index, answer in enumerate(self._answers[tool]):
            if includes(arguments, answer.when or {}):
                return self._next(f"{index} {tool}", answer)
        return StubResult(error=f"the stub of `{tool}` has no answer for {excerpt(text_of(arguments))}")

    def _next(self, name: str, answer: StubAnswer) -> StubResult:
        if answer.sequence is None:
            return StubResult(answer=answer.answer, error=answer.error)
        with self._lock:  # agents may call tools in threads
            made = self.state.get(name, 0)
            self.state[name] = made + 1
        return answer.sequence[min(made, len(answer.sequence) - 1)]


def call_of(tool: str, arguments: dict[str, Any], result: StubResult) -> ToolCall:
    """The call as results have it."""
    if result.error is not None:
        return ToolCall(name=tool, success=False, duration_ms=0.0, params=arguments, error=result.error)
    return ToolCall(name=tool, success=True, duration_ms=0.0, params=arguments, result=result.answer)


@final
class StubTools(Mapping[str, Callable[..., Any]]):
    """The stubs as a Python agent is given them: by the name of each tool, a function that takes its arguments.

    The function returns what the stub answers, or raises `StubError`. Without stubs there are none.
    """

    def __init__(self, request: AgentRequest) -> None:
        self._stubs = Stubs(request)
        self._calls: list[ToolCall] = []

    def __getitem__(self, tool: str) -> Callable[..., Any]:
        if tool not in self._stubs.tools:
            raise KeyError(f"the case has no stub of `{tool}`")

        def stub(**arguments: Any) -> Any:
            return self._call(tool, arguments)

        stub.__name__ = stub.__qualname__ = tool
        return stub

    def __iter__(self) -> Iterator[str]:
        return iter(self._stubs.tools)

    def __len__(self) -> int:
        return len(self._stubs.tools)

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        sent = wire.json_value(arguments, tool)
        result = self._stubs.answer(tool, sent)
        self._calls.append(call_of(tool, sent, result))
        if result.error is not None:
            raise StubError(result.error)
        return deepcopy(result.answer)  # which the agent may change, and other cases get, too

    def completed(self, response: AgentResponse) -> AgentResponse:
        """The response with what the stubs know: their calls if it reports none, else how each of these ended.

        A failed call that it does not report is added.
        """
        if not self._stubs.tools:
            return response
        calls = self._calls
        if response.reports_calls:
            calls = [*map(self._ended, response.tool_calls)]
            calls += (call for call in self._calls if call.success is False)  # those that are left
        return msgspec.structs.replace(
            response,
            tool_calls=tuple(calls),
            tool_mode="injected",
            reports_calls=response.near_calls is None,
            state={"stubs": self._stubs.state},
        )

    def _ended(self, call: ToolCall) -> ToolCall:
        """A call that the agent reports, as its stub ended it: the first one left with its arguments, or its name."""
        of_tool = [each for each in self._calls if each.name == call.name]
        made = next((each for each in of_tool if each.params == call.params), next(iter(of_tool), None))
        if made is None:
            return call
        self._calls.remove(made)
        return msgspec.structs.replace(made, params=call.params)
