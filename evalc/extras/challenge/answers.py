"""Faulty answers for a case: those of broken agents, and the good answer that a case asks for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, final

import msgspec

from evalc.model import checks as c
from evalc.model.answer import AgentAnswer, AgentResponse, AnsweredTurn, ToolCall, Usage
from evalc.model.assertions import assertions
from evalc.model.case import Case
from evalc.model.json import Step, steps
from evalc.runtime.run.ask import whole_of
from evalc.tools.registry import ToolRegistry

# --- answers with a fault --------------------------------------------------------------------------------------------


_CHARACTERS_A_TOKEN: Final = 4


class Mutant(NamedTuple):
    """An answer with a fault."""

    challenger: str  # the name of the fault
    difference: str  # what the fault is, in words or as `before → after`
    answer: AgentAnswer
    # checks that may distinguish it from a good answer, the best first; may be iterated once
    cures: Iterable[c.Check] = ()
    good: AgentAnswer | None = None  # the answer that it was made from; None if it was made from none


def cut(text: str, longest: int) -> str:
    """The text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def answered(text: str, calls: tuple[ToolCall, ...] = ()) -> AgentResponse:
    """A response that costs nothing and keeps to every limit but those of its text."""
    usage = Usage(input_tokens=1, output_tokens=len(text) // _CHARACTERS_A_TOKEN, cost_usd=0.0)
    return AgentResponse(response=text, tool_calls=calls, usage=usage)


def replies(case: Case, responses: list[AgentResponse]) -> AgentAnswer:
    """The answer of an agent that says this, a response for each turn of the case."""
    if not case.input.follow_ups and case.input.user is None:
        return AgentAnswer(1.0, responses[0])
    turns = tuple(
        AnsweredTurn(message, response, 1.0) for message, response in zip(messages_of(case), responses, strict=True)
    )
    return AgentAnswer(float(len(turns)), whole_of(responses), turns=turns)


def messages_of(case: Case) -> tuple[str, ...]:
    """The messages to the agent, turn by turn; of a simulated user only the first."""
    user = case.input.user
    if user is not None:
        return (user.opens or user.goal,)
    return (case.input.message, *(case.input.follow_ups or ()))


def with_response(answer: AgentAnswer, text: str, calls: tuple[ToolCall, ...]) -> AgentAnswer:
    """The answer with another text and other calls; of a conversation it is the last turn that has them."""
    like = answer.response or AgentResponse(response="")
    changed = msgspec.structs.replace(like, response=text, tool_calls=calls)
    if not answer.turns:
        return answer._replace(response=changed)
    last = answer.turns[-1]
    changed = msgspec.structs.replace(last.response, response=text, tool_calls=calls)
    turns = (*answer.turns[:-1], last._replace(response=changed))
    return answer._replace(response=whole_of([turn.response for turn in turns]), turns=turns)


def last_response(answer: AgentAnswer) -> AgentResponse:
    """The response that `with_response` changes."""
    return answer.turns[-1].response if answer.turns else answer.response or AgentResponse(response="")


# --- the good answer -------------------------------------------------------------------------------------------------


_ANYTHING: Final = "Done."
_FILLER: Final = "And so on. "
_LONGEST: Final = 100_000
_MOST_ITEMS: Final = 100
_OF_TYPE: Final[Mapping[str, Any]] = {
    "string": "text",
    "number": 1,
    "integer": 1,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


def good_answer(case: Case, tools: ToolRegistry | None) -> AgentResponse:
    """The guess: the texts that the checks require, after `expected`; the tools that they require."""
    required = _Required(tools)
    for assertion in assertions(case.expect):
        required.add(assertion.check)
    if case.label is not None and case.label.path is None:
        required.add(c.Equals(value=case.label.expected))
    return answered(required.text(case.expected or ""), tuple(required.calls()))


@final
class _Required:
    """Requirements of the checks, as far as they have been read."""

    def __init__(self, tools: ToolRegistry | None) -> None:
        self._tools = tools
        self._parts: list[str] = []
        self._begins = self._ends = ""
        self._whole: str | None = None
        self._least = 0
        self._json: Any = None
        self._is_json = False
        self._names: list[str] = []
        self._params: dict[str, dict[str, Any]] = {}

    def add(self, check: c.Check) -> None:
        """Take in what one check wants."""
        match check:
            case c.Contains(value=value) | c.IContains(value=value) | c.Similar(value=value):
                self._parts.append(value)
            case c.ContainsAny(values=(first, *_)):
                self._parts.append(first)
            case c.Equals(value=value):
                self._whole = value
            case c.StartsWith(value=value):
                self._begins = value
            case c.EndsWith(value=value):
                self._ends = value
            case c.Length(min=int() as least, unit="chars"):
                self._least = max(self._least, least)
            case c.Length(min=int() as least):
                self._least = max(self._least, least * len(_FILLER))
            case c.Structure(headings=headings) if headings:
                self._parts += [f"\n# {heading}\n" for heading in headings]
            case c.Json() | c.Structure() | c.At():
                self._is_json = True
                self._add_json(check)
            case c.AnyOf(checks=(first, *_)):
                self.add(first)
            case c.AllOf(checks=checks):
                for each in checks:
                    self.add(each)
            case _:
                self._add_calls(check)

    def _add_json(self, check: c.Json | c.Structure | c.At) -> None:
        match check:
            case c.Json(mode="array"):
                self._json = self._json or []
            case c.Structure(fields=fields):
                for field in fields:
                    self._json = _placed(self._json, steps(field.path), _OF_TYPE.get(field.type or "string", "text"))
            case c.At(path=path, check=inner):
                value = _value_for(inner)
                if value is not None:
                    self._json = _placed(self._json, steps(path), value)
            case _:
                pass

    def _add_calls(self, check: c.Check) -> None:
        match check:
            case c.ToolsCalled(names=names) | c.ToolsInOrder(names=names) | c.ToolsInclude(names=names):
                if len(names) > len(self._names):
                    self._names = list(names)
            case c.ToolsAcceptable(sets=sets):
                chosen = next((names for names in sets if names != (c.NO_TOOL,)), ())
                self._names = self._names or list(chosen)
            case c.ToolParam(tool=tool, param_name=name, assertion=assertion, value=value):
                if assertion != "notExists":
                    chosen_value = value[0] if isinstance(value, tuple) and value else value
                    self._params.setdefault(tool, {})[name] = "text" if chosen_value is None else chosen_value
            case c.CallHas(tool=tool, which=which, args=args) if which != "no":
                for name, test in args.items():
                    if "." not in name and "[" not in name:
                        self._params.setdefault(tool, {})[name] = _argument(test)
            case _:
                pass

    def calls(self) -> Iterator[ToolCall]:
        """The calls of the required tools, with the required parameters."""
        for name in [*self._names, *(tool for tool in self._params if tool not in self._names)]:
            yield ToolCall(name=name, success=True, params={**self._required(name), **self._params.get(name, {})})

    def _required(self, name: str) -> dict[str, Any]:
        tool = None if self._tools is None else self._tools.get(name)
        schema = {} if tool is None or tool.parameters is None else tool.parameters
        properties: Any = schema.get("properties")
        required: Any = schema.get("required")
        if not isinstance(properties, Mapping) or not isinstance(required, list):
            return {}
        return {key: _of_schema(properties.get(key)) for key in required if isinstance(key, str)}

    def text(self, base: str) -> str:
        """The required text; it begins with `base`, if nothing says otherwise."""
        if self._whole is not None:
            return self._whole
        if self._is_json:
            return json.dumps({} if self._json is None else self._json, ensure_ascii=False)
        missing = [part for part in self._parts if part not in base]
        text = " ".join(part for part in (self._begins, base, *missing) if part) or _ANYTHING
        room = min(self._least, _LONGEST) - len(text) - len(self._ends)
        if room > 0:
            text += " " + _FILLER * (room // len(_FILLER) + 1)
        return text + (f" {self._ends}" if self._ends and not text.endswith(self._ends) else "")


def _placed(inner: Any, path: Sequence[Step], value: object) -> Any:
    """The JSON with a value at a place of it, unless something is there; its parents are made."""
    if not path:
        return value if inner is None else inner
    (kind, step), *rest = path
    if kind == "key":
        members = inner if isinstance(inner, dict) else {}
        return {**members, step: _placed(members.get(step), rest, value)}
    index = 0 if kind == "every" else min(int(step), _MOST_ITEMS)
    items = list(inner) if isinstance(inner, list) else []
    items += [None] * (index + 1 - len(items))
    items[index] = _placed(items[index], rest, value)
    return items


def required_tools(check: c.Check) -> tuple[str, ...]:
    """The tools that a check wants called."""
    match check:
        case c.ToolsCalled(names=names) | c.ToolsInclude(names=names) | c.ToolsInOrder(names=names):
            return names
        case c.ToolsAcceptable(sets=sets):
            return tuple(name for names in sets for name in names if name != c.NO_TOOL)
        case c.ToolParam(tool=tool):
            return (tool,)
        case c.CallHas(tool=tool, which=which) if which != "no":
            return (tool,)
        case _:
            return ()


def _value_for(check: c.Check) -> object:
    """A value that passes the check at a place; None if it cannot be guessed."""
    match check:
        case c.Value(value=value):
            return value
        case c.Contains() | c.IContains() | c.Equals() | c.StartsWith() | c.EndsWith():
            return check.value
        case c.ContainsAny(values=(first, *_)):
            return first
        case c.Number(min=least, max=most):
            return least if least is not None else most
        case c.Count(min=least, max=most):
            count = least if least is not None else most or 0
            return ["text"] * min(count, _MOST_ITEMS)
        case c.NonEmpty() | c.Length():
            return "text"
        case _:
            return None


def _argument(test: c.ArgTest) -> object:
    if test.one_of:
        return test.one_of[0]
    equal = "text" if test.equals is msgspec.UNSET else test.equals
    return next((each for each in (test.contains, test.min, test.max) if each is not None), equal)


def _of_schema(schema: object) -> object:
    """A value that a parameter's JSON Schema takes, as far as its simplest keywords say."""
    if not isinstance(schema, Mapping):
        return "text"
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if isinstance(options := schema.get("enum"), list) and options:
        return options[0]
    return _OF_TYPE.get(str(schema.get("type")), "text")


# --- broken agents ---------------------------------------------------------------------------------------------------


_REFUSAL: Final = "I can't help with that."
_APOLOGY: Final = "I'm sorry, something went wrong. Please try again later."
_LONGEST_QUOTED: Final = 80
_SHORTEST_QUOTED: Final = 3
_SPARE_TOOL: Final = "unneeded_tool"
_LONGEST_SHOWN: Final = 60


class Around(NamedTuple):
    """Surroundings of a case."""

    # the id and the good answer of another case of the suite, which sends something else
    neighbour: tuple[str, AgentAnswer] | None = None
    tools: ToolRegistry | None = None
    names: Sequence[str] = ()  # the tools that the cases of the suite call, in their order


def broken_agents(case: Case, good: AgentAnswer, around: Around) -> Iterator[Mutant]:
    """The answer of each broken agent to the case; agents whose fault cannot occur in the case are left out."""
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
