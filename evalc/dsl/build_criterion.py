"""Builds a criterion from a mapping, a line, or the one-pair mapping that YAML makes of an unquoted line."""

from __future__ import annotations

import re
from typing import Final

from evalc.base.source import Span
from evalc.diagnostics.problem import Finding
from evalc.dsl.fields import Fields, described
from evalc.dsl.nodes import Mapping, Node, Scalar, span_of
from evalc.dsl.places import locate
from evalc.dsl.tree import CriterionTree, Num, Str
from evalc.grammar.parse import parse_criterion

_NAME: Final = re.compile(r"\s*([^():\s][^():]*)")
"""The name of a line with a mistake after it, so that links to the name are not reported as well."""

_WEIGHT: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(%)?")

CRITERION_KEYS = ("name", "description", "weight")


def build_criterion(fields: Fields, item: Node) -> CriterionTree | None:
    """The criterion, or None if it has no usable name; what is wrong after the name is left out."""
    match item:
        case Scalar():
            text = fields.text_of(item, "a criterion")
            return None if text is None else _one_line(fields, text, None)
        case Mapping(pairs=((key, Scalar() as value),)) if key.text not in CRITERION_KEYS:
            weight = _weight_of(value) if "(" not in key.text else None
            if weight is not None:  # `politeness: 50%` is `politeness (50%)`
                name = Str(key.text.strip(), span_of(key))
                return CriterionTree(span=name.span, name=name, weight=Num(weight, span_of(value)))
            return _one_line(fields, Str(key.text, span_of(key)), value)
        case Mapping():
            return _mapping(fields, item)
        case _:
            expected = "a mapping or `name (weight): description`"
            fields.fault(item, Finding("EV301", what="a criterion", expected=expected, found=described(item)))
            return None


def _weight_of(value: Scalar) -> int | float | None:
    """The weight that a value is which is written as one, a number or a share; None for any other text."""
    written = _WEIGHT.fullmatch(value.text) if value.style == "plain" else None
    if written is None:
        return None
    number = float(written[1])
    return number / 100 if written[2] else int(number) if number.is_integer() else number


def _mapping(fields: Fields, item: Mapping) -> CriterionTree | None:
    inner = fields.inside(item, what="a criterion", keys=CRITERION_KEYS)
    inner.require("name")
    name, description, weight = inner.filled("name"), inner.text("description"), inner.number("weight")
    fields.partial |= inner.partial
    if name is None:
        return None
    return CriterionTree(
        span=name.span, name=name, weight=weight, description=None if description is None else description.value
    )


def _one_line(fields: Fields, text: Str, behind: Scalar | None) -> CriterionTree | None:
    """`clarity (0.3): Clear`; to YAML the unquoted form is a mapping, whose value `behind` is the description."""
    parse = parse_criterion(text.value)

    def place(start: int, end: int) -> Span:
        return locate(fields.source, text.span, start, end)

    for fault in parse.faults:
        fields.fault(place(fault.start, fault.end), fault.finding)
    line = parse.node
    if line is None:
        legible = _NAME.match(text.value)
        if legible is None:
            return None
        name, start = legible[1].rstrip(), legible.start(1)
        return CriterionTree(span=text.span, name=Str(name, place(start, start + len(name))))
    description = line.description.value if line.description is not None else None
    return CriterionTree(
        span=text.span,
        name=Str(line.name.value, place(line.name.start, line.name.end)),
        weight=None if line.weight is None else Num(line.weight.value, place(line.weight.start, line.weight.end)),
        description=behind.text if behind is not None else description,
    )
