"""Reports tools and parameters that the tool registry does not have.

What the registry may have without our knowing is never missed: if it could not be read as a whole, no name is
reported as unknown, and a schema says something only where it is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from evalc.compiler import ir
from evalc.diagnostics.near import nearest
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.ecma.values import to_string
from evalc.model import checks as c
from evalc.model.checks.declaration import texts_of
from evalc.model.json import pointer_step, steps
from evalc.tools.registry import ToolRegistry


def check_tools(suite: ir.Suite, tools: ToolRegistry, problems: Diagnostics) -> None:
    """Report what checks, stubs and the suite itself say that does not go with the tools.

    An error in YAML; in eval JSON, which the contract wants to be run whatever its tools have become, a warning.
    """
    known = tuple(tools)
    if tools.complete and suite.tool not in tools and (near := nearest(suite.tool, known)) is not None:
        problems.add(*suite.place(suite.tool_at), Finding("EV234", name=suite.tool, meant=near))
    for case in suite.cases:
        for where, finding in _findings(suite, case, tools):
            lenient = suite.from_json and finding.entry.severity == "error"
            problems.add(*suite.place(where), _lenient(finding) if lenient else finding)


def _lenient(finding: Finding) -> Finding:
    return Finding("EV235", message=finding.message(), label=finding.label(), help=finding.help())


def _findings(suite: ir.Suite, case: ir.Case, tools: ToolRegistry) -> Iterator[tuple[ir.Where, Finding]]:
    known = tuple(tools)
    for item in case.checks:
        for mention in _mentions(item.check):
            finding = mention.finding(tools)
            if finding is not None:
                yield _place(item, mention), finding
    for name in case.stubs or () if tools.complete else ():
        if name not in tools:
            pointer = f"/stubs/{pointer_step(name)}"
            where = f"#{case.where}{pointer}" if suite.from_json else case.place_of(pointer)
            yield where, Finding("EV230", name=name, known=known)


class _Mention(NamedTuple):
    """A text in a check that says something of a tool."""

    text: str  # the name of a tool, of a parameter, or a value
    pointer: str  # its place, from the check in eval JSON
    finding: Callable[[ToolRegistry], Finding | None]  # what is wrong with it, if anything


def _place(item: ir.Check, mention: _Mention) -> ir.Where:
    """The place of the text; in YAML the whole check if that is not known."""
    if not isinstance(item.where, str):
        return item.names.get(mention.text, item.where)
    # A field of `expect` holds the names of a list themselves, an entry of `checks` under the check's own key.
    in_field = "/expect/checks/" not in item.where
    pointer = mention.pointer
    return item.where + (pointer.removeprefix("/names").removeprefix("/sets") if in_field else pointer)


def _mentions(check: c.Check, pointer: str = "", *, required: bool = True) -> Iterator[_Mention]:
    """The tools that a check mentions. `required`: the case passes if the check holds; not so below a `not`."""
    match check:
        case c.ToolParam() | c.CallHas():
            yield from _arguments(check, pointer, required=required)
        case _ if check.of_calls:
            yield from _names(check, pointer, required=required)
        case c.AnyOf() | c.AllOf():
            for index, inner in enumerate(check.checks):
                yield from _mentions(inner, f"{pointer}/checks/{index}", required=required)
        case c.Not():
            yield from _mentions(check.check, f"{pointer}/check", required=not required)
        case c.InTurn():
            yield from _mentions(check.check, f"{pointer}/check", required=required)
        case _:
            pass


def _names(check: c.Check, pointer: str, *, required: bool) -> Iterator[_Mention]:
    """The tools that a check of calls names."""
    required = required is not isinstance(check, c.ToolsNotCalled)
    for _, name, at in texts_of(check, pointer):
        yield _tool(name, at, required=required)


def _arguments(check: c.ToolParam | c.CallHas, pointer: str, *, required: bool) -> Iterator[_Mention]:
    """The tool whose calls a check looks into, and what it says of their arguments."""
    match check:
        case c.ToolParam():
            yield _tool(check.tool, f"{pointer}/tool", required=required)
            if required and check.assertion != "notExists":
                yield _Mention(
                    check.param_name,
                    f"{pointer}/paramName",
                    lambda tools: _unknown(check.tool, check.param_name, tools),
                )
                yield from _values(check, f"{pointer}/value")
        case c.CallHas():
            required = required and check.which != "no"
            yield _tool(check.tool, f"{pointer}/tool", required=required)
            for path, test in check.args.items() if required else ():
                if test.exists is not False:
                    yield _argument(check.tool, path, f"{pointer}/args/{pointer_step(path)}")


def _tool(name: str, pointer: str, *, required: bool) -> _Mention:
    def finding(tools: ToolRegistry) -> Finding | None:
        if name in tools or name == c.NO_TOOL or not tools.complete:
            return None
        return Finding("EV230" if required else "EV233", name=name, known=tuple(tools))

    return _Mention(name, pointer, finding)


def _argument(tool: str, path: str, pointer: str) -> _Mention:
    """The parameter that a path into the arguments begins with."""
    (_, name), *_ = steps(path)

    def finding(tools: ToolRegistry) -> Finding | None:
        return _unknown(tool, str(name), tools)

    return _Mention(path, pointer, finding)


# --- parameters ------------------------------------------------------------------------------------------------------


def _unknown(tool: str, param: str, tools: ToolRegistry) -> Finding | None:
    known = _all_properties(_schema(tool, tools))
    if known is None or param in known:
        return None
    return Finding("EV231", name=param, tool=tool, known=tuple(known))


def _schema(name: str, tools: ToolRegistry) -> Mapping[str, Any]:
    tool = tools.get(name)
    return {} if tool is None or tool.parameters is None else tool.parameters


_OPENS: Final = frozenset(
    {
        "patternProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "$ref",
        "$dynamicRef",
        "dependentSchemas",
        "unevaluatedProperties",
    }
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


def _values(check: c.ToolParam, pointer: str) -> Iterator[_Mention]:
    """The values that the parameter is to have: of several, those where each of them is impossible."""
    match check:
        case c.ToolParam(assertion="equals", value=str() as value):
            yield _Mention(value, pointer, lambda tools: _impossible(check, value, tools))
        case c.ToolParam(assertion="oneOf", value=tuple() as values) if values:

            def finding(tools: ToolRegistry) -> Finding | None:
                found = [_impossible(check, value, tools) for value in values]
                return found[0] if all(found) else None

            yield _Mention(values[0], f"{pointer}/0", finding)
        case _:
            pass


def _impossible(check: c.ToolParam, value: str, tools: ToolRegistry) -> Finding | None:
    properties = _schema(check.tool, tools).get("properties")
    schema = properties.get(check.param_name) if isinstance(properties, Mapping) else None
    if not isinstance(schema, Mapping) or not _OPENS.isdisjoint(schema) or "{{" in value:
        return None
    allowed = _allowed(schema)
    if allowed is not None:
        if value in allowed:
            return None
        return Finding("EV232", value=value, parameter=check.param_name, tool=check.tool, allowed=allowed)
    types = schema.get("type")
    names = tuple(map(str, types if isinstance(types, list) else [types]))
    if not names or any(_could_be(name, value) for name in names):
        return None
    type_ = " or ".join(_TYPES[name] for name in names)
    return Finding("EV232", value=value, parameter=check.param_name, tool=check.tool, type=type_)


def _allowed(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The texts of the only values that a schema allows, as `String(value)` gives them; None if it names none."""
    if "const" in schema:
        return (to_string(schema["const"]),)
    values = schema.get("enum")
    return tuple(map(to_string, values)) if isinstance(values, list) and values else None


_TYPES: Final = {"number": "a number", "integer": "a whole number", "boolean": "true or false", "null": "null"}


def _could_be(type_: str, value: str) -> bool:
    """Whether `String` of a value of the type may be this text; yes for all types but the simplest."""
    match type_:
        case "boolean":
            return value in {"true", "false"}
        case "null":
            return value == "null"
        case "number" | "integer":
            return _is_number(value, whole=type_ == "integer")
        case _:
            return True


def _is_number(value: str, *, whole: bool) -> bool:
    try:
        number = float(value)
        return to_string(number) == value and (not whole or number.is_integer())
    except ValueError:
        return False
