"""From the fields of `{type: NAME, ...}` to a check that an installed package provides, and its arguments.

`rule:` holds what stands by place, a list or one value; every other key is an argument by that name.
"""

from __future__ import annotations

from typing import Final, assert_never

from evalc.dsl.fields import Fields
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence
from evalc.dsl.tree import CheckLeaf, Str
from evalc.grammar import nodes as g

_NO_ARGUMENTS: Final = frozenset(("type", "rule", "criterion", "weight"))


def build_custom(fields: Fields, type_: Str) -> CheckLeaf:
    """The check of a name that some package provides, called with what the mapping says."""
    rule = fields.node("rule")
    by_place = rule.items if isinstance(rule, Sequence) else () if rule is None else (rule,)
    arguments = [_argument(fields, None, node) for node in by_place]
    for key, node in fields.pairs:
        if key.text not in _NO_ARGUMENTS and not key.text.startswith("x-"):
            arguments.append(_argument(fields, key, node))
    name = g.Text(start=type_.span.start, end=type_.span.end, value=type_.value)
    check = g.Custom(start=name.start, end=name.end, name=name, arguments=tuple(arguments))
    return CheckLeaf(span=type_.span, check=check)


def _argument(fields: Fields, key: Scalar | None, node: Node) -> g.Argument:
    name = None if key is None else _text(key)
    start = node.start if key is None else key.start
    return g.Argument(start=start, end=node.end, name=name, value=_value(fields, node))


def _value(fields: Fields, node: Node) -> g.Value:
    match node:
        case Scalar():
            value = fields.value(node)
            return _text(node) if isinstance(value, str) else g.Constant(start=node.start, end=node.end, value=value)
        case Sequence(items=items):
            return g.Array(start=node.start, end=node.end, items=tuple(_value(fields, item) for item in items))
        case Mapping(pairs=pairs):
            members = tuple(
                g.Member(start=key.start, end=item.end, key=_text(key), value=_value(fields, item))
                for key, item in pairs
            )
            return g.Object(start=node.start, end=node.end, members=members)
        case _:
            assert_never(node)


def _text(scalar: Scalar) -> g.Text:
    return g.Text(start=scalar.start, end=scalar.end, value=scalar.text)
