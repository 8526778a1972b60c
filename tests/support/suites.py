"""Strategies for suites as an author could have written them, in each spelling of every check."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

from hypothesis import strategies as st

import evalc

Spelling = Literal["mapping", "line", "expect"]

# Braces would open templates; what is no letter here is what YAML, JSON, the grammars and regular expressions escape.
TEXTS = st.text(st.sampled_from("abcxyz ÄöЖ天🎉\"'\\:#,[]()&*!|>%@`-\t\n"), min_size=1, max_size=12)
NAMES = st.from_regex(r"[a-z][a-z_]{0,7}", fullmatch=True).filter(lambda name: name not in {"none", "not"})
SMALL = st.integers(1, 500)


class Written(NamedTuple):
    """One check in its spellings: an item of `validate:`, a one-line text, and a field of `expect:` if it has one."""

    mapping: dict[str, Any]
    line: str
    field: str | None = None
    value: Any = None


def quoted(text: str) -> str:
    return json.dumps(text)


def listed(texts: list[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def contains(text: str) -> Written:
    return Written({"type": "contains", "rule": text}, f"contains {quoted(text)}", "responseContains", [text])


def not_contains(text: str) -> Written:
    mapping = {"type": "not_contains", "rule": text}
    return Written(mapping, f"not contains {quoted(text)}", "responseNotContains", [text])


def contains_any(texts: list[str]) -> Written:
    mapping = {"type": "contains_any", "rule": texts}
    return Written(mapping, f"contains any of {listed(texts)}", "responseContainsAny", [texts])


def regex(pattern: str) -> Written:
    return Written({"type": "regex", "rule": pattern}, f"matches {quoted(pattern)}", "responseMatches", [pattern])


def bounded(type_: str, words: str, fields: tuple[str, str]) -> st.SearchStrategy[Written]:
    def build(low: int, extra: int, which: str) -> Written:
        high = low + extra
        rule = {"low": f"min:{low}", "high": f"max:{high}", "both": f"min:{low},max:{high}"}[which]
        line = {"low": f">= {low}", "high": f"<= {high}", "both": f"{low}..{high}"}[which]
        field, value = (fields[0], low) if which == "low" else (fields[1], high)
        mapping = {"type": type_, "rule": rule}
        return Written(mapping, f"{words} {line}", None if which == "both" else field, value)

    return st.builds(build, SMALL, SMALL, st.sampled_from(["low", "high", "both"]))


def fixed(type_: str, line: str, field: str | None = None, value: Any = None) -> st.SearchStrategy[Written]:
    return st.just(Written({"type": type_}, line, field, value))


def tool_param(tool: str, param: str, op: str, value: str | list[str]) -> Written:
    shown = {"equals": "equals", "contains": "contains", "oneOf": "one of"}[op]
    given = value if op != "oneOf" else [value] if isinstance(value, str) else value
    text = listed(given) if isinstance(given, list) else quoted(given)
    mapping = {"type": "tool_param", "tool": tool, "param": param, "op": op, "value": given}
    entry = {"tool": tool, "paramName": param, "assertion": op, "value": given}
    return Written(mapping, f"tool {quoted(tool)}.{quoted(param)} {shown} {text}", "toolParams", [entry])


MANY_NAMES = st.lists(NAMES, min_size=1, max_size=3, unique=True)
MANY_TEXTS = st.lists(TEXTS, min_size=2, max_size=3, unique=True)
SIMPLE: dict[str, st.SearchStrategy[Written]] = {
    "contains": st.builds(contains, TEXTS),
    "not_contains": st.builds(not_contains, TEXTS.map(lambda text: f"never {text}")),
    "icontains": TEXTS.map(
        lambda text: Written({"type": "icontains", "rule": text}, f"contains {quoted(text)} ignoring case")
    ),
    "contains_any": st.builds(contains_any, MANY_TEXTS),
    "regex": st.builds(regex, st.sampled_from([r"a+", r"^def .*:", r"\d{2,3}", "[/\"']x", "天+"])),
    "length": bounded("length", "length", ("minLength", "maxLength")),
    "json": st.just(Written({"type": "json", "rule": "strict"}, "json", "jsonValid", True)),
    "json lenient": st.just(Written({"type": "json", "rule": "lenient"}, "json lenient")),
    "structure": MANY_NAMES.map(
        lambda names: Written(
            {"type": "structure", "rule": f"fields:{','.join(names)}"},
            f"has fields {', '.join(names)}",
            "requiredKeys",
            names,
        )
    ),
    "equals": TEXTS.map(lambda text: Written({"type": "equals", "rule": text}, f"equals {quoted(text)}")),
    "starts_with": TEXTS.map(
        lambda text: Written({"type": "starts_with", "rule": text}, f"starts with {quoted(text)}")
    ),
    "similar": st.builds(
        lambda text, percent: Written(
            {"type": "similar", "rule": text, "threshold": percent / 100}, f"similar to {quoted(text)} >= {percent}%"
        ),
        TEXTS,
        st.integers(1, 100),
    ),
    "judge": st.builds(
        lambda text, least, more: Written(
            {"type": "judge", "rule": f"Is it {text}", "min": least, "scale": least + more},
            f"judge {quoted(f'Is it {text}')} >= {least}/{least + more}",
        ),
        TEXTS,
        st.integers(1, 5),
        st.integers(0, 5),
    ),
    "non_empty": fixed("non_empty", "non-empty", "responseNonEmpty", True),
    "tools_called": MANY_NAMES.map(
        lambda names: Written(
            {"type": "tools_called", "rule": names}, f"tools called {listed(names)}", "toolsCalled", names
        )
    ),
    "tools_not_called": MANY_NAMES.map(
        lambda names: Written(
            {"type": "tools_not_called", "rule": names}, f"tools not called {listed(names)}", "toolsNotCalled", names
        )
    ),
    "tool_count": bounded("tool_count", "tool count", ("minToolCalls", "maxToolCalls")),
    "tool_param": st.builds(tool_param, NAMES, NAMES, st.sampled_from(["equals", "contains", "oneOf"]), TEXTS),
    "no_tool_errors": fixed("no_tool_errors", "no tool errors", "noToolErrors", True),
    "latency": SMALL.map(
        lambda n: Written({"type": "latency", "rule": f"{n}s"}, f"latency <= {n}s", "maxLatencyMs", n * 1000)
    ),
    "tokens": SMALL.map(lambda n: Written({"type": "tokens", "rule": n}, f"tokens <= {n}", "maxTokens", n)),
    "cost": SMALL.map(
        lambda n: Written({"type": "cost", "rule": f"{n / 100}"}, f"cost <= ${n / 100}", "maxCost", n / 100)
    ),
}
"""Every check that has no parts. No case holds two of one name, so that no field is asserted twice."""


def composed(first: Written, second: Written, op: str) -> Written:
    word = {"any_of": "or", "all_of": "and"}.get(op)
    if word is None:
        return Written({"not": first.mapping}, f"not ({first.line})")
    return Written({op: [first.mapping, second.mapping]}, f"({first.line}) {word} ({second.line})")


def compositions() -> st.SearchStrategy[Written]:
    names = ("icontains", "equals", "starts_with", "similar", "judge", "latency", "json", "length")
    inner = st.one_of([SIMPLE[name] for name in names])
    return st.builds(composed, inner, inner, st.sampled_from(["any_of", "not"]))


@st.composite
def case_checks(draw: st.DrawFn) -> list[Written]:
    """The checks of one case, at most one of each kind; one alone where they contradict each other."""
    names = draw(st.lists(st.sampled_from(sorted(SIMPLE)), min_size=1, max_size=6, unique=True))
    checks = [draw(SIMPLE[name]) for name in names]
    if draw(st.booleans()):
        checks.append(draw(compositions()))
    return checks if can_pass(checks) else checks[:1]


def can_pass(checks: list[Written]) -> bool:
    """Whether evalc finds no contradiction between the checks."""
    case = {"name": "a", "message": "hi", "validate": [check.mapping for check in checks]}
    source = evalc.Source("a.eval.yaml", json.dumps({"eval": {"test_cases": [case]}}))
    return all(problem.severity != "error" for problem in evalc.check(source))


class Linked(NamedTuple):
    """A check, the criterion that it counts for, and its weight."""

    check: Written
    criterion: str | None
    weight: int


@st.composite
def suites(draw: st.DrawFn) -> dict[str, Any]:
    """A suite as data, its checks spelled by chance; it has no errors."""
    criteria = draw(st.lists(NAMES, max_size=3, unique=True))
    cases = []
    for index in range(draw(st.integers(1, 3))):
        validate: list[Any] = []
        expect: dict[str, Any] = {}
        for check in draw(case_checks()):
            spelling: Spelling = draw(st.sampled_from(["mapping", "line", "expect"]))
            criterion = draw(st.sampled_from([None, *criteria]))
            if spelling == "expect" and check.field is not None:
                expect[check.field] = check.value
            elif spelling == "mapping":
                linked = {"criterion": criterion, "weight": draw(st.integers(1, 3))} if criterion else {}
                validate.append({**check.mapping, **linked})
            else:
                validate.append(f"{check.line} for {criterion}" if criterion else check.line)
        case: dict[str, Any] = {"name": f"case {index}", "message": draw(TEXTS)}
        if validate:
            case["validate"] = validate
        if expect:
            case["expect"] = expect
        for key, values in _EXTRAS.items():
            if draw(st.integers(0, 4)) == 0 and (criteria or key != "threshold"):
                case[key] = draw(values)
        cases.append(case)
    suite: dict[str, Any] = {"suite": "generated", "eval": {"test_cases": cases}}
    if criteria:
        suite["eval"]["criteria"] = [{"name": name, "weight": 1 / len(criteria)} for name in criteria]
    return suite


_EXTRAS: dict[str, st.SearchStrategy[Any]] = {
    "description": TEXTS.filter(str.strip),
    "expected": TEXTS.filter(str.strip),
    "tags": st.lists(NAMES, max_size=2),
    "threshold": st.sampled_from([0.5, 1]),
    "inputs": st.dictionaries(
        NAMES, st.one_of(TEXTS, st.integers(), st.booleans(), st.lists(TEXTS, max_size=2)), max_size=2
    ),
    "stubs": st.dictionaries(NAMES, st.dictionaries(NAMES, TEXTS, max_size=1), max_size=2),
    "max_turns": st.integers(1, 9),
    "difficulty": st.sampled_from(["straightforward", "ambiguous", "edge"]),
}
