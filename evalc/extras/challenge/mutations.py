"""Puts faults into a recorded answer, one at a time, with checks that distinguish each from the answer as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Never, TypeVar

import msgspec

from evalc.base.source import Source
from evalc.check.tree import At, Bounds, Check, Measure, Of, Test, Tools
from evalc.dsl.read_json import JsonPlaces
from evalc.extras.challenge.answers import (
    Mutant,
    another,
    arguments_of,
    cut,
    in_words,
    last_response,
    names_of,
    order_of,
    with_response,
)
from evalc.model.answer import AgentAnswer, ToolCall
from evalc.model.case import Case
from evalc.model.json import path_inside, pointer_step

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

    leaves: tuple[Leaf, ...]
    members: tuple[Member, ...]


class _TooDeep(Exception):
    """The text nests deeper than anybody writes."""


def json_parts(text: str) -> JsonParts | None:
    """The parts of a text that is a JSON object or array; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        data = json.loads(text, parse_constant=_no_json)
        found = list(_parts(data, JsonPlaces(Source("", text)), "", "", 0))
    except (ValueError, RecursionError, _TooDeep):
        return None
    return JsonParts(
        tuple(part for part in found if isinstance(part, Leaf)),
        tuple(part for part in found if isinstance(part, Member)),
    )


def _no_json(constant: str) -> Never:
    """`NaN` and its kin, which Python reads."""
    raise ValueError(constant)


def _parts(value: Any, places: JsonPlaces, pointer: str, path: str, depth: int) -> Iterator[Leaf | Member]:
    """The parts of a value, what is inside first."""
    if depth > _DEEPEST:
        raise _TooDeep
    match value:
        case dict():
            pointers = {key: f"{pointer}/{pointer_step(key)}" for key in value}
            paths = {key: path_inside(path, key) for key in value}
            for key, inner in value.items():
                yield from _parts(inner, places, pointers[key], paths[key], depth + 1)
            yield from _members(places, pointers, paths)
        case list():
            for index, inner in enumerate(value):
                yield from _parts(inner, places, f"{pointer}/{index}", path_inside(path, index), depth + 1)
        case _:
            yield Leaf(path, value, *places.value(pointer))


def _members(places: JsonPlaces, pointers: dict[str, str], paths: dict[str, str]) -> Iterator[Member]:
    """The members of an object: the first with the comma after it, the others with the comma before."""
    keys = sorted(pointers, key=lambda key: places.key(pointers[key]).start)
    for index, key in enumerate(keys):
        end = places.value(pointers[key]).end
        if index:
            yield Member(paths[key], places.value(pointers[keys[index - 1]]).end, end)
        else:
            behind = places.key(pointers[keys[1]]).start if len(keys) > 1 else end
            yield Member(paths[key], places.key(pointers[key]).start, behind)


T = TypeVar("T")

_MOST: Final = 3
"""How many mutants of one kind an answer has at most: they are taken from all over it."""

