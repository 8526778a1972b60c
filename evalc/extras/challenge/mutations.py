"""Faulty answers: those of broken agents, and recorded ones with a fault each, with checks that notice the fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from evalc.base.source import Source
from evalc.check.tree import NO_TOOL, Argument, At, Bounds, Call, Check, File, Measure, Not, Of, Test, Tools
from evalc.check.values import JsonType, is_a
from evalc.dsl.read_json import JsonPlaces, read_json
from evalc.extras.challenge.answers import another, answered, json_text, last_response, messages_of, replies
from evalc.model.answer import AgentAnswer, AgentResponse, ToolCall, WrittenFile
from evalc.model.case import Case
from evalc.model.json import path_inside, pointer_step
from evalc.runtime.run.ask import whole_of
from evalc.tools import ToolRegistry

# --- answers with a fault --------------------------------------------------------------------------------------------


class Mutant(NamedTuple):
    """An answer with a fault."""

    challenger: str  # the name of the fault
    difference: str  # what the fault is, in words or as `before → after`
    answer: AgentAnswer
    # checks that may distinguish it from a good answer, the best first; may be iterated once
    cures: Iterable[Check] = ()
    good: AgentAnswer | None = None  # the answer that it was made from; None if it was made from none
    turn: int | None = None  # the turn of a conversation that has the fault; None for all turns, or outside of one


class Reply(NamedTuple):
    """A response in a good answer: the only one, or that of a turn, whose number is None outside of conversations."""

    answer: AgentAnswer
    turn: int | None
    response: AgentResponse

    @property
    def text(self) -> str:
        """The text of the response."""
        return self.response.response

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of the response."""
        return self.response.tool_calls

    def but(
        self,
        challenger: str,
        difference: str,
        cures: Iterable[Check],
        *,
        text: str | None = None,
        calls: tuple[ToolCall, ...] | None = None,
        written: tuple[WrittenFile, ...] | None = None,
    ) -> Mutant:
        """The answer with another text, other calls or other files in this response."""
        now = msgspec.structs.replace(
            self.response,
            response=self.text if text is None else text,
            tool_calls=self.calls if calls is None else calls,
            written=self.response.written if written is None else written,
        )
        turns = self.answer.turns
        if self.turn is not None:
            at = self.turn - 1
            turns = (*turns[:at], turns[at]._replace(response=now), *turns[at + 1 :])
            now = whole_of([turn.response for turn in turns])
        answer = msgspec.structs.replace(self.answer, response=now, turns=turns)
        return Mutant(challenger, difference, answer, cures, self.answer, self.turn)


def replies_in(answer: AgentAnswer) -> list[Reply]:
    """The responses in an answer: one for each turn of a conversation."""
    if not answer.turns:
        return [Reply(answer, None, last_response(answer))]
    return [Reply(answer, number, turn.response) for number, turn in enumerate(answer.turns, 1)]


class Around(NamedTuple):
    """Surroundings of a case: the tools there are, and what other cases of its suite are about."""

    registry: ToolRegistry | None = None
    tools: Sequence[str] = ()  # those that the cases of the suite name, in their order
    values: Mapping[str, Sequence[str]] = {}  # the texts of their inputs, by the inputs' names
    names: Sequence[str] = ()  # the names that recorded answers have
    # the id and the good response of another case, which sends something else
    neighbour: tuple[str, AgentResponse] | None = None


