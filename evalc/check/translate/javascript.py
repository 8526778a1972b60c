"""Writes expressions of JavaScript and TypeScript as Python. Uses tree-sitter."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from evalc.check.translate.lines import NoLine
from evalc.check.translate.python import read_python, with_places

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
    data = f"({code})".encode("utf-8", "surrogatepass")
    root = _parser().parse(data).root_node
    if root.has_error or [child.type for child in root.named_children] != ["expression_statement"]:
        raise NoLine
    try:
        return read_python(_Writer(data).written(root.named_children[0].named_children[0]))
    except RecursionError:
        raise NoLine from None


_CONSTANTS: Final = {"true": "True", "false": "False", "null": "None", "undefined": "__undefined__"}
_OPERATORS: Final = {"===": "==", "!==": "!=", "&&": "and", "||": "or"}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class _Writer:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def text(self, node: Node | None) -> str:
        if node is None:
            raise NoLine
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def written(self, node: Node | None) -> str:
        writer = _WRITERS.get(node.type) if node else None
        if node is None or writer is None or any(child.type == "comment" for child in node.children):
            raise NoLine
        return writer(self, node)

    def part(self, node: Node, name: str) -> str:
        return self.written(node.child_by_field_name(name))

    def inner(self, node: Node) -> str:
        return f"({self.written(node.named_children[0])})"

    def string(self, node: Node) -> str:
        if any(child.type == "template_substitution" for child in node.named_children):
            raise NoLine
        pieces = [(self.text(child), child.type == "escape_sequence") for child in node.named_children]
        return repr("".join(_unescaped(piece) if escaped else piece for piece, escaped in pieces))

    def number(self, node: Node) -> str:
        try:
            return repr(ast.literal_eval(self.text(node)))
        except (ValueError, SyntaxError):
            raise NoLine from None

    def name(self, node: Node) -> str:
        name = self.text(node)
        if name in _CONSTANTS or name == "$":
            return _CONSTANTS.get(name, "__root__")
        if not name.isidentifier() or keyword.iskeyword(name):
            raise NoLine
        return name

    def several(self, node: Node) -> str:
        return ", ".join(map(self.written, node.named_children))

    def object(self, node: Node) -> str:
        pairs = []
        for pair in node.named_children:
            key = pair.child_by_field_name("key")
            if pair.type != "pair" or key is None or key.type not in ("string", "property_identifier"):
                raise NoLine
            name = self.written(key) if key.type == "string" else repr(self.text(key))
            pairs.append(f"{name}: {self.part(pair, 'value')}")
        return f"{{{', '.join(pairs)}}}"

    def regex(self, node: Node) -> str:
        flags = node.child_by_field_name("flags")
        source = self.text(node.child_by_field_name("pattern"))
        return f"__regex__({source!r}, {self.text(flags) if flags else ''!r})"

    def unary(self, node: Node) -> str:
        operator, of = self.text(node.child_by_field_name("operator")), self.part(node, "argument")
        templates = {"!": "(not {})", "-": "(-{})", "typeof": "__typeof__({})"}
        if operator not in templates:
            raise NoLine
        return templates[operator].replace("{}", of)

    def binary(self, node: Node) -> str:
        op = self.text(node.child_by_field_name("operator"))
        left, right = self.part(node, "left"), self.part(node, "right")
        if op in ("==", "!=") and right in ("None", "__undefined__"):
            return f"({'not ' * (op == '!=')}__nullish__({left}))"
        if op == "in":
            return f"__has__({right}, {left})"
        if op == "instanceof":
            return f"isinstance({left}, {right})"
        if op not in (*_OPERATORS, "==", "!=", "<", "<=", ">", ">=", "-"):
            raise NoLine
        return f"({left} {_OPERATORS.get(op, op)} {right})"

    def member(self, node: Node) -> str:
        name = self.text(node.child_by_field_name("property"))
        plain = name.isidentifier() and not keyword.iskeyword(name)
        return self.part(node, "object") + (f".{name}" if plain else f"[{name!r}]")

    def subscript(self, node: Node) -> str:
        return f"{self.part(node, 'object')}[{self.part(node, 'index')}]"

    def call(self, node: Node) -> str:
        given = node.child_by_field_name("arguments")
        if given is None or given.type != "arguments":
            raise NoLine
        return f"{self.part(node, 'function')}({self.several(given)})"

    def arrow(self, node: Node) -> str:
        given = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
        body = node.child_by_field_name("body")
        parameter = re.fullmatch(r"\(?\s*([A-Za-z_]\w*)\s*(?::[^,()]*)?\)?", self.text(given))
        if body is not None and body.type == "statement_block":
            (statement, *more) = body.named_children or [body]
            body = statement.named_children[0] if statement.type == "return_statement" and not more else None
        if parameter is None or keyword.iskeyword(parameter[1]):
            raise NoLine
        return f"(lambda {parameter[1]}: {self.written(body)})"


def _unescaped(escape: str) -> str:
    kind = escape[1:2]
    if kind not in ("u", "x"):
        return _ESCAPES.get(kind, escape[1:].lstrip("\r\n"))
    try:
        return chr(int(escape[2:].strip("{}"), 16))
    except (ValueError, OverflowError):
        raise NoLine from None


_WRITERS: Final[Mapping[str, Callable[[_Writer, Node], str]]] = {
    **dict.fromkeys(("parenthesized_expression", "non_null_expression", "as_expression"), _Writer.inner),
    **dict.fromkeys(("string", "template_string"), _Writer.string),
    **dict.fromkeys(("identifier", *_CONSTANTS), _Writer.name),
    "number": _Writer.number,
    "array": lambda writer, node: f"[{writer.several(node)}]",
    "object": _Writer.object,
    "regex": _Writer.regex,
    "unary_expression": _Writer.unary,
    "binary_expression": _Writer.binary,
    "member_expression": _Writer.member,
    "subscript_expression": _Writer.subscript,
    "call_expression": _Writer.call,
    "arrow_function": _Writer.arrow,
}
