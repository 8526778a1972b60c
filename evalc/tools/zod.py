"""Reads zod schemas, such as `z.object({...}).strict()`, as the JSON Schema of what they certainly demand.

Whatever a method adds that is not known here is left out, so that the schema accepts more, never less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from evalc.tools.values import Items, ModulePlace, Record, Value

if TYPE_CHECKING:
    from tree_sitter import Node

    from evalc.tools.modules import Module

_TYPES: Final = {"string": "string", "number": "number", "boolean": "boolean", "int": "integer", "array": "array"}
_OBJECTS: Final = {"object": None, "strictObject": False, "looseObject": True}
_LONGEST_CHAIN: Final = 200


class _Call(NamedTuple):
    """One link of a chain of calls."""

    method: str
    arguments: tuple[Node, ...]


def schema_of(node: Node, module: Module, value_of: Callable[[Node], Value]) -> Record | None:
    """The schema that a chain of calls on `z` makes; None for every other expression."""
    chain = _chain(node, module)
    if not chain:
        return None
    at = module.script.place(node)
    coerces = chain[0].method == "coerce"
    base, *rest = chain[1:] if coerces else chain
    schema = Record(at, {}, is_schema=True) if coerces else _base(base, at, value_of)
    for call in rest:
        schema = _modified(schema, call, value_of)
    return schema


def _chain(node: Node, module: Module) -> list[_Call]:
    """The calls from `z` on, in their order; empty if the expression begins with something else."""
    calls: list[_Call] = []
    here: Node | None = node
    arguments: tuple[Node, ...] = ()
    while here is not None and len(calls) < _LONGEST_CHAIN:
        match here.type:
            case "call_expression":
                given = here.child_by_field_name("arguments")
                arguments = () if given is None else tuple(x for x in given.named_children if x.type != "comment")
                here = here.child_by_field_name("function")
            case "member_expression":
                name = here.child_by_field_name("property")
                calls.append(_Call("" if name is None else module.script.text(name), arguments))
                arguments = ()
                here = here.child_by_field_name("object")
            case "identifier":
                return calls[::-1] if module.script.text(here) in {"z", "zod"} else []
            case _:
                return []
    return []


def _base(call: _Call, at: ModulePlace, value_of: Callable[[Node], Value]) -> Record:
    first = value_of(call.arguments[0]) if call.arguments else None
    members: dict[str, Value] = {}
    if call.method in _OBJECTS:
        return object_schema(first, at, extra=_OBJECTS[call.method])
    if call.method in _TYPES:
        members["type"] = _TYPES[call.method]
    if call.method == "array" and isinstance(first, Record):
        members["items"] = first
    elif call.method == "enum" and isinstance(first, Items) and first.complete:
        members |= {"type": "string", "enum": first}
    elif call.method == "literal" and isinstance(first, str | int | float):
        members["const"] = first
    return Record(at, members, optional=call.method == "optional", is_schema=True)


def object_schema(shape: Value, at: ModulePlace, *, extra: bool | None = None) -> Record:
    """The schema of an object with these keys; without others unless `extra`."""
    if not isinstance(shape, Record):
        return Record(at, {"type": "object"}, is_schema=True)
    members: dict[str, Value] = {"type": "object", "properties": shape, "required": _required(shape)}
    # What zod's own conversion writes: an object takes no other keys unless it says so.
    members["additionalProperties"] = bool(extra)
    return Record(at, members, complete=shape.complete, is_schema=True)


def _required(shape: Record) -> Items:
    needed = (name for name, value in shape.members.items() if not (isinstance(value, Record) and value.optional))
    return Items(shape.at, tuple(needed))


def _modified(schema: Record, call: _Call, value_of: Callable[[Node], Value]) -> Record:
    match call.method:
        case "optional" | "default" | "nullish" | "catch" | "prefault":
            optional = replace(schema, optional=True)
            return _any_value(optional) if call.method == "nullish" else optional
        case "nullable" | "or" | "and" | "transform" | "pipe" | "preprocess":
            return _any_value(schema)
        case "int":
            return replace(schema, members={**schema.members, "type": "integer"})
        case "describe" if call.arguments:
            return replace(schema, members={**schema.members, "description": value_of(call.arguments[0])})
        case "passthrough" | "loose" | "catchall":
            return replace(schema, members={**schema.members, "additionalProperties": True})
        case "array":
            return Record(schema.at, {"type": "array", "items": schema}, is_schema=True)
        case "extend" | "merge" | "pick" | "omit" | "partial" | "required" | "keyof" | "safeExtend" | "deepPartial":
            return Record(schema.at, {"type": "object"}, is_schema=True)  # its keys are others now
        case _:
            return schema


def _any_value(schema: Record) -> Record:
    """A schema that says nothing of the value; its description stays."""
    return replace(schema, members={k: v for k, v in schema.members.items() if k == "description"})