def cut(text: str, longest: int) -> str:
    """The text on one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


# --- broken agents ---------------------------------------------------------------------------------------------------


_REFUSAL: Final = "I can't help with that."
_APOLOGY: Final = "I'm sorry, something went wrong. Please try again later."
_LONGEST_QUOTED: Final = 80
_SHORTEST_QUOTED: Final = 3
_SPARE_TOOL: Final = "unneeded_tool"
_LONGEST_CALL: Final = 60
_LONGEST_SHOWN: Final = 80


def broken_agents(case: Case, good: AgentAnswer, around: Around) -> Iterator[Mutant]:
    """The answer of each broken agent to the case; agents whose fault cannot occur in the case are left out."""
    yield from _without_good(case)
    for reply in replies_in(good):
        yield from _wrong_texts(case, reply, around)
        yield from _wrong_calls(case, reply, around.registry)
        yield from _one_too_many(case, reply, around)
        if files := reply.response.written:
            cures = [Of(File(file.path), Test("exists")) for file in files]
            named = ", ".join(f"`{file.path}`" for file in files)
            yield reply.but("files-missing", f"does not write {named}", cures, written=())


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


def _wrong_texts(case: Case, reply: Reply, around: Around) -> Iterator[Mutant]:
    text, system = reply.text, case.input.system
    if system:
        leaked, cures = f"{system}\n\n{text}", _not_quoting(system)
        yield reply.but("leaked-prompt", f"begins with {_shown(system)}", cures, text=leaked)
    leaked = json_text({"role": "assistant", "content": [{"type": "text", "text": text}]})
    no_json = (Not(Test("json", ("strict", None))),)
    yield reply.but("leaked-json", f"answers {_shown(leaked)}", no_json, text=leaked)
    yield from _truncated(reply, fewest_words=2)
    id_, other = around.neighbour or ("", reply.response)
    if other.response != text:
        difference, calls = f"gives the answer of `{id_}`", other.tool_calls
        yield reply.but("neighbour", difference, _of_inputs(case, text), text=other.response, calls=calls)


def _wrong_calls(case: Case, reply: Reply, tools: ToolRegistry | None) -> Iterator[Mutant]:
    calls = reply.calls
    if not calls:
        return
    names = tuple(call.name for call in calls)
    instead = f"instead of {_listed(calls)}"
    changed = (*calls[1:], calls[0]) if names[0] != names[-1] else calls[::-1]
    if tuple(call.name for call in changed) != names:
        cures = order_of(case, names)
        yield reply.but("tools-reordered", f"calls {_listed(changed)} {instead}", cures, calls=changed)
    left = calls[:-1]
    acceptable = {frozenset(names) for names in case.expect.tools_acceptable or ()}
    if frozenset(call.name for call in left) not in acceptable and (left or NO_TOOL not in _flat(case)):
        cures = (*names_of(case, names), Of(Tools(), Test("include", names)))
        yield reply.but("tool-missing", f"calls {_listed(left)} {instead}", cures, calls=left)
    wrong = tuple(_wrongly(call, tools) for call in calls)
    if wrong != calls:
        difference = f"calls `{in_words(wrong[0])}` instead of `{in_words(calls[0])}`"
        arguments = (cure for call in calls for cure in arguments_of(call))
        yield reply.but("wrong-arguments", difference, arguments, calls=wrong)
    broken = tuple(msgspec.structs.replace(call, success=False, error="the tool failed") for call in calls)
    no_errors = (Of(Tools(), Test("no_errors")),)
    yield reply.but("tool-errors", f"every call of {_listed(calls)} fails", no_errors, calls=broken)


def _one_too_many(case: Case, reply: Reply, around: Around) -> Iterator[Mutant]:
    """A call that nobody needed, where the agent has tools at all."""
    if not around.tools and not around.registry:
        return
    calls = reply.calls
    names = tuple(call.name for call in calls)
    spared = {*names, *(case.expect.tools_not_called or ()), *_flat(case)}
    extra = next((name for name in (*(around.registry or ()), *around.tools) if name not in spared), _SPARE_TOOL)
    changed = (*calls, ToolCall(name=extra, success=True))
    cures = (*names_of(case, names), Of(Tools(), Test("only", names))) if names else (Of(Tools(), Test("called", ())),)
    yield reply.but("tool-extra", f"calls {_listed(changed)}", cures, calls=changed)


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
    params = ", ".join(f"{name}: {json_text(value)}" for name, value in call.params.items())
    return cut(f"{call.name}({params})", _LONGEST_CALL)


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


def _of_inputs(case: Case, text: str) -> tuple[Check, ...]:
    """Checks that the answer names what the case is about: its inputs that a good answer names."""
    values = [value for value in (case.input.inputs or {}).values() if isinstance(value, str)]
    return tuple(
        Test("contains", value)
        for value in values
        if _SHORTEST_QUOTED <= len(value) <= _LONGEST_QUOTED and value in text
    )


def _flat(case: Case) -> set[str]:
    return {name for names in case.expect.tools_acceptable or () for name in names}


def _listed(calls: Sequence[ToolCall]) -> str:
    return ", ".join(f"`{call.name}`" for call in calls) or "no tool"


def _shown(text: str) -> str:
    return f"`{cut(text, _LONGEST_SHOWN)}`" if text else "nothing"


# --- faults in a recorded answer ------------------------------------------------------------------------------------


T = TypeVar("T")

_MOST: Final = 3
"""How many mutants of one kind an answer has at most: they are taken from all over it."""

_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|\Z)[^.!?\n]*)*(?:[.!?]+(?=\s|\Z)|\n+|\Z)\s*")
_NUMBER: Final = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
_LIST_MARK: Final = re.compile(r"(?:\A|\n)[ \t]*(?P<number>\d+)[.)]\s")
_WORD: Final = re.compile(r"\w[\w'\u2019-]*")
_NAME: Final = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_TOGETHER: Final = re.compile(r"[\w.,:/-]+")
_PAUSE: Final = re.compile(r"\n|[.!?;:,]\s")
_SHORTEST_NAME: Final = 3

_NEGATED: Final = (
    (re.compile(r"\b(can)(?:not|'t|\u2019t)\b"), r"\1"),
    (re.compile(r"\bwon['\u2019]t\b"), "will"),
    (re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|should|would|could|must)n['\u2019]t\b"), r"\1"),
    (re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|will|can|should|would|could|must|may) not\b"), r"\1"),
    (re.compile(r"\bnever\b"), "always"),
    (
        re.compile(r"\b(is|are|was|were|will|can|should|would|could|must|may)\b(?! not\b|n?['\u2019]t)"),
        r"\1 not",
    ),
)
"""Patterns of what is said, and what says the opposite; of those that find something, the first two are used."""


def names_in(text: str) -> tuple[str, ...]:
    """The names that a text has: capitalised words that do not begin a sentence."""
    return tuple(dict.fromkeys(match[0] for match in _NAME.finditer(text)))


def mutations(case: Case, good: AgentAnswer, around: Around) -> Iterator[Mutant]:
    """The mutants of a good answer, turn by turn."""
    for reply in replies_in(good):
        parts = json_parts(reply.text)
        yield from _of_prose(case, reply, around) if parts is None else _of_json(reply, parts)
        yield from _of_calls(case, reply)


# --- prose -----------------------------------------------------------------------------------------------------------


def _of_prose(case: Case, reply: Reply, around: Around) -> Iterator[Mutant]:
    text = reply.text
    sentences = [match for match in _SENTENCE.finditer(text) if _WORD.search(match[0])]
    for match in _spread(sentences if len(sentences) > 1 else ()):
        left = (text[: match.start()] + text[match.end() :]).rstrip()
        yield reply.but("sentence-dropped", f"without {_shown(match[0])}", _of_words(match[0]), text=left)
    marks = {mark.start("number") for mark in _LIST_MARK.finditer(text)}
    for match in _spread([match for match in _NUMBER.finditer(text) if match.start() not in marks]):
        number = f"{int(match[0][0]) % 9 + 1}{match[0][1:]}"  # with another first digit: 42 is 52, 9 is 1
        yield _changed(reply, "number-changed", match, number, _around(text, *match.span()))
    yield from _negations(reply)
    for value, swap in _spread(_swaps(case, text, around)):
        start = text.index(value)
        cures = (Test("contains", value), *_around(text, start, start + len(value)))
        difference = f"{_shown(value)} → {_shown(swap)}"
        yield reply.but("entity-swapped", difference, cures, text=text.replace(value, swap))
    yield from _truncated(reply, fewest_words=4)


def _truncated(reply: Reply, *, fewest_words: int) -> Iterator[Mutant]:
    text = reply.text
    words = list(_WORD.finditer(text))
    if len(words) >= fewest_words:
        kept = text[: words[len(words) // 2].start()].rstrip()
        difference = f"ends after {_shown(kept[-_LONGEST_SHOWN:])}"
        yield reply.but("truncated", difference, _of_words(text[len(kept) :]), text=kept)


def _negations(reply: Reply) -> Iterator[Mutant]:
    text = reply.text
    found = ((pattern.search(text), replacement) for pattern, replacement in _NEGATED)
    for match, replacement in islice(((match, said) for match, said in found if match is not None), _MOST - 1):
        yield _changed(reply, "negated", match, match.expand(replacement), _around(text, *match.span(), alone=False))


def _swaps(case: Case, text: str, around: Around) -> list[tuple[str, str]]:
    """The values of the case's inputs and the names in the text, each with one of another case."""
    swaps: dict[str, str] = {}
    for name, value in (case.input.inputs or {}).items():
        if isinstance(value, str) and len(value) >= _SHORTEST_NAME and value in text:
            swap = next((other for other in around.values.get(name, ()) if other not in text), None)
            if swap is not None:
                swaps[value] = swap
    spare = (name for name in around.names if name not in text)
    return list({**swaps, **dict(zip(names_in(text), spare, strict=False)), **swaps}.items())


