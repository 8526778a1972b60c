"""Reads mappings: other tools' assertions as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from evalc.check.tree import Check
from evalc.grammar.write_check import NoLine
from evalc.translate import names
from evalc.translate import trees as to
from evalc.translate.expressions import Denoted
from evalc.translate.names import KEYS
from evalc.translate.python import read_python
from evalc.translate.trees import Part, Place, joined, negated, negated_if, none
from evalc.translate.words import Words, words_of


def read_mapping(words: Words, pairs: Mapping[str, Any]) -> Check:
    """The condition that a mapping is."""
    if not pairs or not all(isinstance(key, str) for key in pairs):
        raise NoLine
    rest = dict(pairs)
    for key in KEYS["type"]:
        if isinstance(rest.get(key), str) and (len(rest) > 1 or key != "name"):
            return _assertion(words, rest.pop(key), rest)
    subject = _subject(words, rest, KEYS["subject"])
    if subject is not None:
        return _asked(words, subject, rest)
    if names.key(next(iter(rest))) in KEYS["tool"]:
        return _tool(words, rest.pop(next(iter(rest))), rest)
    folded = _taken(rest, KEYS["case"])
    if folded and (len(rest) > 1 or not isinstance(folded[0], bool)):
        raise NoLine
    if folded:
        subject = to.ignoring_case(Place()) if folded[0] else Place()
        return joined("and", [words.asked(subject, verb, [value]) for verb, value in rest.items()])
    return joined("and", [_pair(words, key, value) for key, value in rest.items()])


def _subject(words: Words, rest: dict[str, Any], keys: Iterable[str]) -> Denoted | None:
    """The place that a mapping names; its key is taken off."""
    for key in keys:
        if isinstance(rest.get(key), str) and len(rest) > 1:
            text = rest.pop(key)
            return to.at(text) if key in KEYS["path"] else words.meaning.denoted(read_python(text))
    return None


def _taken(rest: dict[str, Any], keys: Iterable[str]) -> list[Any]:
    return [rest.pop(key) for key in keys if key in rest]


def _asked(words: Words, subject: Denoted, rest: dict[str, Any]) -> Check:
    """Read the questions that a mapping asks about its subject."""
    operators = _taken(rest, KEYS["operator"])
    if operators or list(rest) == ["value"]:
        values = _taken(rest, KEYS["value"])
        if rest or len(operators) > 1 or not all(isinstance(each, str) for each in operators):
            raise NoLine
        return words.asked(subject, operators[0] if operators else "==", values)
    return joined("and", [_predicate(words, subject, verb, value) for verb, value in rest.items()])


def _predicate(words: Words, subject: Denoted, verb: str, value: Any) -> Check:
    """`{VERB: VALUE}` about a subject."""
    meant, negative = words_of(verb)
    match names.VERBS.get(meant, meant), value:
        case "", dict() if negative:
            return to.denied(subject, _asked(words, subject, dict(value)))
        case "type", str() if not negative:
            return words.asked(subject, f"is a {value}", [])
        case phrase, bool() if phrase in names.VERBS.values() and "{" not in phrase:
            check = words.asked(subject, verb, [])
            return check if value else to.denied(subject, check)
        case "contains {}", list() if negative:
            return negated(words.asked(subject, "contains any", [value]))
    return words.asked(subject, verb, [value])


def _assertion(words: Words, name: str, rest: dict[str, Any]) -> Check:
    """`{type: NAME, value: V}`."""
    flags, folded = rest.pop("flags", ""), (*_taken(rest, KEYS["case"]), False)[0]
    subject = _subject(words, rest, ("path", "jsonpath")) or Place()
    meant, negative = words_of(name)
    if meant in KEYS["tool"] and not negative:
        return _tool(words, next(iter(_taken(rest, ("value", "name", "tool"))), None), rest)
    values = _taken(rest, KEYS["value"])
    is_plain = subject == Place() and not flags and not folded
    if rest and not values and is_plain and set(rest) <= set(names.OPERATORS) and not negative:
        return _pair(words, meant, rest)
    if rest or not isinstance(flags, str) or not isinstance(folded, bool):
        raise NoLine
    match values:
        case [str() as code] if name in KEYS["code"]:
            return words.code(name, code)
        case [str() as source] if flags and names.VERBS.get(meant) == "matches {}":
            values = [Part("regex", source, "".join(sorted(flags)))]
        case _ if flags:
            raise NoLine
        case [] | [_] if is_plain and meant not in names.VERBS:
            return negated_if(negative, _pair(words, meant, values[0] if values else None))
    return words.asked(to.ignoring_case(subject) if folded else subject, name, values)


def _pair(words: Words, key: str, value: Any) -> Check:
    """`{KEY: VALUE}` without a subject."""
    plain = names.key(key)
    limit, known = re.fullmatch(r"(max|min|)(.*)", plain).groups()  # type: ignore[union-attr]
    match value:
        case str() if key in KEYS["code"]:
            return words.code(key, value)
        case str() if key in ("expect", "assert"):
            return words.condition(value)
        case dict() if key == "not":
            return negated(read_mapping(words, value))
        case dict() if key in KEYS["wrapper"]:
            return read_mapping(words, value)
        case dict() if key == "json":
            rest = dict(value)
            subject = _subject(words, rest, ("path", "at", "jsonpath"))
            if subject is not None:
                return _asked(words, subject, rest)
            return joined("and", [_at(words, path, each) for path, each in rest.items()])
        case list() if key in KEYS["and"] or key in KEYS["or"]:
            return joined("and" if key in KEYS["and"] else "or", [_pair(words, "assert", one) for one in value])
        case list() if plain in names.NAMES["call_names"]:
            return to.called("called", value)
        case list() if plain.startswith("trajectory"):
            kind = plain.removeprefix("trajectory").replace("tool", "tool-", 1)
            return words.condition(f"trajectory:{kind} [{', '.join(map(str, value))}]")
        case tools if plain in KEYS["forbidden"]:
            listed = tools if isinstance(tools, list) else [tools]
            return joined("and", [words.meaning.times(each, "==", 0) for each in listed])
    if key.startswith("$."):
        return _at(words, key, value)
    subject = Part("run", *names.RUNS[known]) if known in names.RUNS else None
    if known in names.MEASURES and (known not in ("length", "size") or limit):
        subject = Part("measure", Place(), names.MEASURES[known])
    return _limit(words, subject, key, value, limit) if subject else _predicate(words, Place(), key, value)


def _limit(words: Words, subject: Part, key: str, value: Any, limit: str) -> Check:
    """A measure and its limit, which is an upper one unless it says more; a count of words is exact."""
    op = {"max": "<=", "min": ">="}.get(limit, "==" if subject.kind == "measure" else "<=")
    match value:
        case dict():
            return words.limits(subject, value)
        case str():
            return words.clause(f"{key} {value}" if value.strip()[:1] in tuple("<>=") else f"{key} {op} {value}")
    return words.meaning.compared(op, subject, value)


def _at(words: Words, path: str, value: Any) -> Check:
    place = to.at(path)
    return _asked(words, place, dict(value)) if isinstance(value, dict) else place.asks(to.equal(value))


def _tool(words: Words, value: Any, rest: dict[str, Any]) -> Check:
    """`{tool_called: book, args: {...}}`, `{toolCall: {name: book, params: {...}}}`."""
    if isinstance(value, dict):
        inner = dict(value)
        match _taken(inner, ("name", "tool", "function")):
            case [str() as name] if not rest:
                return _tool(words, name, inner)
        raise NoLine
    taken = [_taken(rest, keys) for keys in (KEYS["arguments"], ("times", "count"), ("called",))]
    match taken if not rest else none():
        case [[given], [], []]:
            return to.with_arguments(value, given)
        case [[], [number], []]:
            return words.meaning.times(value, "==", number)
        case [[], [], [bool() as is_called]]:
            return words.meaning.times(value, ">=" if is_called else "==", int(is_called))
        case [[], [], []]:
            return words.meaning.times(value, ">=", 1)
    raise NoLine
