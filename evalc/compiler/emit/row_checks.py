"""Makes the checks of a table's rows by filling those of its first row: all else about them is the same for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

from evalc.base.source import Source
from evalc.check.predicates import QUESTION, Role, mapped, texts_of
from evalc.check.tree import Blank, Check, Test, within
from evalc.compiler import ir
from evalc.compiler.emit.check import simplest
from evalc.compiler.fill import Inputs, fill, value_of
from evalc.compiler.merge import MergedCase
from evalc.compiler.patterns import examine
from evalc.dsl.nodes import Scalar
from evalc.dsl.tree import CheckBody, CheckLeaf
from evalc.ecma.regexp import escape
from evalc.grammar import nodes as g
from evalc.grammar.parse import OPENS_TEMPLATE, parse_template

_Templates = Mapping[str, g.Template]
"""The templates of a check by their texts."""


class _Blanks(NamedTuple):
    """A check as it was written, and the templates that the inputs fill in it."""

    check: Check
    templates: _Templates


class RowChecks(NamedTuple):
    """The checks of the first row, each with what differs in the others.

    `names` are all the inputs in them; None if a template has branches, so that this depends on the row.
    """

    entries: tuple[tuple[ir.Check, _Blanks], ...]
    names: frozenset[str] | None

    def of(self, inputs: Inputs) -> tuple[ir.Check, ...]:
        """The checks of the row with these inputs."""
        return tuple([_filled(item, blanks, inputs) if blanks.templates else item for item, blanks in self.entries])

    def sound(self, inputs: Inputs) -> tuple[ir.Check, ...] | None:
        """The same if nothing can be wrong with them; of None nothing follows."""
        for name in self.names if self.names is not None else ("",):
            value = value_of(name, inputs)
            if not isinstance(value, Scalar) or "{{" in value.text:
                return None
        checks = self.of(inputs)
        return checks if all(_is_sound(item.check) for item in checks) else None


def _is_sound(check: Check) -> bool:
    tests = (part.operand for part in within(check) if isinstance(part, Test) and part.predicate == "matches")
    return all(examine(pattern, flags).error is None for pattern, flags in tests)


def _filled(item: ir.Check, blanks: _Blanks, inputs: Inputs) -> ir.Check:
    return msgspec.structs.replace(item, check=simplest(mapped(blanks.check, partial(_text, blanks.templates, inputs))))


def _text(templates: _Templates, inputs: Inputs, role: Role, text: Any) -> Any:
    template = templates.get(text)
    if template is None or (role.is_pattern and not OPENS_TEMPLATE.search(text)):
        return text
    return fill(template, inputs, transform=escape if role.is_pattern else str)


def row_checks(case: MergedCase, home: Source, first: ir.Case, inputs: Inputs) -> RowChecks | None:
    """How the checks of a table's rows are made, by the `first` case with which nothing is wrong and its inputs.

    None if more is needed than to fill texts: a bare template, a question, a schema, the name of a tool, whose place is
    kept, or several checks of one entry.
    """
    blanks: dict[ir.Where, _Blanks] = {}
    for layer in case.checks:
        for placed in layer:
            where = placed.tree.span if placed.source is home else ir.Located(placed.source, placed.tree.span)
            found = None if placed.turn is not None or where in blanks else _blanks_of(placed.tree.body)
            if found is None:
                return None
            blanks[where] = found
    if blanks.keys() != {item.where for item in first.checks} or len(blanks) != len(first.checks):
        return None
    if any(item.names and blanks[item.where].templates for item in first.checks):
        return None
    checks = RowChecks(tuple((item, blanks[item.where]) for item in first.checks), _names_in(blanks.values()))
    return checks if checks.of(inputs) == first.checks else None


def _names_in(blanks: Iterable[_Blanks]) -> frozenset[str] | None:
    parts = [part for several in blanks for template in several.templates.values() for part in template.parts]
    if not all(isinstance(part, g.Words | g.Variable) for part in parts):
        return None
    return frozenset(part.name for part in parts if isinstance(part, g.Variable))


def _blanks_of(body: CheckBody) -> _Blanks | None:
    """The blanks that inputs fill in a check; None where they are filled by more than their texts."""
    if not isinstance(body, CheckLeaf):
        return None
    templates: dict[str, g.Template] = {}
    for role, text in texts_of(body.check):
        if isinstance(text, Blank) or role is QUESTION or role.names in _MORE:
            return None
        if "{{" in text:
            template = parse_template(text, lenient=True).node
            if template is None:
                return None
            templates[text] = template
    return _Blanks(body.check, templates)


_MORE = frozenset({"schema", "check"})
