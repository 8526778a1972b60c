"""From an expression that holds no other to its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from evalc.tools.modules import Module
from evalc.tools.values import CODE, ModulePlace, Unread, Value

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
        return Unread("it is no number that JSON has", at)
