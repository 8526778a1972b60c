"""Builds the `for_each:` of a case: a list of rows, or the name of a file."""

from __future__ import annotations

from evalc.diagnostics.catalogue.names import MissingKey
from evalc.diagnostics.catalogue.values import EmptyValue, OnlyOneOf, WrongType
from evalc.dsl.fields import Fields, described
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.tree import ForEachTree, Str

FOR_EACH_KEYS = ("rows", "file", "key")
"""The keys of `for_each:` where it is a mapping."""


def build_for_each(fields: Fields) -> ForEachTree | None:
    """The rows of a case; None when it stands for itself, or what it says is no table, which is reported."""
    fields.forbid_empty("for_each")
    node = fields.node("for_each")
    if node is None:
        return None
    match node:
        case Scalar():
            file = fields.filled("for_each")
            return None if file is None else ForEachTree(span=file.span, file=file)
        case Sequence():
            return _listed(fields, "for_each", None)
        case Mapping():
            return _written_out(fields, node)


def _written_out(fields: Fields, node: Mapping) -> ForEachTree | None:
    inner = fields.inside(node, what="`for_each`", keys=FOR_EACH_KEYS)
    if "rows" not in inner:
        inner.forbid_empty("file")
    key = inner.filled("key")
    file = inner.filled("file")
    tree: ForEachTree | None = None
    if file is not None:
        tree = ForEachTree(span=file.span, file=file, key=key)
        if "rows" in inner:
            inner.fault(inner.key("rows"), OnlyOneOf(key="rows", other="file"))
    elif "rows" in inner:
        inner.forbid_empty("rows")
        tree = _listed(inner, "rows", key)
    elif not inner.partial:
        inner.fault(inner.anchor, MissingKey(key="rows", what="`for_each`", why="add `rows:` with a list, or `file:`"))
    fields.partial |= inner.partial
    return tree


def _listed(fields: Fields, key: str, column: Str | None) -> ForEachTree | None:
    items = fields.items(key)
    if items is None:
        return None
    if not items and not fields.is_cut(key):
        fields.fault(fields.key(key), EmptyValue(what=f"`{key}`"))
    rows = tuple(row for row in (_row(fields, item) for item in items) if row is not None)
    return ForEachTree(span=span_of(fields.key(key)), rows=rows, key=column)


def _row(fields: Fields, item: Node) -> Mapping | None:
    if isinstance(item, Mapping):
        return item
    fields.fault(item, WrongType(what="a row of `for_each`", expected="a mapping", found=described(item)))
    return None
