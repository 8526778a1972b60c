"""The deliberately broken agents that a case is challenged with, and checks that tell each from a good one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from evalc.challenge.mutant import Mutant, answered, cut, last_response, messages_of, replies, with_response
from evalc.model import checks as c
from evalc.model.answer import AgentAnswer, ToolCall
from evalc.model.case import Case
from evalc.tools.registry import ToolRegistry

_REFUSAL: Final = "I can't help with that."
_APOLOGY: Final = "I'm sorry, something went wrong. Please try again later."
_LONGEST_QUOTED: Final = 80
_SHORTEST_QUOTED: Final = 3
_SPARE_TOOL: Final = "unneeded_tool"
_LONGEST_SHOWN: Final = 60


class Around(NamedTuple):
    """What surrounds a case.

    Attributes:
        neighbour: the id and the good answer of another case of the suite, which sends something else.
        tools: the tool registry.
        names: the tools that the cases of the suite call, in their order.
    """

    neighbour: tuple[str, AgentAnswer] | None = None
    tools: ToolRegistry | None = None
    names: Sequence[str] = ()


def broken_agents(case: Case, good: AgentAnswer, around: Around) -> Iterator[Mutant]:
    """What each broken agent answers to the case; agents whose fault cannot occur in the case are left out."""
    yield from _without_good(case)
    yield from _of_texts(case, good, around)
    calls = last_response(good).tool_calls
    if calls:
        yield from _of_calls(case, good, calls, around.tools)
    yield from _one_too_many(case, good, calls, around)


def _without_good(case: Case) -> Iterator[Mutant]:
    said = messages_of(case)

    def saying(name: str, texts: Sequence[str], *cures: c.Check) -> Mutant:
        answer = replies(case, [answered(text) for text in texts])
        return Mutant(name, f"answers {_shown(texts[-1])}", answer, cures)

    yield saying("silent", [""] * len(said), c.NonEmpty())
    if said[-1].strip():
        yield saying("echo-message", said, *_not_quoting(said[-1]))
    system = case.input.system
    if system:
        yield saying("echo-prompt", [f"{system}\n\n{text}" for text in said], *_not_quoting(system))
    yield saying("refusal", [_REFUSAL] * len(said), c.NotContains(value="I can't help"))
    yield saying("apology", [_APOLOGY] * len(said), c.NotContains(value="something went wrong"))


def _of_texts(case: Case, good: AgentAnswer, around: Around) -> Iterator[Mutant]:
    response = last_response(good)
    text, calls = response.response, response.tool_calls

    def saying(name: str, difference: str, changed: str, *cures: c.Check) -> Mutant:
        return Mutant(name, difference, with_response(good, changed, calls), cures, good)

    system = case.input.system
    if system:
        changed = f"{system}\n\n{text}"
        yield saying("leaked-prompt", f"begins with {_shown(system)}", changed, *_not_quoting(system))
    leaked = json.dumps({"role": "assistant", "content": [{"type": "text", "text": text}]}, ensure_ascii=False)
    yield saying("leaked-json", f"answers {_shown(leaked)}", leaked, c.Not(check=c.Json()))
    kept = _first_half(text)
    if kept is not None:
        yield saying("truncated", f"ends after {_shown(kept[-_LONGEST_SHOWN:])}", kept, *_saying(text[len(kept) :]))
    if around.neighbour is not None:
        id_, answer = around.neighbour
        other = last_response(answer)
        if other.response != text:
            cures = _of_inputs(case, text)
            changed_answer = with_response(good, other.response, other.tool_calls)
            yield Mutant("neighbour", f"gives the answer of `{id_}`", changed_answer, cures, good)


def _of_calls(
    case: Case, good: AgentAnswer, calls: tuple[ToolCall, ...], tools: ToolRegistry | None
) -> Iterator[Mutant]:
    text = last_response(good).response
    names = tuple(call.name for call in calls)
    acceptable = {frozenset(names) for names in case.expect.tools_acceptable or ()}

    def calling(name: str, difference: str, changed: tuple[ToolCall, ...], *cures: c.Check) -> Mutant:
        return Mutant(name, difference, with_response(good, text, changed), cures, good)

    if len(set(names)) > 1:
        changed = (*calls[1:], calls[0]) if names[0] != names[-1] else calls[::-1]
        if tuple(call.name for call in changed) != names:
            difference = f"calls {_listed(changed)} instead of {_listed(calls)}"
            yield calling("tools-reordered", difference, changed, *order_of(case, names))
    left = calls[:-1]
    if frozenset(call.name for call in left) not in acceptable and (left or c.NO_TOOL not in _flat(case)):
        difference = f"calls {_listed(left)} instead of {_listed(calls)}"
        yield calling("tool-missing", difference, left, *names_of(case, names), c.ToolsInclude(names=names))
    wrong = tuple(_wrongly(call, tools) for call in calls)
    if wrong != calls:
        difference = f"calls `{in_words(wrong[0])}` instead of `{in_words(calls[0])}`"
        cures = [cure for call in calls for cure in arguments_of(call)]
        yield calling("wrong-arguments", difference, wrong, *cures)
    broken = tuple(msgspec.structs.replace(call, success=False, error="the tool failed") for call in calls)
    yield calling("tool-errors", f"every call of {_listed(calls)} fails", broken, c.NoToolErrors())


def _one_too_many(case: Case, good: AgentAnswer, calls: tuple[ToolCall, ...], around: Around) -> Iterator[Mutant]:
    """A call that nobody needed, where the agent has tools at all."""
    if not around.names and not around.tools:
        return
    names = tuple(call.name for call in calls)
    spared = {*names, *(case.expect.tools_not_called or ()), *_flat(case)}
    known = [*(around.tools or ()), *around.names]
    extra = next((name for name in known if name not in spared), _SPARE_TOOL)
    changed = (*calls, ToolCall(name=extra, success=True))
    answer = with_response(good, last_response(good).response, changed)
    cures = (*names_of(case, names), c.ToolsOnly(names=names)) if names else (c.ToolsCalled(names=()),)
    yield Mutant("tool-extra", f"calls {_listed(changed)}", answer, cures, good)


def names_of(case: Case, names: tuple[str, ...]) -> tuple[c.Check, ...]:
    """The check that just these tools are called; none for a case that says already which."""
    says = case.expect.tools_called is not None or case.expect.tools_acceptable is not None
    return () if says else (c.ToolsCalled(names=names),)


def order_of(case: Case, names: tuple[str, ...]) -> tuple[c.Check, ...]:
    """Checks of the order in which tools are called."""
    return (c.ToolsInOrder(names=names), *names_of(case, names))


def arguments_of(call: ToolCall) -> Iterator[c.Check]:
    """Checks of each argument of a call."""
    for name, value in call.params.items():
        match value:
            case str() if len(value) <= _LONGEST_QUOTED:
                yield c.ToolParam(tool=call.name, param_name=name, assertion="equals", value=value)
            case bool() | int() | float():
                yield c.CallHas(tool=call.name, args={name: c.ArgTest(equals=value)})
            case _:
                continue


def in_words(call: ToolCall) -> str:
    """A call as a reader writes it, cut where it is long."""
    params = ", ".join(f"{name}: {_json(value)}" for name, value in call.params.items())
    return cut(f"{call.name}({params})", _LONGEST_SHOWN)


def another(value: object) -> object:
    """A value of the same type that is another one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1000
        case str():
            return "something else"
        case list():
            return [another(item) for item in value] if value else ["something else"]
        case dict():
            return {key: another(item) for key, item in value.items()}
        case _:
            return "something else"


