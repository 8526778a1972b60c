"""Translates checks that are written in other tools' words or in code into lines of evalc, whole or not at all.

The line says the same where each compared value has the type of the literal, texts are in the Basic Multilingual Plane
and lists are not empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple, final

from evalc.check.tree import Check
from evalc.grammar.write_check import NoLine
from evalc.translate import names
from evalc.translate import trees as to
from evalc.translate.code import free_names, is_verdict, read_python
from evalc.translate.expressions import Denoted
from evalc.translate.names import KEYS, NOTES
from evalc.translate.trees import Part, Place, joined, negated, negated_if, none, refuse_if, written
from evalc.translate.words import LONGEST, READERS, Words, bare_operator, words_of


@final
class Translation(NamedTuple):
    """A line of evalc, and what differs from the original beyond the bounds."""

    line: str
    note: str


def translated(original: str | Mapping[str, Any]) -> Translation | None:
    """The line that says the same as a line or a mapping in other words; None if no line surely does."""
    notes: set[str] = set()
    reader = Mappings(notes)
    try:
        line = written(reader.condition(original) if isinstance(original, str) else reader.mapping(original))
    except (NoLine, RecursionError):
        return None
    return None if line == original else Translation(line, "; ".join(NOTES[each] for each in sorted(notes)))


def check_of_script(language: str, code: str, given: Set[str]) -> tuple[Check, frozenset[str]] | None:
    """The check that an expression of `javascript` or `python` is; None if none surely says the same.

    With it come the rows of `NOTES` that it differs by. Its free names have to be among the `given`, and its value has
    to be true, false or a number.
    """
    reader = Words(set())
    try:
        tree = READERS[language](code)
        refuse_if(len(code) > LONGEST or not free_names(tree) <= given or not is_verdict(tree))
        check = reader.condition_of(tree)
        written(check)
    except (NoLine, RecursionError):
        return None
    return check, frozenset(reader.notes)


class Mappings(Words):
    """Reads a mapping."""

    def mapping(self, pairs: Mapping[str, Any]) -> Check:
        """The condition that a mapping is."""
        refuse_if(not pairs or not all(isinstance(key, str) for key in pairs))
        rest = dict(pairs)
        for key in KEYS["type"]:
            if isinstance(rest.get(key), str) and (len(rest) > 1 or key != "name"):
                return self._assertion(rest.pop(key), rest)
        subject = self._place(rest, KEYS["subject"])
        if subject is not None:
            return self._asked_all(subject, rest)
        if names.key(next(iter(rest))) in KEYS["tool"]:
            return self._tool(rest.pop(next(iter(rest))), rest)
        if folded := _taken(rest, KEYS["case"]):
            refuse_if(len(rest) > 1 or not isinstance(folded[0], bool))
            subject = to.ignoring_case(Place()) if folded[0] else Place()
            return joined("and", [self.asked(subject, verb, [value]) for verb, value in rest.items()])
        return joined("and", [self._pair(key, value) for key, value in rest.items()])

    def _place(self, rest: dict[str, Any], keys: Iterable[str]) -> Denoted | None:
        """The place that a mapping names; its key is taken off."""
        for key in keys:
            if isinstance(rest.get(key), str) and len(rest) > 1:
                text = rest.pop(key)
                return to.at(text) if key in KEYS["path"] else self.denoted(read_python(text))
        return None

    def _asked_all(self, subject: Denoted, rest: dict[str, Any]) -> Check:
        """Read the questions that a mapping asks about its subject."""
        operators = _taken(rest, KEYS["operator"])
        if operators or list(rest) == ["value"]:
            values = _taken(rest, KEYS["value"])
            refuse_if(rest or len(operators) > 1 or not all(isinstance(each, str) for each in operators))
            return self.asked(subject, operators[0] if operators else "==", values)
        return joined("and", [self._predicate(subject, verb, value) for verb, value in rest.items()])

    def _predicate(self, subject: Denoted, verb: str, value: Any) -> Check:
        """`{VERB: VALUE}` about a subject."""
        meant, negative = words_of(verb)
        is_kind = isinstance(value, str) and names.key(value) in names.KINDS
        refuse_if(not meant and (is_kind or (subject == Place() and negative)))  # `is: number`, `not: [...]`
        match names.VERBS.get(meant, meant), value:
            case "", dict() if negative:
                return to.denied(subject, self._asked_all(subject, dict(value)))
            case "type", str() if not negative:
                return self.asked(subject, f"is a {value}", [])
            case phrase, bool() if phrase in names.VERBS.values() and "{" not in phrase:
                check = self.asked(subject, verb, [])
                return check if value else to.denied(subject, check)
            case "contains {}", list() if negative:
                return negated(self.asked(subject, "contains any", [value]))
        return self.asked(subject, verb, [value])

    def _assertion(self, name: str, rest: dict[str, Any]) -> Check:
        """`{type: NAME, value: V}`."""
        flags, folded = rest.pop("flags", ""), (*_taken(rest, KEYS["case"]), False)[0]
        subject = self._place(rest, ("path", "jsonpath")) or Place()
        meant, negative = words_of(name)
        if meant in KEYS["tool"] and not negative:
            return self._tool(next(iter(_taken(rest, ("value", "name", "tool"))), None), rest)
        values = _taken(rest, KEYS["value"])
        is_plain = subject == Place() and not flags and not folded
        if rest and not values and is_plain and set(rest) <= set(names.OPERATORS) and not negative:
            return self._pair(meant, rest)
        refuse_if(rest or not isinstance(flags, str) or not isinstance(folded, bool))
        match values:
            case [str() as code] if name in KEYS["code"]:
                return self.code(name, code)
            case [str() as source] if flags and names.VERBS.get(meant) == "matches {}":
                values = [Part("regex", source, "".join(sorted(flags)))]
            case _ if flags:
                raise NoLine
            case [] | [_] if is_plain and meant not in names.VERBS:
                return negated_if(negative, self._pair(meant, values[0] if values else None))
        return self.asked(to.ignoring_case(subject) if folded else subject, name, values)

    def _pair(self, key: str, value: Any) -> Check:
        """`{KEY: VALUE}` without a subject."""
        key = re.sub(r"^json_?path (?=\$)", "", key)
        plain = names.key(key)
        match value:
            case str() if key in KEYS["code"]:
                return self.code(key, value)
            case str() if key in ("expect", "assert"):
                return self.condition(value)
            case dict() if key in KEYS["wrapper"] or key == "not":
                return negated_if(key == "not", self.mapping(value))
            case dict() if key == "json":
                rest = dict(value)
                place = self._place(rest, ("path", "at", "jsonpath"))
                return self._asked_all(place, rest) if place else joined("and", map(self._at, rest, rest.values()))
            case list() if key in KEYS["and"] or key in KEYS["or"]:
                return joined("and" if key in KEYS["and"] else "or", [self._pair("assert", one) for one in value])
            case list() if plain in names.NAMES["call_names"]:
                return to.called("called", value)
            case list() if plain.startswith("trajectory"):
                kind = plain.removeprefix("trajectory").replace("tool", "tool-", 1)
                return self.condition(f"trajectory:{kind} [{', '.join(map(str, value))}]")
            case _ if plain in KEYS["forbidden"]:
                return to.called("not_called", value if isinstance(value, list) else [value])
            case _ if key.startswith("$."):
                return self._at(key, value)
        return self._limit(key, plain, value) or self._predicate(Place(), key, value)

    def _limit(self, key: str, plain: str, value: Any) -> Check | None:
        """A measure and its limit."""
        bound, known = re.fullmatch(r"(max|min|)(.*)", plain).groups()  # type: ignore[union-attr]
        subject = Part("run", *names.RUNS[known]) if known in names.RUNS else None
        if known in names.MEASURES and (known not in ("length", "size") or bound):
            subject = Part("measure", Place(), names.MEASURES[known])
        if subject is None:
            return None
        op = {"max": "<=", "min": ">="}.get(bound) or bare_operator(subject)
        match value:
            case dict():
                return self.limits(subject, value)
            case str():
                return self.clause(f"{key} {value}" if value.strip()[:1] in tuple("<>=") else f"{key} {op} {value}")
        return self.compared(op, subject, value)

    def _at(self, path: str, value: Any) -> Check:
        place = to.at(path)
        return self._asked_all(place, dict(value)) if isinstance(value, dict) else place.asks(to.equal(to.data(value)))

    def _tool(self, value: Any, rest: dict[str, Any]) -> Check:
        """`{tool_called: book, args: {...}}`, `{toolCall: {name: book, params: {...}}}`."""
        if isinstance(value, dict):
            rest = {**value, **rest} if not rest else none()
            value = (*_taken(rest, ("name", "tool", "function")), None)[0]
        match [_taken(rest, keys) for keys in (KEYS["arguments"], ("times", "count"), ("called",))]:
            case [[given], [], []] if not rest:
                return to.with_arguments(value, to.arguments(given))
            case [[], [number], []] if not rest:
                return self.times(value, "==", number)
            case [[], [], [] | [bool()] as called] if not rest:
                return self.times(value, ">=", 1) if called != [False] else self.times(value, "==", 0)
        raise NoLine


def _taken(rest: dict[str, Any], keys: Iterable[str]) -> list[Any]:
    return [rest.pop(key) for key in keys if key in rest]
