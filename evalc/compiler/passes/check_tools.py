"""Reports tools and parameters that the tool registry does not have.

What the registry may have without our knowing is never missed: if it could not be read as a whole, no name is
reported as unknown, and a schema says something only where it is certain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from evalc.check import tree as t
from evalc.check.forms import Placed, check_of, placed, record_of
from evalc.check.predicates import texts_of
from evalc.check.values import KINDS, is_a, text_of
from evalc.compiler import ir
from evalc.diagnostics import Diagnostics, Finding
from evalc.diagnostics.near import nearest
from evalc.ecma import to_string
from evalc.model.case import SKILL_TOOL, stubbed
from evalc.model.json import includes, pointer_step, steps
from evalc.tools import ToolRegistry


def check_tools(suite: ir.Suite, tools: ToolRegistry, problems: Diagnostics) -> None:
    """Report what checks, stubs and the suite itself say that does not go with the tools.

    An error in YAML; in eval JSON, which the contract wants to be run whatever its tools have become, a warning.
    """
    if tools.complete and suite.tool not in tools and (near := nearest(suite.tool, tuple(tools))) is not None:
        problems.add(*suite.place(suite.tool_at), Finding("EV234", name=suite.tool, meant=near))
    for case in suite.cases:
        for where, found in _findings(suite, case, tools):
            lenient = Finding("EV235", message=found.message(), label=found.label(), help=found.help())
            is_lenient = suite.from_json and found.entry.severity == "error"
            problems.add(*suite.place(where), lenient if is_lenient else found)


def _findings(suite: ir.Suite, case: ir.Case, tools: ToolRegistry) -> Iterator[tuple[ir.Where, Finding]]:
    for item in case.checks:
        found = _wrong(item.check, tools)
        if found and isinstance(item.where, str):  # once more, by texts that know their places
            found = _wrong(check_of(placed(record_of(item.check))), tools)
        for text, finding in found:
            yield _place(item, text), finding
    for name in stubbed(case.stubs, case.stub_answers) or ():
        pointer = f"/{'stubs' if name in (case.stubs or ()) else 'stubAnswers'}/{pointer_step(name)}"
        if (unknown := _unknown_tool(name, tools, required=True)) is not None:
            yield case.place_of(f"#{pointer}" if suite.from_json else pointer), unknown
    for name, answers in (case.stub_answers or {}).items():
        for index, answer in enumerate(answers):
            for argument, value in (answer.when or {}).items():
                pointer = f"/stubAnswers/{pointer_step(name)}/{index}/when/{pointer_step(argument)}"
                if (unknown := _unknown(name, argument, tools)) is not None:
                    yield case.place_of(f"#{pointer}"), unknown
                elif (impossible := _never_sent(name, argument, value, tools)) is not None:
                    yield case.place_of(pointer), impossible


_Mention = tuple[str, Finding | None]
"""The name of a tool, of a parameter, or a value of one, in a check; and what is wrong with it, if anything."""


def _wrong(check: t.Check, tools: ToolRegistry) -> list[tuple[str, Finding]]:
    """The texts of a check that do not go with the tools, each with what is wrong with it."""
    return [(text, finding) for text, finding in _mentions(check, tools) if finding is not None]


def _place(item: ir.Check, text: str) -> ir.Where:
    """The place of a text that a check mentions; the whole check if that is not known."""
    if not isinstance(item.where, str):
        return item.names.get(text, item.where)
    pointer = text.place.removeprefix("#") if isinstance(text, Placed) else ""
    # A field of `expect` holds the names of a list themselves, an entry of `checks` under the check's own key.
    in_field = "/expect/checks/" not in item.where
    return item.where + (pointer.removeprefix("/names").removeprefix("/sets") if in_field else pointer)


def _mentions(check: t.Check, tools: ToolRegistry, *, required: bool = True) -> Iterator[_Mention]:
    """The statements of a check about tools. `required`: the case passes if the check holds; not so below a `not`."""
    match check:
        case t.Of(t.Call(tool, which), inner):
            required = required and which != "no"
            yield tool, _unknown_tool(tool, tools, required=required)
            if required:
                yield from _arguments(tool, inner, tools)
        case t.Of(t.Measure("calls", str() as tool), t.Test(_, t.Bounds(least, _, above))) if tool:
            yield tool, _unknown_tool(tool, tools, required=required is (above is not None or bool(least)))
        case t.Of(t.Tools(), t.Test(predicate)):
            for _, name in texts_of(check):
                if isinstance(name, str):
                    yield name, _unknown_tool(name, tools, required=required is (predicate != "not_called"))
        case t.Not(inner):
            yield from _mentions(inner, tools, required=not required)
        case _:
            for part, _ in t.parts_of(check):
                yield from _mentions(part, tools, required=required)


def _arguments(tool: str, check: t.Check, tools: ToolRegistry) -> Iterator[_Mention]:
    """The arguments that a check of calls asks for, and the values that one is to have."""
    match check:
        case t.Of(_, t.Not(t.Test("exists"))) | t.Of(t.Result() | t.Failure()) | t.Not():
            pass
        case t.Of(t.Argument(name), inner):
            yield name, _unknown(tool, name, tools)
            yield from _values(tool, name, inner, tools)
        case t.Of(t.At(path) | t.Items(path)):
            (_, key), *_ = steps(path)
            yield path, _unknown(tool, str(key), tools)
        case _:
            for part, _ in t.parts_of(check):
                yield from _arguments(tool, part, tools)


def _values(tool: str, name: str, test: t.Check, tools: ToolRegistry) -> Iterator[_Mention]:
    """The values that the parameter is to have: of several, the first one if each of them is impossible."""
    match test:
        case t.Test("equals", str() as value, False):
            yield value, _impossible(tool, name, value, tools)
        case t.Test("one_of", (str() as first, *_) as values, False) if all(isinstance(each, str) for each in values):
            found = [_impossible(tool, name, value, tools) for value in values]
            yield first, found[0] if all(found) else None


def _unknown_tool(name: str, tools: ToolRegistry, *, required: bool) -> Finding | None:
    if name in tools or name in (t.NO_TOOL, SKILL_TOOL) or not tools.complete:
        return None
    return Finding("EV230" if required else "EV233", name=name, known=tuple(tools))


# --- parameters ------------------------------------------------------------------------------------------------------


def _unknown(tool: str, param: str, tools: ToolRegistry) -> Finding | None:
    known = _all_properties(_schema(tool, tools))
    if known is None or param in known:
        return None
    return Finding("EV231", name=param, tool=tool, known=tuple(known))


def _schema(name: str, tools: ToolRegistry) -> Mapping[str, Any]:
    tool = tools.get(name)
    return {} if tool is None or tool.parameters is None else tool.parameters


_OPENS: Final = frozenset({"allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef"}).union(
    ("patternProperties", "dependentSchemas", "unevaluatedProperties")
)
"""Keywords by which a schema may have properties that it does not list, or say more of a value than is here."""


def _all_properties(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The properties of a schema if it has no others; None if it may.

    A schema without `additionalProperties` allows others by the letter. Models are offered those it lists, so that they
    are all of them if there are any.
    """
    properties = schema.get("properties")
    closed = schema.get("additionalProperties") is False
    if not _OPENS.isdisjoint(schema) or (schema.get("additionalProperties", False) is not False):
        return None
    if not isinstance(properties, Mapping):
        return {} if closed and properties is None else None
    return properties if properties or closed else None


