"""Builds a criterion from a mapping, a line, or the one-pair mapping that YAML makes of an unquoted line."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from evalc.base.source import Span
from evalc.diagnostics import Finding
from evalc.dsl import kinds as k
from evalc.dsl.nodes import Mapping, Node, Scalar, Stretch, stretch_of
from evalc.dsl.places import locate
from evalc.dsl.tree import Num, Str
from evalc.dsl.walk import Fields, described
from evalc.grammar.parse import parse_criterion

# --- the trees -------------------------------------------------------------------------------------------------------


class CriterionTree(msgspec.Struct, frozen=True, kw_only=True):
    """A weighted criterion."""

    span: Span
    name: Str
    weight: Num | None = None
    description: str | None = None


# --- reading ---------------------------------------------------------------------------------------------------------

_NAME: Final = re.compile(r"\s*([^():\s][^():]*)")
"""The name of a line with a mistake after it, so that links to the name are not reported as well."""

_WEIGHT: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(%)?")


def build_criterion(fields: Fields, item: Node) -> CriterionTree | None:
    """The criterion, or None if it has no usable name; what is wrong after the name is left out."""
    match item:
        case Scalar():
            text = fields.text_of(item, "a criterion")
            return None if text is None else _one_line(fields, text, None)
        case Mapping(pairs=((key, Scalar() as value),)) if key.text not in CRITERION.keys:
            weight = _weight_of(value) if "(" not in key.text else None
            if weight is not None:  # `politeness: 50%` is `politeness (50%)`
                name = Str(key.at, key.text.strip())
                return CriterionTree(span=name.span, name=name, weight=Num(value.at, weight))
            return _one_line(fields, Str(key.at, key.text), value)
        case Mapping():
            tree: CriterionTree | None = CRITERION.take(fields, item, "a criterion")
            return tree
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


def _build(_inner: Fields, given: dict[str, Any]) -> CriterionTree | None:
    name, description = given.get("name"), given.get("description")
    if name is None:
        return None
    text = None if description is None else description.value
    return CriterionTree(span=name.span, name=name, weight=given.get("weight"), description=text)


def _one_line(fields: Fields, text: Str, behind: Scalar | None) -> CriterionTree | None:
    """`clarity (0.3): Clear`; to YAML the unquoted form is a mapping, whose value `behind` is the description."""
    parse = parse_criterion(text.value)

    def at(start: int, end: int) -> Stretch:
        return stretch_of(locate(fields.source, text.span, start, end))

    for fault in parse.faults:
        fields.fault(locate(fields.source, text.span, fault.start, fault.end), fault.finding)
    line = parse.node
    if line is None:
        legible = _NAME.match(text.value)
        if legible is None:
            return None
        name, start = legible[1].rstrip(), legible.start(1)
        return CriterionTree(span=text.span, name=Str(at(start, start + len(name)), name))
    description = line.description.value if line.description is not None else None
    return CriterionTree(
        span=text.span,
        name=Str(at(line.name.start, line.name.end), line.name.value),
        weight=None if line.weight is None else Num(at(line.weight.start, line.weight.end), line.weight.value),
        description=behind.text if behind is not None else description,
    )


CRITERION: Final = k.Shape(
    "a criterion",
    {
        "name": k.Key(
            k.NAME,
            "The criterion's name, which checks are linked to; unique in the suite.",
            ("clarity",),
            required=True,
        ),
        "description": k.Key(k.TEXT, "What a good answer is by this criterion."),
        "weight": k.Key(
            k.Number(k.number(minimum=0), int, float), "How much the criterion counts; by default 1.", (0.3,)
        ),
    },
    name="criterion",
    build=_build,
)
