"""Reads mappings: other tools' assertions as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from evalc.check.translate import lines as ln
from evalc.check.translate import names
from evalc.check.translate.lines import Condition, NoLine, Part, Place, Test, fact, joined, negated
from evalc.check.translate.meaning import Denoted
from evalc.check.translate.python import path_steps, read_python
from evalc.check.translate.verbs import with_arguments, words_of
from evalc.check.translate.words import Lines

_TYPE: Final = ("type", "assert", "metric", "evaluator", "check", "matcher", "assertion", "scorer", "kind", "name")
_VALUE: Final = (
    "value", "expected", "pattern", "rule", "schema", "criteria", "reference", "text", "target", "values", "substring",
    "question", "rubric", "regex", "limit", "expected_output", "threshold",
)  # fmt: skip
_PATH: Final = ("at", "path", "jsonpath", "json_path", "jsonPath", "field", "key", "property")
_OPERATOR: Final = ("op", "operator", "comparator", "comparison", "predicate", "condition")
_WRAPPERS: Final = frozenset(
    {"expect", "response", "output", "answer", "body", "assert", "should", "content", "text", "reply", "result"}
)
_CODE: Final = frozenset({"javascript", "python", "jq", "js"})
_JUNCTIONS: Final = {**dict.fromkeys(("all", "and", "allOf"), "and"), **dict.fromkeys(("any", "or", "anyOf"), "or")}
_FLAGS: Final = frozenset({"exist", "empty", "null", "missing", "json", "unique", "sorted", "nonempty"})
_TOOL: Final = frozenset({"tool", "toolcalled", "toolcall", "toolused", "function", "calls"})
_ARGUMENTS: Final = ("args", "params", "arguments", "parameters", "with", "input")


def read_mapping(lines: Lines, pairs: Mapping[str, Any], depth: int = 0) -> Condition:
    """The condition that a mapping is."""
    if not pairs or depth > 6 or not all(isinstance(key, str) for key in pairs):
        raise NoLine
    rest = dict(pairs)
    folded = next((rest.pop(key) for key in ("ignore_case", "ignoreCase") if key in rest and len(rest) == 2), False)
    if folded is not False:
        ((verb, value),) = rest.items()
        return (
            lines.verbs.asked(Place(), verb, [value], folded=True)
            if folded is True
            else lines.verbs.asked(Place(), "", [])
        )
    for key in _TYPE:
        if isinstance(rest.get(key), str) and (len(rest) > 1 or key != "name"):
            return _assertion(lines, rest.pop(key), rest)
    subject = _subject(lines, rest, ("expect", "actual", "subject"))
    if subject is not None:
        return _asked(lines, subject, rest, depth)
    if names.key(next(iter(rest))) in _TOOL:
        return _tool(lines, rest.pop(next(iter(rest))), rest)
    return joined("and", [_pair(lines, key, value, depth) for key, value in rest.items()])


def _subject(lines: Lines, rest: dict[str, Any], others: tuple[str, ...] = ()) -> Denoted | None:
    """The place that a mapping names; its key is taken off."""
    for key in (*_PATH, *others):
        if isinstance(rest.get(key), str) and len(rest) > 1:
            text = rest.pop(key)
            steps = path_steps(text) if key in _PATH else None
            if key in _PATH and not steps:
                raise NoLine
            return Place("json", steps) if steps else lines.meaning.denoted(read_python(text))
    return None


def _taken(rest: dict[str, Any], keys: tuple[str, ...]) -> list[Any]:
    return [rest.pop(key) for key in keys if key in rest]


def _asked(lines: Lines, subject: Denoted, rest: dict[str, Any], depth: int) -> Condition:
    """Read the questions that a mapping asks about its subject."""
    operators = _taken(rest, _OPERATOR)
    if operators or list(rest) == ["value"]:
        values = _taken(rest, _VALUE)
        if rest or len(operators) > 1 or not all(isinstance(each, str) for each in operators):
            raise NoLine
        return lines.verbs.asked(subject, operators[0] if operators else "==", values)
    return joined("and", [_predicate(lines, subject, verb, value, depth) for verb, value in rest.items()])


def _predicate(lines: Lines, subject: Denoted, verb: str, value: Any, depth: int) -> Condition:
    """`{VERB: VALUE}` about a subject."""
    words, negative = words_of(verb)
    meant = names.VERBS.get(words, words)
    if not words and negative and isinstance(value, dict):
        return negated(_asked(lines, subject, dict(value), depth + 1))
    if meant == "type" and isinstance(value, str) and not negative:
        return lines.verbs.asked(subject, f"is a {value}", [])
    if isinstance(value, bool) and meant in _FLAGS:
        condition = lines.verbs.asked(subject, verb, [])
        return condition if value else negated(condition)
    if meant == "contain" and isinstance(value, list) and negative:
        return negated(lines.verbs.asked(subject, "contains any", [value]))
    return lines.verbs.asked(subject, verb, [value])


def _assertion(lines: Lines, name: str, rest: dict[str, Any]) -> Condition:
    """`{type: NAME, value: V}`."""
    flags, folded = rest.pop("flags", ""), rest.pop("ignore_case", rest.pop("ignoreCase", False))
    subject = _subject(lines, rest) if {"path", "jsonpath"} & set(rest) else Place()
    words, negative = words_of(name)
    if words in _TOOL and not negative:
        return _tool(lines, next(iter(_taken(rest, ("value", "name", "tool"))), None), rest)
    values = _taken(rest, _VALUE)
    if rest and not values and not flags and set(rest) <= set(names.OPERATORS) and subject == Place() and not negative:
        return _pair(lines, words, rest, 0)
    if rest or not isinstance(flags, str) or not isinstance(folded, bool) or subject is None:
        raise NoLine
    if name in _CODE and len(values) == 1 and isinstance(values[0], str):
        return lines.code(name, values[0])
    if flags:
        if names.VERBS.get(words) != "match" or len(values) != 1 or not isinstance(values[0], str):
            raise NoLine
        values = [Part("regex", values[0], "".join(sorted(flags)))]
    if subject == Place() and not flags and not folded and len(values) <= 1 and names.VERBS.get(words) is None:
        condition = _pair(lines, words, values[0] if values else None, 0)
        return negated(condition) if negative else condition
    return lines.verbs.asked(subject, name, values, folded=folded)


def _pair(lines: Lines, key: str, value: Any, depth: int) -> Condition:
    """`{KEY: VALUE}` without a subject."""
    plain = names.key(key)
    if key in _CODE and isinstance(value, str):
        return lines.code(key, value)
    if key == "not" and isinstance(value, dict):
        return negated(read_mapping(lines, value, depth + 1))
    if key in _JUNCTIONS and isinstance(value, list) and all(isinstance(each, dict | str) for each in value):
        parts = [
            read_mapping(lines, one, depth + 1) if isinstance(one, dict) else lines.condition(one) for one in value
        ]
        return joined(_JUNCTIONS[key], parts)  # type: ignore[arg-type]
    if key in _WRAPPERS and isinstance(value, dict):
        return read_mapping(lines, value, depth + 1)
    if key in ("expect", "assert") and isinstance(value, str):
        return lines.condition(value)
    if key == "json" and isinstance(value, dict):
        rest = dict(value)
        subject = _subject(lines, rest) if {"path", "at", "jsonpath"} & set(rest) else None
        if subject is not None:
            return _asked(lines, subject, rest, depth)
        return joined("and", [_at(lines, path, each, depth) for path, each in rest.items()])
    if key.startswith("$."):
        return _at(lines, key, value, depth)
    if plain in names.CALL_NAMES and isinstance(value, list):
        return fact(f"tools called {ln.names_of(value)}")
    if plain in ("toolsnotcalled", "forbiddentools", "toolnotcalled", "nottoolcalled") and value:
        tools = value if isinstance(value, list) else [value]
        return joined("and", [lines.meaning.times(each, "==", 0) for each in tools])
    limit = re.fullmatch(r"(max|min)?(.+)", plain)
    known = limit[2] if limit else plain
    if known in names.RUNS or (known in names.MEASURES and (known not in ("length", "size") or plain != known)):
        subject = (
            Part("run", *names.RUNS[known]) if known in names.RUNS else Part("measure", Place(), names.MEASURES[known])
        )
        return _limit(lines, subject, key, value, {"max": "<=", "min": ">="}.get((limit and limit[1]) or ""))
    if plain.startswith("trajectory") and isinstance(value, list):
        return lines.condition(
            f"trajectory:{plain.removeprefix('trajectory').replace('tool', 'tool-', 1)} {ln.names_of(value)}"
        )
    return _predicate(lines, Place(), key, value, depth)


def _limit(lines: Lines, subject: Part, key: str, value: Any, op: str | None) -> Condition:
    """A measure and its limit, which is an upper one unless it says more; a count of words is exact."""
    if isinstance(value, dict):
        return lines.verbs.limits(subject, value)
    if isinstance(value, str):
        return lines.clause(f"{key} {value}" if re.match(r"\s*[<>=]", value) else f"{key} {op or '<='} {value}")
    return lines.verbs.compared(op or ("==" if subject.kind == "measure" else "<="), subject, value)


def _at(lines: Lines, path: str, value: Any, depth: int) -> Condition:
    steps = path_steps(path)
    if not steps:
        raise NoLine
    place = Place("json", steps)
    return _asked(lines, place, dict(value), depth + 1) if isinstance(value, dict) else Test(place, ln.equal(value))


def _tool(lines: Lines, value: Any, rest: dict[str, Any]) -> Condition:
    """`{tool_called: book, args: {...}}`, `{toolCall: {name: book, params: {...}}}`."""
    if isinstance(value, dict):
        inner = dict(value)
        tools = _taken(inner, ("name", "tool", "function"))
        if rest or len(tools) != 1 or isinstance(tools[0], dict):
            raise NoLine
        return _tool(lines, tools[0], inner)
    arguments, times, called = (_taken(rest, keys) for keys in (_ARGUMENTS, ("times", "count"), ("called",)))
    if rest or len(arguments) + len(times) + len(called) > 1:
        raise NoLine
    if arguments:
        return with_arguments(value, arguments[0])
    if called and not isinstance(called[0], bool):
        raise NoLine
    return lines.meaning.times(value, *(("==", times[0]) if times else ("==", 0) if called == [False] else (">=", 1)))
