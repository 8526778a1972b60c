"""Writes expressions of JavaScript and TypeScript as Python. Uses tree-sitter."""

from __future__ import annotations

import ast
import keyword
import re
from functools import cache
from typing import TYPE_CHECKING

from evalc.grammar.write_check import NoLine
from evalc.translate import names
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


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "surrogatepass") if node and node.text else ""


def _written(node: Node | None) -> str:
    """The Python of a node."""
    if node is None or any(child.type == "comment" for child in node.children):
        raise NoLine
    text, field = _text(node), node.child_by_field_name
    match node.type:
        case "string" | "template_string":  # a template behind a name is a call of it, which this is not
            return f"({''.join(map(_piece, node.named_children))!r})"
        case "number":
            return repr(constant(text))
        case "identifier" | "true" | "false" | "null" | "undefined":
            return names.CONSTANTS.get(text) or (text if _is_name(text) else none())
        case "property_identifier":
            return repr(text)
        case "regex":
            return f"__regex__({_text(field('pattern'))!r}, {_text(field('flags'))!r})"
        case "member_expression":
            name = _text(field("property"))
            return _written(field("object")) + (f".{name}" if _is_name(name) else f"[{name!r}]")
        case "as_expression":
            return _written(node.named_children[0])
        case "arrow_function":
            return _function(_text(field("parameters") or field("parameter")), field("body"))
    return _composed(node)


def _composed(node: Node) -> str:
    """The Python of a node by its form."""
    field, kind = node.child_by_field_name, _text(node.child_by_field_name("operator")) or node.type
    if kind in ("==", "!=") and _text(field("right")) in ("null", "undefined"):
        kind += " null"
    form = names.JAVASCRIPT.get("- of" if kind == "-" and field("argument") else kind) or none()
    parts = {name: _written(field(name)) for name in re.findall(r"(?<!\{)\{(\w+)\}", form) if name != "all"}
    return str(form.format(**parts, all=", ".join(map(_written, node.named_children)) if "all" in form else ""))


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


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
    if node.type == "escape_sequence":
        return str(constant(f'"{text}"')) if text[1] in "nrtbfv0ux" else text[1:]
    return text