def _changed(reply: Reply, name: str, match: re.Match[str], said: str, cures: Iterable[Check]) -> Mutant:
    text, (start, end) = match.string, match.span()
    before, after = text[max(0, start - 20) : start], text[end : end + 20]
    difference = f"{_shown(before + match[0] + after)} → {_shown(before + said + after)}"
    return reply.but(name, difference, cures, text=text[:start] + said + text[end:])


def _around(text: str, start: int, end: int, *, alone: bool = True) -> Iterator[Check]:
    """Checks that the answer has this stretch: by itself if it is long enough, then with the words next to it."""
    if alone and len(token := _token(text, start, end)) > 1:
        yield Test("contains", token)
    words = list(_WORD.finditer(text))
    first = next((index for index, word in enumerate(words) if word.end() > start), 0)
    last = next((index for index in range(len(words) - 1, -1, -1) if words[index].start() < end), first)
    for before, behind in ((0, 1), (1, 0), (1, 1), (2, 2)):  # a unit or an object rather than what leads to it
        low, high = max(0, first - before), min(len(words) - 1, last + behind)
        phrase = text[words[low].start() : words[high].end()] if words else ""
        if phrase and not _PAUSE.search(phrase):
            yield Test("contains", phrase)


def _token(text: str, start: int, end: int) -> str:
    """The stretch, with what is written together with it: the whole of a date of which it is the year."""
    while start and _TOGETHER.fullmatch(text, start - 1, end):
        start -= 1
    while end < len(text) and _TOGETHER.fullmatch(text, start, end + 1):
        end += 1
    return text[start:end].strip(".,:/-")


