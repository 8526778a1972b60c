"""TypeScript without its types, which is JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from evalc.grammar.write_check import NoLine
from evalc.translate.code import parser

if TYPE_CHECKING:
    from tree_sitter import Node

_TYPES: Final = frozenset(
    ("accessibility_modifier", "ambient_declaration", "asserts_annotation", "function_signature", "implements_clause",
     "interface_declaration", "override_modifier", "readonly", "type_alias_declaration", "type_annotation",
     "type_arguments", "type_parameters", "type_predicate_annotation")
)  # fmt: skip
_MORE_THAN_TYPES: Final = frozenset(
    ("abstract_class_declaration", "decorator", "enum_declaration", "import_alias",
     "import_require_clause", "internal_module", "module",
     "type_assertion")
)  # fmt: skip
_BEHIND: Final = frozenset(("as_expression", "satisfies_expression", "non_null_expression"))
"""Expressions that are their first part alone."""
_MARKED: Final = frozenset(
    ("optional_parameter", "public_field_definition", "variable_declarator", "method_definition")
)
"""Declarations whose `?` or `!` is of the type."""


def javascript_of(text: str) -> str:
    """The text without its types.

    Raises:
        NoLine: it is no TypeScript, or has what is more than a type, such as an `enum`.
    """
    data = text.encode("utf-8", "surrogatepass")
    root = parser().parse(data).root_node
    if root.has_error:
        raise NoLine
    kept, at = [], 0
    for begin, end in sorted(_types_in(root)):
        if begin >= at:
            kept.append(data[at:begin])
        at = max(at, end)
    return b" ".join([*kept, data[at:]]).decode("utf-8", "surrogatepass")


def _types_in(node: Node) -> Iterator[tuple[int, int]]:
    """The places of the types in a node."""
    if node.type in _MORE_THAN_TYPES or _declares_a_field(node):
        raise NoLine
    is_statement = node.type in ("export_statement", "import_statement")
    if node.type in _TYPES or (is_statement and any(each.type in ("type", *_TYPES) for each in node.children)):
        yield node.start_byte, node.end_byte
        return
    if node.type in _BEHIND:
        yield node.children[0].end_byte, node.end_byte
        yield from _types_in(node.children[0])
        return
    for each in node.children:
        if node.type in _MARKED and each.type in ("?", "!"):
            yield each.start_byte, each.end_byte
        else:
            yield from _types_in(each)


def _declares_a_field(node: Node) -> bool:
    """Whether a parameter is a field, too, or is `this`."""
    if node.type not in ("required_parameter", "optional_parameter"):
        return False
    return any(
        each.type in ("accessibility_modifier", "override_modifier", "readonly", "this") for each in node.children
    )