_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|\Z)[^.!?\n]*)*(?:[.!?]+(?=\s|\Z)|\n+|\Z)\s*")
_NUMBER: Final = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?!\w)")
_LIST_MARK: Final = re.compile(r"(?:\A|\n)[ \t]*\d+[.)]\s")
_WORD: Final = re.compile(r"\w[\w'\u2019-]*")
_NAME: Final = re.compile(r"(?<=[a-z,;:] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_LONGEST_SHOWN: Final = 80
_SHORTEST_NAME: Final = 3
_ENOUGH_WORDS: Final = 4

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


class Others(NamedTuple):
    """Words of the other cases of the suite."""

    values: dict[str, tuple[str, ...]]  # the texts of their inputs, by the inputs' names
    names: tuple[str, ...]  # the names that their answers have


def names_in(text: str) -> tuple[str, ...]:
    """The names that a text has: capitalised words that do not begin a sentence."""
    return tuple(dict.fromkeys(match[0] for match in _NAME.finditer(text)))


def mutations(case: Case, good: AgentAnswer, others: Others) -> Iterator[Mutant]:
    """The mutants of a good answer; of a conversation, those of its last turn."""
    response = last_response(good)
    text, calls = response.response, response.tool_calls
    parts = json_parts(text)
    changes = _of_prose(case, text, others) if parts is None else _of_json(text, parts)
    for change in changes:
        changed = with_response(good, change.text, calls)
        yield Mutant(change.name, change.difference, changed, change.cures, good)
    for name, difference, called, cures in _of_calls(case, calls):
        yield Mutant(name, difference, with_response(good, text, called), cures, good)


class _Change(NamedTuple):
    name: str
    difference: str
    text: str
    cures: Iterable[Check]


# --- prose -----------------------------------------------------------------------------------------------------------


def _of_prose(case: Case, text: str, others: Others) -> Iterator[_Change]:
    sentences = [match for match in _SENTENCE.finditer(text) if _WORD.search(match[0])]
    for match in _spread(sentences if len(sentences) > 1 else ()):
        left = (text[: match.start()] + text[match.end() :]).rstrip()
        yield _Change("sentence-dropped", f"without {_shown(match[0])}", left, _of_words(match[0]))
    marks = {mark.end() for mark in _LIST_MARK.finditer(text)}
    numbers = [match for match in _NUMBER.finditer(text) if not _is_mark(match, marks)]
    for match in _spread(numbers):
        number = f"{int(match[0][0]) % 9 + 1}{match[0][1:]}"  # with another first digit: 42 is 52, 9 is 1
        cures = _around(text, match.start(), match.end())
        yield _changed("number-changed", text, match.start(), match.end(), number, cures)
    yield from _negations(text)
    yield from _swapped(case, text, others)
    words = list(_WORD.finditer(text))
    if len(words) >= _ENOUGH_WORDS:
        kept = text[: words[len(words) // 2].start()].rstrip()
        yield _Change("truncated", f"ends after {_shown(kept[-_LONGEST_SHOWN:])}", kept, _of_words(text[len(kept) :]))


def _is_mark(match: re.Match[str], marks: set[int]) -> bool:
    """Whether a number is that of an item of a list."""
    return any(match.start() < mark <= match.end() + 2 for mark in marks)


def _negations(text: str) -> Iterator[_Change]:
    found = 0
    for pattern, replacement in _NEGATED:
        match = pattern.search(text)
        if match is not None and found < _MOST - 1:
            found += 1
            said = match.expand(replacement)
            cures = _around(text, match.start(), match.end(), alone=False)
            yield _changed("negated", text, match.start(), match.end(), said, cures)


def _swapped(case: Case, text: str, others: Others) -> Iterator[_Change]:
    """The text with a value of the case's inputs, or a name, replaced by that of another case."""
    swaps: dict[str, str] = {}
    for name, value in (case.input.inputs or {}).items():
        if isinstance(value, str) and len(value) >= _SHORTEST_NAME and value in text:
            swap = next((other for other in others.values.get(name, ()) if other not in text), None)
            if swap is not None:
                swaps[value] = swap
    own = names_in(text)
    spare = [name for name in others.names if name not in text]
    for name, other in zip(own, spare, strict=False):
        swaps.setdefault(name, other)
    for value, swap in _spread(list(swaps.items())):
        start = text.index(value)
        yield _Change(
            "entity-swapped",
            f"{_shown(value)} → {_shown(swap)}",
            text.replace(value, swap),
            (Test("contains", value), *_around(text, start, start + len(value))),
        )


def _changed(name: str, text: str, start: int, end: int, said: str, cures: Iterable[Check]) -> _Change:
    before, after = text[max(0, start - 20) : start], text[end : end + 20]
    difference = f"{_shown(before + text[start:end] + after)} → {_shown(before + said + after)}"
    return _Change(name, difference, text[:start] + said + text[end:], cures)


def _around(text: str, start: int, end: int, *, alone: bool = True) -> Iterator[Check]:
    """Checks that the answer has this stretch: by itself if it is long enough, then with the words next to it."""
    if alone and end - start > 1:
        yield Test("contains", text[start:end])
    words = list(_WORD.finditer(text))
    first = next((index for index, word in enumerate(words) if word.end() > start), 0)
    last = next((index for index in range(len(words) - 1, -1, -1) if words[index].start() < end), first)
    for before, behind in ((1, 0), (0, 1), (1, 1), (2, 2)) if alone else ((0, 1), (1, 0), (1, 1), (2, 2)):
        low, high = max(0, first - before), min(len(words) - 1, last + behind)
        phrase = text[words[low].start() : words[high].end()] if words else ""
        if phrase and "\n" not in phrase:
            yield Test("contains", phrase)


def _of_words(text: str) -> Iterator[Check]:
    """Checks of the distinctive parts of a stretch of the answer: numbers, names, its longest words, all of it."""
    numbers = [match[0] for match in _NUMBER.finditer(text)]
    longest = sorted((match[0] for match in _WORD.finditer(text)), key=len, reverse=True)
    for word in dict.fromkeys([*numbers[:1], *names_in(text)[:1], *longest[:_MOST]]):
        if len(word) >= _SHORTEST_NAME or (word in numbers and len(word) > 1):
            yield Test("contains", word)
    whole = text.strip()
    if whole and "\n" not in whole and len(whole) <= _LONGEST_SHOWN:
        yield Test("contains", whole)


# --- JSON ------------------------------------------------------------------------------------------------------------


def _of_json(text: str, parts: JsonParts) -> Iterator[_Change]:
    for member in _spread(parts.members):
        left = text[: member.start] + text[member.end :]
        cure = Test("structure", (((member.path, None),), ()))
        yield _Change("field-dropped", f"without `{member.path}`", left, (cure,))
    leaves = [leaf for leaf in parts.leaves if leaf.path]
    for name, kind in (("number-changed", (int, float)), ("negated", bool), ("entity-swapped", str)):
        chosen = [
            leaf
            for leaf in leaves
            if isinstance(leaf.value, kind) and (kind is bool or not isinstance(leaf.value, bool))
        ]
        for leaf in _spread(chosen):
            yield _of_leaf(name, text, leaf)


def _of_leaf(name: str, text: str, leaf: Leaf) -> _Change:
    value = another(leaf.value)
    written = json.dumps(value, ensure_ascii=False)
    said = text[: leaf.start] + written + text[leaf.end :]
    inner = Test("equals" if isinstance(leaf.value, str) else "is", leaf.value)
    was = cut(text[leaf.start : leaf.end], _LONGEST_SHOWN)
    return _Change(name, f"`{leaf.path}`: {was} → {cut(written, _LONGEST_SHOWN)}", said, (Of(At(leaf.path), inner),))


# --- calls -----------------------------------------------------------------------------------------------------------


_Called = tuple[str, str, tuple[ToolCall, ...], Iterable[Check]]


def _of_calls(case: Case, calls: tuple[ToolCall, ...]) -> Iterator[_Called]:
    names = tuple(call.name for call in calls)
    exact = names_of(case, names)
    for index, call in _spread(list(enumerate(calls))):
        left = (*calls[:index], *calls[index + 1 :])
        yield "call-dropped", f"without `{in_words(call)}`", left, (*exact, Of(Tools(), Test("include", names)))
    if calls:
        cures = (*exact, Of(Measure("calls"), Test("between", Bounds(max=len(calls)))))
        yield "call-repeated", f"`{in_words(calls[-1])}` twice", (*calls, calls[-1]), cures
    pairs = [index for index in range(len(calls) - 1) if names[index] != names[index + 1]]
    for index in _spread(pairs):
        swapped = (*calls[:index], calls[index + 1], calls[index], *calls[index + 2 :])
        difference = f"`{names[index + 1]}` before `{names[index]}`"
        yield "calls-reordered", difference, swapped, order_of(case, names)
    arguments = [(index, name) for index, call in enumerate(calls) for name in call.params]
    for index, name in _spread(arguments):
        call = calls[index]
        changed = msgspec.structs.replace(call, params={**call.params, name: another(call.params[name])})
        cures = tuple(
            check
            for check in arguments_of(msgspec.structs.replace(call, params={name: call.params[name]}))
            if names.count(call.name) == 1
        )
        called = (*calls[:index], changed, *calls[index + 1 :])
        yield "argument-changed", f"`{in_words(call)}` → `{in_words(changed)}`", called, cures


def _spread(items: Sequence[T]) -> Iterator[T]:
    """A few of the items, from all over them."""
    if len(items) <= _MOST:
        yield from items
    else:
        for number in range(_MOST):
            yield items[number * (len(items) - 1) // (_MOST - 1)]


def _shown(text: str) -> str:
    return f"`{cut(text, _LONGEST_SHOWN)}`"