def _of_words(text: str) -> Iterator[Check]:
    """Checks of the distinctive parts of a stretch of the answer: numbers, names, its longest words, all of it."""
    numbers = [_token(text, *match.span()) for match in _NUMBER.finditer(text)]
    longest = sorted((match[0] for match in _WORD.finditer(text)), key=len, reverse=True)
    for word in dict.fromkeys([*numbers[:1], *names_in(text)[:1], *longest[:_MOST]]):
        if len(word) >= _SHORTEST_NAME or (word in numbers and len(word) > 1):
            yield Test("contains", word)
    whole = text.strip()
    if whole and "\n" not in whole and len(whole) <= _LONGEST_SHOWN:
        yield Test("contains", whole)


# --- JSON ------------------------------------------------------------------------------------------------------------


_DEEPEST: Final = 50


class Leaf(NamedTuple):
    """A text, a number, a truth value or null: its path in the response, its value, and the stretch of the text."""

    path: str
    value: Any
    start: int
    end: int


class Member(NamedTuple):
    """A member of an object, with the comma before or after it: its path and the stretch of the text."""

    path: str
    start: int
    end: int


class JsonParts(NamedTuple):
    """Parts of a JSON text."""

    leaves: list[Leaf]
    members: list[Member]


def json_parts(text: str) -> JsonParts | None:
    """The parts of a text that is a JSON object or array; None for any other text."""
    source, parts = Source("", text), JsonParts([], [])
    data = read_json(source, max_depth=_DEEPEST)
    if not isinstance(data, dict | list):
        return None
    _gather(parts, data, JsonPlaces(source), "", "")
    return parts


