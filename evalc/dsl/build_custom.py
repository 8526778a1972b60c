"""From the fields of `{type: NAME, ...}` to a check that an installed package provides, and its arguments.

`rule:` holds what stands by place, a list or one value; every other key is an argument by that name.
"""

from __future__ import annotations

from typing import Any, Final, assert_never

from evalc.dsl.build_rule import atom
from evalc.dsl.fields import Fields
from evalc.dsl.nodes import Mapping, Node, Scalar, Sequence, span_of
from evalc.dsl.tree import CheckLeaf, Str
from evalc.grammar.nodes import Atom
from evalc.model.checks import Custom
from evalc.model.paths import pointer_step

_NO_ARGUMENTS: Final = frozenset(("type", "rule", "criterion", "weight"))


def build_custom(fields: Fields, type_: Str) -> CheckLeaf:
    """The check of a name that some package provides, called with what the mapping says."""
    rule = fields.node("rule")
    by_place = rule.items if isinstance(rule, Sequence) else () if rule is None else (rule,)
    atoms: dict[str, Atom] = {"/name": atom(type_)}
    args = tuple(_value(fields, node, f"/args/{index}", atoms) for index, node in enumerate(by_place))
    options = {
        key.text: _value(fields, node, f"/options/{pointer_step(key.text)}", atoms)
        for key, node in fields.pairs
        if key.text not in _NO_ARGUMENTS and not key.text.startswith("x-")
    }
    check = Custom(name=type_.value, args=args, options=options)
    return CheckLeaf(span=type_.span, check=check, atoms=atoms)


def _value(fields: Fields, node: Node, at: str, atoms: dict[str, Atom]) -> Any:
    """A JSON value; the places of its texts go into `atoms`."""
    match node:
        case Scalar():
            value = fields.value(node)
            if isinstance(value, str):
                atoms[at] = atom(Str(node.text, span_of(node)))
            return node.text if isinstance(value, str) else value
        case Sequence(items=items):
            return [_value(fields, item, f"{at}/{index}", atoms) for index, item in enumerate(items)]
        case Mapping(pairs=pairs):
            return {key.text: _value(fields, item, f"{at}/{pointer_step(key.text)}", atoms) for key, item in pairs}
        case _:
            assert_never(node)
