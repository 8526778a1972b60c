"""Fills bare templates (`nights {{n}}`) with what a case or its row gives, as their places ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from evalc.check.blanks import NOTHING, REQUIRED, Given, Misfit, fitted
from evalc.check.tree import Blank
from evalc.compiler.emit.emission import Emission
from evalc.compiler.fill import root_of, text_of_input, value_of
from evalc.diagnostics import Finding
from evalc.dsl.scalars import to_plain
from evalc.ecma import find_tokens
from evalc.grammar import nodes as g
from evalc.grammar.parse import parse_template

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