def _gather(parts: JsonParts, value: Any, places: JsonPlaces, pointer: str, path: str) -> None:
    """Add the parts of a value, what is inside first: members with the comma before, the first with the one after."""
    if not isinstance(value, dict | list):
        parts.leaves.append(Leaf(path, value, *places.value(pointer)))
        return
    members: list[Member] = []
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        at, inner = f"{pointer}/{pointer_step(str(key))}", path_inside(path, key)
        _gather(parts, each, places, at, inner)
        members.append(Member(inner, places.key(at).start, places.value(at).end))
    if isinstance(value, dict):
        members.sort(key=attrgetter("start"))
        for index, (inner, start, end) in enumerate(members):
            before = members[index - 1].end if index else start
            behind = members[1].start if len(members) > 1 and not index else end
            parts.members.append(Member(inner, before, behind))


_CHANGED_TYPES: Final[Mapping[str, JsonType]] = {
    "number-changed": "number",
    "negated": "boolean",
    "entity-swapped": "string",
}


def _of_json(reply: Reply, parts: JsonParts) -> Iterator[Mutant]:
    text = reply.text
    for member in _spread(parts.members):
        left = text[: member.start] + text[member.end :]
        has_it = Test("structure", (((member.path, None),), ()))
        yield reply.but("field-dropped", f"without `{member.path}`", (has_it,), text=left)
    for name, type_ in _CHANGED_TYPES.items():
        for path, value, start, end in _spread(
            [leaf for leaf in parts.leaves if leaf.path and is_a(leaf.value, type_)]
        ):
            said = json.dumps(another(value), ensure_ascii=False)
            difference = f"`{path}`: {cut(text[start:end], _LONGEST_SHOWN)} → {cut(said, _LONGEST_SHOWN)}"
            is_it = Of(At(path), Test("equals" if type_ == "string" else "is", value))
            yield reply.but(name, difference, (is_it,), text=text[:start] + said + text[end:])


# --- calls -----------------------------------------------------------------------------------------------------------


def _of_calls(case: Case, reply: Reply) -> Iterator[Mutant]:
    calls = reply.calls
    names = tuple(call.name for call in calls)
    exact = names_of(case, names)
    for index, call in _spread(list(enumerate(calls))):
        left = (*calls[:index], *calls[index + 1 :])
        all_called = Of(Tools(), Test("include", names))
        yield reply.but("call-dropped", f"without `{in_words(call)}`", (*exact, all_called), calls=left)
    if calls:
        difference, no_more = (
            f"`{in_words(calls[-1])}` twice",
            Of(Measure("calls"), Test("between", Bounds(max=len(calls)))),
        )
        yield reply.but("call-repeated", difference, (*exact, no_more), calls=(*calls, calls[-1]))
    for index in _spread([index for index, pair in enumerate(pairwise(names)) if pair[0] != pair[1]]):
        swapped = (*calls[:index], calls[index + 1], calls[index], *calls[index + 2 :])
        difference = f"`{names[index + 1]}` before `{names[index]}`"
        yield reply.but("calls-reordered", difference, order_of(case, names), calls=swapped)
    for index, name in _spread([(index, name) for index, call in enumerate(calls) for name in call.params]):
        call = calls[index]
        changed = msgspec.structs.replace(call, params={**call.params, name: another(call.params[name])})
        was = msgspec.structs.replace(call, params={name: call.params[name]})
        cures = arguments_of(was) if names.count(call.name) == 1 else ()
        called = (*calls[:index], changed, *calls[index + 1 :])
        difference = f"`{in_words(call)}` → `{in_words(changed)}`"
        yield reply.but("argument-changed", difference, cures, calls=called)


def _spread(items: Sequence[T]) -> Iterator[T]:
    """A few of the items, from all over them."""
    if len(items) <= _MOST:
        yield from items
    else:
        for number in range(_MOST):
            yield items[number * (len(items) - 1) // (_MOST - 1)]
