"""From a check of the model to its one-line form, for messages and for the IR's text."""

from __future__ import annotations

import json
from typing import assert_never

from evalc.model import checks as c


def describe(check: c.Check) -> str:  # noqa: C901 - one arm a check
    """The check as an author would write it on one line."""
    match check:
        case c.Contains():
            return f"contains {_quoted(check.value)}"
        case c.NotContains():
            return f"not contains {_quoted(check.value)}"
        case c.IContains():
            return f"contains {_quoted(check.value)} ignoring case"
        case c.ContainsAny():
            return f"contains any of [{', '.join(map(_quoted, check.values))}]"
        case c.Regex():
            return f"matches /{check.pattern}/{check.flags}" if check.flags else f"matches {_quoted(check.pattern)}"
        case c.Length():
            return f"length {_bounds(check.min, check.max)} {check.unit}"
        case c.Json():
            mode = "" if check.mode == "strict" else f" {check.mode}"
            return f"json{mode}" if check.schema is None else f"json{mode} matching a schema"
        case c.Structure():
            return _structure(check)
        case c.Equals():
            return f"equals {_quoted(check.value)}"
        case c.StartsWith():
            return f"starts with {_quoted(check.value)}"
        case c.Similar():
            return f"similar to {_quoted(check.value)} >= {check.threshold:g}"
        case c.Custom():
            return f"check {check.name}({_arguments(check)})"
        case c.Judge():
            score = (
                f" of {check.max_score:g}"
                if check.min_score is None
                else f" >= {check.min_score:g}/{check.max_score:g}"
            )
            return f"judge {_quoted(check.criteria)}{score}"
        case c.NonEmpty():
            return "non-empty"
        case c.ToolsCalled():
            return f"tools called {_names(check.names)}"
        case c.ToolsAcceptable():
            sets = ("none" if names == ("__none__",) else _names(names) for names in check.sets)
            return f"tools one of [{', '.join(sets)}]"
        case c.ToolsNotCalled():
            return f"tools not called {_names(check.names)}"
        case c.ToolCount():
            return f"tool count {_bounds(check.min, check.max)}"
        case c.ToolParam():
            return _param(check)
        case c.NoToolErrors():
            return "no tool errors"
        case c.Latency():
            return f"latency <= {check.max:g}ms"
        case c.Tokens():
            return f"tokens <= {check.max:g}"
        case c.Cost():
            return f"cost <= ${check.max:g}"
        case c.At():
            return f"at {check.path} {describe(check.check)}"
        case c.AnyOf():
            return " or ".join(map(_grouped, check.checks))
        case c.AllOf():
            return " and ".join(map(_grouped, check.checks))
        case c.Not():
            return f"not {_grouped(check.check)}"
        case _:
            assert_never(check)


def _grouped(check: c.Check) -> str:
    return f"({describe(check)})" if isinstance(check, c.AnyOf | c.AllOf) else describe(check)


def _quoted(text: str) -> str:
    shown = text if len(text) <= 60 else text[:57] + "..."
    return json.dumps(shown, ensure_ascii=False)


def _arguments(check: c.Custom) -> str:
    by_place = [json.dumps(value, ensure_ascii=False) for value in check.args]
    by_name = [f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in check.options.items()]
    return ", ".join(by_place + by_name)


def _names(names: tuple[str, ...]) -> str:
    return f"[{', '.join(names)}]"


def _bounds(low: int | None, high: int | None) -> str:
    if low is not None and high is not None:
        return f"{low}..{high}"
    return f">= {low or 0}" if high is None else f"<= {high}"


def _structure(check: c.Structure) -> str:
    fields = ", ".join(f"{field.path} as {field.type}" if field.type else field.path for field in check.fields)
    headings = ", ".join(map(_quoted, check.headings))
    parts = [f"fields {fields}" if fields else "", f"headings {headings}" if headings else ""]
    return "has " + " and ".join(part for part in parts if part)


def _param(check: c.ToolParam) -> str:
    subject = f"tool {check.tool}.{check.param_name}"
    match check.value:
        case None:
            return f"{subject} {'exists' if check.assertion == 'exists' else 'not exists'}"
        case str():
            return f"{subject} {check.assertion} {_quoted(check.value)}"
        case _:
            return f"{subject} one of [{', '.join(map(_quoted, check.value))}]"
