"""Reads the operands of checks that are mappings: values whose texts know where they were written."""

from __future__ import annotations

from typing import Any, assert_never

from evalc.base.source import Span
from evalc.check.places import Placed
from evalc.check.tree import NO_TOOL, Check
from evalc.dsl import kinds as k
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.tree import CheckLeaf, Str
from evalc.dsl.walk import Fields
from evalc.grammar import nodes as g
from evalc.grammar.nodes import ReadCheck
from evalc.grammar.read_check import settled


def leaf_of(span: Span, check: Check) -> CheckLeaf:
    """The leaf of a check whose texts know where they were written."""
    line = settled(ReadCheck(*span, check, ()))
    return CheckLeaf(span=span, check=line.check, places=line.places)


def placed(text: Str) -> Placed:
    """A text that knows where it was written; the offsets count from the start of the source."""
    return Placed(text.value, g.Text(*text.span, text.value))


def _placed(text: Str | None) -> Placed | None:
    return None if text is None else placed(text)


def placed_value(fields: Fields, node: Node) -> Any:
    """A JSON value whose texts know where they were written."""
    match node:
        case Scalar():
            value = fields.value(node)
            return placed(Str(node.text, span_of(node))) if isinstance(value, str) else value
        case Sequence(items=items):
            return [placed_value(fields, item) for item in items]
        case Mapping(pairs=pairs):
            return {key.text: placed_value(fields, item) for key, item in pairs}
        case _:
            assert_never(node)


def number_at(fields: Fields, key: str) -> int | float | None:
    """A number, the same however it was written: `1.0` is 1."""
    number = k.NUMBER.read(fields, key)
    return None if number is None else int(number.value) if number.value == int(number.value) else number.value


def texts(fields: Fields, key: str) -> list[Placed] | None:
    """A list of texts; None if one of them is not a text."""
    read = fields.all_texts(key)
    return None if read is None else [*map(placed, read)]


def sets_of_tools(fields: Fields, key: str) -> list[list[Placed]] | None:
    """A list of sets of tools; `none` is the empty set."""
    items = fields.items(key)
    sets = None if items is None else [_set_of_tools(fields, item) for item in items]
    return None if sets is None or None in sets else sets


def _set_of_tools(fields: Fields, node: Node) -> Any:
    if isinstance(node, Scalar) and node.text == "none":
        return [Placed(NO_TOOL, g.Text(*span_of(node), node.text))]
    if isinstance(node, Sequence):
        names = fields.together(node.items, "the name of a tool")
        return None if names is None else [*map(placed, names)] or [Placed(NO_TOOL, g.Text(*span_of(node), ""))]
    return fields.wrong(node, "a tool set", "a list of tools, or `none`")


# --- kinds -----------------------------------------------------------------------------------------------------------


class Text(k.Text):
    """A text that knows where it was written."""

    def read(self, fields: Fields, key: str) -> Any:
        return _placed(super().read(fields, key))

    def take(self, fields: Fields, node: Any, what: str) -> Any:
        return _placed(super().take(fields, node, what))


class Written(k.Kind):
    """A text that is taken literally, `null` and `~` too."""

    def require(self, fields: Fields, key: str, why: str) -> None:
        if key not in fields or fields.is_blank(key):
            fields.require(key, why=why)

    def read(self, fields: Fields, key: str) -> Any:
        return _placed(fields.written(key))


class Json(Written):
    """A JSON value; None is null if the key is there."""

    def read(self, fields: Fields, key: str) -> Any:
        node = fields.node(key)
        return None if node is None else placed_value(fields, node)


class Numeral(k.Kind):
    """A number, not null, that is the same however it is written: `1.0` is 1."""

    def read(self, fields: Fields, key: str) -> Any:
        fields.require(key)
        return number_at(fields, key)
