"""From an entry of `expect.checks` in YAML, a check as the case model writes it in JSON, to that check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, assert_never

import msgspec

from evalc.compiler.lift.check_case import check_vocabulary
from evalc.compiler.node_places import NodePlaces
from evalc.compiler.shape import mismatches
from evalc.diagnostics.problem import Diagnostics
from evalc.dsl.nodes import Mapping, Node, Report, Scalar, Sequence
from evalc.dsl.scalars import to_plain, value_of
from evalc.dsl.tree import CheckJson
from evalc.model import checks as c
from evalc.source import Source

Fill = Callable[[Scalar, str, bool], str]
"""What a text is once its templates are filled. The text is where no token may stand, if that is named; True says that
it is a regular expression."""

_TEXTS: Final = frozenset(
    {
        "type",
        "value",
        "values",
        "pattern",
        "flags",
        "unit",
        "mode",
        "headings",
        "names",
        "sets",
        "tool",
        "paramName",
        "assertion",
        "name",
        "dimension",
        "criteria",
        "path",
    }
)
"""The fields whose scalars are texts, as they were written."""
_NO_TOKENS: Final = {
    "pattern": "a regular expression",
    "criteria": "what a judge is asked",
    **dict.fromkeys(("names", "sets", "tool", "paramName"), "a tool's or parameter's name"),
    **dict.fromkeys(("name", "path", "headings", "dimension"), "a name"),
}
"""The texts in which no token may stand, and what they are in messages."""
_ARGUMENTS: Final = frozenset(("args", "options"))
"""The fields that hold any JSON whose texts are templates, whatever its keys are."""


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


def _data(node: Node, fill: Fill, report: Report, key: str = "", *, is_pattern: bool = False) -> Any:
    """The value of a key as JSON, its texts filled. A user's own keys (`x-...`) are left out."""
    match node:
        case _ if key == "schema":
            return to_plain(node, report)
        case _ if key in _ARGUMENTS:
            return _argument(node, fill, report)
        case Scalar():
            return fill(node, _NO_TOKENS.get(key, ""), is_pattern) if key in _TEXTS else to_plain(node, report)
        case Sequence(items=items):
            return [_data(item, fill, report, key) for item in items]
        case Mapping(pairs=pairs):
            patterns = {"pattern", "value"} if any(map(_asks_for_match, pairs)) else {"pattern"}
            return {
                name.text: _data(value, fill, report, name.text, is_pattern=name.text in patterns)
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
            return fill(node, "", False) if isinstance(value, str) else value
        case Sequence(items=items):
            return [_argument(item, fill, report) for item in items]
        case Mapping(pairs=pairs):
            return {name.text: _argument(value, fill, report) for name, value in pairs}
        case _:
            assert_never(node)


def _asks_for_match(pair: tuple[Scalar, Node]) -> bool:
    key, value = pair
    return key.text == "assertion" and isinstance(value, Scalar) and value.text == "matches"
