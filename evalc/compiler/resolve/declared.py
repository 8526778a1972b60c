"""Compares the inputs of a case with those that its prompt declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from evalc.base.source import Source, Span
from evalc.compiler.merge.cases import GivenInput, MergedCase
from evalc.compiler.merge.rows import Row
from evalc.diagnostics.near import nearest
from evalc.diagnostics.problem import Diagnostics, Finding
from evalc.dsl.fields import described, is_null
from evalc.dsl.nodes import Mapping as MappingNode
from evalc.dsl.nodes import Node, Scalar, Sequence, span_of
from evalc.dsl.scalars import Kind, kind_of, to_plain
from evalc.dsl.tree import CaseTree, InputTree

Declared = Mapping[str, InputTree]


def check_declaration(source: Source, tree: InputTree, problems: Diagnostics) -> None:
    """Report a default that is not a JSON value, or that its own declaration does not allow."""
    if tree.default is not None:
        to_plain(tree.default, partial(problems.add, source))
        finding = _misfit(tree, tree.default)
        if finding is not None:
            problems.add(source, span_of(tree.default), finding)


def check_inputs(
    case: MergedCase,
    inputs: Mapping[str, GivenInput],
    row: Row | None,
    declared: Declared | None,
    *,
    partial: bool,
    needed: frozenset[str],
    problems: Diagnostics,
) -> None:
    """Report inputs that are given and not declared or not allowed, and those that are needed and not given.

    Args:
        case: the case.
        inputs: what it gives, or one of its rows does.
        row: that row.
        declared: the declared inputs; None if nothing declares any.
        partial: whether there may have been more declarations.
        needed: what the prompt cannot do without, if nothing is declared.
        problems: where findings go.
    """
    own = frozenset() if row is None else frozenset(cell.name.value for cell in row.cells)
    typos: set[str | None] = set()  # misspelt inputs, which are reported already
    for name, given in inputs.items():
        tree = None if declared is None else declared.get(name)
        if tree is not None:
            finding = _misfit(tree, given.value)
            if finding is not None:
                problems.add(given.source, span_of(given.value), finding)
        elif declared is not None and not partial and (name not in own or _is_typo(name, declared, inputs)):
            problems.add(given.source, given.name.span, Finding("EV207", name=name, known=tuple(declared)))
            typos.add(nearest(name, declared))
    if case.tree.partial or case.inputs_partial or (partial and declared is None):
        return
    required = needed if declared is None else {name for name, tree in declared.items() if tree.required}
    missing = required - inputs.keys() - typos
    if not missing:
        return
    source, span = _place(case.tree, row)
    for name in sorted(missing, key=_order_of(declared)):
        problems.add(source, span, Finding("EV208", name=name, case=case.tree.name.value))


def _is_typo(name: str, declared: Declared, inputs: Mapping[str, GivenInput]) -> bool:
    """Whether a column, which checks may use by itself, seems to be meant for an input that is not given."""
    near = nearest(name, declared)
    return near is not None and near not in inputs


def _order_of(declared: Declared | None) -> Callable[[str], tuple[int, str]]:
    """Missing inputs are reported in the order of their declarations."""
    places = {name: index for index, name in enumerate(declared or ())}
    return lambda name: (places.get(name, 0), name)


def _place(case: CaseTree, row: Row | None) -> tuple[Source, Span]:
    if row is not None:
        return row.source, row.span
    return case.source, case.inputs_span or case.span


# --- types ---------------------------------------------------------------------------------------------------------


def _misfit(tree: InputTree, value: Node) -> Finding | None:
    """The finding about a value of a declared input."""
    if (tree.type is None and not tree.options) or is_null(value):
        return None
    expected = None if tree.type is None else _unlike(_TYPES.get(tree.type.value.strip().lower(), ""), value)
    if expected is not None:
        return Finding("EV314", name=tree.name.value, expected=expected, found=described(value))
    options = tuple(option.value for option in tree.options or ())
    chosen = value.items if isinstance(value, Sequence) else (value,)
    for item in chosen if options else ():
        if isinstance(item, Scalar) and item.text not in options:
            return Finding("EV315", name=tree.name.value, value=item.text, options=options)
    return None


_TYPES: Final = {
    **dict.fromkeys(("string", "str", "text", "textarea", "multiline", "markdown", "code", "url", "email"), "text"),
    **dict.fromkeys(("integer", "int"), "integer"),
    **dict.fromkeys(("number", "float", "double", "decimal"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("array", "list", "multiselect", "string[]", "array of strings", "list of strings"), "list"),
    **dict.fromkeys(("object", "dict", "map", "mapping", "record"), "mapping"),
}
"""The names of types that prompt files use; what another one asks for is not known, so nothing is checked."""

_NUMBERS: Final[dict[str, tuple[str, frozenset[Kind]]]] = {
    "integer": ("a whole number", frozenset({"int"})),
    "number": ("a number", frozenset({"int", "float"})),
    "boolean": ("true or false", frozenset({"bool"})),
}


def _unlike(type_: str, value: Node) -> str | None:
    """The type that a value is not, in words; None if it fits.

    A scalar counts by its text: in a prompt `"3"` and `3` are the same.
    """
    match type_:
        case "text":
            return None if isinstance(value, Scalar) else "a text"
        case "list":
            # A text in place of a list: one item, or a list that is written out, as tables of rows have it.
            return "a list" if isinstance(value, MappingNode) else None
        case "mapping":
            return "a mapping" if isinstance(value, Sequence) else None
        case "":
            return None
    words, kinds = _NUMBERS[type_]
    if isinstance(value, Scalar) and kind_of(Scalar(value.start, value.end, value.text, "plain")) in kinds:
        return None
    return words
