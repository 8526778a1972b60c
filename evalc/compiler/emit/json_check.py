"""Emits an entry of `expect.checks`, which has the case model's JSON form even in YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, assert_never

import msgspec

from evalc.base.source import Source
from evalc.compiler.lift.check_case import check_vocabulary
from evalc.compiler.places import NodePlaces
from evalc.compiler.shape import mismatches
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl import nodes as n
from evalc.dsl.nodes import Node, Report, Scalar, Sequence
from evalc.dsl.scalars import to_plain, value_of
from evalc.dsl.tree import CheckJson
from evalc.model import checks as c
from evalc.model.checks.declaration import Arguments, Filled, by_type, text_fields, worded_keys

Fill = Callable[[Scalar, Filled], str]
"""Fills the templates of a text."""

_PLAIN: Final = Filled("a name")
"""A text of another key: a unit, a mode, the name of a check."""


class _Keys(NamedTuple):
    """Keys of checks by their contents: those whose scalars are texts, as they were written, and the roles of texts."""

    worded: frozenset[str]
    roles: Mapping[str, Filled]


_KINDS: Final[Mapping[str, type[msgspec.Struct]]] = by_type(c.Check)


@cache
def _keys(kind: type[msgspec.Struct]) -> _Keys:
    return _Keys(worded_keys(kind) | {"type"}, {field.key: field.role for field in text_fields(kind)})


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


def _data(node: Node, fill: Fill, report: Report, role: Filled = _PLAIN, *, worded: bool = False) -> Any:
    """The value of a key as JSON, its texts filled; a scalar is a text where it is `worded`."""
    match node:
        case _ if role is Arguments:
            return _argument(node, fill, report)
        case Scalar():
            return fill(node, role) if worded else to_plain(node, report)
        case Sequence(items=items):
            return [_data(item, fill, report, role, worded=worded) for item in items]
        case n.Mapping():
            return _record(node, fill, report)
        case _:
            assert_never(node)


def _record(node: n.Mapping, fill: Fill, report: Report) -> dict[str, Any]:
    """A check, or a part of a check. A user's own keys (`x-...`) are left out."""
    texts = {key.text: value.text for key, value in node.pairs if isinstance(value, Scalar)}
    keys = _keys(_KINDS.get(texts.get("type", ""), c.RequiredField))
    record: dict[str, Any] = {}
    for key, value in node.pairs:
        name = key.text
        if name == "schema":
            record[name] = to_plain(value, report)
        elif not name.startswith("x-"):
            is_match = name == "value" and texts.get("assertion") == "matches"
            role = Filled(is_pattern=True) if is_match else keys.roles.get(name, _PLAIN)
            record[name] = _data(value, fill, report, role, worded=name in keys.worded)
    return record


def _argument(node: Node, fill: Fill, report: Report) -> Any:
    """An argument of a package's check, its texts filled; keys are kept as they are written, as on a line."""
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