def _wrongly(call: ToolCall, tools: ToolRegistry | None) -> ToolCall:
    """The call with every argument another one; with an invented argument if none is known."""
    tool = None if tools is None else tools.get(call.name)
    takes_none = tool is not None and tool.parameters is not None and not tool.parameters.get("properties")
    params: dict[str, Any] = {name: another(value) for name, value in call.params.items()}
    if not params and not takes_none:
        params = {"input": another("")}
    return msgspec.structs.replace(call, params=params)


def _not_quoting(text: str) -> Iterator[c.Check]:
    """Checks that the answer does not quote the text."""
    lines = [line.strip() for line in text.splitlines()]
    for line in lines:
        if _SHORTEST_QUOTED <= len(line) <= _LONGEST_QUOTED:
            yield c.NotContains(value=line)
    long = max(lines, key=len, default="")
    if len(long) > _LONGEST_QUOTED:
        yield c.NotContains(value=long[:_LONGEST_QUOTED].rsplit(" ", 1)[0])


def _saying(rest: str) -> Iterator[c.Check]:
    """Checks that the answer has what is at the end of a good answer."""
    for words in sorted(rest.split(), key=len, reverse=True)[:_SHORTEST_QUOTED]:
        word = words.strip(".,;:!?()[]{}\"'`*_")
        if _SHORTEST_QUOTED < len(word) <= _LONGEST_QUOTED:
            yield c.Contains(value=word)


def _of_inputs(case: Case, text: str) -> tuple[c.Check, ...]:
    """Checks that the answer names what the case is about: its inputs that a good answer names."""
    values = [value for value in (case.input.inputs or {}).values() if isinstance(value, str)]
    return tuple(
        c.Contains(value=value)
        for value in values
        if _SHORTEST_QUOTED <= len(value) <= _LONGEST_QUOTED and value in text
    )


def _first_half(text: str) -> str | None:
    """The text up to the word in its middle; None if there is no half to leave out."""
    words = text.split()
    if len(words) < 2:
        return None
    half = text[: len(text) // 2]
    kept = half.rsplit(maxsplit=1)[0] if len(half.split()) > 1 else words[0]
    return kept if kept.strip() != text.strip() else None


def _flat(case: Case) -> set[str]:
    return {name for names in case.expect.tools_acceptable or () for name in names}


def _listed(calls: Sequence[ToolCall]) -> str:
    return ", ".join(f"`{call.name}`" for call in calls) or "no tool"


def _shown(text: str) -> str:
    return f"`{cut(text, _LONGEST_SHOWN)}`" if text else "nothing"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
