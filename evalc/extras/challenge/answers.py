"""Faulty answers for a case: those of broken agents, and the good answer that a case asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, final

import msgspec

from evalc.check.contract import assertions
from evalc.check.holds import HOLDS, holds
from evalc.check.tree import (
    NO_TOOL,
    All,
    Argument,
    At,
    Bounds,
    Call,
    Check,
    Failure,
    Items,
    Measure,
    Not,
    Of,
    Result,
    Some,
    Test,
    Tools,
)
from evalc.check.values import CannotAsk
from evalc.model.answer import AgentAnswer, AgentResponse, AnsweredTurn, ToolCall, Usage
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
    cures: Iterable[Check] = ()
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
_OF_FORMAT: Final[Mapping[str, str]] = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "someone@example.com",
    "url": "https://example.com",
}
_OF_MARKDOWN: Final[Mapping[str, str]] = {
    "table": "\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n",
    "list": "\n\n- one\n- two\n\n",
    "code block": "\n\n```{}\npass\n```\n\n",
    "link": "[the page](https://example.com)",
}
_IN_LANGUAGE: Final[Mapping[str, str]] = {
    "English": "I have looked into your question, and this is what I found for you.",
    "German": "Ich habe mir Ihre Frage angesehen, und das habe ich f\u00fcr Sie gefunden.",
    "French": "J'ai examin\u00e9 votre question, et voici ce que j'ai trouv\u00e9 pour vous.",
}


class _Good(NamedTuple):
    """How a good value has a predicate: where a text with it stands in a response, and the value for an operand."""

    stands: Literal["within", "first", "last", "alone"]
    value: Callable[[Any], Any]


def _contained(value: Any) -> Any:
    return value if isinstance(value, str) else [value]


def _all_contained(values: Sequence[Any]) -> Any:
    return " ".join(values) if all(isinstance(value, str) for value in values) else list(values)


def _number(bounds: Bounds) -> Any:
    """A number within the bounds."""
    for bound, step in ((bounds.min, 0), (bounds.max, 0), (bounds.above, 1), (bounds.below, -1)):
        if isinstance(bound, int | float):
            other = bounds.below if bound is bounds.above else None
            return (bound + other) / 2 if isinstance(other, int | float) and bound + step >= other else bound + step
    return 1


def _structured(operand: tuple[Sequence[tuple[str, str | None]], Sequence[str]]) -> Any:
    fields, headings = operand
    placed: Any = msgspec.UNSET
    for path, type_ in fields:
        placed = _placed(placed, steps(path), partial(_or_else, value=_OF_TYPE[type_ or "string"]))
    return placed if fields else " ".join(f"\n# {heading}\n" for heading in headings)


_GOOD: Final[Mapping[str, _Good]] = {
    "contains": _Good("within", _contained),
    "contains_any": _Good("within", lambda values: _contained(values[0]) if values else ""),
    "contains_all": _Good("within", _all_contained),
    "occurs": _Good("within", lambda asked: " ".join([asked[0]] * min(int(_number(asked[1])), _MOST_ITEMS))),
    "similar": _Good("within", itemgetter(0)),
    "structure": _Good("within", _structured),
    "markdown": _Good("within", lambda asked: _OF_MARKDOWN[asked[0]].format(asked[1] or "")),
    "language": _Good("within", lambda name: _IN_LANGUAGE.get(name, "text")),
    "starts_with": _Good("first", str),
    "ends_with": _Good("last", str),
    "equals": _Good("alone", str),
    "is": _Good("alone", lambda value: value),
    "one_of": _Good("alone", lambda values: values[0] if values else "text"),
    "between": _Good("alone", _number),
    "within": _Good("alone", itemgetter(1)),
    "empty": _Good("alone", lambda _: ""),
    "is_a": _Good("alone", lambda name: _OF_TYPE[name]),
    "format": _Good("alone", lambda name: _OF_FORMAT[name]),
    "json": _Good("alone", lambda asked: [] if asked[0] == "array" else {}),
    "sorted": _Good("alone", lambda _: []),
    "unique": _Good("alone", lambda _: []),
}
"""The predicates that say how a good value looks; of the others, nothing is guessed but that it is there."""
_OF_MEASURE: Final[Mapping[str, str]] = {
    "chars": "a",
    "bytes": "a",
    "words": "word ",
    "lines": "line\n",
    "sentences": "So it is. ",
    "tokens": "text",
}


def good_value(check: Check, value: Any = msgspec.UNSET) -> Any:
    """A value that passes the check, as far as it can be guessed, made of what is there; unset if nothing may be."""
    match check:
        case Of(Items(path, "no")):
            return _placed(value, steps(path.removesuffix("[]").partition("[]")[0]), partial(_or_else, value=[]))
        case Of(At(path) | Items(path), inner):
            return _placed(value, steps(path), partial(good_value, inner))
        case Of(Argument(name), inner):
            return _placed(value, (("key", name),), partial(good_value, inner))
        case Of(Measure("items"), Test("between", bounds)):
            return _or_else(value, ["text"] * min(int(_number(bounds)), _MOST_ITEMS))
        case Of(Measure(of), Test("between", bounds)) if of in _OF_MEASURE:
            return _or_else(value, (_OF_MEASURE[of] * min(int(_number(bounds)), _LONGEST)).rstrip())
        case All(checks):
            return reduce(lambda made, part: good_value(part, made), checks, value)
        case Some((first, *_)):
            return good_value(first, value)
        case Not(Test("exists")):
            return value
        case Not(inner):
            return _or_else(value, _bad_value(inner))
        case Test(predicate, operand) if predicate in _GOOD:
            return _or_else(value, _GOOD[predicate].value(operand))
        case _:
            return _or_else(value, "text")


def _bad_value(check: Check) -> Any:
    """A value that can be asked, and does not pass the check."""
    other = another(good_value(check))
    if isinstance(check, Test) and check.predicate in HOLDS:
        for value in (other, "text", 1, [], [2, 1, 1], [1, 2]):
            with suppress(CannotAsk):
                if not holds(value, check):
                    return value
    return other


def _or_else(there: Any, value: Any) -> Any:
    return value if there is msgspec.UNSET else there


def _placed(inner: Any, path: Sequence[Step], put: Callable[[Any], Any]) -> Any:
    """The JSON with what `put` makes of a place of it in that place; its parents are made."""
    if not path:
        return put(inner)
    (kind, step), *rest = path
    if kind == "key":
        members = inner if isinstance(inner, dict) else {}
        placed = _placed(members.get(step, msgspec.UNSET), rest, put)
        return members if placed is msgspec.UNSET else {**members, step: placed}
    index = 0 if kind == "every" else min(int(step), _MOST_ITEMS)
    items = list(inner) if isinstance(inner, list) else []
    items += [None] * (index - len(items))
    placed = _placed(items[index] if index < len(items) else msgspec.UNSET, rest, put)
    items[index : index + 1] = [None if placed is msgspec.UNSET else placed]
    return items


def good_answer(case: Case, tools: ToolRegistry | None) -> AgentResponse:
    """The guess: the texts that the checks require, after `expected`; the tools that they require."""
    required = _Required(tools)
    for assertion in assertions(case.expect):
        required.add(assertion.check)
    if case.label is not None and case.label.path is None:
        required.add(Test("equals", case.label.expected))
    return answered(required.text(case.expected or ""), tuple(required.calls()))


@final
class _Required:
    """Requirements of the checks, as far as they have been read."""

    def __init__(self, tools: ToolRegistry | None) -> None:
        self._tools = tools
        self._texts: dict[str, list[str]] = {"first": [], "within": [], "last": [], "alone": []}
        self._least = 0
        self._json: Any = msgspec.UNSET
        self._names: list[str] = []
        self._times: dict[str, int] = {}
        self._params: dict[str, Any] = {}
        self._results: dict[str, Any] = {}
        self._errors: dict[str, str] = {}

    def add(self, check: Check) -> None:
        """Take in what one check requires."""
        match check:
            case Some((first, *_)):
                self.add(first)
            case All(checks):
                for each in checks:
                    self.add(each)
            case Of(Tools(), Test(predicate, names)):
                self._add_names(predicate, names)
            case Of(Measure("calls", tool), Test("between", bounds)) if tool:
                self._times[tool] = int(_number(bounds))
            case Of(Call(tool, which), inner) if which != "no":
                if isinstance(which, int):
                    self._times[tool] = max(which, self._times.get(tool, 0))
                self._add_call(tool, inner)
            case Of(Measure(of), Test("between", Bounds(min=int() as least))) if of in _OF_MEASURE:
                self._least = max(self._least, least * (1 if of == "chars" else len(_FILLER)))
            case Of(At() | Items() | Measure("items")):
                made = good_value(check, self._json)
                self._json = {} if made is msgspec.UNSET else made
            case Test(predicate) if predicate in _GOOD:
                value = good_value(check)
                if isinstance(value, str):
                    self._texts[_GOOD[predicate].stands].append(value)
                else:
                    self._json = good_value(check, self._json)
            case _:
                pass

    def _add_names(self, predicate: str, names: Any) -> None:
        if predicate == "acceptable":
            chosen = next((each for each in names if each != (NO_TOOL,)), ())
            self._names = self._names or list(chosen)
        elif predicate in _REQUIRE and len(names) > len(self._names):
            self._names = list(names)

    def _add_call(self, tool: str, check: Check) -> None:
        match check:
            case Of(Result(), inner):
                self._results[tool] = good_value(inner, self._results.get(tool, msgspec.UNSET))
            case Of(Failure(), inner):
                error = good_value(inner)
                self._errors[tool] = error if isinstance(error, str) else _json(error)
            case Test("fails"):
                self._errors[tool] = "the tool failed"
            case _:
                made = good_value(check, self._params.get(tool, msgspec.UNSET))
                self._params[tool] = made if isinstance(made, dict) else {}

    def calls(self) -> Iterator[ToolCall]:
        """The calls of the required tools, with the required parameters."""
        named = dict.fromkeys((*self._params, *self._results, *self._errors, *self._times))
        names = [*self._names, *(tool for tool in named if tool not in self._names and self._times.get(tool) != 0)]
        for name in (*names, *(tool for tool, times in self._times.items() for _ in range(names.count(tool), times))):
            yield ToolCall(
                name=name,
                success=name not in self._errors,
                params={**self._required(name), **self._params.get(name, {})},
                result=self._results.get(name, msgspec.UNSET),
                error=self._errors.get(name, msgspec.UNSET),
            )

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
        if self._texts["alone"]:
            return self._texts["alone"][-1]
        if self._json is not msgspec.UNSET:
            return _json(self._json)
        begins, ends = ("".join(self._texts[stands][-1:]) for stands in ("first", "last"))
        missing = [part for part in self._texts["within"] if part not in base]
        text = " ".join(part for part in (begins, base, *missing) if part) or _ANYTHING
        room = min(self._least, _LONGEST) - len(text) - len(ends)
        if room > 0:
            text += " " + _FILLER * (room // len(_FILLER) + 1)
        return text + (f" {ends}" if ends and not text.endswith(ends) else "")


_REQUIRE: Final = frozenset({"called", "include", "in_order", "before"})
"""The predicates of the names of tools that require the tools to be called."""


def required_tools(check: Check) -> tuple[str, ...]:
    """The tools that a check requires to be called."""
    match check:
        case Of(Tools(), Test(predicate, names)) if predicate in _REQUIRE:
            return tuple(names)
        case Of(Tools(), Test("acceptable", sets)):
            return tuple(name for names in sets for name in names if name != NO_TOOL)
        case Of(Call(tool, which)) if which != "no":
            return (tool,)
        case Of(Measure("calls", tool), Test("between", bounds)) if tool and _number(bounds) > 0:
            return (tool,)
        case _:
            return ()


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

    def saying(name: str, texts: Sequence[str], *cures: Check) -> Mutant:
        answer = replies(case, [answered(text) for text in texts])
        return Mutant(name, f"answers {_shown(texts[-1])}", answer, cures)

    yield saying("silent", [""] * len(said), Test("non_empty"))
    if said[-1].strip():
        yield saying("echo-message", said, *_not_quoting(said[-1]))
    system = case.input.system
    if system:
        yield saying("echo-prompt", [f"{system}\n\n{text}" for text in said], *_not_quoting(system))
    yield saying("refusal", [_REFUSAL] * len(said), Not(Test("contains", "I can't help")))
    yield saying("apology", [_APOLOGY] * len(said), Not(Test("contains", "something went wrong")))


def _of_texts(case: Case, good: AgentAnswer, around: Around) -> Iterator[Mutant]:
    response = last_response(good)
    text, calls = response.response, response.tool_calls

    def saying(name: str, difference: str, changed: str, *cures: Check) -> Mutant:
        return Mutant(name, difference, with_response(good, changed, calls), cures, good)

    system = case.input.system
    if system:
        changed = f"{system}\n\n{text}"
        yield saying("leaked-prompt", f"begins with {_shown(system)}", changed, *_not_quoting(system))
    leaked = json.dumps({"role": "assistant", "content": [{"type": "text", "text": text}]}, ensure_ascii=False)
    yield saying("leaked-json", f"answers {_shown(leaked)}", leaked, Not(Test("json", ("strict", None))))
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

    def calling(name: str, difference: str, changed: tuple[ToolCall, ...], *cures: Check) -> Mutant:
        return Mutant(name, difference, with_response(good, text, changed), cures, good)

    if len(set(names)) > 1:
        changed = (*calls[1:], calls[0]) if names[0] != names[-1] else calls[::-1]
        if tuple(call.name for call in changed) != names:
            difference = f"calls {_listed(changed)} instead of {_listed(calls)}"
            yield calling("tools-reordered", difference, changed, *order_of(case, names))
    left = calls[:-1]
    if frozenset(call.name for call in left) not in acceptable and (left or NO_TOOL not in _flat(case)):
        difference = f"calls {_listed(left)} instead of {_listed(calls)}"
        yield calling("tool-missing", difference, left, *names_of(case, names), Of(Tools(), Test("include", names)))
    wrong = tuple(_wrongly(call, tools) for call in calls)
    if wrong != calls:
        difference = f"calls `{in_words(wrong[0])}` instead of `{in_words(calls[0])}`"
        cures = [cure for call in calls for cure in arguments_of(call)]
        yield calling("wrong-arguments", difference, wrong, *cures)
    broken = tuple(msgspec.structs.replace(call, success=False, error="the tool failed") for call in calls)
    yield calling("tool-errors", f"every call of {_listed(calls)} fails", broken, Of(Tools(), Test("no_errors")))


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
    cures = (*names_of(case, names), Of(Tools(), Test("only", names))) if names else (Of(Tools(), Test("called", ())),)
    yield Mutant("tool-extra", f"calls {_listed(changed)}", answer, cures, good)


def names_of(case: Case, names: tuple[str, ...]) -> tuple[Check, ...]:
    """The check that just these tools are called; none for a case that says already which."""
    says = case.expect.tools_called is not None or case.expect.tools_acceptable is not None
    return () if says else (Of(Tools(), Test("called", names)),)


def order_of(case: Case, names: tuple[str, ...]) -> tuple[Check, ...]:
    """Checks of the order in which tools are called."""
    return (Of(Tools(), Test("in_order", names)), *names_of(case, names))


def arguments_of(call: ToolCall) -> Iterator[Check]:
    """Checks of each argument of a call."""
    for name, value in call.params.items():
        match value:
            case str() if len(value) <= _LONGEST_QUOTED:
                yield Of(Call(call.name, "first"), Of(Argument(name), Test("equals", value)))
            case bool() | int() | float():
                yield Of(Call(call.name), Of(At(name), Test("is", value)))
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


def _not_quoting(text: str) -> Iterator[Check]:
    lines = [line.strip() for line in text.splitlines()]
    for line in lines:
        if _SHORTEST_QUOTED <= len(line) <= _LONGEST_QUOTED:
            yield Not(Test("contains", line))
    long = max(lines, key=len, default="")
    if len(long) > _LONGEST_QUOTED:
        yield Not(Test("contains", long[:_LONGEST_QUOTED].rsplit(" ", 1)[0]))


def _saying(rest: str) -> Iterator[Check]:
    """Checks that the answer has what is at the end of a good answer."""
    for words in sorted(rest.split(), key=len, reverse=True)[:_SHORTEST_QUOTED]:
        word = words.strip(".,;:!?()[]{}\"'`*_")
        if _SHORTEST_QUOTED < len(word) <= _LONGEST_QUOTED:
            yield Test("contains", word)


def _of_inputs(case: Case, text: str) -> tuple[Check, ...]:
    """Checks that the answer names what the case is about: its inputs that a good answer names."""
    values = [value for value in (case.input.inputs or {}).values() if isinstance(value, str)]
    return tuple(
        Test("contains", value)
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
