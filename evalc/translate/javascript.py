"""Writes expressions of JavaScript and TypeScript as Python. Uses tree-sitter."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

from evalc.grammar.write_check import NoLine
from evalc.translate.python import constant, read_python, with_places
from evalc.translate.trees import none, refuse_if

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@cache
def _parser() -> Parser:
    # For start-up: only if a line of code is translated.
    from tree_sitter import Language, Parser  # noqa: PLC0415
    from tree_sitter_typescript import language_typescript  # noqa: PLC0415

    return Parser(Language(language_typescript()))


def read_javascript(code: str) -> ast.expr:
    """The tree of an expression, or of `return EXPRESSION`."""
    code = re.sub(r"^return ", "", with_places(code).strip().rstrip(";"))
    # The parentheses make an expression of what would be a block.
    root = _parser().parse(f"({code})".encode("utf-8", "surrogatepass")).root_node
    refuse_if(root.has_error or [child.type for child in root.named_children] != ["expression_statement"])
    return read_python(_written(root.named_children[0].named_children[0]))


_NAMES: Final = {"true": "True", "false": "False", "null": "None", "undefined": "__undefined__", "$": "__root__"}
_UNARY: Final = {"!": "(not ", "-": "(-", "typeof": "__typeof__("}
_BINARY: Final = {
    "===": "==", "!==": "!=", "&&": "and", "||": "or",
    **{op: op for op in ("==", "!=", "<", "<=", ">", ">=", "-")},
}  # fmt: skip
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "surrogatepass") if node and node.text else ""


def _written(node: Node | None) -> str:
    """The Python of a node."""
    if node is None or any(child.type == "comment" for child in node.children):
        raise NoLine
    match node.type:
        case "string" | "template_string":
            return repr("".join(map(_piece, node.named_children)))
        case "number":
            return repr(constant(_text(node)))
        case "identifier" | "true" | "false" | "null" | "undefined":
            name = _text(node)
            return _NAMES.get(name, name) if name in _NAMES or _is_name(name) else none()
        case "array":
            return f"[{_several(node)}]"
        case "object":
            return f"{{{_several(node)}}}"
        case "parenthesized_expression" | "non_null_expression" | "as_expression":
            return f"({_written(node.named_children[0])})"
    return _composed(node.type, node.child_by_field_name)


def _composed(kind: str, field: Callable[[str], Node | None]) -> str:
    """The Python of a node that has named fields."""
    match kind:
        case "regex":
            return f"__regex__({_text(field('pattern'))!r}, {_text(field('flags'))!r})"
        case "pair" if key := field("key"):
            return f"{_written(key) if key.type == 'string' else repr(_text(key))}: {_written(field('value'))}"
        case "member_expression":
            name = _text(field("property"))
            return _written(field("object")) + (f".{name}" if _is_name(name) else f"[{name!r}]")
        case "subscript_expression":
            return f"{_written(field('object'))}[{_written(field('index'))}]"
        case "call_expression" if (given := field("arguments")) and given.type == "arguments":
            return f"{_written(field('function'))}({_several(given)})"
        case "unary_expression" if before := _UNARY.get(_text(field("operator"))):
            return f"{before}{_written(field('argument'))})"
        case "binary_expression":
            return _compared(_written(field("left")), _text(field("operator")), _written(field("right")))
        case "arrow_function":
            return _function(_text(field("parameters") or field("parameter")), field("body"))
    raise NoLine


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _several(node: Node) -> str:
    return ", ".join(map(_written, node.named_children))


def _compared(left: str, op: str, right: str) -> str:
    if op in ("==", "!=") and right in ("None", "__undefined__"):
        return f"({'not ' * (op == '!=')}__nullish__({left}))"
    if op in ("in", "instanceof"):
        return f"__has__({right}, {left})" if op == "in" else f"isinstance({left}, {right})"
    return f"({left} {_BINARY.get(op) or none()} {right})"


def _function(parameters: str, body: Node | None) -> str:
    """A function of one parameter, whose body is an expression or returns one."""
    parameter = re.fullmatch(r"\(?\s*([A-Za-z_]\w*)\s*(?::[^,()]*)?\)?", parameters)
    if body is not None and body.type == "statement_block":
        (statement, *more) = body.named_children or [body]
        body = statement.named_children[0] if statement.type == "return_statement" and not more else None
    name = parameter[1] if parameter and not keyword.iskeyword(parameter[1]) else none()
    return f"(lambda {name}: {_written(body)})"


def _piece(node: Node) -> str:
    """The text of a piece of a string."""
    text = _text(node)
    refuse_if(node.type == "template_substitution")
    if node.type != "escape_sequence":
        return text
    if text[1:2] not in ("u", "x"):
        return _ESCAPES.get(text[1:], text[1:].lstrip("\r\n"))
    try:
        return chr(int(text[2:].strip("{}"), 16))
    except (ValueError, OverflowError):
        raise NoLine from None
