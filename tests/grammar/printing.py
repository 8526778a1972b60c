"""From a check to its one-line form."""

from __future__ import annotations

from json import dumps
from typing import assert_never

from evalc.grammar.nodes import (
    AllOf,
    AnyOf,
    Argument,
    Array,
    At,
    Check,
    Constant,
    Contains,
    ContainsAny,
    Cost,
    Custom,
    Equals,
    HasField,
    Json,
    Judge,
    Latency,
    Length,
    Matches,
    NonEmpty,
    Not,
    NoToolErrors,
    Number,
    Object,
    Path,
    Regexp,
    Similar,
    StartsWith,
    Structure,
    Text,
    Tokens,
    ToolCount,
    ToolParam,
    ToolsAcceptable,
    ToolsCalled,
    ToolsNotCalled,
    Value,
)


def printed(check: Check) -> str:  # noqa: C901 - one case a node
    match check:
        case Contains(text=text, ignore_case=ignore_case):
            return f"contains {quoted(text)}{' ignoring case' if ignore_case else ''}"
        case ContainsAny(texts=texts):
            return f"contains any of {listed(texts)}"
        case Matches(regexp=regexp):
            return f"matches {pattern(regexp)}"
        case Length(min=least, max=most, unit=unit):
            return f"length {bounds(least, most)} {unit}"
        case Json(mode=mode, schema=schema):
            return f"json {mode}{f' matching {quoted(schema)}' if schema else ''}"
        case Structure(fields=fields, headings=headings):
            if fields:
                return f"has fields {', '.join(field(each) for each in fields)}"
            return f"has headings {', '.join(quoted(each) for each in headings)}"
        case Equals(text=text):
            return f"equals {quoted(text)}"
        case StartsWith(text=text):
            return f"starts with {quoted(text)}"
        case NonEmpty():
            return "non-empty"
        case Similar(text=text, threshold=threshold):
            return f"similar to {quoted(text)}{f' >= {threshold.value}' if threshold else ''}"
        case Custom(name=name, arguments=arguments):
            return f"check {quoted(name)}({', '.join(argument(each) for each in arguments)})"
        case ToolsCalled(names=names):
            return f"tools called {listed(names)}"
        case ToolsAcceptable(sets=sets):
            return f"tools one of [{', '.join(listed(names) if names else 'none' for names in sets)}]"
        case ToolsNotCalled(names=names):
            return f"tools not called {listed(names)}"
        case ToolCount(min=least, max=most):
            return f"tool count {bounds(least, most)}"
        case ToolParam():
            return f"tool {quoted(check.tool)}.{quoted(check.param)} {param_test(check)}"
        case NoToolErrors():
            return "no tool errors"
        case Latency(max=limit):
            return f"latency <= {limit.value}ms"
        case Tokens(max=limit):
            return f"tokens <= {limit.value}"
        case Cost(max=limit):
            return f"cost <= ${limit.value}"
        case Judge(question=question, min=least, scale=scale):
            return f"judge {quoted(question)}{f' >= {least.value}/{scale.value}' if least and scale else ''}"
        case At(path=place, check=inner):
            return f"at {path(place)} {printed(inner)}"
        case AnyOf(checks=checks):
            return " or ".join(f"({printed(each)})" for each in checks)
        case AllOf(checks=checks):
            return " and ".join(f"({printed(each)})" for each in checks)
        case Not(check=At() | AnyOf() | AllOf() as inner):
            return f"not ({printed(inner)})"
        case Not(check=inner):
            return f"not {printed(inner)}"
        case _:
            assert_never(check)


def quoted(text: Text) -> str:
    return dumps(text.value)


def listed(texts: tuple[Text, ...]) -> str:
    return f"[{', '.join(quoted(text) for text in texts)}]"


def pattern(regexp: Regexp) -> str:
    return f"/{regexp.pattern}/{regexp.flags}" if regexp.literal else dumps(regexp.pattern)


def bounds(least: Number | None, most: Number | None) -> str:
    if least is None:
        return f"<= {most.value if most else 0}"
    return f">= {least.value}" if most is None else f"{least.value}..{most.value}"


def field(has: HasField) -> str:
    return f"{path(has.path)} as {has.type}" if has.type else path(has.path)


def path(place: Path) -> str:
    return place.text


def argument(given: Argument) -> str:
    return f"{given.name.value}={value(given.value)}" if given.name else value(given.value)


def value(given: Value) -> str:
    match given:
        case Text():
            return quoted(given)
        case Constant():
            return dumps(given.value)
        case Array(items=items):
            return f"[{', '.join(value(each) for each in items)}]"
        case Object(members=members):
            return f"{{{', '.join(f'{quoted(each.key)}: {value(each.value)}' for each in members)}}}"
        case _:
            assert_never(given)


def param_test(check: ToolParam) -> str:
    match check.op:
        case "equals" | "contains":
            assert check.value is not None
            return f"{check.op} {quoted(check.value)}"
        case "oneOf":
            return f"one of {listed(check.values)}"
        case "matches":
            assert check.regexp is not None
            return f"matches {pattern(check.regexp)}"
        case "exists":
            return "exists"
        case "notExists":
            return "not exists"
