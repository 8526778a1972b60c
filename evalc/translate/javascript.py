"""Writes expressions of JavaScript and TypeScript as Python. Uses tree-sitter."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from evalc.grammar.write_check import NoLine
from evalc.translate.python import read_python, with_places

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
    if root.has_error or [child.type for child in root.named_children] != ["expression_statement"]:
        raise NoLine
    try:
        return read_python(_written(root.named_children[0].named_children[0]))
    except RecursionError:
        raise NoLine from None


_CONSTANTS: Final = {"true": "True", "false": "False", "null": "None", "undefined": "__undefined__", "$": "__root__"}
_OPERATORS: Final = {"===": "==", "!==": "!=", "&&": "and", "||": "or"}
_SAME: Final = ("==", "!=", "<", "<=", ">", ">=", "-")
_UNARY: Final = {"!": "(not ", "-": "(-", "typeof": "__typeof__("}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def _text(node: Node | None) -> str:
    if node is None or node.text is None:
        raise NoLine
    return node.text.decode("utf-8", "surrogatepass")


def _written(node: Node | None) -> str:
    if node is None or node.type not in _WRITERS or any(child.type == "comment" for child in node.children):
        raise NoLine
    return _WRITERS[node.type](node)


def _part(node: Node, name: str) -> str:
    return _written(node.child_by_field_name(name))


def _string(node: Node) -> str:
    pieces = [(_text(child), child.type) for child in node.named_children]
    if any(kind == "template_substitution" for _, kind in pieces):
        raise NoLine
    return repr("".join(_unescaped(piece) if kind == "escape_sequence" else piece for piece, kind in pieces))


def _number(node: Node) -> str:
    try:
        return repr(ast.literal_eval(_text(node)))
    except (ValueError, SyntaxError):
        raise NoLine from None


def _name(node: Node) -> str:
    name = _text(node)
    if name not in _CONSTANTS and (not name.isidentifier() or keyword.iskeyword(name)):
        raise NoLine
    return _CONSTANTS.get(name, name)


def _several(node: Node | None) -> str:
    if node is None or node.type == "template_string":
        raise NoLine
    return ", ".join(map(_written, node.named_children))


def _pair(node: Node) -> str:
    key = node.child_by_field_name("key")
    is_text = key is not None and key.type == "string"
    return f"{_written(key) if is_text else repr(_text(key))}: {_part(node, 'value')}"


def _regex(node: Node) -> str:
    flags = node.child_by_field_name("flags")
    return f"__regex__({_text(node.child_by_field_name('pattern'))!r}, {_text(flags) if flags else ''!r})"


def _unary(node: Node) -> str:
    operator = _text(node.child_by_field_name("operator"))
    if operator not in _UNARY:
        raise NoLine
    return f"{_UNARY[operator]}{_part(node, 'argument')})"


def _binary(node: Node) -> str:
    op, left, right = _text(node.child_by_field_name("operator")), _part(node, "left"), _part(node, "right")
    if op in ("==", "!=") and right in ("None", "__undefined__"):
        return f"({'not ' * (op == '!=')}__nullish__({left}))"
    if op in ("in", "instanceof"):
        return f"__has__({right}, {left})" if op == "in" else f"isinstance({left}, {right})"
    if op not in (*_OPERATORS, *_SAME):
        raise NoLine
    return f"({left} {_OPERATORS.get(op, op)} {right})"


def _member(node: Node) -> str:
    name = _text(node.child_by_field_name("property"))
    plain = name.isidentifier() and not keyword.iskeyword(name)
    return _part(node, "object") + (f".{name}" if plain else f"[{name!r}]")


def _arrow(node: Node) -> str:
    given = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    body = node.child_by_field_name("body")
    parameter = re.fullmatch(r"\(?\s*([A-Za-z_]\w*)\s*(?::[^,()]*)?\)?", _text(given))
    if body is not None and body.type == "statement_block":
        (statement, *more) = body.named_children or [body]
        body = statement.named_children[0] if statement.type == "return_statement" and not more else None
    if parameter is None or keyword.iskeyword(parameter[1]):
        raise NoLine
    return f"(lambda {parameter[1]}: {_written(body)})"


def _unescaped(escape: str) -> str:
    if escape[1:2] not in ("u", "x"):
        return _ESCAPES.get(escape[1:], escape[1:].lstrip("\r\n"))
    try:
        return chr(int(escape[2:].strip("{}"), 16))
    except (ValueError, OverflowError):
        raise NoLine from None


_WRITERS: Final[Mapping[str, Callable[[Node], str]]] = {
    **dict.fromkeys(
        ("parenthesized_expression", "non_null_expression", "as_expression"),
        lambda node: f"({_written(node.named_children[0])})",
    ),
    **dict.fromkeys(("string", "template_string"), _string),
    **dict.fromkeys(("identifier", "true", "false", "null", "undefined"), _name),
    "number": _number,
    "array": lambda node: f"[{_several(node)}]",
    "object": lambda node: f"{{{_several(node)}}}",
    "pair": _pair,
    "regex": _regex,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "member_expression": _member,
    "subscript_expression": lambda node: f"{_part(node, 'object')}[{_part(node, 'index')}]",
    "call_expression": lambda node: f"{_part(node, 'function')}({_several(node.child_by_field_name('arguments'))})",
    "arrow_function": _arrow,
}
