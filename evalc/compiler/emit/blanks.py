"""Fills bare templates (`nights {{n}}`) with what a case or its row gives, each as its place asks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from sys import float_info
from typing import Any, Final, NamedTuple

from evalc.base.json_fault import unique_keys
from evalc.check.tree import NO_TOOL, Asked, Blank
from evalc.compiler.emit.emission import Emission
from evalc.compiler.fill import root_of, text_of_input, value_of
from evalc.diagnostics import Finding
from evalc.dsl.scalars import to_plain
from evalc.ecma import find_tokens, to_json
from evalc.grammar import nodes as g
from evalc.grammar.parse import parse_template
from evalc.model.json import is_number

REQUIRED: Final[dict[Asked, str]] = {
    "text": "a text",
    "name": "a name",
    "number": "a number",
    "whole": "a whole number",
    "items": "a list that is not empty",
    "names": "a list of names",
    "sets": "a list of lists of names",
    "flag": "`true` or `false`",
    "any": "a value",
}
"""The requirement of each kind of place, as messages name it."""
UNFILLED: Final = object()
"""Stands where nothing fits: the check cannot be made and is left out."""

Report = Callable[[int, int, Finding], None]
"""Reports a mistake in a stretch of a template."""


def operand_of(emission: Emission, blank: Blank, report: Report) -> Any:
    """The operand that a bare template becomes, or `UNFILLED`.

    What does not fit is reported: at the cell of the row that gives it, else at the template. Of a row that is
    skipped, what it leaves empty is not.
    """
    parse = parse_template(blank.template)
    for fault in parse.faults:
        report(fault.start, fault.end, fault.finding)
    match None if parse.node is None else parse.node.parts:
        case (g.TemplateToken() as token,):
            if blank.scale == 1 and blank.asks not in ("items", "names", "sets", "flag"):
                return token.text  # a value of it replaces this when the eval runs
            where = REQUIRED[blank.asks] if blank.scale == 1 else "a number with a unit"
            report(token.start, token.end, Finding("EV405", token=token.text, where=where))
        case (g.Variable() as variable,) if parse.node is not None:
            return _given(emission, blank, parse.node, variable, report)
        case _:
            pass
    return _failed(emission)


def _failed(emission: Emission) -> object:
    emission.failed = True
    return UNFILLED


def _given(emission: Emission, blank: Blank, template: g.Template, variable: g.Variable, report: Report) -> Any:
    is_misnamed = False
    for named, misnamed, in_row in () if emission.quiet else emission.misnamed(template):
        is_misnamed = True
        finding = misnamed.replaced(bare=True)
        if in_row is None:
            report(named.start, named.end, finding)
        else:
            emission.problems.add(*in_row, finding)
    node = value_of(variable.name, emission.inputs)
    if is_misnamed or (node is None and not emission.knows_all):
        return _failed(emission)
    root = root_of(variable.name, emission.inputs) or ""
    given = NOTHING if node is None else Given(text_of_input(node), to_plain(node), emission.is_cell(root))
    operand = fitted(blank, given)
    if not isinstance(operand, Misfit):
        brought = find_tokens(given.text)
        if not brought:
            return operand
        report(variable.start, variable.end, Finding("EV415", token=brought[0].text))
        return _failed(emission)
    if operand.is_empty and emission.is_left_out:
        return UNFILLED
    required, found, is_empty = operand
    finding = Finding("EV181", name=variable.name, required=required, found=found, is_empty=is_empty)
    place = None if node is None else emission.place_in_row(root, node)
    if place is None:
        report(variable.start, variable.end, finding)
    else:
        emission.problems.add(*place, finding)
    return _failed(emission)


# --- what a place takes ----------------------------------------------------------------------------------------------


class Given(NamedTuple):
    """The filling of a template: the text as written, and the value; a cell of CSV is only a text (`is_cell`)."""

    text: str
    value: Any
    is_cell: bool = False


NOTHING: Final = Given("", "", is_cell=True)
"""Fills a template whose name has no value, as an empty cell does."""


class Misfit(NamedTuple):
    """Why a value does not fit a place: what is required there and what was found, in words."""

    required: str
    found: str
    is_empty: bool = False  # whether nothing was given


def fitted(blank: Blank, given: Given) -> Any:
    """The operand that a bare template becomes, or a `Misfit`.

    Where any value fits, a cell is JSON only if that is how the value is written: `007`, `1.10` and `1e5` are texts.
    """
    if blank.asks in ("text", "name") and not isinstance(given.value, list | dict):
        is_blank = blank.asks == "name" and not given.text.strip()
        return Misfit(REQUIRED["name"], "empty", is_empty=True) if is_blank else given.text
    if given.is_cell and not given.text.strip():
        return Misfit(REQUIRED[blank.asks], "empty", is_empty=True)
    if blank.asks == "any":
        return _of_cell(given.text) if given.is_cell else given.value
    if given.value is None:
        return Misfit(REQUIRED[blank.asks], "null", is_empty=True)
    value = _decoded(given.text) if given.is_cell else given.value
    if blank.asks == "whole" and given.is_cell and _MAY_BE_THOUSANDS.fullmatch(given.text.strip()):
        value = _NOT_JSON
    match blank.asks:
        case "number" | "whole" if is_number(value) and abs(value) <= float_info.max:
            number = _scaled(value, blank.scale)
            if blank.asks == "number" or (isinstance(number, int) and number >= 0):
                return number
        case "items" if isinstance(value, list) and value:
            return tuple(value)
        case "names" if _are_names(value):
            return tuple(value)
        case "sets" if isinstance(value, list) and all(map(_are_names, value)):
            return tuple(tuple(names) or (NO_TOOL,) for names in value)
        case "flag" if isinstance(value, bool):
            return value
        case _:
            pass
    from evalc.check.values import described  # noqa: PLC0415 - for start-up: only for a mistake

    return Misfit(REQUIRED[blank.asks], described(given.text if value is _NOT_JSON else value))


_MAY_BE_THOUSANDS: Final = re.compile(r"\d{1,3}\.000")


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)


def _of_cell(cell: str) -> Any:
    value = _decoded(cell)
    if value is _NOT_JSON:
        return cell
    spaced = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else None
    return value if cell in (to_json(value), spaced) else cell


_NOT_JSON: Final = object()


def _decoded(text: str) -> Any:
    """The value of a JSON text; `_NOT_JSON` of any other."""
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _refuse(word: str) -> object:
    raise ValueError(word)


def _scaled(number: int | float, scale: float) -> int | float:
    """A number as checks have it: in the base unit of its place, a whole one as an integer."""
    if scale != 1:
        number = round(number * scale, 6)  # as a number with its unit on a line: 4.35 s are 4350 ms
    return int(number) if isinstance(number, float) and number.is_integer() else number
