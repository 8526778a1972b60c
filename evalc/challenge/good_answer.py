"""Writes an answer that the checks of a case should take for good, as far as one can be guessed from them.

What a check accepts besides, such as a text that matches a pattern, is not looked for: whether the answer is good is
seen by checking it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final

import msgspec

from evalc.challenge.mutant import answered
from evalc.model import checks as c
from evalc.model.answer import AgentResponse, ToolCall
from evalc.model.assertions import assertions
from evalc.model.case import Case
from evalc.model.json import Step, steps
from evalc.tools.registry import ToolRegistry

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


def good_answer(case: Case, tools: ToolRegistry | None) -> AgentResponse:
    """The guess: the texts that the checks require, after `expected`; the tools that they require."""
    wanted = _Wanted(tools)
    for assertion in assertions(case.expect):
        wanted.add(assertion.check)
    if case.label is not None and case.label.path is None:
        wanted.add(c.Equals(value=case.label.expected))
    return answered(wanted.text(case.expected or ""), tuple(wanted.calls()))


@final
class _Wanted:
    """What the checks want, as far as they have been read."""

    def __init__(self, tools: ToolRegistry | None) -> None:
        self._tools = tools
        self._parts: list[str] = []
        self._begins = self._ends = ""
        self._whole: str | None = None
        self._least = 0
        self._json: Any = None
        self._is_json = False
        self._names: list[str] = []
        self._params: dict[str, dict[str, Any]] = {}

    def add(self, check: c.Check) -> None:
        """Take in what one check wants."""
        match check:
            case c.Contains(value=value) | c.IContains(value=value) | c.Similar(value=value):
                self._parts.append(value)
            case c.ContainsAny(values=(first, *_)):
                self._parts.append(first)
            case c.Equals(value=value):
                self._whole = value
            case c.StartsWith(value=value):
                self._begins = value
            case c.EndsWith(value=value):
                self._ends = value
            case c.Length(min=int() as least, unit="chars"):
                self._least = max(self._least, least)
            case c.Length(min=int() as least):
                self._least = max(self._least, least * len(_FILLER))
            case c.Structure(headings=headings) if headings:
                self._parts += [f"\n# {heading}\n" for heading in headings]
            case c.Json() | c.Structure() | c.At():
                self._is_json = True
                self._add_json(check)
            case c.AnyOf(checks=(first, *_)):
                self.add(first)
            case c.AllOf(checks=checks):
                for each in checks:
                    self.add(each)
            case _:
                self._add_calls(check)

    def _add_json(self, check: c.Json | c.Structure | c.At) -> None:
        match check:
            case c.Json(mode="array"):
                self._json = self._json or []
            case c.Structure(fields=fields):
                for field in fields:
                    self._json = _placed(self._json, steps(field.path), _OF_TYPE.get(field.type or "string", "text"))
            case c.At(path=path, check=inner):
                value = _value_for(inner)
                if value is not None:
                    self._json = _placed(self._json, steps(path), value)
            case _:
                pass

    def _add_calls(self, check: c.Check) -> None:
        match check:
            case c.ToolsCalled(names=names) | c.ToolsInOrder(names=names) | c.ToolsInclude(names=names):
                if len(names) > len(self._names):
                    self._names = list(names)
            case c.ToolsAcceptable(sets=sets):
                chosen = next((names for names in sets if names != (c.NO_TOOL,)), ())
                self._names = self._names or list(chosen)
            case c.ToolParam(tool=tool, param_name=name, assertion=assertion, value=value):
                if assertion != "notExists":
                    chosen_value = value[0] if isinstance(value, tuple) and value else value
                    self._params.setdefault(tool, {})[name] = "text" if chosen_value is None else chosen_value
            case c.CallHas(tool=tool, which=which, args=args) if which != "no":
                for name, test in args.items():
                    if "." not in name and "[" not in name:
                        self._params.setdefault(tool, {})[name] = _argument(test)
            case _:
                pass

    def calls(self) -> Iterator[ToolCall]:
        """The calls of the tools that are wanted, with what is wanted of their parameters."""
        for name in [*self._names, *(tool for tool in self._params if tool not in self._names)]:
            yield ToolCall(name=name, success=True, params={**self._required(name), **self._params.get(name, {})})

    def _required(self, name: str) -> dict[str, Any]:
        tool = None if self._tools is None else self._tools.get(name)
        schema = {} if tool is None or tool.parameters is None else tool.parameters
        properties: Any = schema.get("properties")
        required: Any = schema.get("required")
        if not isinstance(properties, Mapping) or not isinstance(required, list):
            return {}
        return {key: _of_schema(properties.get(key)) for key in required if isinstance(key, str)}

    def text(self, base: str) -> str:
        """The text that is wanted; `base` is what it begins with, if nothing says otherwise."""
        if self._whole is not None:
            return self._whole
        if self._is_json:
            return json.dumps({} if self._json is None else self._json, ensure_ascii=False)
        missing = [part for part in self._parts if part not in base]
        text = " ".join(part for part in (self._begins, base, *missing) if part) or _ANYTHING
        room = min(self._least, _LONGEST) - len(text) - len(self._ends)
        if room > 0:
            text += " " + _FILLER * (room // len(_FILLER) + 1)
        return text + (f" {self._ends}" if self._ends and not text.endswith(self._ends) else "")


def _placed(inner: Any, path: Sequence[Step], value: object) -> Any:
    """The JSON with a value at a place of it, unless something is there; its parents are made."""
    if not path:
        return value if inner is None else inner
    (kind, step), *rest = path
    if kind == "key":
        members = inner if isinstance(inner, dict) else {}
        return {**members, step: _placed(members.get(step), rest, value)}
    index = 0 if kind == "every" else min(int(step), _MOST_ITEMS)
    items = list(inner) if isinstance(inner, list) else []
    items += [None] * (index + 1 - len(items))
    items[index] = _placed(items[index], rest, value)
    return items


def tools_wanted(check: c.Check) -> tuple[str, ...]:
    """The tools that a check wants called."""
    match check:
        case c.ToolsCalled(names=names) | c.ToolsInclude(names=names) | c.ToolsInOrder(names=names):
            return names
        case c.ToolsAcceptable(sets=sets):
            return tuple(name for names in sets for name in names if name != c.NO_TOOL)
        case c.ToolParam(tool=tool):
            return (tool,)
        case c.CallHas(tool=tool, which=which) if which != "no":
            return (tool,)
        case _:
            return ()


def _value_for(check: c.Check) -> object:
    """What must be at a place for the check to pass; None if it cannot be guessed."""
    match check:
        case c.Value(value=value):
            return value
        case c.Contains(value=value) | c.IContains(value=value) | c.Equals(value=value) | c.StartsWith(value=value):
            return value
        case c.EndsWith(value=value):
            return value
        case c.ContainsAny(values=(first, *_)):
            return first
        case c.Number(min=least, max=most):
            return least if least is not None else most
        case c.Count(min=least, max=most):
            count = least if least is not None else most or 0
            return ["text"] * min(count, _MOST_ITEMS)
        case c.NonEmpty() | c.Length():
            return "text"
        case _:
            return None


def _argument(test: c.ArgTest) -> object:
    match test:
        case c.ArgTest(one_of=(first, *_)):
            return first
        case c.ArgTest(contains=str() as text):
            return text
        case c.ArgTest(min=int() | float() as least):
            return least
        case c.ArgTest(max=int() | float() as most):
            return most
        case _:
            return "text" if test.equals is msgspec.UNSET else test.equals


def _of_schema(schema: object) -> object:
    """A value that a parameter's JSON Schema takes, as far as its simplest keywords say."""
    if not isinstance(schema, Mapping):
        return "text"
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    match schema.get("enum"):
        case [first, *_]:
            return first
        case _:
            return _OF_TYPE.get(str(schema.get("type")), "text")
