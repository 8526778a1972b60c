"""The good answer that a case asks for, as far as it can be guessed from its checks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from evalc.check.contract import assertions
from evalc.check.predicates import HOLDS, PREDICATES, TOOL, holds, texts_of
from evalc.check.tree import (
    NO_TOOL,
    All,
    Argument,
    At,
    Bounds,
    Call,
    Check,
    Failure,
    File,
    Items,
    Measure,
    Not,
    Of,
    Result,
    Some,
    Test,
    Tools,
    Turn,
)
from evalc.check.tree import Step as CheckStep
from evalc.check.values import CannotAsk
from evalc.ecma import length_of
from evalc.model.answer import AgentAnswer, AgentResponse, AnsweredTurn, ToolCall, Usage, WrittenFile
from evalc.model.case import Case
from evalc.model.json import Step, is_number, steps
from evalc.runtime.checks.subjects import count_tokens
from evalc.runtime.run.ask import whole_of
from evalc.tools import Tool, ToolRegistry

# --- answers ---------------------------------------------------------------------------------------------------------


_CHARACTERS_A_TOKEN: Final = 4


def answered(text: str, calls: tuple[ToolCall, ...] = (), written: tuple[WrittenFile, ...] = ()) -> AgentResponse:
    """A response that costs nothing and keeps to every limit but those of its text."""
    usage = Usage(input_tokens=1, output_tokens=len(text) // _CHARACTERS_A_TOKEN, cost_usd=0.0)
    return AgentResponse(response=text, tool_calls=calls, usage=usage, written=written)


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


def last_response(answer: AgentAnswer) -> AgentResponse:
    """The response that mutants change."""
    return answer.turns[-1].response if answer.turns else answer.response or AgentResponse(response="")


# --- the good answer -------------------------------------------------------------------------------------------------


_ANYTHING: Final = "Done."
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
_SAMPLES: Final[Sequence[Any]] = (
    *("text", "", {}, [], 1, True, None, "2026-01-31", "2026-01-31T12:00:00Z"),
    *("00000000-0000-4000-8000-000000000000", "someone@example.com", "https://example.com"),
)
"""Values, one of which passes most checks that no operand says how to pass."""
_OF_MARKDOWN: Final[Mapping[str, str]] = {
    "table": "\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n",
    "list": "\n\n- one\n- two\n\n",
    "code block": "\n\n```{}\npass\n```\n\n",
    "link": "[the page](https://example.com)",
    "heading": "\n\n# Summary\n\n",
}
_IN_LANGUAGE: Final[Mapping[str, str]] = {
    "English": "I have looked into your question, and this is what I found for you.",
    "German": "Ich habe mir Ihre Frage angesehen, und das habe ich f\u00fcr Sie gefunden.",
    "French": "J'ai examin\u00e9 votre question, et voici ce que j'ai trouv\u00e9 pour vous.",
}


def number_in(bounds: Bounds) -> Any:
    """A number within the bounds."""
    low, high = _limits(bounds)
    if low is None:
        return 1 if high is None else high
    return low if high is None or low <= high else (low + high) / 2


def _limits(bounds: Bounds) -> tuple[Any, Any]:
    """The lowest and the highest whole number within the bounds; None where a bound is missing or a token."""
    sides = ((bounds.min, 0), (bounds.above, 1)), ((bounds.max, 0), (bounds.below, -1))
    low, high = (next((bound + step for bound, step in side if is_number(bound)), None) for side in sides)
    return low, high


_MADE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "occurs": lambda asked: " ".join([asked[0]] * min(int(number_in(asked[1])), _MOST_ITEMS)),
    "similar": itemgetter(0),
    "structure": lambda asked: " ".join(f"\n# {heading}\n" for heading in asked[1]),
    "markdown": lambda asked: _OF_MARKDOWN[asked[0]].format(asked[1] or ""),
    "language": lambda name: _IN_LANGUAGE.get(name, "text"),
    "json": lambda asked: [] if asked[0] == "array" else {},
}
"""Make a value that passes, for predicates that a value alone does not decide, or whose operand is none."""
_ANYWHERE, _FIRST, _LENGTH, _LAST, _ALONE, _OTHERS = range(6)
"""When something joins what other checks ask of the same place."""
_PADDING: Final[Mapping[str, str]] = {
    **dict.fromkeys(("chars", "bytes"), " and so on"),
    "tokens": " so",
    "words": " word",
    "lines": "\nline",
    "sentences": " So it is.",
}
"""Texts that make a text longer by one, by its measures; each character counts for one of `chars` and `bytes`."""


def _good(test: Test) -> Any:
    """A value that passes a test by itself; unset if there is none to be found."""
    if test.predicate in _MADE:
        return _MADE[test.predicate](test.operand)
    values = _values(test.operand) if test.predicate in HOLDS else ()
    return next((value for value in values if _has(value, test)), msgspec.UNSET)


def _values(operand: Any) -> Iterator[Any]:
    """Values that may pass a test: those that its operand says, then samples."""
    match operand:
        case None:
            pass
        case Bounds():
            yield number_in(operand)
        case tuple():
            yield from operand
            yield " ".join(map(str, operand))
            yield list(operand)
        case _:
            yield from (operand, [operand])
    yield from _SAMPLES


def _has(value: Any, test: Test, part: Any = msgspec.UNSET) -> bool:
    """Whether a value passes the test; where that takes more than the value, whether it has the part."""
    if test.predicate not in HOLDS:
        return part is value or part in value
    try:
        return holds(value, test)
    except CannotAsk:
        return False
    except TypeError:  # a limit is a token, which anything may become
        return True


def _order(test: Test, value: Any) -> int:
    if isinstance(value, str):
        for text, order in ((f"a {value} a", _ANYWHERE), (f"{value} a", _FIRST), (f"a {value}", _LAST)):
            if _has(text, test, value):
                return order
    return _ALONE


def _joined(test: Test, value: Any, there: Any) -> Any:
    """Change a value so that it passes the test, too; JSON stays, unless the test says which text it is."""
    if not isinstance(there, str):
        is_text = PREDICATES[test.predicate].identity and isinstance(value, str)
        return value if is_text or there is msgspec.UNSET else there
    tries = (there, f"{there} {value}", f"{value} {there}", value) if isinstance(value, str) else (value,)
    return next((each for each in tries if _has(each, test, value)), there)


def _padded(of: Any, bounds: Bounds, there: Any) -> Any:
    """A text made as long as it has to be."""
    text = _ANYTHING if there is msgspec.UNSET else there
    if not isinstance(text, str):
        return there
    size = count_tokens if of == "tokens" else partial(length_of, unit=of)
    low, high = _limits(bounds)
    if there is msgspec.UNSET and high is not None and size(text) > high:
        text = ""
    padding, step = _PADDING[of], 1 if of in ("chars", "bytes") else len(_PADDING[of])
    missing = min(int(low or 0), _LONGEST) - size(text)
    return text + (padding * missing)[: step * max(missing, 0)]


def _or_else(value: Any, there: Any) -> Any:
    return value if there is msgspec.UNSET else there


def _longest(asked: Sequence[Any], there: Any) -> Any:
    return max(there or (), asked, key=len)


_Path = tuple[Step, ...]
_RESPONSE: Final[_Path] = (("key", "response"),)


class _Part(NamedTuple):
    """A part of an answer: its path, when it is put there, and what puts it there, given what is there already."""

    path: _Path
    order: int
    put: Callable[[Any], Any]


def _parts(check: Check, at: _Path) -> Iterator[_Part]:
    """The parts that an answer needs to pass the check, as far as they can be guessed; `at` is where the check asks."""
    match check:
        case Of(step, inner):
            yield from _parts_behind(step, inner, at)
        case All(checks) | Some(checks):
            for each in checks if isinstance(check, All) else checks[:1]:
                yield from _parts(each, at)
        case Test("fails"):
            yield _Part((*at[:-1], ("key", "error")), _OTHERS, partial(_or_else, "the tool failed"))
        case Test("structure", (fields, _)) if fields:
            for path, type_ in fields:
                yield _Part((*at, *steps(path)), _OTHERS, partial(_or_else, _OF_TYPE[type_ or "string"]))
        case Test() if (value := _good(check)) is not msgspec.UNSET:
            yield _Part(at, _order(check, value), partial(_joined, check, value))
        case _ if at != _RESPONSE:
            yield _Part(at, _OTHERS, partial(_or_else, _bad_value(check.check) if isinstance(check, Not) else "text"))


def _parts_behind(step: CheckStep, check: Check, at: _Path) -> Iterator[_Part]:
    """The parts that an answer needs to pass the check of what is behind a step."""
    match step, check:
        case Items(path, "no"), _:
            yield _Part((*at, *steps(path.partition("[]")[0])), _OTHERS, partial(_or_else, []))
        case ((At(path) | Items(path)), _):
            yield from _parts(check, (*at, *steps(path)))
        case File(path), _:
            yield from _parts(check, (("key", "files"), ("key", path)))
        case Argument(name), _:
            yield from _parts(check, (*at, ("key", name)))
        case ((Result() | Failure()), _):
            yield from _parts(check, (*at[:-1], ("key", "result" if isinstance(step, Result) else "error")))
        case Call(tool, which), _ if which != "no":
            times = min(which, _MOST_ITEMS) if isinstance(which, int) else 1
            yield _Part((("key", "times"), ("key", tool)), _OTHERS, partial(_longest, range(times)))
            yield from _parts(check, (("key", "calls"), ("key", tool), ("key", "params")))
        case Measure("calls", tool), Test("between", bounds) if tool:
            times = min(int(number_in(bounds)), _MOST_ITEMS)
            yield _Part((("key", "times"), ("key", tool)), _OTHERS, partial(_longest, range(times)))
        case Measure("items"), Test("between", bounds):
            items = ["text"] * min(int(number_in(bounds)), _MOST_ITEMS)
            yield _Part(at, _LENGTH, lambda there: there if isinstance(there, list | dict) else items)
        case Measure(of), Test("between", bounds) if of in _PADDING:
            yield _Part(at, _LENGTH, partial(_padded, of, bounds))
        case Tools(), Test(operand=tuple(names)) as test:
            called = next((each for each in ((), names, *names) if holds(each, test)), ())
            yield _Part((("key", "names"),), _OTHERS, partial(_longest, called))


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


def good_value(check: Check) -> Any:
    """A value that passes the check, as far as it can be guessed; unset if nothing may be there."""
    return _made(msgspec.UNSET, _parts(check, ()))


def _bad_value(check: Check) -> Any:
    """A value that can be asked, and does not pass the check; unset if nothing may be there."""
    if check == Test("exists"):
        return msgspec.UNSET
    other = another(good_value(check))
    if isinstance(check, Test) and check.predicate in HOLDS:
        for value in (other, "text", 1, [], [2, 1, 1], [1, 2]):
            with suppress(CannotAsk):
                if not holds(value, check):
                    return value
    return other


def _made(there: Any, parts: Iterable[_Part]) -> Any:
    """The value with these parts in it, the innermost ones first."""
    for path, _, put in sorted(parts, key=lambda part: (-len(part.path), part.order)):
        there = _placed(there, path, put)
    return there


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


def good_replies(case: Case, tools: ToolRegistry | None) -> AgentAnswer:
    """The guess: an answer with the texts that the checks require, after `expected`, and the tools.

    In a conversation, each turn has what the checks of that turn require, and the last one what the others do.
    """
    turns = len(messages_of(case))
    checks: list[list[Check]] = [[] for _ in range(turns)]
    for assertion in assertions(case.expect):
        match assertion.check:
            case Of(Turn(number), check) if number <= turns:
                checks[number - 1].append(check)
            case check:
                checks[-1].append(check)
    if case.label is not None and case.label.source == "response":
        checks[-1].append(Test("equals", case.label.expected))
    responses: list[AgentResponse] = []
    for number, of_turn in enumerate(checks, 1):
        begun = {"response": (case.expected if number == turns else None) or msgspec.UNSET}
        made = _made(begun, [part for check in of_turn for part in _parts(check, _RESPONSE)])
        text = _ANYTHING if made["response"] is msgspec.UNSET else made["response"]
        earlier = {call.name for response in responses for call in response.tool_calls}
        names = [name for name in made.get("names", []) if name not in earlier]
        calls = tuple(_calls(names, made.get("times", {}), made.get("calls", {}), tools or {}))
        files = {path: _as_text(inside) for path, inside in made.get("files", {}).items()}
        written = tuple([WrittenFile(path=path, size=len(inside), text=inside) for path, inside in files.items()])
        responses.append(answered(_as_text(text), calls, written))
    return replies(case, responses)


def _calls(
    names: list[str], times: Mapping[str, range], asked: Mapping[str, Any], tools: Mapping[str, Tool]
) -> Iterator[ToolCall]:
    """The calls of the required tools, with the required parameters."""
    for name in (*names, *(tool for tool, often in times.items() for _ in range(names.count(tool), len(often)))):
        call = {"params": {}, "result": msgspec.UNSET, "error": msgspec.UNSET} | asked.get(name, {})
        params, error = call["params"], call["error"]
        yield ToolCall(
            name=name,
            success=error is msgspec.UNSET,
            params={**_required(tools.get(name)), **(params if isinstance(params, dict) else {})},
            result=call["result"],
            error=error if isinstance(error, str | msgspec.UnsetType) else json_text(error),
        )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _required(tool: Tool | None) -> dict[str, Any]:
    schema = {} if tool is None or tool.parameters is None else tool.parameters
    properties: Any = schema.get("properties")
    required: Any = schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    return {key: _of_schema(properties.get(key)) for key in required if isinstance(key, str)}


def tools_in(check: Check) -> Iterator[str]:
    """The tools that a check names."""
    return (name for role, name in texts_of(check) if role is TOOL and isinstance(name, str) and name != NO_TOOL)


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


def json_text(value: object) -> str:
    """The value as JSON, whatever it is."""
    return json.dumps(value, ensure_ascii=False, default=str)
