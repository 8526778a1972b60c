"""From an entry of `expect.checks` in YAML, a check as the case model writes it in JSON, to that check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, assert_never

import msgspec

from evalc.compiler.lift.check_case import check_vocabulary
from evalc.compiler.node_places import NodePlaces
from evalc.compiler.shape import mismatches
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl import nodes as n
from evalc.dsl.nodes import Node, Report, Scalar, Sequence
from evalc.dsl.scalars import to_plain, value_of
from evalc.dsl.tree import CheckJson
from evalc.model import checks as c
from evalc.model.checks.declaration import Arguments, Filled, members, text_fields, worded_keys
from evalc.source import Source

Fill = Callable[[Scalar, Filled], str]
"""What a text is once its templates are filled."""

_PLAIN: Final = Filled("a name")
"""A text of another key: a unit, a mode, the name of a check."""


class _Keys(NamedTuple):
    """What the keys of checks hold: those whose scalars are texts, as they were written, and the roles of texts."""

    worded: frozenset[str]
    roles: Mapping[str, Filled]


@cache
def _keys() -> _Keys:
    kinds = (*members(c.Check), c.RequiredField)
    worded = frozenset(key for kind in kinds for key in worded_keys(kind))
    return _Keys(worded | {"type"}, {field.key: field.role for kind in kinds for field in text_fields(kind)})


def json_check(source: Source, body: CheckJson, fill: Fill, problems: Diagnostics) -> c.Check | None:
    """The check; None when something is wrong with it, which is reported."""
    places = NodePlaces(source, body.node, problems)
    data = _data(body.node, fill, lambda span, finding: problems.add(source, span, finding))
    faults = tuple(mismatches(data, c.Check, what="a check"))
    for pointer, finding in faults:
        places.add(pointer, finding)
    if faults:
        return None
    check: c.Check = msgspec.convert(data, c.Check)
    check_vocabulary(places, check, "")
    return check


def _data(node: Node, fill: Fill, report: Report, key: str = "", role: Filled = _PLAIN) -> Any:
    """The value of a key as JSON, its texts filled. A user's own keys (`x-...`) are left out."""
    match node:
        case _ if key == "schema":
            return to_plain(node, report)
        case _ if role is Arguments:
            return _argument(node, fill, report)
        case Scalar():
            return fill(node, role) if key in _keys().worded else to_plain(node, report)
        case Sequence(items=items):
            return [_data(item, fill, report, key, role) for item in items]
        case n.Mapping(pairs=pairs):
            of_value = Filled(is_pattern=True) if any(map(_asks_for_match, pairs)) else _keys().roles["value"]
            return {
                name.text: _data(
                    value,
                    fill,
                    report,
                    name.text,
                    of_value if name.text == "value" else _keys().roles.get(name.text, _PLAIN),
                )
                for name, value in pairs
                if not name.text.startswith("x-")
            }
        case _:
            assert_never(node)


def _argument(node: Node, fill: Fill, report: Report) -> Any:
    """What a check of a package is given, its texts filled; keys are kept as they are written, as on a line."""
    match node:
        case Scalar():
            value = value_of(node, report)
            return fill(node, Arguments) if isinstance(value, str) else value
        case Sequence(items=items):
            return [_argument(item, fill, report) for item in items]
        case n.Mapping(pairs=pairs):
            return {name.text: _argument(value, fill, report) for name, value in pairs}
        case _:
            assert_never(node)


def _asks_for_match(pair: tuple[Scalar, Node]) -> bool:
    key, value = pair
    return key.text == "assertion" and isinstance(value, Scalar) and value.text == "matches"