# --- values ----------------------------------------------------------------------------------------------------------


def _impossible(tool: str, name: str, value: str, tools: ToolRegistry) -> Finding | None:
    if "{{" in value:
        return None
    return _ruled_out(tool, name, value, tools, lambda allowed: to_string(allowed) == value, _could_be)


def _never_sent(tool: str, name: str, value: Any, tools: ToolRegistry) -> Finding | None:
    return _ruled_out(tool, name, value, tools, lambda allowed: includes(allowed, value), _is_of)


def _ruled_out(
    tool: str,
    name: str,
    value: Any,
    tools: ToolRegistry,
    is_allowed: Callable[[Any], bool],
    has_type: Callable[[Any, Any], bool],
) -> Finding | None:
    """The finding about a value that the parameter cannot have, as the two functions compare it."""
    properties = _schema(tool, tools).get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    if not isinstance(schema, Mapping) or not _OPENS.isdisjoint(schema):
        return None
    allowed = _allowed(schema)
    if allowed is not None:
        if any(map(is_allowed, allowed)):
            return None
        shown = tuple(map(to_string, allowed))
        return Finding("EV232", value=text_of(value), parameter=name, tool=tool, allowed=shown)
    types = schema.get("type")
    kinds = tuple(map(str, types if isinstance(types, list) else [types]))
    if not kinds or any(has_type(kind, value) for kind in kinds):
        return None
    type_ = " or ".join(KINDS[kind] for kind in kinds)
    return Finding("EV232", value=text_of(value), parameter=name, tool=tool, type=type_)


def _allowed(schema: Mapping[str, Any]) -> list[Any] | None:
    """The only values that a schema allows; None if it names none."""
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if isinstance(values, list) and values else None


def _is_of(type_: Any, value: Any) -> bool:
    """Whether a value is of the type; yes for a type that is unknown."""
    return type_ not in KINDS or is_a(value, type_)


def _could_be(type_: Any, text: str) -> bool:
    """Whether `String` of a value of the type may be this text; yes for all types but the simplest."""
    if type_ not in ("number", "integer", "boolean", "null"):
        return True
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return to_string(value) == text and is_a(value, type_)
