"""Evaluates calls of the few functions that tools are often written with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from evalc.ecma.text import trim
from evalc.tools.modules import Module
from evalc.tools.values import CODE, Items, ModulePlace, Record, Unread, Value

if TYPE_CHECKING:
    from tree_sitter import Node

_CODE: Final = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function", "class", "regex", "class_expression"}
)
_CONSTANTS: Final[Mapping[str, Value]] = {"true": True, "false": False, "null": None, "undefined": None}


def literal(node: Node, module: Module, at: ModulePlace) -> Value:
    """The value of an expression that holds no other."""
    match node.type:
        case "string":
            return module.script.literal(node)
        case "number" | "unary_expression":
            return _number(module.script.text(node), at)
        case kind if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        case kind if kind in _CODE:
            return CODE
        case _:
            return Unread("it is computed", at)


def _number(text: str, at: ModulePlace) -> Value:
    try:
        return int(text.replace("_", ""), 0)
    except ValueError:
        pass
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return Unread("it is not a JSON number", at)


_DEFINER: Final = re.compile(r"tool|define", re.IGNORECASE)


def text_of(method: str, of: Value, arguments: list[Value]) -> Value:
    """The value of `text.trim()` and `[...].join()`; None if it is unknown."""
    match method, of, arguments:
        case "trim", str(), []:
            return trim(of)
        case "join", Items(complete=True), [str() as separator]:
            texts = [item for item in of.items if isinstance(item, str)]
            return separator.join(texts) if len(texts) == len(of.items) else None
        case _:
            return None


def defined(name: str, arguments: list[Value], at: ModulePlace) -> Value:
    """The definition that is handed to a function which makes a tool of it, as its name says."""
    record = next((value for value in arguments if isinstance(value, Record)), None)
    if record is None or not _DEFINER.search(name):
        return Unread(f"`{name or 'a function'}` would have to be called", at)
    members = dict(record.members)
    if "name" not in members and isinstance(arguments[0], str):
        members["name"] = arguments[0]
    return Record(record.at, members, record.places, record.complete, made_by_call=True)
