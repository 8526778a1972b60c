"""Makes the checks of a table's rows by filling those of its first row: all else about them is the same for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from evalc.base.source import Source
from evalc.compiler import ir
from evalc.compiler.emit.check import check_of_texts
from evalc.compiler.fill import OPENS_TEMPLATE, Inputs, fill, value_of
from evalc.compiler.merge import MergedCase
from evalc.compiler.patterns import examine
from evalc.dsl.nodes import Scalar
from evalc.dsl.tree import CheckBody, CheckLeaf
from evalc.ecma.regexp import escape
from evalc.grammar import nodes as g
from evalc.grammar.parse import parse_template
from evalc.model import checks as c
from evalc.model.checks.declaration import text_fields


class _Blank(NamedTuple):
    """A field of a check that the inputs fill, and what is done to each of them."""

    name: str
    template: g.Template
    transform: Callable[[str], str]


class RowChecks(NamedTuple):
    """The checks of the first row, each with the fields that differ in the others.

    `names` are all the inputs in them; None if a template has branches, so that this depends on the row.
    """

    entries: tuple[tuple[ir.Check, tuple[_Blank, ...]], ...]
    names: frozenset[str] | None

    def of(self, inputs: Inputs) -> tuple[ir.Check, ...]:
        """The checks of the row with these inputs."""
        return tuple([_filled(item, blanks, inputs) if blanks else item for item, blanks in self.entries])

    def sound(self, inputs: Inputs) -> tuple[ir.Check, ...] | None:
        """The same if nothing can be wrong with them; of None nothing follows."""
        for name in self.names if self.names is not None else ("",):
            value = value_of(name, inputs)
            if not isinstance(value, Scalar) or "{{" in value.text:
                return None
        checks = self.of(inputs)
        return checks if all(_is_sound(item.check) for item in checks) else None


def _is_sound(check: c.Check) -> bool:
    return not isinstance(check, c.Regex) or examine(check.pattern, check.flags).error is None


def _filled(item: ir.Check, blanks: tuple[_Blank, ...], inputs: Inputs) -> ir.Check:
    texts = {name: fill(template, inputs, transform=transform) for name, template, transform in blanks}
    return msgspec.structs.replace(item, check=msgspec.structs.replace(item.check, **texts))


def row_checks(case: MergedCase, home: Source, first: ir.Case, inputs: Inputs) -> RowChecks | None:
    """How the checks of a table's rows are made, by the `first` case with which nothing is wrong and its inputs.

    None if more is needed than to fill texts: a check that is not about texts, or several of one entry.
    """
    blanks: dict[ir.Where, tuple[_Blank, ...]] = {}
    for layer in case.checks:
        for placed in layer:
            where = placed.tree.span if placed.source is home else ir.Located(placed.source, placed.tree.span)
            found = None if placed.turn is not None or where in blanks else _blanks_of(placed.tree.body)
            if found is None:
                return None
            blanks[where] = found
    if blanks.keys() != {item.where for item in first.checks} or len(blanks) != len(first.checks):
        return None
    checks = RowChecks(tuple((item, blanks[item.where]) for item in first.checks), _names_in(blanks.values()))
    return checks if checks.of(inputs) == first.checks else None


def _names_in(blanks: Iterable[tuple[_Blank, ...]]) -> frozenset[str] | None:
    parts = [part for several in blanks for blank in several for part in blank.template.parts]
    if not all(isinstance(part, g.Words | g.Variable) for part in parts):
        return None
    return frozenset(part.name for part in parts if isinstance(part, g.Variable))


def _blanks_of(body: CheckBody) -> tuple[_Blank, ...] | None:
    """The blanks that inputs fill in a check of texts; None for any other check, and if a list has a blank."""
    check = check_of_texts(body) if isinstance(body, CheckLeaf) else None
    if check is None:
        return None
    blanks: list[_Blank] = []
    for field in text_fields(type(check)):
        value = getattr(check, field.name)
        if "{{" not in (value if isinstance(value, str) else "".join(value or ())):
            continue
        if not isinstance(value, str):
            return None
        if field.role.is_pattern and not OPENS_TEMPLATE.search(value):
            continue
        template = parse_template(value, lenient=True).node
        if template is None:
            return None
        blanks.append(_Blank(field.name, template, escape if field.role.is_pattern else str))
    return tuple(blanks)
